#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Processes are killed with QPs in every state, or neglect their queues; nobody else notices: tests/verbs/neighbours.c.
# ROUNDS is how often each is killed.
# timeout: 200
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

ROUNDS=${ROUNDS:-$((2 - ${SROCE_DEBUG_KERNEL:-0}))}
export ROUNDS SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} D1 D2 G1 G2
diag "SEED=$SEED ROUNDS=$ROUNDS"

hosts_up 1500 || { fail "two hosts"; exit 1; }
before=$(rdma resource show)
run_program "" $((150 + 20 * ROUNDS)) "$PROGRAMS/neighbours"
is "nothing is left" "$(rdma resource show)" "$before"
