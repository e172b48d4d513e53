#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A network card segments bursts and gives all packets the same IPv4 identification, or it loses bursts. The sender notices this,
# and sends single packets. The card is simulated by a bridge: one of its ports segments, and firewall rules change the
# identifications behind it.
# timeout: 300
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

#     h1: eth0 --- middle: p1, br0, p2 (segments) --- h2: eth0
middle() { ip netns exec middle "$@"; }
bridged_hosts_up() {
	local host
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2
	at_exit hosts_down
	at_exit ip netns delete middle
	ip netns add h1 && ip netns add h2 && ip netns add middle && ip -n middle link add br0 type bridge mcast_snooping 0 || return
	for host in 1 2; do
		ip link add eth0 netns h$host type veth peer name p$host netns middle &&
			ip -n middle link set p$host master br0 up && on h$host ip link set lo up && address h$host eth0 $host || return
	done
	ip -n middle link set br0 up && middle ethtool -K p1 tx-udp-segmentation off && middle ethtool -K p2 tx-udp-segmentation off &&
		on h1 rdma link add $D1 type sroce netdev eth0 && on h2 rdma link add $D2 type sroce netdev eth0 && gids
}

# The identification of a burst is that of its first packet. It is put into the DSCP, which the ICRC does not cover and
# segmentation copies. Behind that, a packet with another identification is not the first one.
# rules HOOK [MATCH]
rules() {
	local n
	echo "table ip card {"
	echo "	chain $1 {"
	echo "		type filter hook $1 priority 0;"
	for n in $(seq 0 63); do
		case $1 in
		output) echo "		$2 udp dport 4791 ip id & 63 == $n ip dscp set $n" ;;
		prerouting) echo "		$2 udp dport 4791 ip dscp $n ip id & 63 != $n ip id set 0" ;;
		esac
	done
	echo "	}"
	echo "}"
}
# spoil FROM TO [MATCH]: the card of host FROM, and only such packets
spoil() {
	rules output "${3-}" >"$OUTPUT.rules" && on "$1" nft -f "$OUTPUT.rules" &&
		rules prerouting "${3-}" >"$OUTPUT.rules" && on "$2" nft -f "$OUTPUT.rules"
}
at_exit rm -f "$OUTPUT.rules"
# The module tries bursts again after a change of features.
forget() { on h1 ethtool -K eth0 tx-udp-segmentation off && on h1 ethtool -K eth0 tx-udp-segmentation on; }
repair() { on h1 nft delete table ip card && on h2 nft delete table ip card; }

log() { dmesg | grep -c 'sroce: UDP segmentation offload '; }
noticed() { echo $(($(log) - LOGGED)); }
wrong() { counter $D2 rx_icrc_encapsulated; }
wrong_responses() { counter $D1 rx_icrc_encapsulated; }
LOGGED=$(log)

send() { pair_run "$1: SEND" 'ib_send_bw -F -d $D2 -x $G2 -s 32768 -n 100 -p $PORT' 'ib_send_bw -F -d $D1 -x $G1 -s 32768 -n 100 -p $PORT $IP2'; }
fetch() { pair_run "$1: READ" 'ib_read_bw -F -d $D2 -x $G2 -s 65536 -n 20 -p $PORT' 'ib_read_bw -F -d $D1 -x $G1 -s 65536 -n 20 -p $PORT $IP2'; }
write() { pair_run "$1: WRITE" 'ib_write_bw -F -d $D2 -x $G2 -s 65536 -n 50 -p $PORT' 'ib_write_bw -F -d $D1 -x $G1 -s 65536 -n 50 -p $PORT $IP2'; }
compare() {
	pair_run "$1: data both ways" 'ibv_rc_pingpong -d $D2 -g $G2 -s 32768 -n 10 -c -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -s 32768 -n 10 -c -p $PORT $IP2'
}

# count, then counted: the packets that host 1 has sent in between
sent_packets() { counter $D1 tx_packets; }
sent_bursts() { counter $D1 tx_bursts; }
count() { PACKETS=$(sent_packets) BURSTS=$(sent_bursts); }
counted() { PACKETS=$(($(sent_packets) - PACKETS)) BURSTS=$(($(sent_bursts) - BURSTS)); diag "$PACKETS packets in $BURSTS bursts"; }

bridged_hosts_up || { fail "two hosts and a bridge"; exit 1; }
count
send "a good card"
counted
ok "a good card: in bursts" test $PACKETS -gt $((4 * BURSTS))
is "a good card: no ICRC is wrong" "$(wrong)" 0

# Losses alone must not be taken as a sign of such a card.
if middle tc qdisc add dev p2 root netem loss 10% limit 100000 2>/dev/null; then
	send "a tenth is lost"
	write "a tenth is lost"
	middle tc qdisc add dev p1 root netem loss 10% limit 100000
	fetch "a tenth is lost"
	middle tc qdisc del dev p1 root
	middle tc qdisc del dev p2 root
fi
is "no card has been found to spoil bursts" "$(noticed)" 0

# noticed_after WHAT NUMBER COMMAND...: the command shows that a card spoils bursts; the log then has NUMBER lines
noticed_after() {
	local before
	before=$(($(wrong) + $(wrong_responses)))
	"${@:3}"
	ok "$1: it has spoiled some" test $(($(wrong) + $(wrong_responses))) -gt $((before + 8))
	is "$1: the log says so, once" "$(noticed)" "$2"
}

if ! spoil h1 h2 >"$OUTPUT" 2>&1; then
	skip "identifications are changed" "the firewall here cannot"
	exit 0
fi
noticed_after "a card that spoils bursts" 1 send "a card that spoils bursts"
ok "features change" forget
export D1 D2 G1 G2
noticed_after "READs and WRITEs of one QP" 2 run_program "a card that spoils bursts: " 60 "$PROGRAMS/data" in_turn
before=$(wrong)
count
write "from then on"
counted
is "from then on: single packets" $PACKETS $BURSTS

# Host 2 only answers READs. It notices its card by what is requested again.
ok "the other host's card does that, too" spoil h2 h1
noticed_after "the other host's card" 3 fetch "the other host's card"
before_responses=$(wrong_responses)
fetch "from then on"
is "from then on: no ICRC of a response is wrong" "$(wrong_responses)" "$before_responses"
compare "from then on"
count
pair_run "from then on: UC" 'ib_write_bw -F -c UC -d $D2 -x $G2 -s 65536 -n 20 -p $PORT' \
	'ib_write_bw -F -c UC -d $D1 -x $G1 -s 65536 -n 20 -p $PORT $IP2'
counted
is "from then on: UC: single packets" $PACKETS $BURSTS
is "from then on: no ICRC is wrong" "$(wrong)" "$before"
is "from then on: nothing more in the log" "$(noticed)" 3

ok "another card, or another driver" repair
ok "features change" forget
count
send "the offload was turned off and on"
counted
ok "the offload was turned off and on: in bursts" test $PACKETS -gt $((4 * BURSTS))

# A peer can pretend that bursts are spoiled, by what it requests again. That concerns packets to its address alone.
more_addresses() { for n in 12 13 14; do ip -n h2 addr add 10.0.0.$n/24 dev eth0 || return; done; }
# send_to N WHAT: to the address 10.0.0.N of host 2
send_to() {
	local G2
	G2=$(gid $D2 "10.0.0.$1")
	send "$2"
}
ok "host 2 has more addresses" more_addresses
ok "bursts to one address are spoiled" spoil h1 h2 "ip daddr $IP2"
noticed_after "one peer" 4 send "one peer"
like "one peer: the log says which" "$(dmesg | grep 'sroce: UDP segmentation offload ' | tail -n 1)" "single packets to $IP2\$"
count
send "one peer, from then on"
counted
is "one peer, from then on: single packets" $PACKETS $BURSTS
count
send_to 12 "another peer"
counted
ok "another peer: in bursts" test $PACKETS -gt $((4 * BURSTS))

ok "bursts to all addresses are spoiled" eval 'repair && spoil h1 h2'
noticed_after "a second peer" 5 send_to 12 "a second peer"
noticed_after "a third peer" 6 send_to 13 "a third peer"
count
send_to 14 "after three peers a fourth"
counted
is "after three peers a fourth: single packets" $PACKETS $BURSTS

# --- a card that loses bursts ---

# QEMU's igb is one: it takes them for something else. Only single packets arrive, from the first of a connection on.
# lose HOST: the card of that host
lose() { middle nft "table netdev card { chain in { type filter hook ingress device p$1 priority 0; meta length > 1500 drop; }; }"; }
found() { middle nft delete table netdev card; }
# over FAMILY COMMAND...: with addresses of that family
over() {
	[ "$1" = IPv4 ] || local G1=$G1_6 G2=$G2_6
	"${@:2}"
}
# found_after WHAT COMMAND...: the command shows that a card loses bursts, and the log says so
found_after() {
	local before
	before=$(noticed)
	"${@:2}" "$1"
	is "$1: the log says so, once" "$(noticed)" $((before + 1))
}
ok "bursts are good again" eval 'repair && forget'
if lose 1 >"$OUTPUT" 2>&1; then
	for family in IPv4 IPv6; do
		found_after "a card that loses bursts, $family" over $family write
		count
		over $family write "from then on, $family"
		counted
		is "from then on, $family: single packets" $PACKETS $BURSTS
	done
	found
	ok "the other host's card does that" lose 2
	ok "it is another card" eval 'on h2 ethtool -K eth0 tx-udp-segmentation off && on h2 ethtool -K eth0 tx-udp-segmentation on'
	for family in IPv4 IPv6; do
		found_after "the other host's card loses bursts, $family" over $family fetch
		over $family fetch "from then on, $family"
	done
	found
else
	skip "bursts are lost" "the firewall here cannot"
fi
