#!/bin/bash
# Bad use of every verb, and what each says to it: tests/verbs; Documentation/errors.rst has the table.
# timeout: 300
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

export ROWS=${ROWS-$(mktemp)}
run_program "" 250 "$PROGRAMS/misuse"

TOP=$(dirname "$0")/../..
documented() { sed -n '/^.. csv-table::/,$p' "$TOP/Documentation/errors.rst"; }
ok "Documentation/errors.rst says so" diff -u <("$TOP/tests/verbs/table" "$ROWS") <(documented)
