#!/bin/bash
# A host whose own queue is full, or whose own firewall drops: what it sends is paced or sent again, nothing is lost for good,
# nothing spins. In tests/verbs/data/heavy_load.c every byte is compared.
# timeout: 300
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

pressed() { run_program "$1: " 200 "$PROGRAMS/data" heavy_load; }

# queue HOST TBF-OPTIONS...
queue() { on "$1" tc qdisc replace dev eth0 root tbf "${@:2}"; }
no_queue() { on "$1" tc qdisc delete dev eth0 root; }

# moved DEVICE NAME BEFORE: by how much. The kernel remembers values for 10 ms.
moved() { sleep 0.05; echo $(($(counter "$1" "$2") - $3)); }

pressed "nothing in the way"

# One burst (64 packets) may go, one may wait, the next is refused: the sender learns of it and pauses. The rate is one that
# slow machines exceed, too: the transfer takes a second. A machine that takes half a minute may not have filled the queue; at a
# much lower rate it would wait in the queue for so long that timeouts are near.
for host in h1 h2; do
	device=$D1
	[ $host = h1 ] || device=$D2
	queue $host rate 40mbit burst 72kb limit 72kb
	before=$(counter $device tx_local_drops)
	late=$(counter $D1 local_ack_timeout_err)
	began=$SECONDS
	pressed "queue of $host full"
	took=$((SECONDS - began))
	full=$(moved $device tx_local_drops "$before")
	if [ "$full" = 0 ] && [ $took -gt 30 ]; then
		skip "queue of $host full: it was" "this machine is too slow for that"
	else
		ok "queue of $host full: it was" test "$full" -gt 0
	fi
	ok "queue of $host full: nobody noticed by a timeout" test "$(moved $D1 local_ack_timeout_err "$late")" -lt 5
	no_queue $host
done

# It is never empty, and holds bursts as they are, like a NIC that segments them.
if [ "$(nproc)" -gt 1 ]; then
	queue h1 rate 200mbit burst 128kb limit 8mb
	run_program "queue of h1 never empty: " 120 "$PROGRAMS/data" duplex_order
	no_queue h1
else
	skip "queue of h1 never empty" "this takes two processors"
fi

# Bursts are cut, of each the first packets fit, and nobody is told.
queue h2 rate 100mbit burst 5kb limit 30kb
pressed "queue of h2 drops packets of a burst"
no_queue h2

# firewall HOST RULE...: on what leaves it
firewall() {
	on "$1" nft add table inet wall
	on "$1" nft add chain inet wall out '{ type filter hook output priority 0; }'
	on "$1" nft add rule inet wall out udp dport 4791 "${@:2}"
}
no_firewall() { on "$1" nft delete table inet wall; }

for host in h1 h2; do
	firewall $host numgen random mod 12 0 drop
	pressed "firewall of $host drops one in twelve"
	no_firewall $host
done

# Half of the bursts take a millisecond longer, in a chain of rules that doubles itself: one that another processor sends
# would overtake, and to UC what is overtaken is lost.
slow() {
	local i
	echo 'add table inet wall'
	for i in $(seq 13); do echo "add chain inet wall slow$i"; done
	for i in $(seq 12); do echo "add rule inet wall slow$i jump slow$((i + 1))"; echo "add rule inet wall slow$i jump slow$((i + 1))"; done
	echo 'add rule inet wall slow13 meta length 1'
	echo 'add chain inet wall in { type filter hook prerouting priority -300; }'
	echo 'add rule inet wall in meta length > 1000 numgen random mod 2 0 jump slow1'
}
ok "firewall of h2 is slow" on h2 nft -f <(slow)
run_program "firewall of h2 is slow: " 200 "$PROGRAMS/data" order
no_firewall h2

# The answers never leave: the asking side gives up, and the answering one makes no more of it than it is asked.
firewall h2 drop
before=$(counter $D2 tx_local_drops)
run_pair 'ib_read_bw -F -d $D2 -x $G2 -n 5 -s 100000 -u 10 -p $PORT' 'ib_read_bw -F -d $D1 -x $G1 -n 5 -s 100000 -u 10 -p $PORT $IP2'
like "firewall of h2 drops all: the client gives up" "$CLIENT_OUTPUT" 'Failed status 12'
drops=$(moved $D2 tx_local_drops "$before")
diag "$drops answers dropped"
ok "firewall of h2 drops all: some answers were dropped" test "$drops" -gt 0
ok "firewall of h2 drops all: not more than asked for" test "$drops" -lt 1000
no_firewall h2
pressed "nothing in the way any more"
is "errors that h1 counted" "$(error_counters $D1)" ""
# A list of WRITEs of the program data has one beyond the region.
is "errors that h2 counted" "$(error_counters $D2)" "resp_remote_access_errors=1"
