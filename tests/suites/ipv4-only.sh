#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A host whose kernel was started without IPv6.
# timeout: 120
# guest: --append ipv6.disable=1
# lanes: vm
. "$(dirname "$0")/lib.sh"

for host in h1 h2; do ip netns add $host; done
at_exit hosts_down
ip link add eth0 netns h1 type veth peer name eth0 netns h2
n=0
for host in h1 h2; do
	n=$((n + 1))
	on $host ip link set lo up
	on $host ip addr add 10.0.0.$n/24 dev eth0
	on $host ip link set eth0 up
	ok "$host: a device" on $host rdma link add sroce$n type sroce netdev eth0
done
HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2 IP1=10.0.0.1 IP2=10.0.0.2
not_ok "there is no IPv6" on h1 ping -c 1 -W 1 ::1
G1=$(gid $D1 $IP1) G2=$(gid $D2 $IP2)
# As with other devices, and as on hosts that have IPv6, the first GID is made of the MAC address.
is "the address has the index that it has on other hosts" "$G1 $G2" "1 1"
like "the first GID is the default one" "$(cat /sys/class/infiniband/$D1/ports/1/gids/0)" '^fe80:0000:0000:0000:'
not_ok "no GID was refused" sh -c 'dmesg | grep "GID add failed"'
pair_run "ibv_rc_pingpong, data checked" 'ibv_rc_pingpong -d $D2 -g $G2 -p $PORT -n 20 -c' \
	'ibv_rc_pingpong -d $D1 -g $G1 -p $PORT -n 20 -c $IP2'
pair_run "ibv_ud_pingpong" 'ibv_ud_pingpong -d $D2 -g $G2 -p $PORT -n 20' 'ibv_ud_pingpong -d $D1 -g $G1 -p $PORT -n 20 $IP2'
pair_run "rping" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3'

# The RDMA core asks nobody for the route of a multicast address, so the driver is the first to look for one.
dropped=$(counter $D1 tx_local_drops)
ok "datagrams from the default GID complete" on h1 env PYTHONPATH="$SROCE_TOP/tests/wire" timeout "$(seconds 60)" python3 - $D1 <<-END
	import sys
	from pyverbs.addr import AH
	from pyverbs.device import Context
	from target import Victim, address_vector
	ud = Victim(Context(name=sys.argv[1]), "UD")
	ud.connect(0, "ff02::1", 0)
	ud.send_list(AH(ud.pd, attr=address_vector(0, "ff02::1")), 1, [100] * 3, ())
	assert [wc.status for wc in ud.completions(3)] == [0] * 3
END
is "and are dropped" $(($(counter $D1 tx_local_drops) - dropped)) 3
ok "the device is deleted" on h1 rdma link delete sroce1
