# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RDS: reliable datagrams of the kernel. Debian has no rds-tools.

if loaded rds rds_rdma; then
	received=$(counter $D2 rx_bytes)
	ok "RDS: messages, WRITE and READ" limited 60 python3 "$HERE/rds.py" $IP1 $IP2
	ok "RDS: over the wire" test $(($(counter $D2 rx_bytes) - received)) -gt 4194304
	ok "RDS: the module can be unloaded" modprobe -r rds_rdma rds
fi
