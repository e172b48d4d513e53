#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Unprivileged processes give random commands until they are killed; others continue: tests/verbs/abi/calls.c.
# SEED repeats a run, ROUNDS is the number of processes.
# timeout: 300
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2 SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} ROUNDS=${ROUNDS:-4}
diag "SEED=$SEED ROUNDS=$ROUNDS"
[ -e /dev/infiniband ] && chmod a+rw /dev/infiniband/uverbs*

before=$(rdma resource show)
run_program "" $((200 + 20 * ROUNDS)) "$PROGRAMS/abi" calls
given_back() { [ "$(rdma resource show)" = "$before" ]; }
ok "all resources are given back" wait_for 10 given_back
is "the module is not in use" "$(cat /sys/module/sroce/refcnt)" 0
