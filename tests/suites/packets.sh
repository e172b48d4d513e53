#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Hostile packets to QPs of every type and state: others are not affected, and nothing leaks (tests/verbs/robust/packets.c).
# SEED repeats a run, PACKETS is the number of packets for each of IPv4 and IPv6 ("make fuzz").
# timeout: 420
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 9000 || { fail "two hosts"; exit 1; }
on h1 ip addr add 10.0.0.77/24 dev eth0
on h1 ip -6 addr add fd00::77/64 dev eth0 nodad
# Fragments of IP datagrams that never become complete
on h2 sysctl -qw net.ipv4.ipfrag_time=2 net.ipv6.ip6frag_time=2
MAC1=$(on h1 cat /sys/class/net/eth0/address)
MAC2=$(on h2 cat /sys/class/net/eth0/address)
export MAC1 MAC2 D1 D2 G1 G2 NETNS=h1
export SEED=${SEED:-$((RANDOM * 32768 + RANDOM))} PACKETS=${PACKETS:-20000}
diag "again: make fuzz SEED=$SEED PACKETS=$PACKETS"

packets() { run_program "$1: " $((300 + PACKETS / 100)) "$PROGRAMS/robust" packets; }
over_ipv4() { ATTACKER=10.0.0.77 TARGET=$IP2 packets IPv4; }
over_ipv6() { SWEPT=$((PACKETS * 2 / 5)) G1=$G1_6 G2=$G2_6 ATTACKER=fd00::77 TARGET=$IP2_6 packets IPv6; }

# kilobytes: prints how much memory of the kernel cannot be reclaimed
kilobytes() { awk '$1 ~ /^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }
resources() { rdma resource show 2>/dev/null; }

before=$(resources)
over_ipv4
start=$(kilobytes)
over_ipv6
is "all resources are given back" "$(resources)" "$before"
grown=$(($(kilobytes) - start))
diag "$grown KiB more"
# Includes freed memory that debug kernels keep
ok "memory is given back" test $grown -lt 8192
