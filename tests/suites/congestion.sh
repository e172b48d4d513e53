#!/bin/bash
# The host's own queue is full, or its own firewall drops packets: packets are paced or sent again, no data is lost, and no
# loop spins. tests/verbs/data/heavy_load.c compares every byte.
# timeout: 330
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

pressed() { run_program "$1: " 200 "$PROGRAMS/data" heavy_load; }

# queue HOST TBF-OPTIONS...
queue() { must on "$1" tc qdisc replace dev eth0 root handle 8001: tbf "${@:2}"; }
no_queue() { must on "$1" tc qdisc delete dev eth0 root; }
# dropped HOST: packets that its queue has dropped
dropped() { on "$1" tc -s -j qdisc show dev eth0 root | grep -o '"drops":[0-9]*' | head -n 1 | cut -d: -f2; }

# moved DEVICE NAME BEFORE: by how much the counter has grown. The kernel caches values for 10 ms.
moved() { sleep 0.05; echo $(($(counter "$1" "$2") - $3)); }

pressed "no obstacle"

# Responses share a burst if none is longer than the one before it.
packets=$(counter $D2 tx_packets) bursts=$(counter $D2 tx_bursts)
run_program "no obstacle: " 60 "$PROGRAMS/data" read_list
packets=$(moved $D2 tx_packets "$packets") bursts=$(moved $D2 tx_bursts "$bursts")
diag "$packets responses in $bursts bursts"
ok "responses to several READs share a burst" test "$bursts" -lt $((packets / 2))

# One burst (64 packets) may leave, one may wait, and the next is refused: the sender is told, and pauses. Slow machines exceed
# this rate, too: the transfer takes a second. A machine that takes half a minute may not have filled the queue. At a much
# lower rate, packets would wait in the queue nearly as long as the timeout.
for host in h1 h2; do
	device=$D1
	[ $host = h1 ] || device=$D2
	queue $host rate 40mbit burst 72kb limit 72kb
	before=$(counter $device tx_local_drops)
	late=$(counter $D1 local_ack_timeout_err)
	began=$SECONDS
	pressed "queue of $host full"
	run_program "queue of $host full: " 60 "$PROGRAMS/data" read_list
	took=$((SECONDS - began))
	full=$(moved $device tx_local_drops "$before")
	if [ "$full" = 0 ] && [ $took -gt 30 ]; then
		skip "queue of $host full: packets are refused" "this machine is too slow for that"
	else
		ok "queue of $host full: packets are refused" test "$full" -gt 0
	fi
	ok "queue of $host full: nearly no timeouts" test "$(moved $D1 local_ack_timeout_err "$late")" -lt 5
	no_queue $host
done

# The queue is never empty, and holds whole bursts, like that of a NIC that segments them.
if [ "$(nproc)" -gt 1 ]; then
	queue h1 rate 200mbit burst 128kb limit 8mb
	run_program "queue of h1 never empty: " 120 "$PROGRAMS/data" duplex_order
	no_queue h1
else
	skip "queue of h1 never empty" "this takes two processors"
fi

# Queueing disciplines, transmit queues and RPS of the kernel choose a queue by the hash of the packet. Listed are the flows that
# have packets in the queue.
flows() { [ "$(on h1 tc class show dev eth0 | grep -c '^class fq_codel')" -ge "$1" ]; }
SENDS='ib_send_bw -e -F -u 18 -q 8 -s 65536 -n 100000000'
if queue h1 rate 20mbit burst 128kb limit 8mb && on h1 tc qdisc add dev eth0 parent 8001: handle 2: fq_codel 2>"$OUTPUT"; then
	ok "fq_codel: SENDs of eight QPs" endless "$SENDS"' -d $D2 -x $G2 -p $PORT' "$SENDS"' -d $D1 -x $G1 -p $PORT $IP2'
	ok "fq_codel: the QPs have queues of their own" wait_for 20 flows 5
	diag "$(on h1 tc class show dev eth0 | tr '\n' ' ')"
	stop "$CLIENT" "$SERVER"
else
	skip "fq_codel: the QPs have queues of their own" "the kernel does not have it"
fi
no_queue h1

# Bursts are segmented, the first packets of each fit, and the sender is not told.
queue h2 rate 100mbit burst 5kb limit 30kb
pressed "queue of h2 drops packets of a burst"
like "queue of h2 has dropped packets" "$(dropped h2)" '^[1-9]'
no_queue h2

# firewall HOST RULE...: a rule for the packets that leave HOST
firewall() {
	must on "$1" nft add table inet wall
	must on "$1" nft add chain inet wall out '{ type filter hook output priority 0; }'
	must on "$1" nft add rule inet wall out udp dport 4791 "${@:2}"
}
no_firewall() { must on "$1" nft delete table inet wall; }
# filtered HOST CHAIN: packets that the rule has counted
filtered() { on "$1" nft list chain inet wall "$2" | grep -o 'packets [0-9]*'; }

for host in h1 h2; do
	firewall $host numgen random mod 12 0 counter drop
	pressed "firewall of $host drops one in twelve"
	like "firewall of $host has dropped packets" "$(filtered $host out)" '^packets [1-9]'
	no_firewall $host
done

# Half of the bursts take a millisecond longer, because each chain of rules is run twice by the one before. A burst that
# another processor sends would overtake them, and UC loses packets that are overtaken.
slow() {
	local i
	echo 'add table inet wall'
	for i in $(seq 13); do echo "add chain inet wall slow$i"; done
	for i in $(seq 12); do echo "add rule inet wall slow$i jump slow$((i + 1))"; echo "add rule inet wall slow$i jump slow$((i + 1))"; done
	echo 'add rule inet wall slow13 counter meta length 1'
	echo 'add chain inet wall in { type filter hook prerouting priority -300; }'
	echo 'add rule inet wall in meta length > 1000 numgen random mod 2 0 jump slow1'
}
ok "firewall of h2 is slow" on h2 nft -f <(slow)
run_program "firewall of h2 is slow: " 200 "$PROGRAMS/data" order
like "firewall of h2 is slow: packets have taken its rules" "$(filtered h2 slow13)" '^packets [1-9]'
no_firewall h2

# No response leaves the host: the requester gives up, and the responder sends no more responses than were requested.
firewall h2 drop
before=$(counter $D2 tx_local_drops)
run_pair 'ib_read_bw -F -d $D2 -x $G2 -n 5 -s 100000 -u 10 -p $PORT' 'ib_read_bw -F -d $D1 -x $G1 -n 5 -s 100000 -u 10 -p $PORT $IP2'
like "firewall of h2 drops all: the client gives up" "$CLIENT_OUTPUT" 'Failed status 12'
drops=$(moved $D2 tx_local_drops "$before")
diag "$drops responses dropped"
ok "firewall of h2 drops all: some responses were dropped" test "$drops" -gt 0
ok "firewall of h2 drops all: no more than were requested" test "$drops" -lt 1000
no_firewall h2
pressed "no obstacle any more"
is "errors that h1 counted" "$(error_counters $D1)" ""
# A list of WRITEs of the program data has one beyond the region.
is "errors that h2 counted" "$(error_counters $D2)" "resp_remote_access_errors=1"
