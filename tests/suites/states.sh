#!/bin/bash
# The QP state machine: every transition, every attribute, and the queues in each state: tests/verbs.
# SEED repeats a run of the random calls, ROUNDS is their number.
# timeout: 400
# lanes: vm uml debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2 G1_6 G2_6 SEED=${SEED:-$((RANDOM * 32768 + RANDOM))}
diag "SEED=$SEED"

run_program "" 300 "$PROGRAMS/states"

# Probes slow down the RDMA core's changes of GID references, so that two threads can meet there.
TRACING=/sys/kernel/tracing
slow() {
	local name
	[ -e $TRACING/kprobe_events ] || mount -t tracefs none $TRACING 2>/dev/null
	for name in rdma_put_gid_attr rdma_hold_gid_attr; do
		echo "p:slow/$name $name" >>$TRACING/kprobe_events &&
			echo stacktrace >$TRACING/events/slow/$name/trigger && echo 1 >$TRACING/events/slow/$name/enable || return
	done 2>/dev/null
}
fast() {
	[ -e $TRACING/events/slow ] || return 0
	echo 0 >$TRACING/events/slow/enable
	echo '!stacktrace' | tee $TRACING/events/slow/*/trigger >/dev/null
	echo >$TRACING/kprobe_events
}
at_exit fast
if slow; then
	run_program "with slow references: " 60 "$PROGRAMS/states" paths
else
	skip "with slow references" "the kernel has no probes"
fi
