#!/bin/bash
# A short test of each feature, for the debug kernel, where a packet costs twenty times as much (make check-debug SUITE=smoke).
# timeout: 240
# lanes: vm uml debug smoke

. "$(dirname "$0")/lib.sh"

hosts_up

perf() {
	local program=$1 options=$2
	pair_run "$program $options" "$program -d \$D2 -x \$G2 -p \$PORT -F $options" \
		"$program -d \$D1 -x \$G1 -p \$PORT -F $options \$IP2" 60
}

pair_run "ibv_rc_pingpong, data checked" 'ibv_rc_pingpong -d $D2 -g $G2 -p $PORT -n 20 -c' \
	'ibv_rc_pingpong -d $D1 -g $G1 -p $PORT -n 20 -c $IP2' 60
perf ib_write_bw "-n 10 -s 65536"
perf ib_read_bw "-n 10 -s 65536"
perf ib_send_bw "-c UD -n 50 -s 1024"
perf ib_atomic_bw "-n 20"
pair_run "rping" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3' 60
ok "the device is deleted" on h1 rdma link delete "$D1"
