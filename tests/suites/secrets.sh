#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Numbers and keys that nobody can guess, memory with nothing of others in it: tests/verbs/secrets.c.
# timeout: 120
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 100 "$PROGRAMS/secrets"
