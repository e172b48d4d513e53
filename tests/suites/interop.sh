#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# sroce and the in-tree rxe: every operation, both directions, every path MTU, IPv4 and IPv6, PSNs that wrap, packets that are
# lost, reordered and duplicated.
# timeout: 420
# A fault of rxe: it copies whole pages into smaller memory. KASAN reports once per boot, so this suite has a boot of its own.
# guest: --cpus 2
# dmesg-allow: rxe_mr_copy
. "$(dirname "$0")/lib.sh"

HERE=$(dirname "$0")
BOTH=$SROCE_PROGRAMS/interop/both

# both WHAT ARGUMENTS...: the lines of the program become lines of this suite
both() {
	relay "" ", $1" 120 "$BOTH" "${@:2}"
}

# The server becomes the client. HOST, D, G, IP change places; pair_run does the rest.
swap() {
	local name one two
	for name in HOST D G IP; do
		one=${name}1 two=${name}2
		set -- "${!one}" "${!two}"
		printf -v "$one" %s "$2"
		printf -v "$two" %s "$1"
	done
	for name in G IP; do
		one=${name}1_6 two=${name}2_6
		set -- "${!one}" "${!two}"
		printf -v "$one" %s "$2"
		printf -v "$two" %s "$1"
	done
}

connection_manager() {
	pair_run "$1 rping, IPv4" 'rping -s -a $IP2 -p $PORT -C 5 -S 1000 -v' 'rping -c -a $IP2 -p $PORT -C 5 -S 1000 -v'
	pair_run "$1 rping, IPv6" 'rping -s -a $IP2_6 -p $PORT -C 5 -S 1000 -v' 'rping -c -a $IP2_6 -p $PORT -C 5 -S 1000 -v'
	pair_run "$1 ucmatose" 'ucmatose -b $IP2 -p $PORT -c 3' 'ucmatose -s $IP2 -p $PORT -c 3'
	# Its port is fixed
	PORT=7173 pair_run "$1 udaddy" 'udaddy -b $IP2' 'udaddy -s $IP2'
}

# perftest WHAT COMMAND...
perftest() {
	local what=$1
	shift
	pair_run "$what $*" "$* -d \$D2 -x \$G2 -p \$PORT -F" "$* -d \$D1 -x \$G1 -p \$PORT -F \$IP2"
}

perftests() {
	perftest "$1" ib_write_bw -s 1 -n 50
	perftest "$1" ib_write_bw -s 1048576 -n 10
	perftest "$1" ib_read_bw -s 1 -n 50
	perftest "$1" ib_read_bw -s 1048576 -n 10
	perftest "$1" ib_send_bw -s 65536 -n 50
	perftest "$1" ib_send_lat -s 1 -n 50 -c UC
	perftest "$1" ib_send_bw -s 1024 -n 50 -c UD
	perftest "$1" ib_atomic_bw -n 50
}

# network OPTIONS...: netem with these options on both ends. "tc qdisc change" would keep some of the old options.
network() {
	on h1 tc qdisc delete dev rxe1e root 2>/dev/null
	on h2 tc qdisc delete dev eth0 root 2>/dev/null
	must on h1 tc qdisc add dev rxe1e root netem "$@"
	must on h2 tc qdisc add dev eth0 root netem "$@"
}

# bad WHAT COUNTER OPTIONS...: connections in this network; sroce's COUNTER shows that the network was bad. The timeout is 67 ms: with
# seven retries, 17 ms are too short where other guests keep the processors busy.
bad() {
	local before
	network "${@:3}"
	before=$(counter $D2 "$2")
	both "$1" $D1 $G1 $D2 $G2 1024 RC 100000 14
	sleep 0.05
	ok "$1: packets met with that" test "$(counter $D2 "$2")" -gt "$before"
}

make -s O="$SROCE_PROGRAMS" -C "$HERE/../interop" >/dev/null || { fail "builds: make -C tests/interop"; exit; }
rxe_up 9000 || { fail "rxe and sroce, joined"; exit; }

for mtu in 256 512 1024 2048 4096; do
	# The longest message once with many and once with few packets
	largest=100000
	case $mtu in 1024 | 4096) largest=1048576 ;; esac
	both IPv4 $D1 $G1 $D2 $G2 $mtu all $largest
	both IPv6 $D1 $G1_6 $D2 $G2_6 $mtu all 20000
done

connection_manager "rxe to sroce:"
perftests "rxe to sroce:"
swap
connection_manager "sroce to rxe:"
perftests "sroce to rxe:"
swap

# One packet at a time, as from a NIC without GRO
must on h2 ethtool -K eth0 gro off
export D1 D2 G1 G2 IP1 IP2
relay "" "" 300 "$HERE/../interop/lost_answers.py"
must on h2 ethtool -K eth0 gro on

bad "losing bursts" tx_retransmits loss 2%
must on h2 ethtool -K eth0 tx-gso-list off tx-udp-segmentation off
bad "losing packets" tx_retransmits loss 2%
bad "reordering packets" out_of_sequence delay 1ms reorder 80%
bad "losing, reordering and duplicating packets" duplicate_request delay 1ms reorder 90% 50% loss 1% duplicate 1%
