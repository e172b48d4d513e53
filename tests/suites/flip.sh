#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A process changes packets while they are in the stack (tests/verbs/robust/flip.c). Only these packets are lost, and rdma_cm
# continues.
# timeout: 180
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

[ "$(nproc)" -ge 2 ] || skip_all "it takes two processors"
hosts_up || { fail "two hosts"; exit 1; }
export ATTACKER=$IP1 TARGET=$IP2
on h1 "$PROGRAMS/robust" flip shared || skip_all "this kernel copies what is spliced into a UDP socket"

before=$(counter $D2 rx_packets)
run_program "" 60 ip netns exec h1 "$PROGRAMS/robust" flip "${FLIP_SECONDS:-10}"
sleep 0.1
ok "packets arrived at QP 1" test $(($(counter $D2 rx_packets) - before)) -gt 100
# The ICRC, and then the headers, of such a packet have been read at different moments.
changed=$(counter $D2 rx_icrc_encapsulated)
diag "$changed with a wrong ICRC, $(counter $D2 rx_malformed) malformed"
ok "some packets changed while they were checked" test "$changed" -gt 0
is "no packet that changed caused an error" "$(counter $D2 resp_cqe_error)" 0
pair_run "rdma_cm still connects" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3'
