#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets between sroce and rxe, checked by other programs: tshark decodes all of them without complaints, and a second
# implementation of the format checks the lengths, PSN and ICRC of each. The captures stay in build/vm-out.
# timeout: 300
. "$(dirname "$0")/lib.sh"

HERE=$(dirname "$0")
BOTH=$SROCE_PROGRAMS/interop/both
CHECK=$HERE/../wire/check-capture
MTU=1024
CAPTURES=()

# The protocols that tshark finds in random payload
GUESSES=(--disable-heuristic eth_over_ib --disable-heuristic mellanox_eoib --disable-heuristic smb_direct_infiniband
	--disable-heuristic iser_infiniband --disable-protocol rpcordma --disable-protocol smc --disable-protocol fcoib
	--disable-protocol lnet --disable-protocol nvme-rdma --disable-protocol infiniband_sdp)

file_of() { echo "/out/capture-$1.pcap"; }

# capture HOST NETDEV: in the background
capture() {
	local file
	file=$(file_of "$2")
	rm -f "$file"
	(exec_on "$1" dumpcap -q -P -B 64 -i "$2" -w "$file") >"$OUTPUT.$2" 2>&1 </dev/null &
	CAPTURES+=("$!:$2")
	wait_for 20 test -s "$file"
}

# settled FILE: waits until nothing more is written to it
settled() {
	local size
	size=$(stat -c %s "$1")
	sleep 1
	[ "$size" = "$(stat -c %s "$1")" ]
}

captures_end() {
	local entry pid netdev
	for entry in "${CAPTURES[@]}"; do
		IFS=: read -r pid netdev <<<"$entry"
		wait_for 20 settled "$(file_of "$netdev")"
		kill -INT "$pid"
		wait "$pid"
		like "nothing was dropped from the capture on $netdev" "$(<"$OUTPUT.$netdev")" "dropped on interface '[^']*': [0-9]+/0 "
		rm -f "$OUTPUT.$netdev"
	done
}

traffic() {
	limited 60 "$BOTH" $D1 $G1 $D2 $G2 $MTU all 5000 && limited 60 "$BOTH" $D1 $G1_6 $D2 $G2_6 $MTU all 2100
}

# Zero is no checksum, in RoCEv2 over IPv6, too.
decode() {
	tshark -n -r "$1" -o udp.ignore_ipv6_zero_checksum:TRUE "${GUESSES[@]}" -Y 'udp.dstport == 4791' -T fields -E separator=, \
		-e infiniband.bth.opcode -e _ws.malformed -e _ws.expert.message 2>/dev/null
}

# check_decoded NETDEV: a line for each packet: opcode, and two columns that have to be empty
check_decoded() {
	decode "$(file_of "$1")" >"$OUTPUT.decoded"
	is "tshark: reads the capture on $1 to the end" $? 0
	like "tshark: there are packets on $1" "$(wc -l <"$OUTPUT.decoded")" '^[0-9]{4}'
	is "tshark: all are RoCEv2, without a complaint, on $1" "$(grep -vE '^[0-9]+,,$' "$OUTPUT.decoded" | sort | uniq -c | head -n 10)" ""
	rm -f "$OUTPUT.decoded"
}

# check_bytes NETDEV sent|received: checks the packets that sroce sent; the lines of the program become lines of this suite
check_bytes() { relay "" ", on $1" 120 "$CHECK" "$(file_of "$1")" "$2" $MTU $IP2 $IP2_6; }

make -s O="$SROCE_PROGRAMS" -C "$HERE/../interop" >/dev/null || { fail "builds: make -C tests/interop"; exit; }
rxe_up 9000 || { fail "rxe and sroce, joined"; exit; }
# veth forwards bursts unsplit. Here they are split before they are captured, as on a cable.
on h2 ethtool -K eth0 tx-gso-list off tx-udp-segmentation off

ok "capturing on rxe's end" capture h1 rxe1e
ok "capturing on sroce's end" capture h2 eth0
ok "traffic of all kinds" traffic
pair_run "connecting with rdma_cm" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3'
captures_end
check_bytes rxe1e received
check_decoded rxe1e
check_bytes eth0 sent
check_decoded eth0
