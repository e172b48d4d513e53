#!/bin/bash
# The netdev below a device: every kind, the effects of its state, and the removal of netdev or device.
# timeout: 600
. "$(dirname "$0")/lib.sh"

devices() { for device in /sys/class/infiniband/*; do [ -e "$device" ] && echo "${device##*/}"; done; }
quietly() { "$@" 2>/dev/null; }
class() { cat "/sys/class/infiniband/$1/$2"; }
link_shows() { rdma link show "$1/1" | grep -q "$2"; }
# width and speed of a lane, as programs see them
active_link() { ibv_devinfo -v -d "$1" | awk '/active_width/ { width = $2 } /active_speed/ { print width, $2 }'; }
active_mtu() { ibv_devinfo -d "$1" | awk '/active_mtu/ { print $2 }'; }

# refuses WHAT REGEX COMMAND...: the command fails with a message that matches
refuses() {
	local what=$1 regex=$2 answer status
	shift 2
	answer=$("$@" 2>&1)
	status=$?
	if [ $status = 0 ]; then fail "$what: refused"; else like "$what: refused" "$answer" "$regex"; fi
}

# --- one host ---

at_exit hosts_down
ok "the module is not loaded at first" test ! -d /sys/module/sroce
ip link add eth8 type veth peer name eth9
at_exit ip link delete eth8
ip link set eth8 up
ip link set eth9 up
ok "rdma link add loads the module" rdma link add s8 type sroce netdev eth8
ok "the module is loaded" test -d /sys/module/sroce
is "the device exists" "$(devices)" s8
like "rdma link knows the netdev" "$(rdma link show s8/1)" 'state ACTIVE physical_state LINK_UP netdev eth8'
refuses "the same name on another netdev" 'File exists' rdma link add s8 type sroce netdev eth9
refuses "another name on the same netdev" 'File exists' rdma link add s9 type sroce netdev eth8
refuses "a netdev that is not there" 'Invalid netdev|No such device' rdma link add s9 type sroce netdev nothing0
refuses "the loopback netdev" 'not supported' rdma link add s9 type sroce netdev lo
refuses "delete of a device that is not there" '' rdma link delete s9
is "refused commands leave the one device alone" "$(devices)" s8
ok "rmmod of an unused module with a device works" rmmod sroce
is "rmmod removed the device" "$(devices)" ""

# A process that has the device open keeps the module loaded.
ok "the device is added again" rdma link add s8 type sroce netdev eth8
stdbuf -oL ibv_asyncwatch -d s8 >"$OUTPUT.watch" 2>&1 &
watch=$!
at_exit rm -f "$OUTPUT.watch"
watching() { grep -q 'async event FD' "$OUTPUT.watch"; }
ok "a program opens the device" wait_for 20 watching
refuses "rmmod while it is open" 'in use' rmmod sroce
is "the device still exists after the refused rmmod" "$(devices)" s8

# The state that programs and administrators see
saw() { grep -q "$1" "$OUTPUT.watch"; }
saw_two() { [ "$(grep -c "$1" "$OUTPUT.watch")" -ge 2 ]; }
ip link set eth8 down
ok "link down: rdma link says so" wait_for 10 link_shows s8 'state DOWN physical_state DISABLED'
ok "the program got the event" wait_for 10 saw PORT_ERR
ip link set eth8 up
ok "link up: rdma link says so" wait_for 10 link_shows s8 'state ACTIVE physical_state LINK_UP'
ok "the program got the event" wait_for 10 saw PORT_ACTIVE
ip link set eth9 down
ok "the peer's link down: rdma link shows no carrier" wait_for 10 link_shows s8 'state DOWN physical_state POLLING'
# Events arrive later than the state changes: each has to arrive before the next one is caused.
wait_for 10 saw_two PORT_ERR
ip link set eth9 up
ok "the peer's link up: rdma link says so" wait_for 10 link_shows s8 'state ACTIVE'
wait_for 10 saw_two PORT_ACTIVE
is "two events each for link up and link down" "$(grep -c PORT_ACTIVE "$OUTPUT.watch") $(grep -c PORT_ERR "$OUTPUT.watch")" "2 2"

for want in 256:256 351:256 352:256 608:512 1500:1024 2143:1024 2144:2048 4191:2048 4192:4096 9000:4096; do
	mtu=${want%:*}
	ip link set eth8 mtu $mtu
	is "the active MTU of a netdev with MTU $mtu" "$(active_mtu s8)" "${want#*:}"
done
is "the port's rate is that of veth" "$(class s8 ports/1/rate)" "10 Gb/sec (1X FDR10)"
is "the link layer is Ethernet" "$(class s8 ports/1/link_layer)" Ethernet
is "the device has no parent, as veth has none" "$(ls -d /sys/class/infiniband/s8/device 2>/dev/null)" ""

# has_gid, no_gid DEVICE ADDRESS
has_gid() { find_gid "$1" "$(gid_text "$2")"; }
no_gid() { ! has_gid "$@"; }
for address in 10.8.0.1/24 10.8.0.2/24 fd08::1/64; do
	nodad=
	[[ $address != *:* ]] || nodad=nodad
	ip addr add $address dev eth8 $nodad
	ok "address $address: a GID" wait_for 10 has_gid s8 ${address%/*}
done
is "the GID is of type RoCE v2" "$(class s8 "ports/1/gid_attrs/types/$(gid s8 10.8.0.1)")" "RoCE v2"
is "the GID belongs to the netdev" "$(class s8 "ports/1/gid_attrs/ndevs/$(gid s8 10.8.0.1)")" eth8
is "there are no GIDs of type RoCE v1" "$(cat /sys/class/infiniband/s8/ports/1/gid_attrs/types/* 2>/dev/null | sort -u)" "RoCE v2"
ip addr del 10.8.0.1/24 dev eth8
ok "the GID of a removed IPv4 address is removed" wait_for 10 no_gid s8 10.8.0.1
ip addr del fd08::1/64 dev eth8
ok "the GID of a removed IPv6 address is removed" wait_for 10 no_gid s8 fd08::1

# Removed under a program that only waits
ok "the device is deleted while a program waits for events" limited 20 rdma link delete s8
ok "the program gets IBV_EVENT_DEVICE_FATAL" wait_for 10 saw DEVICE_FATAL
is "the deleted device is gone" "$(devices)" ""
kill $watch
wait $watch 2>/dev/null
unused() { [ "$(cat /sys/module/sroce/refcnt)" = 0 ]; }
ok "the module is unused after the program has ended" wait_for 10 unused

# --- kinds of netdev ---

modprobe -a dummy bonding macvlan 8021q bridge 2>/dev/null
ip link add dummy8 type dummy
ip link add bridge8 type bridge
ip link add bond8 type bond mode active-backup miimon 20
ip link add macvlan8 link eth8 type macvlan mode bridge
ip link add link eth8 name eth8.5 type vlan id 5
ip link add vlan-on-bridge8 link bridge8 type vlan id 6
for netdev in dummy8 bridge8 bond8 macvlan8 eth8.5 vlan-on-bridge8; do
	at_exit quietly ip link delete $netdev
	ip link set $netdev up
	ip addr add 10.9.0.1/24 dev $netdev
	ok "$netdev: add" rdma link add "on-$netdev" type sroce netdev $netdev
	# For the RDMA core, the netdev of a device on a VLAN is the netdev below.
	case $netdev in eth8.5) below=eth8 ;; vlan-on-*) below=bridge8 ;; *) below=$netdev ;; esac
	like "$netdev: the device belongs to it" "$(rdma link show "on-$netdev/1")" "netdev $below"
	ok "$netdev: its address is a GID" gid "on-$netdev" 10.9.0.1
	ok "$netdev: programs open it" ibv_devinfo -v -d "on-$netdev"
	ok "$netdev: delete" rdma link delete "on-$netdev"
	ip addr del 10.9.0.1/24 dev $netdev
done
is "all devices are gone" "$(devices)" ""
is "a netdev without a speed causes no warning in the log" "$(dmesg | grep -c 'netdev speed')" 0
# A tap's speed can be set. A speed between two is that of the lower one.
if modprobe -q tun && must ip tuntap add tap8 mode tap; then
	at_exit quietly ip link delete tap8
	must rdma link add on-tap8 type sroce netdev tap8
	for want in 10:"1X 2.5" 1000:"1X 2.5" 5000:"1X 5.0" 10000:"1X 10.0" 20000:"4X 5.0" 24999:"4X 5.0" 25000:"1X 25.0" 40000:"4X 10.0" \
		50000:"1X 50.0" 56000:"4X 14.0" 100000:"4X 25.0" 200000:"4X 50.0" 399999:"4X 50.0" 400000:"4X 100.0" 800000:"8X 100.0"; do
		must ethtool -s tap8 speed "${want%%:*}" duplex full
		is "a netdev of ${want%%:*} Mb/s: width and speed of the port" "$(active_link on-tap8)" "${want#*:}"
	done
	ok "tap8: delete" rdma link delete on-tap8
else
	skip "the port's speed follows the netdev's" "the kernel has no tun"
fi
ip link set eth9 down
ip link set eth9 master bond8
refuses "the port of a bond" 'not supported' rdma link add s9 type sroce netdev eth9
ip link set eth9 nomaster

# Netdevs that are removed, one of them without having been up
for netdev in dummy8 macvlan8 eth8.5; do
	ok "$netdev: add" rdma link add "on-$netdev" type sroce netdev $netdev
	ip link delete $netdev
	ok "$netdev: the device goes with it" wait_for 10 test ! -e "/sys/class/infiniband/on-$netdev"
done

# --- traffic ---

pingpong() {
	pair_run "$1: ibv_rc_pingpong" 'ibv_rc_pingpong -d $D2 -g $G2 -n 20 -e -c -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -n 20 -e -c -p $PORT $IP2'
	pair_run "$1: bursts" 'ib_write_bw -F -d $D2 -x $G2 -n 10 -p $PORT' 'ib_write_bw -F -d $D1 -x $G1 -n 10 -p $PORT $IP2'
}

# over WHAT NETDEV: devices, addresses and traffic on that netdev, which both hosts have
over() {
	address h1 "$2" 1
	address h2 "$2" 2
	on h1 rdma link add $D1 type sroce netdev "$2" && on h2 rdma link add $D2 type sroce netdev "$2" && gids
	pingpong "$1"
	pair_run "$1: ibv_ud_pingpong over IPv6" 'ibv_ud_pingpong -d $D2 -g $G2_6 -n 20 -e -c -s 900 -p $PORT' \
		'ibv_ud_pingpong -d $D1 -g $G1_6 -n 20 -e -c -s 900 -p $PORT $IP2'
}

# bare_hosts: namespaces joined by two veths
bare_hosts() {
	local host cable
	D1=sroce1 D2=sroce2
	ip netns add h1
	ip netns add h2
	for cable in eth0 eth1; do ip link add $cable netns h1 type veth peer name $cable netns h2; done
	for host in h1 h2; do
		on $host ip link set lo up
		for cable in eth0 eth1; do on $host ip link set $cable ${1:-up}; done
	done
}

both() { on h1 "$@" && on h2 "$@"; }

bare_hosts
both ip link add br0 type bridge
both ip link set eth0 master br0
over "bridge" br0
hosts_down

# The MTU of the netdev that has the GID counts, not that of the device.
bare_hosts
both ip link set eth0 mtu 9000
both ip link add link eth0 name eth0.5 type vlan id 5
both ip link set eth0.5 mtu 1500
address h1 eth0.5 1
address h2 eth0.5 2
on h1 rdma link add $D1 type sroce netdev eth0
on h2 rdma link add $D2 type sroce netdev eth0
gids || fail "small VLAN: two hosts"
is "small VLAN: the active MTU is that of the netdev below" "$(active_mtu $D1)" 4096
of_mtu() {
	run_pair "ibv_rc_pingpong -d \$D2 -g \$G2 -n 20 -e -c -m $1 -p \$PORT" \
		"ibv_rc_pingpong -d \$D1 -g \$G1 -n 20 -e -c -m $1 -p \$PORT \$IP2"
}
ok "small VLAN: path MTU 1024" of_mtu 1024
not_ok "small VLAN: path MTU 4096 is too much" of_mtu 4096
like "small VLAN: modify_qp refuses it" "$SERVER_OUTPUT" 'Failed to modify QP to RTR'
both ip link set eth0.5 mtu 9000
ok "VLAN with a larger MTU: path MTU 4096" of_mtu 4096
hosts_down

bare_hosts down
both ip link add bond0 type bond mode active-backup miimon 20
for cable in eth0 eth1; do both ip link set $cable master bond0; done
both ip link set bond0 type bond primary eth0
over "bond" bond0
first_gid() { cat "/sys/class/infiniband/$D1/ports/1/gids/0"; }
is_first_gid() { [[ $1 = fe80:* ]] && [ "$(first_gid)" = "$1" ]; }
of_mac=$(first_gid)
port_up() { [ "$(on "$1" cat /sys/class/net/bond0/bonding/active_slave)" = eth1 ]; }
on h1 ip link set eth0 down
ok "bond: traffic fails over to the other port" wait_for 10 port_up h1
ok "bond: the other host fails over as well" wait_for 10 port_up h2
ok "bond: the device stays up" link_shows $D1 'state ACTIVE'
ok "bond: the first GID is that of the MAC address, after it failed over" wait_for 10 is_first_gid "$of_mac"
pingpong "bond, after it failed over"
hosts_down

bare_hosts
both ip link add mv0 link eth0 type macvlan mode bridge
over "macvlan" mv0
hosts_down

bare_hosts
both ip link add link eth0 name eth0.5 type vlan id 5
over "VLAN" eth0.5
# A device on the netdev below has the VLAN's addresses as GIDs, too.
rdma link delete $D1
ok "VLAN: a device on the netdev below it" on h1 rdma link add $D1 type sroce netdev eth0
G1=$(gid $D1 $IP1)
is "VLAN: the device below has the GIDs of the VLAN" "$(class $D1 "ports/1/gid_attrs/ndevs/$G1")" eth0.5
gids
pingpong "VLAN, one end below"
# The stack splits bursts and inserts the tags itself: every packet needs the headroom.
both ethtool -K eth0 txvlan off tx-gso-list off >"$OUTPUT" 2>&1
pingpong "VLAN, nothing offloaded"
hosts_down

# With devices on a VLAN and on the netdev below it, both have the GIDs of the VLAN. One gets the packets of the connection manager.
connect() {
	pair_run "$1: rping" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -I $IP1 -a $IP2 -p $PORT -C 3'
	# Its port is fixed
	PORT=7173 pair_run "$1: udaddy" 'udaddy -b $IP2' 'udaddy -b $IP1 -s $IP2'
}
for netdevs in "eth0 eth0.5" "eth0.5 eth0"; do
	bare_hosts
	both ip link add link eth0 name eth0.5 type vlan id 5
	address h1 eth0.5 1
	address h2 eth0.5 2
	for host in h1 h2; do
		for netdev in $netdevs; do must on $host rdma link add "$host-$netdev" type sroce netdev "$netdev"; done
	done
	for D1 in h1-eth0 h1-eth0.5; do ok "devices on $netdevs: $D1 has the GID of the VLAN" gid $D1 $IP1; done
	for D2 in h2-eth0 h2-eth0.5; do ok "devices on $netdevs: $D2 has the GID of the VLAN" gid $D2 $IP2; done
	connect "devices on $netdevs"
	hosts_down
done

bare_hosts
both ip link add br0 type bridge
both ip link set eth0 master br0
both ip link set br0 up
both ip link add link br0 name br0.7 type vlan id 7
over "VLAN on a bridge" br0.7
both ethtool -K br0 txvlan off >"$OUTPUT" 2>&1
both ethtool -K eth0 txvlan off tx-gso-list off >"$OUTPUT" 2>&1
pingpong "VLAN on a bridge, nothing offloaded"
hosts_down

# --- removed under traffic ---

# Wait for completions by events: a program that does is told when its device is removed.
endless_pingpong() {
	endless 'ibv_rc_pingpong -d $D2 -g $G2 -n 100000000 -e -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -n 100000000 -e -p $PORT $IP2'
}
# The client always has requests that the server has not acknowledged yet; in a ping-pong, one side may only be waiting.
endless_write() {
	endless 'ib_write_bw -F -d $D2 -x $G2 -n 100000000 -s 4096 -p $PORT' \
		'ib_write_bw -F -d $D1 -x $G1 -n 100000000 -s 4096 -p $PORT $IP2'
}

hosts_up
ok "traffic" endless_pingpong
refuses "rmmod under traffic" 'in use' rmmod sroce
ok "rdma link delete under traffic" limited 20 rdma link delete $D1
fails "the program whose device is gone" $CLIENT "$OUTPUT.client" 'Failed|Couldn.t'
stop $SERVER
ok "the device can be added again" on h1 rdma link add $D1 type sroce netdev eth0
ok "the added device has its GIDs" gids
pingpong "after it was made again"

ok "traffic" endless_write
on h1 ip link set eth0 down
# RETRY_EXC_ERR
fails "link down: the sender" $CLIENT "$OUTPUT.client" 'Failed status 12'
stop $SERVER
ok "link down: timeouts were counted" test "$(counter $D1 local_ack_timeout_err)" -gt 0
on h1 ip link set eth0 up
on h1 ip -6 addr add fd00::1/64 dev eth0 nodad 2>/dev/null
gids
pingpong "link up again"

ok "traffic" endless_write
on h2 ip link set eth0 down
fails "the peer's cable out for longer than retries last: the sender" $CLIENT "$OUTPUT.client" 'Failed status 12'
stop $SERVER
on h2 ip link set eth0 up
on h2 ip -6 addr add fd00::2/64 dev eth0 nodad 2>/dev/null
gids
pingpong "the cable in again"

ok "traffic" endless_write
ok "the peer's device deleted" limited 20 rdma link delete $D2
fails "the peer's device gone: the sender" $CLIENT "$OUTPUT.client" 'Failed status 12'
stop $SERVER
ok "a device in the place of the deleted one" on h2 rdma link add $D2 type sroce netdev eth0
gids

ok "traffic" endless_pingpong
ok "netdev deleted under traffic" limited 20 ip -n h1 link delete eth0
ok "netdev deleted: its device is removed" wait_for 20 test ! -e "/sys/class/infiniband/$D1"
ok "netdev deleted: the peer's device is removed with its netdev" wait_for 20 test ! -e "/sys/class/infiniband/$D2"
fails "netdev deleted: the client" $CLIENT "$OUTPUT.client" 'Failed|Couldn.t'
fails "netdev deleted: the server" $SERVER "$OUTPUT.server" 'Failed|Couldn.t'
hosts_down
ok "the module is unused at the end" wait_for 10 unused
ok "the module unloads" rmmod sroce
