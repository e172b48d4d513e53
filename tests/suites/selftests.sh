#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The kernel's RDMA selftests, which "make check-selftests" has put into build/selftests with rxe replaced by sroce.
# timeout: 600
. "$(dirname "$0")/lib.sh"

FOLDER=$SROCE_TOP/build/selftests/rdma
[ -d "$FOLDER" ] || skip_all "make check-selftests brings them"

# They load and remove the module themselves.
modprobe -r sroce
at_exit modprobe sroce
at_exit rdma system set netns shared

# The same as kselftest's runner does, with its status for tests that cannot run here
one() {
	local status=0
	(cd "$FOLDER" && limited 60 bash "./$1") >"$OUTPUT" 2>&1 </dev/null || status=$?
	case $status in
	0) pass "$1" ;;
	4) skip "$1" "$(tail -n 1 "$OUTPUT")" ;;
	*)
		fail "$1"
		diag "status $status"
		show_output
		;;
	esac
}

for program in "$FOLDER"/*.sh; do one "${program##*/}"; done
