#!/bin/bash
# Bad input: errno, completion status at both ends, events, and nobody else is hurt: tests/verbs.
# timeout: 400
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 300 "$PROGRAMS/errors"
