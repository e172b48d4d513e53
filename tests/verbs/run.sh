# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For the suites that run the programs of this folder; they have read suites/lib.sh before.
# shellcheck shell=bash

PROGRAMS=$SROCE_PROGRAMS/verbs

# Usually built on the host already; then there is nothing to do.
ok "the programs are built" make -s O="$SROCE_PROGRAMS" -C "$(dirname "$0")/../verbs"

# run_program PREFIX SECONDS COMMAND...: its TAP lines become lines of the suite, with PREFIX
run_program() {
	local prefix=$1 seconds=$2 line status='' failed=$FAILED
	shift 2
	while IFS= read -r line; do
		case $line in
		"ok "*) pass "$prefix${line#ok * - }" ;;
		"not ok "*) fail "$prefix${line#not ok * - }" ;;
		"status: "*) status=${line#status: } ;;
		1..*) ;;
		*) echo "$line" ;;
		esac
	done < <(limited "$seconds" "$@" 2>&1 </dev/null; echo "status: $?")
	[ "$status" = 0 ] || [ $FAILED != "$failed" ] || fail "$prefix$(basename "$1") ended with status $status"
	[ "$status" -lt 124 ] || fail "$prefix$(basename "$1") ended with status $status"
}
