# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# UCX's lower layer, which uses only the device's atomics. mpi.sh tests the upper layer, which falls back to messages.

verbs_transport() { compgen -G "/usr/lib/*/ucx/libuct_ib.so.0" >/dev/null || { skip UCX "it is built without verbs"; return 1; }; }

# perftest WHAT TEST SIZE
perftest() {
	local options="-p \$PORT -x rc_verbs -t $2 -s $3 -n 50 -w 5"
	! ucx_perftest -h 2>&1 | grep -q -e '-P <0|1>' || options+=" -P 0"
	pair_run "$1" "ucx_perftest -d \$D2:1 $options" "ucx_perftest -d \$D1:1 $options \$IP2"
}

# The server of UCX 1.13 takes the device that the client names, that of 1.18 its own.
atomics() { echo $(($(counter $D1 rx_atomic_requests) + $(counter $D2 rx_atomic_requests))); }

if there ucx_perftest && verbs_transport; then
	atomics=$(atomics)
	perftest "UCX: fetch and add" fadd 8
	perftest "UCX: compare and swap" cswap 8
	ok "UCX: by the device's atomics" test $(($(atomics) - atomics)) -ge 100
fi
