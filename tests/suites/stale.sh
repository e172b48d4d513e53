#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Memory contains no data of others, on a kernel that does not clear memory by itself and fills freed memory with a pattern. On
# other kernels, memory that the driver forgets to clear is zero all the same.
# guest: --append init_on_alloc=0 --append page_poison=1 --append slub_debug=P
# timeout: 120
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

initial() { dmesg | grep "mem auto-init:"; }
like "pages are not cleared, but poisoned" "$(initial)" "heap alloc:off"
initial | sed 's/^/# /'

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 100 "$PROGRAMS/robust" info_leak

# On the wire: pads of odd messages, ACKs, datagrams of management and of UD. None of these programs sends a run of such bytes.
FILE=/out/stale.pcap
rm -f "$FILE"
(exec_on h2 dumpcap -q -P -B 64 -i eth0 -w "$FILE") >"$OUTPUT.dumpcap" 2>&1 </dev/null &
CAPTURE=$!
at_exit rm -f "$OUTPUT.dumpcap"
ok "packets are captured" wait_for 20 test -s "$FILE"
for kind in rc uc ud; do
	pair_run "odd messages of $kind" "ibv_${kind}_pingpong -d \$D2 -g \$G2 -p \$PORT -s 1001 -n 50" \
		"ibv_${kind}_pingpong -d \$D1 -g \$G1 -p \$PORT -s 1001 -n 50 \$IP2"
done
pair_run "rping" 'rping -s -a $IP2 -p $PORT -C 5' 'rping -c -a $IP2 -p $PORT -C 5'
settled() {
	local size
	size=$(stat -c %s "$FILE")
	sleep 1
	[ "$size" = "$(stat -c %s "$FILE")" ]
}
wait_for 20 settled
kill -INT $CAPTURE
wait $CAPTURE
# stale: how many runs of a pattern are in the file
stale() { LC_ALL=C grep -aoP '\xaa{4,}|\x6b{4,}|\x5a{4,}' "$FILE" | wc -l; }
packets=$(tshark -n -r "$FILE" -Y 'udp.dstport == 4791' 2>/dev/null | wc -l)
diag "$packets packets"
ok "hundreds of packets were captured" test "$packets" -gt 300
is "no packet contains stale memory" "$(stale)" 0
