#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Kinds of netdevs, each with programs that use addresses: rdma_cm, multicast, MADs, verbs. With LINKS=all, every kind runs every
# program over IPv4, IPv6 and link-local addresses, and its netdev is deleted under traffic. By default some kinds run a sample
# of the programs. KINDS="vlan vrf" selects kinds.
# timeout: 600
. "$(dirname "$0")/lib.sh"

WIRE=$(dirname "$0")/../wire
both() { on h1 "$@" && on h2 "$@"; }

# --- kinds ---
#
# Each function connects the hosts, which have eth0 and eth1, both up. It sets the netdev that has the addresses and the netdev
# that has the device. "each COMMAND" runs the command for both hosts: $HOST is h1 or h2, $N is 1 or 2, and $PEER and $M are
# those of the other host.

each() {
	local HOST N PEER M
	for HOST in h1 h2; do
		N=${HOST#h} M=$((3 - N))
		PEER=h$M
		"$@" || return
	done
}
netdev() { ADDRESSED=$1 DEVICE_ON=${2:-$1} REMOVE=(ip -n h1 link delete "$1"); }
underlay() { on $HOST ip addr add "192.168.7.$N/24" dev eth0; }
mac_of() { on "$1" cat "/sys/class/net/$2/address"; }

kind_veth() { netdev eth0; }

kind_vlan() { both ip link add link eth0 name eth0.5 type vlan id 5 && netdev eth0.5; }

kind_vlan_above_device() { kind_vlan && netdev eth0.5 eth0; }

kind_qinq() {
	both ip link add link eth0 name eth0.5 type vlan id 5 protocol 802.1ad && both ip link set eth0.5 up &&
		both ip link add link eth0.5 name eth0.5.6 type vlan id 6 && netdev eth0.5.6
}

bridge() { both ip link add br0 type bridge "${@:2}" && both ip link set "$1" master br0 && both ip link set br0 up; }
kind_bridge() { bridge eth0 && netdev br0; }
kind_bridge_vlan_port() { kind_vlan && both ip link set eth0.5 up && bridge eth0.5 && netdev br0; }
kind_bridge_vlan_filtering() {
	bridge eth0 vlan_filtering 1 && both bridge vlan add dev eth0 vid 7 && both bridge vlan add dev br0 vid 7 self &&
		both ip link add link br0 name br0.7 type vlan id 7 && netdev br0.7
}

ports_into() { both ip link set eth0 down && both ip link set eth1 down && both ip link set eth0 master "$1" && both ip link set eth1 master "$1"; }
kind_bond() { both ip link add bond0 type bond mode active-backup miimon 20 && ports_into bond0 && netdev bond0; }
aggregated() { [ "$(on "$1" cat /sys/class/net/bond0/bonding/ad_num_ports)" = 2 ]; }
kind_bond_802_3ad() {
	both ip link add bond0 type bond mode 802.3ad miimon 20 lacp_rate fast && ports_into bond0 && both ip link set bond0 up &&
		wait_for 10 aggregated h1 && wait_for 10 aggregated h2 && netdev bond0
}
# Does the work of teamd
activate_port() {
	on $HOST ip link set team0 address "$(mac_of $HOST eth0)" &&
		on $HOST teamnl team0 setoption activeport "$(on $HOST cat /sys/class/net/eth0/ifindex)"
}
kind_team() {
	both ip link add team0 type team && both teamnl team0 setoption mode activebackup && ports_into team0 &&
		both ip link set team0 up && each activate_port && netdev team0
}

kind_macvlan() { both ip link add mv0 link eth0 type macvlan mode bridge && netdev mv0; }
kind_macvlan_above_vlan() {
	kind_vlan && both ip link set eth0.5 up && both ip link add mv0 link eth0.5 type macvlan mode bridge && netdev mv0
}
kind_ipvlan() { both ip link add ipv0 link eth0 type ipvlan mode l2 && netdev ipv0; }

vxlan() { underlay && on $HOST ip link add vx0 type vxlan id 42 local "192.168.7.$N" remote "192.168.7.$M" dev eth0 dstport 4789; }
kind_vxlan() { each vxlan && netdev vx0; }
geneve() { underlay && on $HOST ip link add gnv0 type geneve id 42 remote "192.168.7.$M"; }
kind_geneve() { each geneve && netdev gnv0; }
gretap() { underlay && on $HOST ip link add gt0 type gretap local "192.168.7.$N" remote "192.168.7.$M"; }
kind_gretap() { each gretap && netdev gt0; }

macsec() {
	on $HOST ip link add link eth0 macsec0 type macsec port 1 encrypt on &&
		on $HOST ip macsec add macsec0 tx sa 0 pn 1 on key 00 "${N}1111111111111111111111111111111" &&
		on $HOST ip macsec add macsec0 rx port 1 address "$(mac_of $PEER eth0)" &&
		on $HOST ip macsec add macsec0 rx port 1 address "$(mac_of $PEER eth0)" sa 0 pn 1 on key 00 \
			"${M}1111111111111111111111111111111"
}
kind_macsec() { each macsec && netdev macsec0; }

esp_state() {
	on $HOST ip xfrm state add src "$1" dst "$2" proto esp spi "0x$3" mode transport \
		aead 'rfc4106(gcm(aes))' 0x1111111111111111111111111111111111111111 128
}
esp_policy() { on $HOST ip xfrm policy add src "$1" dst "$2" proto udp dir "$3" tmpl proto esp mode transport; }
esp() {
	esp_state "10.0.0.$N" "10.0.0.$M" "1$N" && esp_state "10.0.0.$M" "10.0.0.$N" "1$M" &&
		esp_policy "10.0.0.$N" "10.0.0.$M" out && esp_policy "10.0.0.$M" "10.0.0.$N" in &&
		esp_state "fd00::$N" "fd00::$M" "2$N" && esp_state "fd00::$M" "fd00::$N" "2$M" &&
		esp_policy "fd00::$N" "fd00::$M" out && esp_policy "fd00::$M" "fd00::$N" in
}
kind_esp() { each esp && netdev eth0; }

vrf() {
	both ip link add red type vrf table 77 && both ip link set red up && both ip link set "$1" master red || return
	RUN="ip vrf exec red"
	both $RUN true || return
	netdev "$1" "${2:-$1}"
}
kind_vrf() { vrf eth0; }
kind_vrf_of_vlan() { kind_vlan && vrf eth0.5 eth0; }
kind_vrf_of_bridge() { kind_bridge && vrf br0; }

kind_netkit() {
	both ip link set eth0 down && ip -n h1 link add nk0 type netkit mode l2 peer name nk0 netns h2 && netdev nk0
}

kind_virtio_net() {
	local place
	place=$(readlink -f "/sys/class/net/$(cards | head -n 1)/device/..")
	join_cards card0 && netdev card0
	REMOVE=(sh -c "echo 1 >$place/remove")
}

# --- one kind ---

link_local() { on "$1" ip -6 -br addr show dev "$2" scope link | grep -o 'fe80[^/]*' | head -n 1; }
has_link_local() { [ -n "$(link_local "$1" "$2")" ]; }

cable() {
	if [ "${CABLE:-}$1" = cardseth0 ]; then
		join_cards eth0 || return
	else
		ip link add "$1" netns h1 type veth peer name "$1" netns h2
	fi
	both ip link set "$1" mtu "${MTU:-1500}"
}

# join KIND: makes two hosts with devices, and sets the addresses of each family
join() {
	local cable host
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2 RUN=''
	ip netns add h1 && ip netns add h2 || return
	for cable in eth0 eth1; do cable $cable || return; done
	for host in h1 h2; do
		for cable in lo eth0 eth1; do on $host ip link set $cable up; done
	done
	"kind_$1" || return
	address h1 "$ADDRESSED" 1
	address h2 "$ADDRESSED" 2
	on h1 rdma link add $D1 type sroce netdev "$DEVICE_ON" && on h2 rdma link add $D2 type sroce netdev "$DEVICE_ON" || return
	for host in h1 h2; do wait_for 10 has_link_local $host "$ADDRESSED" || return; done
	LOCAL1=$(link_local h1 "$ADDRESSED") LOCAL2=$(link_local h2 "$ADDRESSED")
	gids && reachable
}
ping_peer() { on h1 $RUN ping -q -c 1 -W 1 10.0.0.2 && on h1 $RUN ping -q -c 1 -W 1 fd00::2; }
reachable() { wait_for 10 ping_peer; }

# of_netdev DEVICE ADDRESS: prints the index of the address as a GID of $ADDRESSED; other netdevs may have the same link-local
# address
of_netdev() {
	local index=0 text
	text=$(gid_text "$2")
	while [ $index -lt 32 ]; do
		if [ "$(cat "/sys/class/infiniband/$1/ports/1/gids/$index")" = "$text" ] &&
			[ "$(cat "/sys/class/infiniband/$1/ports/1/gid_attrs/ndevs/$index" 2>/dev/null)" = "$ADDRESSED" ]; then
			echo $index
			return
		fi
		index=$((index + 1))
	done
	return 1
}

# family NAME: sets A1 and A2 to the addresses for programs that bind, and X1 and X2 to the GID indices
family() {
	case $1 in
	IPv4) A1=$IP1 A2=$IP2 X1=$(of_netdev $D1 $IP1) X2=$(of_netdev $D2 $IP2) ;;
	IPv6) A1=$IP1_6 A2=$IP2_6 X1=$(of_netdev $D1 $IP1_6) X2=$(of_netdev $D2 $IP2_6) ;;
	link-local) A1=$LOCAL1%$ADDRESSED A2=$LOCAL2%$ADDRESSED X1=$(of_netdev $D1 "$LOCAL1") X2=$(of_netdev $D2 "$LOCAL2") ;;
	esac
	export A1 A2 X1 X2 RUN
}

# --- programs ---

run_rping() { pair_run "$1" 'rping -s -a $A2 -p $PORT -C 3 -V' 'rping -c -I $A1 -a $A2 -p $PORT -C 3 -V'; }
run_udaddy() { PORT=7173 pair_run "$1" 'udaddy -b $A2' 'udaddy -b $A1 -s $A2'; }
run_rc() {
	pair_run "$1" '$RUN ibv_rc_pingpong -d $D2 -g $X2 -n 20 -e -c -p $PORT' \
		'$RUN ibv_rc_pingpong -d $D1 -g $X1 -n 20 -e -c -p $PORT $IP2'
}
run_uc() {
	pair_run "$1" '$RUN ibv_uc_pingpong -d $D2 -g $X2 -n 20 -e -c -p $PORT' \
		'$RUN ibv_uc_pingpong -d $D1 -g $X1 -n 20 -e -c -p $PORT $IP2'
}
# -u 18: an emulated cipher is slow.
run_bw() {
	pair_run "$1" '$RUN ib_write_bw -F -u 18 -d $D2 -x $X2 -n 20 -s 65536 -p $PORT' \
		'$RUN ib_write_bw -F -u 18 -d $D1 -x $X1 -n 20 -s 65536 -p $PORT $IP2'
}
run_mad() { ok "$1" limited 30 "$WIRE/ask-pma" h1 "$ADDRESSED" "${A1%\%*}" "${A2%\%*}"; }

# rdma_cm supports multicast over IPv4 only.
run_mckey() { ok "$1" mckey_pair "$ADDRESSED"; }

# runs KIND FAMILY: prints the programs to run
runs() {
	if [ "${LINKS:-}" = all ]; then
		echo rping udaddy rc uc bw
		# With ESP, packets that are not encrypted are dropped.
		[ "$1" = esp ] || echo mad
		[ "$2" != IPv4 ] || echo mckey
		return
	fi
	case $2 in
	IPv4)
		echo rping
		[ "$1" = esp ] || echo mad
		[[ $1 != *v[lr]* ]] || echo mckey ;;
	IPv6) echo udaddy ;;
	link-local) echo bw ;;
	esac
}

# removal NAME [HOW]: the netdev that has the address is deleted, or what REMOVE does, under traffic
address_gone() { ! find_gid $D1 "$(gid_text $IP1)"; }
removal() {
	local program='ibv_rc_pingpong -e -g'
	# If the address is gone, the sender must have requests outstanding. If the device is gone, it must wait for events.
	[ "$ADDRESSED" = "$DEVICE_ON" ] || program='ib_write_bw -F -u 14 -s 4096 -x'
	ok "$1: traffic" endless "\$RUN $program \$G2 -d \$D2 -n 100000000 -p \$PORT" \
		"\$RUN $program \$G1 -d \$D1 -n 100000000 -p \$PORT \$IP2"
	ok "$1: the netdev is ${2:-deleted}" limited 20 "${REMOVE[@]}"
	if [ "$ADDRESSED" = "$DEVICE_ON" ]; then
		ok "$1: its device is removed" wait_for 20 test ! -e /sys/class/infiniband/$D1
	else
		ok "$1: its address is removed" wait_for 20 address_gone
	fi
	fails "$1: the sender" "$CLIENT" "$OUTPUT.client" 'Failed|Couldn.t'
	stop "$SERVER"
}

counts_no_errors() { [ -z "$(error_counters $D1)$(error_counters $D2)" ]; }

check_kind() {
	local name=${1//_/ } family program
	if join "$1" >"$OUTPUT" 2>&1; then
		for family in IPv4 IPv6 link-local; do
			family $family
			for program in $(runs "$1" $family); do "run_$program" "$name, $family: $program"; done
		done
		ok "$name: no errors are counted" counts_no_errors
		[ "${LINKS:-}" != all ] || removal "$name"
	elif grep -q 'Unknown device type\|Failed to load BPF prog\|instead of arguments "mode\|teamnl.*No such file\|no two cards\|open netlink socket' \
		"$OUTPUT"; then
		skip "$name" "this kernel, the tools here, or this machine have none"
	else
		fail "$name: two hosts"
		show_output
	fi
	hosts_down
}

# The kinds that differ most, and that no other suite has
SAMPLE="vlan_above_device bridge_vlan_port macvlan_above_vlan ipvlan gretap esp vrf_of_vlan"
kinds() { if [ "${LINKS:-}" = all ]; then compgen -A function kind_; else echo "$SAMPLE"; fi; }

at_exit hosts_down
for kind in ${KINDS:-$(kinds)}; do check_kind "${kind#kind_}"; done

# --- two addresses of one host ---

# one_host: a veth pair with both ends on this host, and a device on dummy0 with two addresses
one_host() {
	HOST1=h1 HOST2=h1 RUN=''
	ip netns add h1 && ip -n h1 link set lo up && ip -n h1 link add va type veth peer name vb && ip -n h1 link add dummy0 type dummy &&
		address h1 va 1 && address h1 vb 2 && address h1 dummy0 3 && ip -n h1 addr add 10.0.0.4/24 dev dummy0 &&
		ip -n h1 addr add fd00::4/64 dev dummy0 nodad &&
		on h1 rdma link add sroce1 type sroce netdev va && on h1 rdma link add sroce2 type sroce netdev vb &&
		on h1 rdma link add sroce3 type sroce netdev dummy0
	# Linux does not answer its own ARP requests.
	for netdev in va vb dummy0; do on h1 sysctl -qw net.ipv4.conf.$netdev.accept_local=1; done
}

# between WHAT DEVICE1 ADDRESS1 DEVICE2 ADDRESS2
between() {
	D1=$2 A1=$3 D2=$4 A2=$5 IP2=localhost
	X1=$(gid $D1 "$A1") X2=$(gid $D2 "$A2")
	export A1 A2 X1 X2 RUN
	# rdma_cm refuses IPv6 between two netdevs of a host.
	[[ $D1 != "$D2" && $A1 == *:* ]] || run_rping "$1: rping"
	run_bw "$1: bw"
	run_uc "$1: uc"
}

check_one_host() {
	local IP2
	one_host >"$OUTPUT" 2>&1 || { fail "devices of one host"; show_output; }
	between "two addresses of one device, IPv4" sroce3 10.0.0.3 sroce3 10.0.0.4
	between "two addresses of one device, IPv6" sroce3 fd00::3 sroce3 fd00::4
	between "two devices of one host, IPv4" sroce1 10.0.0.1 sroce2 10.0.0.2
	between "two devices of one host, IPv6" sroce1 fd00::1 sroce2 fd00::2
	between "not joined, IPv4" sroce1 10.0.0.1 sroce3 10.0.0.4
	between "not joined, IPv6" sroce3 fd00::3 sroce2 fd00::2
	# Then the netdevs do not answer ARP requests of each other.
	for netdev in va vb; do on h1 sysctl -qw net.ipv4.conf.$netdev.accept_local=0; done
	on h1 ip neigh flush all
	refused_at_rtr sroce1 10.0.0.1 sroce2 10.0.0.2
	hosts_down
}
# refused_at_rtr DEVICE1 ADDRESS1 DEVICE2 ADDRESS2
refused_at_rtr() {
	D1=$1 X1=$(gid "$1" "$2") D2=$3 X2=$(gid "$3" "$4") IP2=localhost
	export X1 X2 RUN
	run_pair '$RUN ibv_rc_pingpong -d $D2 -g $X2 -n 2 -p $PORT' '$RUN ibv_rc_pingpong -d $D1 -g $X1 -n 2 -p $PORT $IP2'
	like "no answer to ARP: the change to RTR is refused" "$SERVER_OUTPUT" 'Failed to modify QP to RTR'
}

# --- one namespace with two VRFs ---

# Devices of dummy1 in one VRF, dummy2 in another one, and dummy3 in none
vrf_ports_up() {
	HOST1=h1 HOST2=h1
	ip netns add h1 && ip -n h1 link add red type vrf table 77 && ip -n h1 link add blue type vrf table 78 &&
		ip -n h1 link set red up && ip -n h1 link set blue up && for i in 1 2 3; do ip -n h1 link add dummy$i up type dummy; done &&
		ip -n h1 link set dummy1 master red && ip -n h1 link set dummy2 master blue
}
# ports DEVICES...: adds devices in this order, and prints how many sockets have the port
ports() {
	local i
	for i; do on h1 rdma link add "sroce$i" type sroce netdev "dummy$i" || return; done
	on h1 cat /proc/net/udp /proc/net/udp6 | grep -c ':12B7 '
	for i; do rdma link delete "sroce$i"; done
}
check_vrf_ports() {
	vrf_ports_up >"$OUTPUT" 2>&1 || { fail "netdevs of two VRFs"; show_output; }
	is "a socket in each VRF, and one in none" "$(ports 1 2 3) $(ports 1 3 2) $(ports 3 1 2)" "6 6 6"
	check_vrf_hooks
	hosts_down
}

# The sockets of a namespace share netfilter hooks, which guard the port.
# hooked WHAT TIMES: how often do the two packets of a ping pass the hook of received IPv4 packets?
hooked() {
	local before
	counting || return 0
	before=$(calls)
	ok "$1: a ping" on h1 ping -c 1 -W 5 127.0.0.1
	is "$1: packets that have passed the hook" $(($(calls) - before)) "$2"
}
stranger_sends() {
	on h1 setpriv --reuid 65534 --clear-groups python3 -c \
		'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", 4791))' 2>/dev/null
}
check_vrf_hooks() {
	local i
	ip -n h1 link set lo up
	count_calls sroce:sroce_rx_route_set
	for i in 1 2 3; do ok "a device, $i" on h1 rdma link add sroce$i type sroce netdev dummy$i; done
	hooked "sockets in two VRFs, and in none" 2
	not_ok "sockets in two VRFs, and in none: the port is guarded" stranger_sends
	for i in 3 1; do rdma link delete sroce$i; done
	hooked "a socket in one VRF" 2
	not_ok "a socket in one VRF: the port is guarded" stranger_sends
	rdma link delete sroce2
	hooked "no socket" 0
	ok "no socket: the port is free" stranger_sends
	stop_counting
}

# --- an address of another network ---

# block NAME: prints the literal block after the comment "tested: tests/suites/links.sh, block NAME"
block() {
	awk -v mark=".. tested: tests/suites/links.sh, block $1" '
		$0 == mark { marked = 1; next }
		marked && /^    / { text = 1; print substr($0, 5); next }
		marked && text && /^[^ ]/ { exit }' "$SROCE_TOP/Documentation/security.rst"
}

# A neighbour on eth1 sends to the address of eth0.
ask_by_eth1() { limited 60 "$WIRE/ask-pma" h1 eth1 10.0.0.1 10.0.0.2 >/dev/null 2>&1 & ASKER=$!; }
arrived() { [ "$(counter $D2 rx_packets)" -gt "$1" ]; }
dropped() { ! on h2 nft list table inet roce_arrival | grep -q 'counter packets 0 '; }

check_arrival() {
	local before
	join veth >"$OUTPUT" 2>&1
	on h1 ip neigh add 10.0.0.2 dev eth1 lladdr "$(mac_of h2 eth1)"
	before=$(counter $D2 rx_packets)
	ask_by_eth1
	ok "a packet for the address of another netdev arrives" wait_for 20 arrived "$before"
	stop $ASKER
	loaded nft_fib_inet || { hosts_down; return; }
	block arrival >"$OUTPUT.rule"
	ok "the firewall accepts the rule of security.rst" on h2 bash "$OUTPUT.rule"
	rm -f "$OUTPUT.rule"
	before=$(counter $D2 rx_packets)
	ask_by_eth1
	ok "the rule drops the packet" wait_for 20 dropped
	stop $ASKER
	is "with the rule the packet does not arrive" "$(counter $D2 rx_packets)" "$before"
	family IPv4
	run_rping "with that rule, IPv4: rping"
	run_mckey "with that rule: mckey"
	family link-local
	run_rc "with that rule, link-local: rc"
	hosts_down
}

# --- an address that is added later ---

# The receiver has joined by the address of eth0. After eth0.5 gets an address, it also receives datagrams from eth0.5.
joined_once() { on h2 ip maddress show dev "$1" | grep -q '239\.1\.2\.3$'; }
check_late_address() {
	local receiver
	join veth >"$OUTPUT" 2>&1
	(exec_on h2 timeout "$(seconds 60)" mckey -m 239.1.2.3 -b "$IP2") >"$OUTPUT.receiver" 2>&1 </dev/null &
	receiver=$!
	ok "a receiver joins on one netdev" wait_for 40 mckey_joined eth0 "users 2"
	both ip link add link eth0 name eth0.5 type vlan id 5
	both ip link set eth0.5 up
	ip -n h2 addr add 10.5.0.2/24 dev eth0.5
	ip -n h1 addr add 10.5.0.1/24 dev eth0.5
	gid $D1 10.5.0.1 >"$OUTPUT"
	ok "a netdev that gets an address later joins" wait_for 20 joined_once eth0.5
	ok "a member sends on the netdev with the later address" limited 40 ip netns exec h1 mckey -m 239.1.2.3 -b 10.5.0.1 -s
	ok "the receiver gets the datagram" wait $receiver
	rm -f "$OUTPUT.receiver"
	hosts_down
}

# --- a group that has members in a VRF and beside it ---

# With udp_l3mdev_accept, a datagram in the VRF reaches the socket of the VRF and the one beside it.
MESSAGES=10
vrf_on_eth1() {
	both ip link add red type vrf table 77 && both ip link set red up && both ip link set eth1 master red &&
		ip -n h1 addr add 10.6.0.1/24 dev eth1 && ip -n h2 addr add 10.6.0.2/24 dev eth1 &&
		on h1 rdma link add sroce3 type sroce netdev eth1 && on h2 rdma link add sroce4 type sroce netdev eth1 &&
		gid sroce3 10.6.0.1 && gid sroce4 10.6.0.2 && on h2 sysctl -w net.ipv4.udp_l3mdev_accept=1
}
# receive ADDRESS: RECEIVER takes twice what a sender sends, so that it does not end if each datagram comes twice
receive() {
	(exec_on h2 timeout "$(seconds 100)" mckey -m 239.1.2.3 -b "$1" -C $((2 * MESSAGES))) >/dev/null 2>&1 </dev/null &
	RECEIVER=$!
}
# group_sends ADDRESS DEVICE: from there; DEVICE has received all
group_sends() {
	local before
	before=$(counter "$2" rx_packets)
	limited 40 ip netns exec h1 mckey -m 239.1.2.3 -b "$1" -C $MESSAGES -s && wait_for 10 all_received "$2" "$before"
}
all_received() { [ "$(counter "$1" rx_packets)" -ge $(($2 + MESSAGES)) ]; }
# received [BEFORE]: packets of the device beside the VRF, and of the one in it
received() { sleep 0.05; echo "$(($(counter $D2 rx_packets) - ${1:-0})) $(($(counter sroce4 rx_packets) - ${2:-0}))"; }
check_group_beside_vrf() {
	local beside inside before
	if ! { join veth && vrf_on_eth1; } >"$OUTPUT" 2>&1; then
		if grep -q 'Unknown device type' "$OUTPUT"; then
			skip "a group beside a VRF" "this kernel has no VRF"
		else
			fail "a VRF, and devices in it and beside it"
			show_output
		fi
		hosts_down
		return
	fi
	receive $IP2
	beside=$RECEIVER
	ok "a receiver joins beside a VRF" wait_for 40 mckey_joined eth0 "users 2"
	receive 10.6.0.2
	inside=$RECEIVER
	ok "a receiver joins the same group in the VRF" wait_for 40 mckey_joined eth1 "users 2"
	before=$(received)
	ok "a sender in the VRF" group_sends 10.6.0.1 sroce4
	# shellcheck disable=SC2086
	is "each datagram in the VRF reaches the receiver there once" "$(received $before)" "0 $MESSAGES"
	before=$(received)
	ok "a sender beside the VRF" group_sends $IP1 $D2
	# shellcheck disable=SC2086
	is "each datagram beside the VRF reaches the receiver there once" "$(received $before)" "$MESSAGES 0"
	ok "a second time, in the VRF" group_sends 10.6.0.1 sroce4
	ok "a second time, beside the VRF" group_sends $IP1 $D2
	ok "the receiver in the VRF has all" wait $inside
	ok "the receiver beside the VRF has all" wait $beside
	hosts_down
}

# --- changes during traffic ---

traffic() {
	endless 'ib_write_bw -F -u 18 -d $D2 -x $X2 -n 100000000 -s 4096 -p $PORT' \
		'ib_write_bw -F -u 18 -d $D1 -x $X1 -n 100000000 -s 4096 -p $PORT $IP2'
}
# Judged by the responses that the sender receives, because its requests may be lost.
acked() { [ "$(counter $D1 rx_packets)" -gt $(($1 + 20)) ]; }
goes_on() { wait_for 20 acked "$(counter $D1 rx_packets)"; }

# change WHAT COMMAND...: runs the command, after which traffic must continue
change() {
	local what=$1
	shift
	ok "$what" "$@"
	ok "$what: traffic goes on" goes_on
}

# The kernel removes the IPv6 addresses of a netdev that joins or leaves a VRF.
enslave() { ip -n "$1" link set eth0 "${@:3}" && ip -n "$1" addr replace "fd00::$2/64" dev eth0 nodad; }
move_address() { ip -n h1 addr del 10.0.0.1/24 dev "$1" && ip -n h1 addr add 10.0.0.1/24 dev "$2"; }
to_bridge() { ip -n h1 link set eth0 master br0 && move_address eth0 br0; }
from_bridge() { move_address br0 eth0 && ip -n h1 link set eth0 nomaster; }
to_bond() {
	ip -n h1 link set eth0 down && ip -n h1 link set eth0 master bond0 && ip -n h1 link set bond0 up && move_address eth0 bond0
}
delete_vrf() { ip -n h1 link del red && ip -n h1 addr replace fd00::1/64 dev eth0 nodad; }
from_bond() { move_address bond0 eth0 && ip -n h1 link set eth0 nomaster && ip -n h1 link set eth0 up; }

# The stock kernel is usually emulated and slow. IPv4 is last, because its traffic is used afterwards.
vrf_families() {
	echo IPv6
	[ "${SROCE_DEBUG_KERNEL:-0}${LINKS:-}" = 0 ] || echo link-local
	echo IPv4
}
# check_vrf FAMILY
check_vrf() {
	join veth >"$OUTPUT" 2>&1
	both ip link add red type vrf table 77
	both ip link set red up
	is "$1: sockets take no packets of VRFs" "$(both sysctl -n net.ipv4.udp_l3mdev_accept)" $'0\n0'
	family "$1"
	ok "$1: traffic" traffic
	change "$1: the sender's netdev joins a VRF" enslave h1 1 master red
	change "$1: the receiver's, too" enslave h2 2 master red
	change "$1: the receiver's leaves it" enslave h2 2 nomaster
	change "$1: the VRF of the sender's is deleted" delete_vrf
}

end_vrf() {
	stop "$CLIENT" "$SERVER"
	if [ $family = IPv6 ]; then
		gids
		REMOVE=(ip -n h1 link set eth0 netns h2 name moved0)
		removal "another namespace" "moved there"
	fi
	hosts_down
}

check_changes() {
	ip -n h1 link add br0 type bridge
	ip -n h1 link set br0 up
	change "its address moves to a bridge that it is a port of" to_bridge
	change "and back" from_bridge
	if ip -n h1 link add bond0 type bond mode active-backup miimon 20; then
		change "its address moves to a bond that it is a port of" to_bond
		change "and back" from_bond
	fi
	change "a VLAN on it comes" ip -n h1 link add link eth0 name eth0.9 type vlan id 9
	change "and goes" ip -n h1 link del eth0.9
	ip xfrm state >"$OUTPUT" 2>&1 || { skip "every packet is encrypted" "this kernel has no IPsec"; return; }
	change "every packet is encrypted from now on" each esp
	on h2 nft -f - <<-END
		table netdev clear {
			chain in {
				type filter hook ingress device eth0 priority 0;
				udp dport 4791 counter
			}
		}
	END
	ok "packets are still encrypted" goes_on
	like "no packet is in clear text" "$(on h2 nft list table netdev clear)" 'counter packets 0 '
}

# --- equal addresses of two VLANs ---

# equal_vlan ID [VRF]
equal_vlan() {
	on $HOST ip link add link eth0 name "eth0.$1" type vlan id "$1" || return
	[ -z "${2:-}" ] || { on $HOST ip link add "$2" type vrf table "7$1" && on $HOST ip link set "$2" up && on $HOST ip link set "eth0.$1" master "$2"; } ||
		return
	address $HOST "eth0.$1" $N
}
# The programs connect over addresses of eth0, so that they need not run in a VRF.
equal_vlans() {
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2 IP2=192.168.7.2 ADDRESSED=eth0.5
	ip netns add h1 && ip netns add h2 && cable eth0 && both ip link set lo up && both ip link set eth0 up && each underlay &&
		each equal_vlan 5 "${1:-}" && each equal_vlan 6 "${2:-}" && on h1 rdma link add $D1 type sroce netdev eth0 &&
		on h2 rdma link add $D2 type sroce netdev eth0 && gid $D1 $IP1 && gid $D2 10.0.0.2 || return
	wait_for 10 of_netdev $D1 $IP1 && wait_for 10 of_netdev $D2 10.0.0.2 && X1=$(of_netdev $D1 $IP1) X2=$(of_netdev $D2 10.0.0.2)
	export X1 X2
	on h2 tc qdisc add dev eth0.6 clsact &&
		on h2 tc filter add dev eth0.6 ingress protocol ip flower ip_proto udp dst_port 4791 action pass
}
strays() { on h2 tc -s filter show dev eth0.6 ingress | sed -n 's/.*Sent [0-9]* bytes \([0-9]*\) pkt.*/\1/p'; }
patient() {
	endless 'ib_write_bw -F -d $D2 -x $X2 -n 100000000 -s 4096 -p $PORT' \
		'ib_write_bw -F -u 19 -d $D1 -x $X1 -n 100000000 -s 4096 -p $PORT $IP2'
}
# waits TIMEOUTS PACKETS: there have been more timeouts. Without VRFs, the address is still one of this host. If the connection
# looks up its route before the GID is gone, it goes on by its own VLAN: there have been more packets.
waits() {
	[ "$(counter $D1 local_ack_timeout_err)" -gt "$1" ] || [ "$(strays)" != 0 ] || [ "$(counter $D1 tx_packets)" -gt "$2" ]
}
# The netdev above the VLAN is in the same VRF.
to_bridge_of() {
	ip -n h1 addr del $IP1/24 dev eth0.5 && ip -n h1 link add br0 type bridge && { [ -z "${1:-}" ] || ip -n h1 link set br0 master "$1"; } &&
		ip -n h1 link set eth0.5 master br0 && ip -n h1 link set br0 up && ip -n h1 addr add $IP1/24 dev br0
}
# check_equal_vlans WHERE [VRF VRF]
check_equal_vlans() {
	local timeouts most IP2=
	if ! equal_vlans "${@:2}" >"$OUTPUT" 2>&1; then
		if grep -q 'Unknown device type' "$OUTPUT"; then
			skip "$1: equal addresses of two VLANs" "this kernel has no VRF"
		else
			fail "$1: equal addresses of two VLANs"
			show_output
		fi
		hosts_down
		return
	fi
	ok "$1: traffic on the first of them" patient
	ip -n h1 addr del $IP1/24 dev eth0.5
	timeouts=$(counter $D1 local_ack_timeout_err)
	most=$((1 << 60))
	[ -n "${2:-}" ] || most=$(($(counter $D1 tx_packets) + 10000))
	ok "$1: its address is removed: the connection waits, or stays in its VLAN" wait_for 60 waits "$timeouts" $most
	is "$1: packets that went to the other VLAN" "$(strays)" 0
	change "$1: its address is added again" ip -n h1 addr add $IP1/24 dev eth0.5
	change "$1: its address moves to a bridge above it" to_bridge_of "${2:-}"
	is "$1: packets that went to the other VLAN at last" "$(strays)" 0
	stop "$CLIENT" "$SERVER"
	hosts_down
}

if [ -z "${KINDS:-}" ]; then
	check_one_host
	check_vrf_ports
	check_arrival
	check_late_address
	check_group_beside_vrf
	check_equal_vlans "in two VRFs" red blue
	check_equal_vlans "without VRFs"
	for family in $(vrf_families); do
		check_vrf $family
		[ $family = IPv4 ] || end_vrf
	done
	check_changes
fi
