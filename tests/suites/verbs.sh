#!/bin/bash
# Every operation of the verbs API, with each byte and each completion compared: tests/verbs.
# timeout: 600
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 400 "$PROGRAMS/data"
G1=$G1_6 G2=$G2_6 run_program "IPv6: " 200 "$PROGRAMS/data" datagram sizes
overtaken() { echo $(($(counter $D1 out_of_sequence) + $(counter $D1 implied_nak_seq_err))); }
before=$(overtaken)
D2=$D1 G2=$G1 run_program "one device: " 200 "$PROGRAMS/data" ops order datagram atomic_write many
G1=$G1_6 D2=$D1 G2=$G1_6 run_program "one device, IPv6: " 100 "$PROGRAMS/data" order
is "one device: no packet has overtaken another" "$(overtaken)" "$before"
at_exit sh -c 'echo 0 >/proc/sys/net/core/high_order_alloc_disable'
# Packets that are copied (UC) and longer than a page, when there are no larger pages
echo 1 >/proc/sys/net/core/high_order_alloc_disable
run_program "small pages: " 100 "$PROGRAMS/data" sizes
D2=$D1 G2=$G1 run_program "small pages, one device: " 100 "$PROGRAMS/data" sizes
echo 0 >/proc/sys/net/core/high_order_alloc_disable

# Netdevs that take no fragment list, as NICs: all payload is copied
for host in $HOST1 $HOST2; do
	ok "$host: no fragment lists" on $host ethtool -K eth0 tx-scatter-gather-fraglist off
done
run_program "copied: " 200 "$PROGRAMS/data" sizes ops order datagram regions
echo 1 >/proc/sys/net/core/high_order_alloc_disable
run_program "copied, small pages: " 100 "$PROGRAMS/data" sizes regions
echo 0 >/proc/sys/net/core/high_order_alloc_disable
