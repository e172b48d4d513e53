#!/bin/bash
# Network namespaces: the RDMA subsystem in shared and exclusive mode, and namespaces that are removed with devices in them.
# Exclusive mode can be chosen only while there are no other namespaces, so this needs a boot of its own.
# guest: --mem 2G
# timeout: 300
. "$(dirname "$0")/lib.sh"

D1=sroce1 D2=sroce2

# devices HOST: prints the devices that rdma shows there
devices() { on "$1" rdma link show | sed -n 's/^link \([^/]*\).*/\1/p' | sort | xargs; }
none_left() { [ -z "$(devices init)" ]; }
unused() { [ "$(cat /sys/module/sroce/refcnt)" = 0 ]; }
mode() { rdma system show | grep -o 'netns [a-z]*'; }

# cable: two namespaces joined by a veth, no devices
cable() {
	ip netns add h1
	ip netns add h2
	ip link add eth0 netns h1 type veth peer name eth0 netns h2
	on h1 ip link set lo up
	on h2 ip link set lo up
	address h1 eth0 1
	address h2 eth0 2
}

pingpong() {
	pair_run "$1" 'ibv_rc_pingpong -d $D2 -g $G2 -n 20 -e -c -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -n 20 -e -c -p $PORT $IP2'
}

# inner_gid HOST DEVICE ADDRESS: gid() for a device that is visible only on that host
inner_gid() {
	local text file
	text=$(gid_text "$3")
	file=$(on "$1" bash -c "grep -lsx $text /sys/class/infiniband/$2/ports/1/gids/*") && echo "${file##*/}"
}
inner_gids() { G1=$(inner_gid h1 $D1 $IP1) && G2=$(inner_gid h2 $D2 $IP2); }
moved() { on h1 cat "/sys/class/infiniband/$D1/ports/1/hw_counters/$1"; }

at_exit hosts_down

# --- exclusive ---

is "shared is the default" "$(mode)" "netns shared"
ok "exclusive mode can be set" rdma system set netns exclusive
is "the mode is exclusive" "$(mode)" "netns exclusive"
cable
# A device is created in the initial namespace, even if its netdev is in another one, and is then moved.
ok "h1 adds a device for its netdev" on h1 rdma link add $D1 type sroce netdev eth0
ok "h2 adds a device for its netdev" on h2 rdma link add $D2 type sroce netdev eth0
is "in exclusive mode, new devices are in the initial namespace" "$(devices init)" "sroce1 sroce2"
is "the new devices are in no other namespace" "$(devices h1)$(devices h2)" ""

stdbuf -oL ibv_asyncwatch -d $D1 >"$OUTPUT.watch" 2>&1 &
watch=$!
at_exit rm -f "$OUTPUT.watch"
ok "a program opens a device" wait_for 20 grep -q 'async event FD' "$OUTPUT.watch"
ok "a device that is open moves to h1" limited 30 rdma dev set $D1 netns h1
ok "the program gets IBV_EVENT_DEVICE_FATAL when its device moves" wait_for 10 grep -q DEVICE_FATAL "$OUTPUT.watch"
kill $watch
wait $watch 2>/dev/null
ok "the other device moves to h2" limited 30 rdma dev set $D2 netns h2
is "h1 sees its own device only" "$(devices h1)" sroce1
is "h2 sees its own device only" "$(devices h2)" sroce2
is "the initial namespace sees no device" "$(devices init)" ""
not_ok "a program in the initial namespace cannot open a device of h1" ibv_devinfo -d $D1
not_ok "a program in h2 cannot open a device of h1" on h2 ibv_devinfo -d $D1
ok "a program in h1 can open its device" on h1 ibv_devinfo -d $D1
ok "after the move the devices have GIDs for their addresses" wait_for 10 inner_gids
inner_gids
pingpong "ibv_rc_pingpong in exclusive mode"
pair_run "ib_write_bw in exclusive mode" 'ib_write_bw -F -d $D2 -x $G2 -n 10 -p $PORT' 'ib_write_bw -F -d $D1 -x $G1 -n 10 -p $PORT $IP2'
ok "exclusive mode: packets are counted" test "$(moved rx_packets)" -gt 0
# For wait_server: listening sockets are visible only in h2.
cm_listens() { on h2 rdma resource show cm_id 2>/dev/null | grep -q "LISTEN.*:$1 "; }
pair_run "rping in exclusive mode" 'rping -s -a $IP2 -p $PORT -C 3 -V' 'rping -c -a $IP2 -p $PORT -C 3 -V'
ok "a device is deleted from its own namespace" on h1 rdma link delete $D1
is "the deleted device is gone" "$(devices h1)" ""
ok "the device is added again" on h1 rdma link add $D1 type sroce netdev eth0
ok "the device moves to h1 again" rdma dev set $D1 netns h1
ok "the device has its GIDs again" wait_for 10 inner_gids
inner_gids
pingpong "ibv_rc_pingpong after the device was added again"

# A container with a netdev above that of h2, and with a device there. The older device of h2 has the container's address as a
# GID, too, but programs of the container have no access to it.
container() {
	on h1 ip addr add 10.0.7.1/24 dev eth0 && ip netns add inner && on h2 ip link add mv0 link eth0 type macvlan mode bridge &&
		ip -n h2 link set mv0 netns inner && on inner ip link set lo up && on inner ip link set mv0 up &&
		on inner ip addr add 10.0.7.2/24 dev mv0 && on inner rdma link add sroce7 type sroce netdev mv0 &&
		rdma dev set sroce7 netns inner
}
at_exit eval 'ip netns delete inner 2>/dev/null'
ok "a container has a device above that of its host" container
ok "the container's address is a GID of its device" wait_for 10 inner_gid inner sroce7 10.0.7.2
ok "the container's address is a GID of the host's device" wait_for 10 inner_gid h2 $D2 10.0.7.2
ok "the peer's address is a GID" wait_for 10 inner_gid h1 $D1 10.0.7.1
cm_listens() { on inner rdma resource show cm_id 2>/dev/null | grep -q "LISTEN.*:$1 "; }
pair_run "rping to a container in exclusive mode" 'ip netns exec inner rping -s -a 10.0.7.2 -p $PORT -C 3 -V' \
	'rping -c -a 10.0.7.2 -p $PORT -C 3 -V'
ip netns delete inner

# The namespaces end, and their netdevs and devices with them.
ip netns delete h1
ip netns delete h2
ok "devices are gone when their namespaces have ended" wait_for 20 none_left
ok "the module is unused when the namespaces have ended" wait_for 20 unused
ok "back to shared mode, once the namespaces have ended" wait_for 20 rdma system set netns shared

# --- shared ---

ok "two hosts in shared mode" hosts_up
is "in shared mode every namespace sees all devices" "$(devices init), $(devices h1), $(devices h2)" \
	"sroce1 sroce2, sroce1 sroce2, sroce1 sroce2"
not_ok "exclusive mode is refused while there are namespaces" rdma system set netns exclusive
not_ok "moving is refused in shared mode" rdma dev set $D1 netns h1
cm_listens() { rdma resource show cm_id 2>/dev/null | grep -q "LISTEN.*:$1 "; }
pingpong "ibv_rc_pingpong in shared mode"
ok "in shared mode any namespace can open any device" on h2 ibv_devinfo -d $D1

# The end of a namespace does not visit the queue pairs of the whole host: a probe counts how often
# they are visited. A namespace that ends removes its netdevs early, and ends completely before the next one begins to.
no_cable() { [ ! -e "/sys/class/net/$1" ]; }
# come_and_go NAME
come_and_go() {
	ip netns add "$1" && ip link add "$1" type veth peer name eth0 netns "$1" && ip netns delete "$1" &&
		wait_for 20 no_cable "$1"
}
if count_calls sroce:sroce_qp_for_each 2>/dev/null; then
	for name in plain1 plain2 plain3; do ok "a namespace without devices ends" come_and_go $name; done
	is "the end of namespaces without devices visits no QP" "$(calls)" 0
else
	skip "the end of namespaces without devices visits no QP" "the kernel has no probes"
fi

# A namespace below: it has a VLAN of the device's netdev, whose addresses are GIDs, too. Routes of IPv6 point into their
# namespace, and the queue pair of a program elsewhere still has one when it ends. The kernel frees one namespace with the next.
vlan5() { on "$1" ip -6 addr add "fd05::$2/64" dev vlan5 nodad && on "$1" ip link set vlan5 up; }
no_gid() { ! find_gid "$1" "$(gid_text "$2")"; }
# gid_on DEVICE ADDRESS NETDEV: number of the GID that the netdev has; others may have the same address
gid_on() {
	local dir=/sys/class/infiniband/$1/ports/1 n
	for n in $(grep -lsx "$(gid_text "$2")" "$dir"/gids/* | sed 's,.*/,,'); do
		[ "$(cat "$dir/gid_attrs/ndevs/$n" 2>/dev/null)" = "$3" ] && [ "$(cat "$dir/gid_attrs/types/$n")" = "RoCE v2" ] &&
			echo "$n" && return
	done
	return 1
}
second_gids() { ours=$(gid_on $D1 fd05::1 vlan6) && theirs=$(gid_on $D2 fd05::2 vlan6); }
# again NAMESPACE NUMBER: vlan6 there loses its address, which comes back
again() {
	ip netns exec "$1" ip -6 addr del "fd05::$2/64" dev vlan6 && ip netns exec "$1" ip -6 addr add "fd05::$2/64" dev vlan6 nodad
}
# many_addresses HOST: they become GIDs, whose numbers are less than those of later ones; ib_write_bw accepts numbers up to 63
many_addresses() { printf 'address add fd06::%d/128 dev eth0 nodad\n' {1..40} | ip -n "$1" -batch -; }
# Namespaces that know nothing of each other choose the same addresses: vlan5 on both hosts, and vlan6 in other namespaces.
equal_addresses() {
	local host vlan n=0
	for host in h1 h2; do
		n=$((n + 1))
		ip netns add "under_$host"
		for vlan in 5 6; do on $host ip link add link eth0 name vlan$vlan type vlan id $vlan; done
		vlan5 $host $n
		many_addresses $host
		on $host ip link set vlan6 netns "under_$host"
		ip netns exec "under_$host" ip -6 addr add "fd05::$n/64" dev vlan6 nodad
		ip netns exec "under_$host" ip link set vlan6 up
	done
	ok "equal addresses in two namespaces: the second pair reaches each other" \
		wait_for 10 ip netns exec under_h2 ping -6 -c 1 -W 1 fd05::1
	ok "equal addresses in two namespaces: both are GIDs" wait_for 10 second_gids
	export ours theirs
	stop_counting
	count_calls ib_core:rdma_get_gid_attr 2>/dev/null
	pair_run "equal addresses in two namespaces: datagrams of the second one" \
		'ibv_ud_pingpong -d $D2 -g $theirs -n 20 -e -p $PORT' 'ibv_ud_pingpong -d $D1 -g $ours -n 20 -e -p $PORT $IP2'
	! counting || ok "equal addresses in two namespaces: a datagram does not look at all GIDs" test "$(calls)" -lt 400
	stop_counting
	ok "equal addresses in two namespaces: traffic" endless \
		'ib_write_bw -F -d $D2 -x $theirs -n 100000000 -s 4096 -u 18 -p $PORT' \
		'ib_write_bw -F -d $D1 -x $ours -n 100000000 -s 4096 -u 18 -p $PORT $IP2'
	ok "equal addresses in two namespaces: an address goes and comes back" again under_h1 1
	ok "equal addresses in two namespaces: the connection goes on" goes_on
	kill -KILL $SERVER $CLIENT 2>/dev/null
	wait $SERVER $CLIENT 2>/dev/null
	for host in h1 h2; do
		ip netns delete "under_$host"
		on $host ip link delete vlan5
	done
}
# goes_on: packets still arrive a second later
goes_on() {
	local before
	sleep 1
	kill -0 $SERVER $CLIENT || return
	before=$(counter $D1 rx_packets)
	sleep 1
	[ "$(counter $D1 rx_packets)" -gt "$before" ]
}
if modprobe 8021q 2>/dev/null; then
	ip netns add below
	for host in h1 h2; do on $host ip link add link eth0 name vlan5 type vlan id 5; done
	on h1 ip link set vlan5 netns below
	vlan5 below 1
	vlan5 h2 2
	# The kernel reports a change of a VLAN's carrier up to a second late.
	ok "VLAN in a nested namespace: it reaches the other host" wait_for 10 on h2 ping -6 -c 1 -W 1 fd05::1
	ok "VLAN in a nested namespace: its address is a GID of the device" gid $D1 fd05::1
	ours=$(gid $D1 fd05::1) theirs=$(gid $D2 fd05::2)
	export ours theirs
	ok "VLAN in a nested namespace: traffic" endless 'ibv_rc_pingpong -d $D2 -g $theirs -e -p $PORT -n 100000000' \
		'ibv_rc_pingpong -d $D1 -g $ours -e -p $PORT -n 100000000 $IP2'
	kill -STOP $SERVER $CLIENT
	sleep 0.5
	ip netns delete below
	ok "the nested namespace ends: the GID is removed" wait_for 20 no_gid $D1 fd05::1
	for next in next1 next2; do ok "another namespace ends after the nested one" come_and_go $next; done
	! counting || is "QPs are visited once, for the namespace that had the VLAN" "$(calls)" 1
	kill -KILL $SERVER $CLIENT 2>/dev/null
	wait $SERVER $CLIENT 2>/dev/null
	on h2 ip link delete vlan5
	pair_run "after the nested namespace ended: rping" 'rping -s -a $IP2_6 -p $PORT -C 3 -V' 'rping -c -a $IP2_6 -p $PORT -C 3 -V'
	pingpong "after the nested namespace ended: ibv_rc_pingpong"
	equal_addresses
else
	skip "a VLAN of the device in a namespace below" "this kernel has none"
fi
stop_counting

# A namespace lives as long as a program in it, and with it the device.
PORT=$((PORT + 1))
before=$(counter $D1 rx_packets)
(exec_on h2 ibv_rc_pingpong -d $D2 -g "$G2" -e -n 100000000 -p $PORT) >/dev/null 2>&1 &
server=$!
wait_server $server $PORT
(exec_on h1 ibv_rc_pingpong -d $D1 -g "$G1" -e -n 100000000 -p $PORT $IP2) >/dev/null 2>&1 &
client=$!
goes_on() { [ "$(counter $D1 rx_packets)" -gt $((before + $1)) ]; }
ok "traffic before a namespace is deleted" wait_for 20 goes_on 20
ip netns delete h1
before=$(counter $D1 rx_packets)
ok "traffic continues in a deleted namespace with a running program" wait_for 20 goes_on 20
kill $client
wait $client 2>/dev/null
ok "the program in the deleted namespace ends: its device is removed" wait_for 20 test ! -e /sys/class/infiniband/$D1
ok "the peer's device is removed with its netdev" wait_for 20 test ! -e /sys/class/infiniband/$D2
kill $server 2>/dev/null
wait $server 2>/dev/null
ok "the module is unused when both devices are gone" wait_for 20 unused
hosts_down

# A netdev that moves to another namespace loses its device.
ip netns add h1
ip link add eth8 type veth peer name eth9
address init eth8 1
ok "a device in the initial namespace" rdma link add $D1 type sroce netdev eth8
ok "the device in the initial namespace has a GID" gid $D1 $IP1
ip link set eth8 netns h1
ok "a netdev that moves to another namespace loses its device" wait_for 20 test ! -e /sys/class/infiniband/$D1
is "the port is free in the namespace it left" "$(cat /proc/net/udp /proc/net/udp6 | grep -c ':12B7 ')" 0
address h1 eth8 1
ok "a device can be added where the netdev moved to" on h1 rdma link add $D1 type sroce netdev eth8
ok "the device there has a GID" gid $D1 $IP1
ip link delete eth9
ok "a deleted netdev takes its device with it" wait_for 20 none_left
ok "the module is unused at the end" wait_for 20 unused
ok "the module unloads" rmmod sroce
