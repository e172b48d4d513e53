#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# FLUSH to persistent memory: a part of the guest's memory that its kernel treats as such.
# Only kernels from 6.2 on register regions with that right.
# guest: --append memmap=64M!1G
# timeout: 120
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

BUS=/sys/bus/nd

# The kernel's own driver takes the namespace as a block device first.
make_dax() {
	local seed=$BUS/devices/region0/dax0.0
	echo namespace0.0 >$BUS/drivers/nd_pmem/unbind
	echo 2097152 >$seed/align && uuid >$seed/uuid && echo ram >$seed/mode && echo namespace0.0 >$seed/namespace &&
		echo dax0.0 >$BUS/drivers/dax_pmem/bind
}
uuid() { cat /proc/sys/kernel/random/uuid; }

printf '6.2\n%s\n' "$(uname -r)" | sort -VC || { skip "persistent memory" "this kernel has no such access right"; exit 0; }
loaded nd_e820 nd_pmem dax_pmem device_dax || exit 0
hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
ok "a device of persistent memory" make_dax
ok "... appears" wait_for 10 test -c /dev/dax0.0
export PMEM=/dev/dax0.0
count_calls arch_wb_cache_pmem || { fail "calls are counted"; exit 1; }
run_program "" 60 "$PROGRAMS/abi" flush
is "a FLUSH for visibility writes nothing back" "$(calls)" 0
BEFORE=$(counter $D2 rx_paged_out)
run_program "" 60 "$PROGRAMS/abi" pmem
# Three regions of 34 MiB, 64 KiB at a time
ok "cache lines are written back" test "$(calls)" -ge 1632
ok "... while the peer waits" test "$(counter $D2 rx_paged_out)" -gt "$BEFORE"
