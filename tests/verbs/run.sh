# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For the suites that run the programs of this folder; they have read suites/lib.sh before.
# shellcheck shell=bash

PROGRAMS=$SROCE_PROGRAMS/verbs

# Usually built on the host already; then there is nothing to do.
ok "the programs are built" make -s O="$SROCE_PROGRAMS" -C "$(dirname "$0")/../verbs"

# run_program PREFIX SECONDS COMMAND...: its TAP lines become lines of the suite, with PREFIX
run_program() { relay "$1" "" "${@:2}"; }
