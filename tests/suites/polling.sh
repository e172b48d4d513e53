#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Programs that poll memory, on a processor whose memcpy() copies from back to front (it has no fast string instructions):
# there a reader on the other processor can see stores out of order.
# guest: --append clearcpuid=erms,fsrm,rep_good
# timeout: 200
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

fast() { grep -m 1 ^flags /proc/cpuinfo | grep -oE ' (erms|fsrm|rep_good)( |$)'; }
is "the processor has no fast string operations" "$(fast)" ""

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 100 "$PROGRAMS/data" polling
D2=$D1 G2=$G1 run_program "one device: " 100 "$PROGRAMS/data" polling
