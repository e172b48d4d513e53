#!/bin/bash
# Verbs of kernel users: the module of tests/kmod runs its tests when it is loaded, and writes TAP lines to the kernel log.
# timeout: 200
# lanes: vm uml debug
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

# The module that was built for this kernel
find_module() {
	local file
	for file in "$SROCE_TOP"/build/sroce_test.ko "$SROCE_TOP"/build/*/sroce_test.ko; do
		[ -e "$file" ] && [[ $(modinfo -F vermagic "$file") == "$(uname -r) "* ]] && MODULE=$file && return 0
	done
	return 1
}

# Lines since the mark, one by one
relay() {
	local line
	while read -r line; do
		case $line in
		"ok "*) pass "$1: ${line#*- }" ;;
		"not ok "*) fail "$1: ${line#*- }" ;;
		"1.."*) COMPLETE=yes ;;
		*) echo "$line" ;;
		esac
	done < <(dmesg | sed "1,/$2/d" | sed -n 's/^.*sroce_test: //p')
}

# run_module WHAT DEVICE,DEVICE GID,GID
run_module() {
	local mark="kernel.sh, $1, $RANDOM."
	echo "$mark" >/dev/kmsg
	COMPLETE=no
	ok "$1: the module loads" insmod "$MODULE" "devices=$2" "gids=$3"
	rmmod sroce_test
	relay "$1" "$mark"
	is "$1: all tests were run" $COMPLETE yes
}

# Allocations that may sleep can fail, too.
faults_ready() {
	local dir
	for dir in /sys/kernel/debug/failslab /sys/kernel/debug/fail_page_alloc; do
		[ -e $dir ] || continue
		echo N >$dir/ignore-gfp-wait
		echo 0 >$dir/verbose
	done
	[ ! -e /sys/kernel/debug/fail_page_alloc ] || echo 0 >/sys/kernel/debug/fail_page_alloc/min-order
}
faults_ready

find_module || { fail "there is a module for this kernel"; exit 1; }
ulp_hosts_up || { fail "two devices"; exit 1; }
run_module "over veth" $D1,$D2 "$G1,$G2"
# The last test has made the GIDs move.
new_gid() { G1=$(gid $D1 $IP1) && [ -n "$G1" ]; }
ok "the GID returns" wait_for 10 new_gid
run_module "one device" $D1,$D1 "$G1,$G1"
is "kicks counts the kicks of processes only" "$(counter $D1 kicks) $(counter $D2 kicks)" "0 0"
