#!/bin/bash
# A hostile process uses its rings, doorbells, mappings and kick file in every way; others are not affected: tests/verbs.
# SEED and ROUNDS are for processes that write random values to all shared memory; for more of them: ROUNDS=1000 abi ring_fuzz.
# timeout: 500
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 400 "$PROGRAMS/abi"
