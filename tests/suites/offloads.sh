#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Bursts cross the bridge of containers whole. Under traffic, features of the netdevs are turned off and on (OFFLOADS=all: every
# one), and the addresses move to a bridge, a macvlan and a VLAN. No packet is damaged, and no connection ends. The hosts are
# joined by network cards if the guest has two, otherwise by veth.
# timeout: 240
# guest: --taps
# lanes: vm debug
. "$(dirname "$0")/lib.sh"

both() { on h1 "$@" && on h2 "$@"; }

# --- traffic: SENDs and READs of h1 ---

traffic() {
	endless 'ib_send_bw -e -F -u 18 -d $D2 -x $G2 -n 100000000 -s 65536 -p $PORT' \
		'ib_send_bw -e -F -u 18 -d $D1 -x $G1 -n 100000000 -s 65536 -p $PORT $IP2' || return
	SENDS="$CLIENT $SERVER"
	endless 'ib_read_bw -e -F -u 18 -d $D2 -x $G2 -n 100000000 -s 65536 -p $PORT' \
		'ib_read_bw -e -F -u 18 -d $D1 -x $G1 -n 100000000 -s 65536 -p $PORT $IP2' || return
	READS="$CLIENT $SERVER"
}
# Most packets to h2 are SENDs, and most packets to h1 are READ responses.
received() { [ "$(counter $D1 rx_packets)" -gt "$1" ] && [ "$(counter $D2 rx_packets)" -gt "$2" ]; }
goes_on() {
	local packets bursts
	packets=$(counter $D2 rx_packets) bursts=$(counter $D2 rx_bursts)
	wait_for 20 received $(($(counter $D1 rx_packets) + 300)) $((packets + 300)) || return
	BURST=$((($(counter $D2 rx_packets) - packets) / ($(counter $D2 rx_bursts) - bursts)))
}
stop_traffic() { stop $SENDS $READS; }
alive() { ! { ended "${SENDS% *}" || ended "${READS% *}"; }; }

# change WHAT COMMAND...: runs the command, after which traffic must continue
change() {
	local what=$1
	shift
	ok "$what" then_goes_on "$@"
	diag "$BURST packets in a burst"
}
BURST=0 OTHER_BURST=0
then_goes_on() { "$@" && goes_on; }

undamaged() {
	is "$1: no errors are counted at h1" "$(error_counters $D1)" ""
	is "$1: none at h2" "$(error_counters $D2)" ""
	ok "$1: both connections are there" alive
}

# --- features ---

# Those that matter most to UDP
SAMPLE='^(tx|gso|gro|rx-gro-hw|tx-udp-segmentation)$'

# features HOST NETDEV: prints those that can be changed, by the names that "ethtool -K" takes, and their values
features() {
	on "$1" ethtool -k "$2" | sed -n 's/^[[:space:]]*\([a-z0-9_-]*\): \(on\|off\)$/\1 \2/p' | while read -r name value; do
		case $name in
		rx-checksumming) name=rx ;;
		tx-checksumming) name=tx ;;
		scatter-gather) name=sg ;;
		tcp-segmentation-offload) name=tso ;;
		generic-segmentation-offload) name=gso ;;
		generic-receive-offload) name=gro ;;
		large-receive-offload) name=lro ;;
		rx-vlan-offload) name=rxvlan ;;
		tx-vlan-offload) name=txvlan ;;
		receive-hashing) name=rxhash ;;
		esac
		[[ ${OFFLOADS:-} != all && ! $name =~ $SAMPLE ]] || echo "$name" "$value"
	done
}

# set_feature FEATURE VALUE HOST:NETDEV...
set_feature() {
	local end
	for end in "${@:3}"; do on "${end%:*}" ethtool -K "${end#*:}" "$1" "$2" || return; done
}
other() { if [ "$1" = on ]; then echo off; else echo on; fi; }
change_and_restore() {
	set_feature "$1" "$(other "$2")" "${@:3}" && goes_on && OTHER_BURST=$BURST && set_feature "$@" && goes_on
}

# every_feature WHAT HOST:NETDEV...: the netdevs have the same features
every_feature() {
	local feature value
	while read -r feature value; do
		ok "$1: $feature $(other "$value") and $value" change_and_restore "$feature" "$value" "${@:2}"
		diag "$OTHER_BURST and $BURST packets in a burst"
	done < <(features "${2%:*}" "${2#*:}")
	undamaged "$1"
}

# --- containers on a bridge ---
#
#     h1: eth0 --- host: p1, br0, p2 --- eth0 :h2

in_host() { ip netns exec host "$@"; }
host_down() { ip netns delete host 2>/dev/null; }
containers_up() {
	local n
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2
	at_exit hosts_down
	at_exit host_down
	ip netns add h1 && ip netns add h2 && ip netns add host && ip -n host link add br0 type bridge mcast_snooping 0 || return
	for n in 1 2; do
		ip -n h$n link add eth0 type veth peer name p$n netns host &&
			ip -n host link set p$n master br0 up && on h$n ip link set lo up && address h$n eth0 $n || return
	done
	ip -n host link set br0 up && on h1 rdma link add $D1 type sroce netdev eth0 && on h2 rdma link add $D2 type sroce netdev eth0 && gids
}

# whole WHAT LEAST DEVICE SERVER CLIENT: at least LEAST packets per burst arrive at the device
whole() {
	local packets bursts
	packets=$(counter "$3" rx_packets) bursts=$(counter "$3" rx_bursts)
	pair_run "$1" "$4" "$5"
	packets=$(($(counter "$3" rx_packets) - packets)) bursts=$(($(counter "$3" rx_bursts) - bursts))
	diag "$packets packets in $bursts bursts"
	ok "$1: bursts arrive whole" test $packets -ge $((bursts * $2)) -a $packets -gt 3000
}
all_whole() {
	whole "$1: WRITE" 20 $D2 'ib_write_bw -F -d $D2 -x $G2 -s 65536 -n 100 -p $PORT' \
		'ib_write_bw -F -d $D1 -x $G1 -s 65536 -n 100 -p $PORT $IP2'
	whole "$1: SEND over IPv6" 20 $D2 'ib_send_bw -F -d $D2 -x $G2_6 -s 65536 -n 100 -p $PORT' \
		'ib_send_bw -F -d $D1 -x $G1_6 -s 65536 -n 100 -p $PORT $IP2'
	whole "$1: READ" 14 $D1 'ib_read_bw -F -d $D2 -x $G2 -s 65536 -n 100 -p $PORT' \
		'ib_read_bw -F -d $D1 -x $G1 -s 65536 -n 100 -p $PORT $IP2'
}

containers_up >"$OUTPUT" 2>&1 || { fail "containers on a bridge"; show_output; exit 1; }
all_whole "containers"
# As with Docker: packets on the bridge pass the firewall and connection tracking.
if modprobe -q br_netfilter && in_host nft -f - 2>/dev/null <<-END; then
	table inet docker {
		chain forward {
			type filter hook forward priority 0;
			ct state invalid drop
			ct state established,related accept
			udp dport 4791 counter
		}
	}
	END
	in_host sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1
	all_whole "containers behind a firewall"
	like "the firewall has seen them" "$(in_host nft list table inet docker)" 'counter packets [1-9]'
else
	skip "containers behind a firewall" "this kernel has no firewall for bridges"
fi
if [ "${OFFLOADS:-}" = all ]; then
	ok "containers: traffic" traffic
	every_feature "ports of the bridge" host:p1 host:p2
	stop_traffic
fi
hosts_down
host_down

# --- a host whose netdev leads to a bridge of its own ---
#
#     host: eth0 --- host: p1, br0, p2 --- eth0 :h2
#
# Its own packets pass the bridge's hooks, too.

own_bridge_up() {
	local n
	HOST1=host HOST2=h2 D1=sroce1 D2=sroce2
	ip netns add host && ip netns add h2 && ip -n host link add br0 type bridge mcast_snooping 0 &&
		ip link add eth0 netns host type veth peer name p1 netns host &&
		ip link add eth0 netns h2 type veth peer name p2 netns host && ip -n host link set br0 up || return
	for n in 1 2; do ip -n host link set p$n master br0 up && on h$n ip link set lo up && address h$n eth0 $n || return; done
	in_host sysctl -qw net.bridge.bridge-nf-call-iptables=1 net.bridge.bridge-nf-call-ip6tables=1 &&
		on h1 rdma link add $D1 type sroce netdev eth0 && on h2 rdma link add $D2 type sroce netdev eth0 && gids
}

if modprobe -q br_netfilter; then
	ok "a host on its own bridge" own_bridge_up
	pair_run "a host on its own bridge: IPv4" 'ibv_rc_pingpong -d $D2 -g $G2 -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -p $PORT $IP2'
	pair_run "a host on its own bridge: IPv6" 'ibv_rc_pingpong -d $D2 -g $G2_6 -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1_6 -p $PORT $IP2'
	hosts_down
	host_down
else
	skip "a host on its own bridge" "this kernel has no firewall for bridges"
fi

# --- cards or veth ---

hosts() {
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2
	ip netns add h1 && ip netns add h2 || return
	if two_cards; then join_cards eth0 || return; else ip link add eth0 netns h1 type veth peer name eth0 netns h2; fi
	both ip link set lo up
	address h1 eth0 1 && address h2 eth0 2 &&
		on h1 rdma link add $D1 type sroce netdev eth0 && on h2 rdma link add $D2 type sroce netdev eth0 && gids
}
# move FROM TO: both hosts' addresses, first of h1
move() {
	local n
	for n in 1 2; do
		on h$n ip addr del 10.0.0.$n/24 dev "$1" && on h$n ip addr add 10.0.0.$n/24 dev "$2" || return
	done
}
to_bridge() { both ip link set eth0 master br0 && move eth0 br0; }
from_bridge() { move br0 eth0 && both ip link set eth0 nomaster; }

hosts >"$OUTPUT" 2>&1 || { fail "two hosts"; show_output; exit 1; }
wait_for 10 on h1 ping -c 1 -W 1 $IP2
ok "traffic" traffic
every_feature "cable" h1:eth0 h2:eth0
change "MTU 9000" both ip link set eth0 mtu 9000
change "MTU 1500" both ip link set eth0 mtu 1500
both ip link add br0 type bridge mcast_snooping 0
both ip link set br0 up
both ip link add mv0 link eth0 type macvlan mode bridge
both ip link set mv0 up
both ip link add link eth0 name eth0.5 type vlan id 5
both ip link set eth0.5 up
change "addresses move to a macvlan" move eth0 mv0
change "to a VLAN" move mv0 eth0.5
change "back" move eth0.5 eth0
both ip link del mv0
change "to a bridge" to_bridge
change "back from the bridge" from_bridge
undamaged "moved addresses"
stop_traffic
hosts_down
