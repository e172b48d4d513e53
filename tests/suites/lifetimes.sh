#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Objects, processes, addresses, links, netdevs, namespaces and the module are removed while they are in use, repeatedly:
# tests/verbs/robust/lifetimes.c. ROUNDS is the number of objects, TIMES the number of other events, in bursts of AT_ONCE. A
# hundredth of both comes first, for memory that is allocated once and kept. After that the memory in use must not grow.
# timeout: 600
# lanes: uml debug
# dmesg-allow: unregister_netdevice: waiting for eth0 to become free|leaked reference
# (On the emulated debug kernel, under traffic, the end of a netdev takes 20 s, and so does making it; the message comes after 10 s.
# If a reference stayed, the command that deletes the netdev would not end.)
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

ROUNDS=${ROUNDS:-10}
TIMES=${TIMES:-$((ROUNDS / 10))}
AT_ONCE=${AT_ONCE:-1}
export SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} D1 D2 G1 G2
diag "SEED=$SEED ROUNDS=$ROUNDS TIMES=$TIMES AT_ONCE=$AT_ONCE"

kilobytes() { awk '$1 ~ /^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }
unused() { [ "$(cat /sys/module/sroce/refcnt)" = 0 ]; }
device_there() { [ -e "/sys/class/infiniband/$1" ]; }

# ask: the commands of an administrator who lists all objects and counts the QPs of each type
ask() {
	while [ -e "$OUTPUT.churn" ]; do
		for device in $D1 $D2; do
			rdma statistic qp set link $device/1 auto type on
			cat /sys/class/infiniband/$device/hw_counters/rx_packets
		done
		rdma -dd resource show qp
		rdma statistic qp show
		sleep 0.3
	done >/dev/null 2>&1
}
# churn: starts processes that use both devices, again and again until "quiet", at a low priority, so that the commands under
# test get the processor. A changed MAC address, too, may change the index of a GID.
churn() {
	touch "$OUTPUT.churn"
	ask &
	ASK=$!
	renice -n 10 $ASK >/dev/null
	while [ -e "$OUTPUT.churn" ]; do
		gids && nice timeout -k 1 "$(seconds 20)" "$PROGRAMS/robust" lifetimes churn </dev/null 2>/dev/null || sleep 0.02
	done &
	CHURN=$!
}
quiet() {
	rm -f "$OUTPUT.churn"
	wait "$CHURN" "$ASK"
}
at_exit rm -f "$OUTPUT.churn"

# moved_on BEFORE: have packets arrived since?
moved_on() { [ "$(counter $D2 rx_packets 2>/dev/null || echo 0)" -gt "$1" ]; }
# busy: waits until there is traffic; the counters of a new device are zero
busy() {
	local before
	before=$(counter $D2 rx_packets 2>/dev/null || echo 0)
	wait_for 20 moved_on "$before"
}

# again WHAT TIMES COMMAND...: repeats the command under traffic, in bursts, with some traffic between any two bursts
again() {
	local what=$1 times=$2 i
	shift 2
	churn
	for ((i = 0; i < times; i++)); do
		if { ((i % AT_ONCE == 0)) && ! busy; } || ! "$@" "$i"; then
			fail "$what, round $i"
			quiet
			return
		fi
	done
	quiet
	pass "$what, $times times"
	wait_for 20 no_users || fail "$what: all is given back"
}
# A device that was removed and added again has another number.
resources() { rdma resource show | sed 's/^[0-9]*: //' | sort; }
no_users() { [ "$(resources)" = "$BEFORE" ]; }

works() {
	gids
	pair_run "$1: RC afterwards" 'ibv_rc_pingpong -d $D2 -g $G2 -n 20 -e -c -p $PORT' \
		'ibv_rc_pingpong -d $D1 -g $G1 -n 20 -e -c -p $PORT $IP2'
}

# --- events ---

down_and_up() {
	ip -n h1 -batch - <<-END
		link set eth0 down
		link set eth0 up
		address replace fd00::1/64 dev eth0 nodad
	END
}
another_mtu() { ip -n h1 link set eth0 mtu $(($1 % 2 ? 1500 : 4200)); }
# A host that knows the old address would go on sending to it for half a minute.
another_mac() {
	ip -n h2 link set eth0 address "02:00:00:00:00:$((10 + $1 % 90))" && ip -n h1 neigh flush dev eth0
}
address_away() {
	ip -n h1 -batch - <<-END
		address del 10.0.0.1/24 dev eth0
		address add 10.0.0.1/24 dev eth0
	END
}
link_away() {
	rdma link delete $D1 && on h1 rdma link add $D1 type sroce netdev eth0
}
# host_up HOST NUMBER: makes its netdev and its device, with few processes, because starting one is slow here
host_up() {
	ip -n "$1" -batch - <<-END
		link set lo up
		address add 10.0.0.$2/24 dev eth0
		address add fd00::$2/64 dev eth0 nodad
		link set eth0 up
	END
	on "$1" rdma link add "sroce$2" type sroce netdev eth0
}
both_up() {
	ip link add eth0 netns h1 type veth peer name eth0 netns h2
	host_up h1 1 && host_up h2 2
}
netdev_away() {
	ip -n h1 link delete eth0
	wait_for 20 eval '! device_there $D1 && ! device_there $D2' && both_up
}
# The namespace keeps its netdevs as long as a process in it lives; only its name is removed.
namespace_away() {
	hosts_down
	ip netns add h1 && ip netns add h2 && both_up
}
module_away() {
	hosts_down
	wait_for 20 rmmod sroce || return
	namespace_away
}

hosts_up 1500 || { fail "two hosts"; exit 1; }
BEFORE=$(resources)

# all_go ROUNDS TIMES
all_go() {
	ROUNDS=$1 run_program "$1 of each: " $((100 + $1)) "$PROGRAMS/robust" lifetimes
	is "no resource is left of $1" "$(resources)" "$BEFORE"
	again "link down and up" $2 down_and_up
	again "MTU" $2 another_mtu
	again "MAC address" $2 another_mac
	again "address" $2 address_away
	works "$2 changes"
	again "rdma link delete" $2 link_away
	again "netdev deleted" $2 netdev_away
	again "namespace deleted" $((($2 + 1) / 2)) namespace_away
	again "module unloaded" $((($2 + 1) / 2)) module_away
	works "$2 removals"
	ok "the module is unused after $2" wait_for 20 unused
}

all_go $(((ROUNDS + 99) / 100)) $(((TIMES + 99) / 100))
start=$(kilobytes)
all_go "$ROUNDS" "$TIMES"
grown=$(($(kilobytes) - start))
diag "$grown KiB more than $start"
ok "memory is given back" test $grown -lt 8192
