#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Processes are killed with QPs in every state, or neglect their queues; others are not affected:
# tests/verbs/robust/neighbours.c. ROUNDS: how often each is killed.
# timeout: 200
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

ROUNDS=${ROUNDS:-$((2 - ${SROCE_DEBUG_KERNEL:-0}))}
export ROUNDS SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} D1 D2 G1 G2
diag "SEED=$SEED ROUNDS=$ROUNDS"

hosts_up 1500 || { fail "two hosts"; exit 1; }
before=$(rdma resource show)
run_program "" $((150 + 20 * ROUNDS)) "$PROGRAMS/robust" neighbours
is "no resource is left" "$(rdma resource show)" "$before"

# The kernel's work for a process has the same priority as other processes.
# ticks REGEX: prints the processor time, in ticks, of the threads whose names match
ticks() { cat /proc/[0-9]*/stat 2>/dev/null | sed -n "s|^[0-9]* ($1) ||p" | awk '{ sum += $12 + $13 } END { print sum + 0 }'; }
plain='kworker/[0-9]*:[0-9][^)H]*' high='kworker/[0-9]*:[0-9]*H[^)]*'
if [ "$(nproc)" -gt 1 ]; then
	D2=$D1 G2=$G1 HOST2=h1 IP2=$IP1
	had=$(ticks "$plain") had_high=$(ticks "$high")
	many='ib_write_bw -F -c UC -q 16 -s 1048576 -n 300 -p $PORT'
	pair_run "16 QPs send to their own device" "$many -d \$D2 -x \$G2" "$many -d \$D1 -x \$G1 \$IP2" 60
	had=$(($(ticks "$plain") - had)) had_high=$(($(ticks "$high") - had_high))
	ok "threads of high priority work less for them than others ($had_high and $had ticks)" test $had_high -lt $had
fi
