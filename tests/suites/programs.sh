#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Programs of others, and kernel services that programs use: each is a file in tests/programs, sourced here, and runs between two
# hosts. PROGRAMS="fio smc" in the environment runs these alone.
# timeout: 300
# lanes: vm debug
. "$(dirname "$0")/lib.sh"

HERE=$(realpath "$(dirname "$0")/../programs")
export HERE

# there COMMAND...: or skips
there() {
	local command
	for command; do
		command -v "$command" >/dev/null || { skip "$command" "it is not installed"; return 1; }
	done
}

# loaded MODULE...: or skips
loaded() {
	local module
	for module; do
		modprobe -q "$module" || { skip "$module" "the kernel does not have it"; return 1; }
		at_exit modprobe -qr "$module"
	done
}

received() { counter $D2 rx_bytes; }

hosts_up 9000 || { fail "two hosts"; exit 1; }
ip link set lo up
for program in ${PROGRAMS:-$(cd "$HERE" && echo *.sh)}; do
	# shellcheck disable=SC1090
	. "$HERE/${program%.sh}.sh"
done
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
