# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# For the suites that run the cases of this folder; they have read suites/lib.sh before, and export what run wants.
# shellcheck shell=bash

# cases PREFIX ARGUMENT...: calls run with the arguments; its lines become lines of the suite, with the prefix
cases() {
	local prefix=$1 line before=$TESTS
	shift
	while IFS= read -r line; do
		case $line in
		"ok - "*) pass "$prefix${line#ok - }" ;;
		"not ok - "*) fail "$prefix${line#not ok - }" ;;
		"status "[01]) ;;
		"status "*) fail "the cases ran to the end: $line" ;;
		"#"*) echo "$line" ;;
		*) echo "# $line" ;;
		esac
	done < <(limited 300 "$(dirname "${BASH_SOURCE[0]}")/run" "$@" 2>&1; echo "status $?")
	[ "$TESTS" -gt "$before" ] || fail "the cases ran"
}
