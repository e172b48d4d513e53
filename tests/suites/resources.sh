#!/bin/bash
# Shared receive queues and whatever else verbs offer besides queue pairs: tests/verbs.
# timeout: 300
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 150 "$PROGRAMS/resources"
D2=$D1 G2=$G1 run_program "one device: " 100 "$PROGRAMS/resources"
