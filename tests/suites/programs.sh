#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Third-party programs, and kernel services that programs use. Each is a file in tests/programs, which is sourced here, and runs
# between two hosts. PROGRAMS="fio smc" runs only these.
# timeout: 300
. "$(dirname "$0")/lib.sh"

HERE=$(realpath "$(dirname "$0")/../programs")
export HERE

received() { counter $D2 rx_bytes; }

# count_errors PROGRAM DEVICE: no counter of errors has changed since the last call. A machine that QEMU migrates goes on running, so it
# may change a page while it is sent: the receiver drops such a packet.
count_errors() {
	local before=${ERRORS[$2]-} changed
	ERRORS[$2]=$(error_counters "$2")
	changed=$(grep -vxF -e "$before" <<<"${ERRORS[$2]}")
	[ "$1" != migration ] || changed=$(grep -v ^rx_icrc_encapsulated= <<<"$changed")
	is "$1: no errors counted by $2" "$changed" ""
}

declare -A ERRORS=()
hosts_up 9000 || { fail "two hosts"; exit 1; }
ip link set lo up
for program in ${PROGRAMS:-$(cd "$HERE" && echo *.sh)}; do
	program=${program%.sh}
	# shellcheck disable=SC1090
	. "$HERE/$program.sh"
	for device in $D1 $D2; do count_errors "$program" "$device"; done
done
