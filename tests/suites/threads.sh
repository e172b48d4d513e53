#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Threads of one process change objects while others use them (tests/verbs/robust/threads.c), between two devices and on one.
# Meanwhile a processor goes and comes, or the device gets another name or other settings, or its netdev other offloads or another
# queue. TIME: of each, seconds.
# timeout: 300
# lanes: vm uml debug
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

TIME=${TIME:-5}
export SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} D1 D2 G1 G2
diag "SEED=$SEED TIME=$TIME"

# meanwhile COMMAND...: repeats it in the background until "stop_meanwhile"; each success adds a line to the file "changes"
meanwhile() {
	touch "$OUTPUT.meanwhile"
	: >"$OUTPUT.changes"
	while [ -e "$OUTPUT.meanwhile" ]; do "$@" && echo changed >>"$OUTPUT.changes"; done >/dev/null 2>&1 &
	MEANWHILE=$!
}
stop_meanwhile() {
	rm -f "$OUTPUT.meanwhile"
	wait "$MEANWHILE"
}
at_exit rm -f "$OUTPUT.meanwhile" "$OUTPUT.changes"

CPU=/sys/devices/system/cpu/cpu1/online
processor() {
	sleep 0.2
	echo 0 >$CPU || return
	sleep 0.2
	echo 1 >$CPU
}
# Once the program has opened the devices, their names do not matter.
in_use() { [ "$(rdma resource show qp | grep -c sroce)" -gt 10 ]; }
name() {
	sleep 0.1
	in_use || return
	rdma dev set sroce1 name another1 && rdma dev set another1 name sroce1
}
offloads() {
	sleep 0.1
	on h1 ethtool -K eth0 gro on tx-udp-segmentation off && on h1 ethtool -K eth0 gro off tx-udp-segmentation on
}
settings() {
	for value in 0 1; do
		sleep 0.1
		for setting in ecn hold_out_of_order; do echo $value >/sys/kernel/debug/sroce/sroce1/$setting || return; done
	done
}
queue() {
	sleep 0.1
	on h1 tc qdisc replace dev eth0 root pfifo limit 3 || return
	sleep 0.1
	on h1 tc qdisc del dev eth0 root
}

# changed PREFIX WHAT: while threads change objects
changed() {
	meanwhile "$2"
	run_program "$1$2: " $((60 + TIME)) "$PROGRAMS/robust" threads "$TIME"
	stop_meanwhile
	diag "$(wc -l <"$OUTPUT.changes") times"
	ok "$1$2: it changed meanwhile" test -s "$OUTPUT.changes"
}

hosts_up 4400 || { fail "two hosts"; exit 1; }
BEFORE=$(rdma resource show)
like "rdma resource shows the devices" "$BEFORE" 'sroce1: .*qp .*sroce2: '
for what in name offloads settings queue; do changed "" $what; done
D2=$D1 G2=$G1 changed "one device, " name
if [ -w $CPU ]; then
	changed "" processor
	D2=$D1 G2=$G1 changed "one device, " processor
else
	skip "a processor goes" "there is one only"
fi
is "no resource is left" "$(rdma resource show)" "$BEFORE"
