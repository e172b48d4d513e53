# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# librpma: WRITEs, flushes, READs and an atomic WRITE to the memory of a peer.

rpma_there() { python3 -c 'import ctypes; ctypes.CDLL("librpma.so.0")' 2>/dev/null; }

if rpma_there || { unpacked true; rpma_there; } || { skip "librpma" "it is not installed"; false; }; then
	received=$(received)
	pair_run "librpma" '$HERE/rpma.py server $IP2 $PORT' '$HERE/rpma.py client $IP2 $PORT'
	ok "librpma: by RDMA" test $(($(received) - received)) -gt 1048576
fi
