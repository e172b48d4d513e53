#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Third-party programs, and kernel services that programs use. Each is a file in tests/programs, which is sourced here, and runs
# between two hosts. PROGRAMS="fio smc" runs only these.
# timeout: 300
. "$(dirname "$0")/lib.sh"

HERE=$(realpath "$(dirname "$0")/../programs")
export HERE

received() { counter $D2 rx_bytes; }

hosts_up 9000 || { fail "two hosts"; exit 1; }
ip link set lo up
for program in ${PROGRAMS:-$(cd "$HERE" && echo *.sh)}; do
	# shellcheck disable=SC1090
	. "$HERE/${program%.sh}.sh"
done
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
