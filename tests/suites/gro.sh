#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets that arrive one by one, as from a network card, are joined by GRO: they arrive as bursts, unchanged.
# timeout: 420
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../wire/run.sh"
. "$(dirname "$0")/../verbs/run.sh"

BOTH=$SROCE_PROGRAMS/interop/both

# as_cards HOST NETDEV: makes the netdev send packets one by one and join received packets. veth uses GRO only if the other end
# has no TSO.
as_cards() {
	on "$1" ethtool -K "$2" tso off tx-gso-list off tx-udp-segmentation off
	on "$1" ethtool -K "$2" gro on
}
# patience HOST NETDEV: GRO holds what it has for 2 ms, so that packets of different sends meet
patience() {
	on "$1" sh -c "echo 2000000 >/sys/class/net/$2/gro_flush_timeout && echo 1 >/sys/class/net/$2/napi_defer_hard_irqs"
}
impatience() { on "$1" sh -c "echo 0 >/sys/class/net/$2/gro_flush_timeout; echo 0 >/sys/class/net/$2/napi_defer_hard_irqs"; }

# joined DEVICE COMMAND...: of the packets that come to the device meanwhile, at least four make a burst
joined() {
	local device=$1 packets bursts
	shift
	packets=$(counter $device rx_packets) bursts=$(counter $device rx_bursts)
	"$@" || return
	packets=$(($(counter $device rx_packets) - packets)) bursts=$(($(counter $device rx_bursts) - bursts))
	echo "$packets packets in $bursts bursts"
	[ $packets -gt 1000 ] && [ $((2 * bursts)) -lt $packets ]
}

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2 G1_6 G2_6 IP1 IP2 IP1_6 IP2_6
as_cards h1 eth0
as_cards h2 eth0

write() {
	run_pair "ib_write_bw -F -d \$D2 -x $2 -s 65536 -n 200 -p \$PORT" \
		"ib_write_bw -F -d \$D1 -x $1 -s 65536 -n 200 -p \$PORT \$IP2" || { show_pair ib_write_bw ib_write_bw; return 1; }
}
ok "WRITEs arrive as bursts" joined $D2 write $G1 $G2
ok "WRITEs over IPv6 arrive as bursts" joined $D2 write $G1_6 $G2_6
read_back() {
	run_pair 'ib_read_bw -F -d $D2 -x $G2 -s 65536 -n 200 -p $PORT' \
		'ib_read_bw -F -d $D1 -x $G1 -s 65536 -n 200 -p $PORT $IP2' || { show_pair ib_read_bw ib_read_bw; return 1; }
}
ok "READ responses arrive as bursts" joined $D1 read_back
# GRO passes what comes in a tunnel twice.
for n in 1 2; do
	on h$n ip link add vx0 type vxlan id 7 remote 10.0.0.$((3 - n)) dstport 4789 dev eth0
	on h$n ip addr add 10.0.9.$n/24 dev vx0
	on h$n ip link set vx0 up
	on h$n rdma link add over$n type sroce netdev vx0
done
through() (
	D1=over1 D2=over2 IP2=10.0.9.2
	write "$(gid over1 10.0.9.1)" "$(gid over2 10.0.9.2)"
)
ok "WRITEs through VXLAN" through
is "no packet was damaged in VXLAN" "$(counter over2 rx_icrc_encapsulated)" 0
on h1 ip link delete vx0
on h2 ip link delete vx0

# Not "sizes": without reliability, what veth's ring of 256 packets does not hold is lost.
run_program "joined: " 200 "$PROGRAMS/data" ops order datagram atomic_write
for device in $D1 $D2; do
	is "no packet to $device was damaged" "$(counter $device rx_icrc_encapsulated)" 0
done

MAC1=$(on h1 cat /sys/class/net/eth0/address)
MAC2=$(on h2 cat /sys/class/net/eth0/address)
export MAC1 MAC2
# Our peer sees its packets one by one.
on h1 ethtool -K eth0 gro off
patience h2 eth0
cases "joined: " gro a_sanity addressing malformed rc_order rc_duplicates rc_lengths ack_storms uc ud
cases "joined: " --ipv6 gro rc_order
impatience h2 eth0

# In a VRF the address is that of the netdev's own table. Before 6.5, GRO finds no socket there.
in_vrf() {
	on h2 ip link add red type vrf table 77 && on h2 ip link set red up && on h2 ip link set eth0 master red || return
	on h2 ip -6 addr replace "$IP2_6/64" dev eth0 nodad && wait_for 10 on h1 ping -c 1 -W 1 "$IP2_6"
}
if modprobe -q vrf; then
	on h1 ethtool -K eth0 gro on
	ok "a VRF" in_vrf
	if joined $D2 "$BOTH" $D1 "$G1" $D2 "$(gid $D2 "$IP2")" 1024 RC >"$OUTPUT" 2>&1; then
		ok "WRITEs over IPv6 in a VRF arrive as bursts, as those over IPv4 do" \
			joined $D2 "$BOTH" $D1 "$G1_6" $D2 "$(gid $D2 "$IP2_6")" 1024 RC
	else
		show_output
		skip "WRITEs over IPv6 in a VRF arrive as bursts" "not over IPv4 either"
	fi
else
	skip "WRITEs over IPv6 in a VRF arrive as bursts" "the kernel has no VRF"
fi
hosts_down

# Forwarded packets are left alone, also if the host has a device of its own.
routed_up() {
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2
	for host in h1 r h2; do ip netns add $host || return; done
	at_exit ip netns delete r
	for n in 1 2; do
		ip link add eth0 netns h$n type veth peer name port$n netns r
		on h$n ip addr add 10.0.$n.1/24 dev eth0
		on r ip addr add 10.0.$n.254/24 dev port$n
		on h$n ip link set eth0 up
		on r ip link set port$n up
		on h$n ip route add default via 10.0.$n.254
		as_cards h$n eth0
		on h$n rdma link add sroce$n type sroce netdev eth0 || return
	done
	on r sysctl -qw net.ipv4.ip_forward=1
	on r ethtool -K port1 gro on
	on r rdma link add routers type sroce netdev port1
}
statistic() { on r cat /sys/class/net/$1/statistics/$2; }
routed() (
	IP2=10.0.2.1
	wait_for 10 on h1 ping -c 1 -W 1 $IP2 && write "$(gid sroce1 10.0.1.1)" "$(gid sroce2 $IP2)"
)
if routed_up; then
	came=$(statistic port1 rx_packets) went=$(statistic port2 tx_packets)
	ok "WRITEs through a router that has a device" routed
	came=$(($(statistic port1 rx_packets) - came)) went=$(($(statistic port2 tx_packets) - went))
	# Some are for the router itself: ARP and the like.
	ok "the router forwards all packets, $came of them" test $came -gt 10000 -a $went -gt $((came - 50))
	is "no packet was damaged by the router" "$(counter sroce2 rx_icrc_encapsulated)" 0
else
	fail "two hosts and a router"
fi
on r rdma link delete routers
# A router that joins packets in lists, which keep their headers: UDP splits them again.
listed() (
	IP2=10.0.2.1 G1=$(gid sroce1 10.0.1.1) G2=$(gid sroce2 10.0.2.1)
	wait_for 10 on h1 ping -c 1 -W 1 $IP2 || return
	run_pair "ib_send_bw -F -d \$D2 -x $G2 -q 4 -s 8192 -n 500 -p \$PORT" \
		"ib_send_bw -F -d \$D1 -x $G1 -q 4 -s 8192 -n 500 -p \$PORT \$IP2" || { show_pair ib_send_bw ib_send_bw; return 1; }
	run_pair "ibv_rc_pingpong -d \$D2 -g $G2 -e -c -m 1024 -s 65536 -r 16 -n 200 -p \$PORT" \
		"ibv_rc_pingpong -d \$D1 -g $G1 -e -c -m 1024 -s 65536 -r 16 -n 200 -p \$PORT \$IP2" || { show_pair ibv_rc_pingpong ibv_rc_pingpong; return 1; }
)
if on r ethtool -K port1 rx-gro-list on; then
	patience r port1
	came=$(statistic port1 rx_packets) went=$(statistic port2 tx_packets)
	packets=$(counter $D2 rx_packets) bursts=$(counter $D2 rx_bursts)
	ok "packets through a router that joins them in lists" listed
	came=$(($(statistic port1 rx_packets) - came)) went=$(($(statistic port2 tx_packets) - went))
	packets=$(($(counter $D2 rx_packets) - packets)) bursts=$(($(counter $D2 rx_bursts) - bursts))
	ok "the router joins them, $came to $went" test $((2 * went)) -lt $came
	ok "UDP splits the lists, $packets packets in $bursts bursts" test $packets -gt 10000 -a $((2 * bursts)) -gt $packets
	is "no packet was damaged by the lists" "$(counter $D2 rx_icrc_encapsulated)" 0
else
	skip "packets through a router that joins them in lists" "the kernel has no rx-gro-list"
fi
hosts_down

rxe_up 9000 || { fail "rxe and sroce, joined"; exit; }
as_cards init rxe1e
as_cards h2 eth0
patience h2 eth0
from_rxe() { limited 60 "$BOTH" $D1 $G1 $D2 $G2 1024 all 5000 && write $G1 $G2; }
if make -s O="$SROCE_PROGRAMS" -C "$(dirname "$0")/../interop" >/dev/null; then
	ok "rxe's packets are joined" joined $D2 from_rxe
else
	fail "builds: make -C tests/interop"
fi
is "no packet of rxe was damaged" "$(counter $D2 rx_icrc_encapsulated)" 0
