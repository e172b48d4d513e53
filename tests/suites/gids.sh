#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Connections survive or end as they should when their address, or the netdev's MTU, MAC address or link changes: on veth,
# then on a bridge, a bond and VLANs.
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

# Timeouts of the sender's QP, 2^TIMEOUT * 4 us each, before it gives up.
write_until() {
	wait_for 10 ports_active || return
	export TIMEOUT=$1 GA=${2:-$G1} GB=${3:-$G2}
	endless 'ib_send_bw -F -e -d $D2 -x $GB -n 100000000 -s 4096 -p $PORT' \
		'ib_send_bw -F -e -d $D1 -x $GA -n 100000000 -s 4096 -u $TIMEOUT -p $PORT $IP2'
}
# The kernel reports a change of the carrier of a bridge or a bond up to a second late.
ports_active() { grep -q ACTIVE "/sys/class/infiniband/$D1/ports/1/state" && grep -q ACTIVE "/sys/class/infiniband/$D2/ports/1/state"; }
patient() { write_until 19 "$@"; }
impatient() { write_until 14 "$@"; }
stop_both() { stop $CLIENT $SERVER; }

goes_on() {
	local packets
	packets=$(counter $D1 rx_acks)
	wait_for 60 more_acks "$packets"
}
more_acks() { kill -0 $CLIENT && [ "$(counter $D1 rx_acks)" -gt $(($1 + 20)) ]; }
waits() { [ "$(counter $D1 local_ack_timeout_err)" -gt "$1" ]; }
# Only the first of the table's 1024 entries are used here, and reading all of them is slow.
find_gid() {
	local index gid
	for index in {0..9}; do
		read -r gid 2>/dev/null <"/sys/class/infiniband/$1/ports/1/gids/$index" && [ "$gid" = "$2" ] && echo "$index" && return 0
	done
	return 1
}
index_is() { [ "$(find_gid "$1" "$(gid_text "$2")")" = "$3" ]; }
has_gid() { find_gid "$1" "$(gid_text "$2")"; }
no_gid() { ! has_gid "$@"; }
saw() { grep -q "$1" "$OUTPUT.watch"; }
at_exit rm -f "$OUTPUT.watch"

NETDEV=eth0
hosts_up 1500 || { fail "two hosts"; exit 1; }
on h1 ip addr add 10.0.1.1/24 dev eth0
on h2 ip addr add 10.0.1.2/24 dev eth0
IP1=10.0.1.1 IP2=10.0.1.2
ok "both hosts have a second address" gids
(exec_on h1 stdbuf -oL ibv_asyncwatch -d $D1) >"$OUTPUT.watch" 2>&1 &
watch=$!
watching() { grep -q 'async event FD' "$OUTPUT.watch"; }
ok "a program waits for events" wait_for 20 watching

# away_and_back WHAT: removes the device's address for longer than a timeout, then adds it again
away_and_back() {
	local timeouts
	ok "$1: traffic" patient
	on h1 ip addr del 10.0.1.1/24 dev "$NETDEV"
	ok "$1: the GID is removed" wait_for 10 no_gid $D1 $IP1
	timeouts=$(counter $D1 local_ack_timeout_err)
	ok "$1: the connection waits" wait_for 60 waits "$timeouts"
	on h1 ip addr add 10.0.1.1/24 dev "$NETDEV"
	ok "$1: the GID is added again" wait_for 10 has_gid $D1 $IP1
	ok "$1: the connection goes on" goes_on
	stop_both
	gids
}

away_and_back "address removed and added again"
ok "the program gets IBV_EVENT_GID_CHANGE" wait_for 10 saw GID_CHANGE

ok "traffic" impatient
on h1 ip addr del 10.0.1.1/24 dev eth0
fails "address removed for good: the sender" $CLIENT "$OUTPUT.client" 'Completion with error|Failed status|status 12'
stop $SERVER
on h1 ip addr add 10.0.1.1/24 dev eth0
gids

ok "traffic" impatient
on h2 ip addr del 10.0.1.2/24 dev eth0
fails "the peer's address removed: the sender" $CLIENT "$OUTPUT.client" 'Completion with error|Failed status|status 12'
stop $SERVER
on h2 ip addr add 10.0.1.2/24 dev eth0
gids

ok "traffic" impatient
on h1 ip addr del 10.0.1.1/24 dev eth0
on h1 ip addr add 10.0.1.3/24 dev eth0
fails "another address in its place: the sender" $CLIENT "$OUTPUT.client" 'Completion with error|Failed status|status 12'
stop $SERVER
on h1 ip addr del 10.0.1.3/24 dev eth0
on h1 ip addr add 10.0.1.1/24 dev eth0
gids

# The GSI QP has sent messages from the address. Programs that were given an index find the address there again.
pair_run "rping: the address is used by the GSI QPs" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3 -I $IP1' 60
index=$(find_gid $D1 "$(gid_text $IP1)")
on h1 ip addr del 10.0.1.1/24 dev eth0
ok "address removed after rping: the GID is removed" wait_for 10 no_gid $D1 $IP1
on h1 ip addr add 10.0.1.1/24 dev eth0
ok "address added again: the GID has the same index" wait_for 10 index_is $D1 $IP1 "$index"
gids

# The driver keeps the UDP port even without an address. If a process could take it then, the next address would not work.
take_port() {
	on h1 setpriv --reuid 65534 --clear-groups python3 -c \
		"import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).bind(('127.0.0.2', $1))" 2>/dev/null
}
ok "other processes can take another port" take_port 4792
on h1 ip -4 addr flush dev eth0
ok "no IPv4 address: no GID" wait_for 10 no_gid $D1 $IP1
not_ok "no IPv4 address: other processes cannot take the UDP port" take_port 4791
on h1 ip addr add 10.0.0.1/24 dev eth0
on h1 ip addr add 10.0.1.1/24 dev eth0
ok "an IPv4 address again: the GID is added" wait_for 10 has_gid $D1 $IP1
gids

ok "traffic over IPv6" patient "$G1_6" "$G2_6"
on h1 ip -6 addr del fd00::1/64 dev eth0
ok "IPv6: the GID is removed" wait_for 10 no_gid $D1 $IP1_6
on h1 ip -6 addr add fd00::1/64 dev eth0 nodad
ok "IPv6: the connection goes on" goes_on
stop_both
gids

# All GIDs go and come with the netdev's MAC address.
ok "traffic" patient
on h1 ip link set eth0 address 02:00:00:00:12:34
ok "another MAC address: the connection goes on" goes_on
stop_both
gids

ok "traffic" patient
on h1 ip link set eth0 down
ok "link down: the program gets IBV_EVENT_PORT_ERR" wait_for 10 saw PORT_ERR
on h1 ip link set eth0 up
ok "link up: the program gets IBV_EVENT_PORT_ACTIVE" wait_for 10 saw PORT_ACTIVE
ok "link down and up: the connection goes on" goes_on
stop_both
on h1 ip -6 addr add fd00::1/64 dev eth0 nodad 2>/dev/null
gids

ok "traffic" patient
on h1 ip link set eth0 mtu 600
timeouts=$(counter $D1 local_ack_timeout_err)
ok "an MTU below the path MTU: the connection waits" wait_for 60 waits "$timeouts"
on h1 ip link set eth0 mtu 1500
ok "the MTU is back: the connection goes on" goes_on
stop_both
stop $watch || :
hosts_down

# --- a container that closes and opens the port again and again ---

IP1=10.0.0.1 IP2=10.0.0.2

# Root in a network namespace can do this with an address. Everything else waits behind the RDMA core's list of changes.
close_and_open() {
	local n
	for n in {1..300}; do
		echo "addr add 10.0.7.1/24 dev mv0"
		echo "addr del 10.0.7.1/24 dev mv0"
	done | ip -n container -batch - && on h1 ip addr add 10.0.1.1/24 dev eth0
}
container_up() {
	ip netns add container && ip -n h1 link add mv0 link eth0 netns container type macvlan && ip -n container link set mv0 up &&
		on h2 ip addr add 10.0.7.2/24 dev eth0
}
# Packets arrive at the port until this is killed.
SEND='import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    try: s.sendto(bytes(64), ("10.0.7.1", 4791))
    except OSError: pass'
if modprobe macvlan 2>/dev/null; then
	ok "two hosts" hosts_up 1500
	ok "a container with a macvlan above the device" container_up
	ip -n container addr add 10.0.7.1/24 dev mv0
	ok "its address is a GID of the device" gid $D1 10.0.7.1
	on h2 ping -c 1 -W 5 10.0.7.1 >/dev/null
	ip -n container addr del 10.0.7.1/24 dev mv0
	(exec_on h2 python3 -c "$SEND") &
	sender=$!
	start=$EPOCHREALTIME
	ok "the container closes and opens the port 300 times" close_and_open
	ok "then an address of the host becomes a GID" wait_for 60 has_gid $D1 10.0.1.1
	diag "after $(((${EPOCHREALTIME/./} - ${start/./}) / 1000)) ms"
	stop $sender
	ip -n container addr add 10.0.7.1/24 dev mv0
	ours=$(gid $D1 10.0.7.1) theirs=$(gid $D2 10.0.7.2)
	export ours theirs
	pair_run "the container's port receives" 'ibv_rc_pingpong -d $D2 -g $theirs -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $ours -p $PORT $IP2'
	ip netns delete container
	hosts_down
else
	skip "a container with a macvlan above the device" "this kernel has none"
fi

# --- routes ---

ok "two hosts, large packets" hosts_up 4400
on h1 ip route replace $IP2 dev eth0 mtu 600
on h1 ip -6 route replace $IP2_6 dev eth0 mtu 1280
like "a route with a small MTU" "$(on h1 ip route get $IP2)" "mtu 600"
pair_run "a route with a small MTU: packets of the netdev's MTU arrive" 'ib_write_bw -F -d $D2 -x $G2 -p $PORT -m 4096 -n 300' \
	'ib_write_bw -F -d $D1 -x $G1 -p $PORT -m 4096 -n 300 $IP2'
pair_run "a route with a small MTU, IPv6: packets of the netdev's MTU arrive" 'ib_write_bw -F -d $D2 -x $G2_6 -p $PORT -m 4096 -n 300' \
	'ib_write_bw -F -d $D1 -x $G1_6 -p $PORT -m 4096 -n 300 $IP2'

# --- datagrams, whose size is limited by the MTU that the netdevs have now ---

# datagram LENGTH STATUS
datagram() {
	local said
	echo "$1" >&"${DATAGRAMS[1]}"
	IFS= read -t "$(seconds 20)" -r said <&"${DATAGRAMS[0]}"
	is "a datagram of $1 bytes, MTU $(on h1 cat /sys/class/net/eth0/mtu)" "$said" "$2"
}
export D1 D2 G1 G2
set_mtu 1500 eth0
coproc DATAGRAMS { "$PROGRAMS/robust" datagrams 2>&1; }
datagrams=$DATAGRAMS_PID
datagram 1024 success
datagram 1025 "local length error"
set_mtu 9000 eth0
datagram 4096 success
datagram 4097 "local length error"
set_mtu 1500 eth0
datagram 1025 "local length error"
datagram 1024 success
eval "exec ${DATAGRAMS[1]}>&-"
ok "the program ends" wait "$datagrams"

# --- two netdevs on one IPv6 network, whose routes have other metrics ---

second_rail() {
	ip link add eth1 netns h1 type veth peer name eth1 netns h2
	on h2 ip link add br0 type bridge
	on h2 ip link set eth0 master br0
	on h2 ip link set eth1 master br0 up
	on h2 sysctl -qw net/ipv6/conf/br0/accept_dad=0
	on h2 ip link set br0 up
	on h2 ip -6 addr add fd00::12/64 dev br0 nodad
	on h1 sysctl -qw net/ipv6/conf/eth1/accept_dad=0
	on h1 ip link set eth1 up
	on h1 ip -6 addr add fd00::11/64 dev eth1 metric 512 nodad
	on h1 rdma link add rail1 type sroce netdev eth1 && on h2 rdma link add rail2 type sroce netdev br0 &&
		GA=$(gid rail1 fd00::11) && GB=$(gid rail2 fd00::12)
}
sent() { on h1 cat "/sys/class/net/$1/statistics/tx_bytes"; }
# leaves_by NETDEV DEVICE GID-INDEX: only that netdev gets the packets of a connection of 100 messages of 4 KiB
leaves_by() {
	local before=("$(sent eth0)" "$(sent eth1)") other=eth1
	[ "$1" = eth0 ] || other=eth0
	export LEFT=$2 LEFT_GID=$3
	pair_run "$1: ibv_rc_pingpong" 'ibv_rc_pingpong -d rail2 -g $GB -n 100 -c -p $PORT' \
		'ibv_rc_pingpong -d $LEFT -g $LEFT_GID -n 100 -c -p $PORT $IP2'
	ok "packets of its GID leave by $1" test $(($(sent "$1") - before[${1#eth}])) -gt 400000
	ok "and none by $other" test $(($(sent $other) - before[${other#eth}])) -lt 200000
}
ok "two hosts, one of them with a second netdev" second_rail
export GA GB
like "the route is that of the first netdev" "$(on h1 ip -6 route get fd00::12)" "dev eth0"
leaves_by eth1 rail1 "$GA"
leaves_by eth0 $D1 "$G1_6"
hosts_down
IP1=10.0.1.1 IP2=10.0.1.2

# --- netdevs above others ---

bridged() {
	on "$1" ip link add br0 type bridge
	on "$1" ip link set eth0 master br0 up
}
bonded() {
	on "$1" ip link add bond0 type bond mode active-backup miimon 20
	on "$1" ip link set eth0 master bond0
}
tagged() {
	on "$1" ip link set eth0 up
	on "$1" ip link add link eth0 name eth0.5 type vlan id 5
}

# hosts_on NETDEV FUNCTION [BELOW]: hosts_up, with the addresses on a netdev that the function makes on each host, and
# the devices on that netdev or on BELOW
hosts_on() {
	local host n=0
	NETDEV=$1
	ip netns add h1
	ip netns add h2
	ip link add eth0 netns h1 type veth peer name eth0 netns h2
	for host in h1 h2; do
		n=$((n + 1))
		on $host ip link set lo up
		$2 $host
		address $host "$NETDEV" $n
		on $host ip addr add 10.0.1.$n/24 dev "$NETDEV"
		on $host rdma link add sroce$n type sroce netdev "${3:-$NETDEV}" || return
	done
	gids
}

# under_change WHAT COMMAND...: the connection waits after the command has taken something away from h1, and goes on when
# "given_back" has restored it
under_change() {
	local timeouts what=$1
	shift
	ok "$what: traffic" patient
	ok "$what" on h1 "$@"
	timeouts=$(counter $D1 local_ack_timeout_err)
	ok "$what: the connection waits" wait_for 60 waits "$timeouts"
	given_back
	ok "$what, and back: the connection goes on" goes_on
	stop_both
	gids
}

other_mac() {
	ok "$1, another MAC address: traffic" patient
	on h1 ip link set "$NETDEV" address 02:00:00:00:12:35
	ok "$1, another MAC address: the connection goes on" goes_on
	stop_both
	gids
}

ok "bridge: two hosts" hosts_on br0 bridged
away_and_back "bridge, address removed and added again"
other_mac bridge
given_back() { on h1 ip link set eth0 master br0; }
under_change "bridge: its port leaves" ip link set eth0 nomaster
hosts_down

modprobe bonding max_bonds=0
ok "bond: two hosts" hosts_on bond0 bonded
away_and_back "bond, address removed and added again"
other_mac bond
given_back() { on h1 ip link set eth0 down && on h1 ip link set eth0 master bond0; }
under_change "bond: its port leaves" ip link set eth0 nomaster
hosts_down

ok "VLAN: two hosts" hosts_on eth0.5 tagged
# Programs that take the first GID of a VLAN's device must not leave by the netdev below, without a tag.
ok "VLAN: the netdev below has addresses, too" on h1 ip addr add 10.0.3.1/24 dev eth0
ok "VLAN: so has another VLAN" on h1 sh -c 'ip link add link eth0 name eth0.6 type vlan id 6 && ip addr add 10.0.4.1/24 dev eth0.6 &&
	ip link set eth0.6 up'
ok "VLAN: so has a VLAN above it" on h1 sh -c 'ip link add link eth0.5 name inner type vlan id 7 && ip addr add 10.0.5.1/24 dev inner &&
	ip link set inner up'
ok "VLAN: the address above it is a GID" wait_for 10 has_gid $D1 10.0.5.1
netdevs_of() { cat /sys/class/infiniband/"$1"/ports/1/gid_attrs/ndevs/? 2>/dev/null | sort -u | paste -sd ' '; }
is "VLAN: all GIDs are those of its netdev and of netdevs above" "$(netdevs_of $D1)" "eth0.5 inner"
on h1 ip link del inner
on h1 ip link del eth0.6
away_and_back "VLAN, address removed and added again"
other_mac VLAN
hosts_down

# The device belongs to the netdev below the VLAN and stays; the address is removed with the VLAN.
ok "device below a VLAN: two hosts" hosts_on eth0.5 tagged eth0
away_and_back "device below a VLAN, address removed and added again"
given_back() {
	on h1 ip link add link eth0 name eth0.5 type vlan id 5
	address h1 eth0.5 1
	on h1 ip addr add 10.0.1.1/24 dev eth0.5
}
under_change "device below a VLAN: the VLAN is deleted" ip link delete eth0.5
hosts_down

# --- link-local addresses ---

# A netdev and a VLAN above it have the same one, on different links.
ok "link-local: two hosts" hosts_on eth0.5 tagged eth0
link_local() { on "$1" ip -6 -br addr show dev eth0.5 scope link | grep -o 'fe80[^/]*'; }
# of_vlan HOST DEVICE: prints the index of the VLAN's address
of_vlan() {
	local index text
	text=$(gid_text "$(link_local "$1")")
	for index in {0..9}; do
		[ "$(cat "/sys/class/infiniband/$2/ports/1/gids/$index")" = "$text" ] &&
			[ "$(cat "/sys/class/infiniband/$2/ports/1/gid_attrs/ndevs/$index")" = eth0.5 ] && echo "$index" && return 0
	done 2>/dev/null
	return 1
}
ok "link-local: the VLANs have addresses" wait_for 20 eval 'of_vlan h1 $D1 && of_vlan h2 $D2'
L1=$(of_vlan h1 $D1) L2=$(of_vlan h2 $D2)
has_two() { [ "$(cat /sys/class/infiniband/$D1/ports/1/gids/? 2>/dev/null | grep -c "$(gid_text "$(link_local h1)")")" = 2 ]; }
ok "link-local: the netdev below has the same" has_two
untagged() { on h2 tc -s filter show dev eth0 ingress | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'; }
on h2 tc qdisc add dev eth0 clsact
on h2 tc filter add dev eth0 ingress protocol ipv6 flower ip_proto udp dst_port 4791 action pass
ok "link-local: traffic" patient "$L1" "$L2"
timeouts=$(counter $D1 local_ack_timeout_err)
on h1 ip link set eth0.5 down
ok "link-local: the VLAN is down: the connection waits" wait_for 60 waits "$timeouts"
on h1 ip link set eth0.5 up
ok "link-local: the VLAN is up again: the connection goes on" goes_on
is "link-local: packets without a tag" "$(untagged)" 0
into_bridge() {
	local own
	own=$(link_local h1)
	on h1 ip link add br0 address "$(on h1 cat /sys/class/net/eth0.5/address)" type bridge && on h1 ip link set eth0.5 master br0 &&
		on h1 ip link set br0 up && on h1 ip -6 addr del "$own/64" dev eth0.5
}
ok "link-local: the VLAN joins a bridge, which has its address then" into_bridge
ok "link-local: the VLAN's GID is gone" wait_for 20 eval '! of_vlan h1 $D1'
ok "link-local: the connection goes on over the bridge" goes_on
is "link-local: still no packets without a tag" "$(untagged)" 0
on h1 ip link del br0
stop_both

# Two link-local addresses of one netdev: packets arrive on lo.
on h1 ip -6 addr add fe80::98/64 dev eth0.5 nodad
on h1 ip -6 addr add fe80::99/64 dev eth0.5 nodad
L1=$(gid $D1 fe80::98) L2=$(gid $D1 fe80::99)
export L1 L2
for type in rc ud; do
	HOST2=h1 pair_run "link-local: two addresses of one netdev, $type" "ibv_${type}_pingpong -d \$D1 -g \$L2 -n 20 -p \$PORT" \
		"ibv_${type}_pingpong -d \$D1 -g \$L1 -n 20 -p \$PORT 127.0.0.1" 10
done
