#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Every allocation of every verb fails once, and some allocations of the data path: tests/verbs/robust/exhaust.c.
# SEED and PLACES select the allocations of "rdma link add" that fail, and their number; 0: each of the first ones, which the
# driver makes.
# timeout: 260
# The kernel itself warns if vmap() has no memory for a dma-buf.
# dmesg-allow: dma_buf_vmap
# lanes: uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
[ -e /sys/kernel/debug/failslab ] || skip_all "this kernel has no fault injection"

kilobytes() { awk '$1 ~ /^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }
before=$(rdma resource show)
run_program "" 1000 "$PROGRAMS/robust" exhaust
start=$(kilobytes)
run_program "again: " 1000 "$PROGRAMS/robust" exhaust
is "all resources are given back" "$(rdma resource show)" "$before"
grown=$(($(kilobytes) - start))
diag "$grown KiB more"
ok "memory is given back" test $grown -lt 8192
is "the module is not in use" "$(cat /sys/module/sroce/refcnt)" 0
