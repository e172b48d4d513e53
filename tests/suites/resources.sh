#!/bin/bash
# Shared receive queues and all other objects of verbs besides queue pairs, and very many of each: tests/verbs.
# CONTEXTS, QPS and REGIONS: their numbers.
# timeout: 400
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

# An exporter of dma-bufs, if there is no other
modprobe -q vgem && at_exit modprobe -q -r vgem
if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 8 >/proc/sys/vm/nr_hugepages
	at_exit sh -c 'echo 0 >/proc/sys/vm/nr_hugepages'
fi
run_program "" 150 "$PROGRAMS/objects"
D2=$D1 G2=$G1 run_program "one device: " 100 "$PROGRAMS/objects"
IBV_FORK_SAFE=1 RDMAV_HUGEPAGES_SAFE=1 run_program "fork safe: " 60 "$PROGRAMS/objects" pages
G1=$G1_6 G2=$G2_6 run_program "IPv6: " 60 "$PROGRAMS/objects" multicast
# The members on the sending host receive, too, if a route has a smaller MTU than the netdev.
ok "a route with an MTU of its own" on h1 ip route add 239.0.0.0/8 dev eth0 mtu 1500
run_program "MTU of a route: " 60 "$PROGRAMS/objects" multicast
on h1 ip route delete 239.0.0.0/8

# On a debug kernel, fewer are enough
[ "${SROCE_DEBUG_KERNEL:-0}" = 0 ] || export CONTEXTS=${CONTEXTS-100} QPS=${QPS-1000} REGIONS=${REGIONS-10000}
run_program "" 60 "$PROGRAMS/robust"

ok "mckey" mckey_pair eth0
ok "the multicast group is left at the end" wait_for 10 eval '! mckey_joined eth0'
