#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Numbers and keys cannot be guessed, and memory contains no data of others: tests/verbs/robust/info_leak.c. The program that
# connects QPs chooses the PSNs; those of rdma_cm are taken from its requests and replies.
# timeout: 180
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 100 "$PROGRAMS/robust" info_leak

FILE=/out/secrets.pcap
at_exit rm -f "$OUTPUT.psns"
rm -f "$FILE"
(exec_on h2 dumpcap -q -P -i eth0 -f 'udp port 4791' -w "$FILE") >/dev/null 2>&1 </dev/null &
CAPTURE=$!
ok "packets are captured" wait_for 20 test -s "$FILE"
for round in 1 2 3; do
	pair_run "100 connections of rdma_cm ($round)" 'ucmatose -p $PORT -c 100 -C 1' 'ucmatose -p $PORT -c 100 -C 1 -s $IP2' 60
done
sleep 1
kill -INT $CAPTURE
wait $CAPTURE
# Each once: a request is repeated if its answer is late.
tshark -n -r "$FILE" -Y 'infiniband.cm.req or infiniband.cm.rep' -T fields -e infiniband.mad.transactionid \
	-e infiniband.cm.req.startpsn -e infiniband.cm.rep.startpsn 2>/dev/null | awk '!seen[$0]++ { print $2 }' >"$OUTPUT.psns"
run_program "PSNs of 300 connections: " 20 "$PROGRAMS/robust" info_leak psns "$OUTPUT.psns"
