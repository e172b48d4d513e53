#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RDS, reliable datagrams of the kernel: messages, WRITEs and READs. Debian has no rds-tools.
# timeout: 200
# A boot of its own: RDS and rdma_cm take locks in a circle, and lockdep turns itself off after reporting that.
# guest: --mem 2G
# dmesg-allow: possible circular locking
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

ulp_hosts_up || { fail "two devices"; exit 1; }
loaded rds rds_rdma || exit 0
received=$(counter $D2 rx_bytes)
ok "messages, WRITE and READ" limited 60 python3 "$(dirname "$0")/../programs/ulps/rds.py" $IP1 $IP2
ok "over the wire" test $(($(counter $D2 rx_bytes) - received)) -gt 4194304
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
# RDS must not be unloaded while its connections end (kernel 7.3: list_add corruption in rds_ib_remove_conn()).
for device in $D1 $D2; do ok "$device is deleted while RDS uses it" rdma link delete $device; done
sleep 2
ok "the module can be unloaded" modprobe -r rds_rdma rds
not_ok "no lock of sroce is in a circular dependency" sh -c "dmesg | grep -A 30 'possible circular locking' | grep '\[sroce\]'"
