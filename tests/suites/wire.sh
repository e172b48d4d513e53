#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Packets that no correct peer sends: responses, counters and completions of sroce. The cases are in tests/wire/cases.
# timeout: 420
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../wire/run.sh"

hosts_up || { fail "two hosts"; exit; }
# Responses of several packets arrive one by one.
on h2 ethtool -K eth0 tx-gso-list off tx-udp-segmentation off
MAC1=$(on h1 cat /sys/class/net/eth0/address)
MAC2=$(on h2 cat /sys/class/net/eth0/address)
export MAC1 MAC2 D1 D2 G1 G2 G1_6 G2_6 IP1 IP2 IP1_6 IP2_6
cases "" ${CASES-}
# The layers above IP are the same, so only some of the cases run over IPv6, too
[ -n "${CASES-}" ] || cases "" --ipv6 a_sanity bursts malformed addressing ecn fragments hold path rc_order ud details

# The device that was added last is the first one that the module finds.
another_device() {
	ip -n h2 link add other type dummy && ip -n h2 addr add 10.0.3.2/24 dev other && ip -n h2 link set other up &&
		on h2 rdma link add sroce3 type sroce netdev other
}
if [ -z "${CASES-}" ]; then
	ok "a second device in the namespace" another_device
	D3=sroce3 cases "beside another device: " a_sanity pma
fi
