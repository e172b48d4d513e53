#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Received packets get the route of earlier ones, and the socket (net/rx_route.c). Changes at the receiving host apply to the
# next packet all the same: firewall, policy rules, routes, rp_filter, addresses, tc and captures.
# timeout: 300
. "$(dirname "$0")/lib.sh"

TRACING=/sys/kernel/tracing
LOOKUP=$TRACING/events/fib/fib_table_lookup
OTHER=10.0.0.3

ok "two hosts" hosts_up 1500 || exit 1
at_exit stop_traffic
stop_traffic() { stop $CLIENT $SERVER; }
traffic() {
	endless 'ib_write_bw -F -u 20 -d $D2 -x $G2 -n 100000000 -s 64 -p $PORT' \
		'ib_write_bw -F -u 20 -d $D1 -x $G1 -n 100000000 -s 64 -p $PORT $IP2'
}

received() { counter $D2 rx_bursts; }
more_than() { [ "$(received)" -gt "$1" ]; }
# arrives: do packets arrive?
arrives() { wait_for 20 more_than $(($(received) + 20)); }
# silent: does nothing arrive?
silent() {
	local before
	sleep 0.3
	before=$(received)
	sleep 0.7
	[ "$(received)" = "$before" ]
}

# stops WHAT CHANGE UNDO: commands for host 2. The change stops packets whose route is known, which have arrived until then.
stops() {
	ok "$1: it is made" on h2 bash -c "$2"
	ok "$1: no packet arrives" silent
	ok "$1: it is undone" on h2 bash -c "$3"
	ok "$1: packets arrive again" arrives
}

# filter CHAIN RULE: a command
filter() {
	echo "nft add table ip f && nft add chain ip f c '{ type filter hook $1 priority 0; }' && nft add rule ip f c udp dport 4791 $2"
}
unfilter="nft delete table ip f"

socket_lookups() { awk '$1 == "socket" { print $2 }' $TRACING/kprobe_profile; }
# count_lookups: sets LOOKUPS, SOCKETS and BURSTS to the number of lookups of routes and of sockets, and of received bursts, in
# some time
count_lookups() {
	local before sockets
	echo "hist:keys=common_type" >$LOOKUP/trigger
	sockets=$(socket_lookups)
	before=$(received)
	wait_for 20 more_than $((before + 1000))
	BURSTS=$(($(received) - before))
	SOCKETS=$(($(socket_lookups) - sockets))
	LOOKUPS=$(awk '/Hits:/ { print $2 }' $LOOKUP/hist)
	echo "!hist:keys=common_type" >$LOOKUP/trigger
	diag "$BURSTS bursts received, ${LOOKUPS:=0} lookups of routes, $SOCKETS of sockets"
	[ "$BURSTS" -gt 1000 ]
}
probe_sockets() {
	echo "p:sroce_test/socket __udp4_lib_lookup" >>$TRACING/kprobe_events &&
		echo 1 >$TRACING/events/sroce_test/socket/enable
}
unprobe_sockets() {
	echo 0 >$TRACING/events/sroce_test/socket/enable
	echo -:sroce_test/socket >>$TRACING/kprobe_events
}
# datagram_elsewhere: to another address of host 2, whose route UDP would store in the socket instead
datagram_elsewhere() {
	on h2 ip address add "$OTHER/24" dev eth0 && on h1 bash -c "echo >/dev/udp/$OTHER/4791"
}
early_demux() { on h2 sysctl -qw "net.ipv4.ip_early_demux=$1"; }
lookups() {
	[ -e $LOOKUP ] || mount -t tracefs none $TRACING 2>/dev/null
	if ! grep -q hist $LOOKUP/trigger 2>/dev/null; then
		skip "lookups are few" "no histograms of tracepoints"
		return
	fi
	ok "lookups of sockets are counted" probe_sockets
	ok "packets arrive" count_lookups
	ok "lookups of routes are few" test "$LOOKUPS" -lt $((BURSTS / 4))
	ok "lookups of sockets are few" test "$SOCKETS" -lt $((BURSTS / 4))
	ok "a datagram to another address" datagram_elsewhere
	ok "packets to the first one arrive" count_lookups
	ok "lookups of sockets are still few" test "$SOCKETS" -lt $((BURSTS / 4))
	on h2 ip address delete "$OTHER/24" dev eth0
	ok "packets arrive without early demux" eval "early_demux 0 && count_lookups"
	ok "without early demux there is a lookup of the route for each" test "$LOOKUPS" -ge "$BURSTS"
	ok "without early demux there is a lookup of the socket for each" test "$SOCKETS" -ge "$BURSTS"
	early_demux 1
	unprobe_sockets
}

ok "traffic" traffic
ok "packets arrive" arrives
lookups
# The first rule finds local addresses.
ok "rules can come first" on h2 bash -c "ip rule add prio 100 lookup local && ip rule delete prio 0 lookup local"
stops "a firewall rule before routing" "$(filter prerouting drop)" "$unfilter"
stops "a firewall rule of this host" "$(filter input drop)" "$unfilter"
stops "a policy rule for the peer" "ip rule add from $IP1 prio 10 blackhole" "ip rule delete prio 10"
stops "a policy rule for marked packets" "ip rule add fwmark 7 prio 10 blackhole && $(filter prerouting 'meta mark set 7')" \
	"$unfilter && ip rule delete prio 10"
# Behind routing, the firewall may give a mark to all packets. The route is that of packets without one.
ok "the firewall of this host marks packets" on h2 bash -c "$(filter input 'meta mark set 7') && ip rule add fwmark 7 prio 10 blackhole"
ok "packets arrive" arrives
few_lookups() { [ ! -e $LOOKUP/hist ] || { count_lookups && [ "$LOOKUPS" -lt $((BURSTS / 4)) ]; }; }
ok "lookups of routes are still few" few_lookups
stops "before routing, it marks packets for a policy rule" "nft add chain ip f pre '{ type filter hook prerouting priority 0; }' &&
	nft add rule ip f pre udp dport 4791 meta mark set 7" "nft delete chain ip f pre"
on h2 bash -c "$unfilter && ip rule delete prio 10"
stops "a policy rule for the port" "ip rule add ipproto udp dport 4791 prio 10 blackhole" \
	"ip rule delete prio 10"
stops "the route of the address" "ip route delete local $IP2 table local" "ip route add local $IP2 dev eth0 table local"
stops "a tc filter" "tc qdisc add dev eth0 clsact && tc filter add dev eth0 ingress matchall action drop" \
	"tc qdisc delete dev eth0 clsact"

# Responses do not find the way back then, but requests are repeated and arrive.
astray() {
	on h2 bash -c "echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter; echo 0 >/proc/sys/net/ipv4/conf/eth0/rp_filter
		ip link add other type dummy && ip link set other up && ip route add $IP1/32 dev other"
}
ok "the way back leads elsewhere" astray
ok "packets arrive" arrives
stops "rp_filter" "echo 1 >/proc/sys/net/ipv4/conf/eth0/rp_filter" "echo 0 >/proc/sys/net/ipv4/conf/eth0/rp_filter"
ok "the way back is right again" on h2 ip link delete other

ok "the address goes" on h2 ip address delete "$IP2/24" dev eth0
ok "no packet arrives" silent

# After PRE_ROUTING, an ipvlan in mode L3S takes packets of its master to another namespace. No packet to h2 has been received
# since its addresses changed, so its socket has no route.
stop_traffic
inner() {
	ip netns add inner && at_exit ip netns delete inner && on h2 ip link add ipv0 link eth0 netns inner type ipvlan mode l3s &&
		on h2 ip address add "$IP2/24" dev eth0 && on h1 ip route add "$INNER" via "$IP2" && ip -n inner link set lo up &&
		ip -n inner address add "$INNER/32" dev ipv0 && ip -n inner link set ipv0 up && ip -n inner route add default dev ipv0 &&
		on inner rdma link add sroce3 type sroce netdev ipv0
}
INNER=10.0.9.2
ok "a namespace with an ipvlan in mode L3S" inner
HOST2=inner D2=sroce3 IP2=$INNER G2=$(gid sroce3 $INNER) G1=$(gid $D1 $IP1)
pair_run "it receives its packets" 'ib_write_bw -F -d $D2 -x $G2 -s 64 -n 5000 -p $PORT' \
	'ib_write_bw -F -d $D1 -x $G1 -s 64 -n 5000 -p $PORT $IP2'
is "no packet had a wrong address" "$(counter sroce3 rx_bad_address)" 0
