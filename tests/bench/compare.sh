#!/bin/bash
# sroce and rxe in one boot, over a veth pair each at MTU 1500: a short table of perftest's figures. Run in the guest:
#
#   tests/vm/guest --timeout 900 -- tests/bench/compare.sh [ROUNDS]
#
# The two alternate, and the median of the rounds is printed.
#
#   sroce: namespaces h1 and h2 of lib.sh        rxe: both ends in the initial namespace, which is the only one it works in
#                                                r1 10.9.0.1  --- veth ---  r2 10.9.0.2, routed over the wire by rules

HERE=$(dirname "$0")
. "$HERE/../suites/lib.sh"
ROUNDS=${1:-3}

wire_in_one_namespace() {
	local name
	ip link add r1 type veth peer name r2
	for name in r1 r2; do
		echo 0 >/proc/sys/net/ipv4/conf/$name/rp_filter
		echo 1 >/proc/sys/net/ipv4/conf/$name/accept_local
		echo 1 >/proc/sys/net/ipv4/conf/$name/arp_ignore
		ip link set $name up
	done
	echo 0 >/proc/sys/net/ipv4/conf/all/rp_filter
	ip addr add 10.9.0.1/32 dev r1
	ip addr add 10.9.0.2/32 dev r2
	ip route add 10.9.0.2 dev r1 table 101
	ip route add 10.9.0.1 dev r2 table 102
	ip rule add pref 10 iif lo from 10.9.0.1 to 10.9.0.2 lookup 101
	ip rule add pref 11 iif lo from 10.9.0.2 to 10.9.0.1 lookup 102
	ip rule add pref 100 lookup local
	ip rule del pref 0
}

gid_of() { # DEVICE IPV4-MAPPED-END
	local file
	for file in /sys/class/infiniband/"$1"/ports/1/gids/*; do
		grep -q "$2\$" "$file" && { basename "$file"; return; }
	done 2>/dev/null
}

# one_sroce PROGRAM OPTIONS -> the output line of the client
one_sroce() {
	run_pair "$1 -d \$D2 -x \$G2 -p \$PORT -F $2" "$1 -d \$D1 -x \$G1 -p \$PORT -F $2 \$IP2" 40
	grep -A1 '#bytes' <<<"$CLIENT_OUTPUT" | tail -n 1
}

one_rxe() {
	local server
	PORT=$((PORT + 1))
	timeout 40 $1 -d rxe2 -x $RG2 -p $PORT -F $2 >/dev/null 2>&1 &
	server=$!
	wait_server $server $PORT
	timeout 40 $1 -d rxe1 -x $RG1 -p $PORT -F $2 10.9.0.2 2>&1 | grep -A1 '#bytes' | tail -n 1
	wait $server
}

median() { sort -g | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }

# compare WHAT COLUMN UNIT PROGRAM OPTIONS
compare() {
	local what=$1 column=$2 unit=$3 round s r
	shift 3
	for ((round = 0; round < ROUNDS; round++)); do
		one_sroce "$1" "$2" | awk -v c="$column" '{ print $c }' >>/tmp/s.$$
		one_rxe "$1" "$2" | awk -v c="$column" '{ print $c }' >>/tmp/r.$$
	done
	s=$(median </tmp/s.$$) r=$(median </tmp/r.$$)
	rm -f /tmp/s.$$ /tmp/r.$$
	printf '%-34s %12s %12s  %s  %s\n' "$what" "$s" "$r" "$(awk -v s="$s" -v r="$r" 'BEGIN { if (r + 0) printf "%5.2f", s / r; else print "-" }')" "$unit"
}

hosts_up
wire_in_one_namespace
rdma link add rxe1 type rxe netdev r1
rdma link add rxe2 type rxe netdev r2
RG1=$(gid_of rxe1 0a09:0001) RG2=$(gid_of rxe2 0a09:0002)

printf '%-34s %12s %12s  %s\n' "" sroce rxe ratio
compare "WRITE 64 KiB bandwidth" 4 Gbit/s ib_write_bw "-n 1000 -s 65536 --report_gbits"
compare "SEND 64 KiB bandwidth" 4 Gbit/s ib_send_bw "-n 1000 -s 65536 --report_gbits"
compare "READ 64 KiB bandwidth" 4 Gbit/s ib_read_bw "-n 1000 -s 65536 --report_gbits"
compare "READ 1 MiB bandwidth" 4 Gbit/s ib_read_bw "-n 40 -s 1048576 --report_gbits"
compare "WRITE 2 B rate" 5 Mpps ib_write_bw "-n 20000 -s 2"
compare "WRITE 2 B rate, post list 32" 5 Mpps ib_write_bw "-n 19200 -s 2 -l 32"
compare "SEND 2 B latency, typical" 5 us ib_send_lat "-n 1000 -s 2"
compare "WRITE 2 B latency, typical" 5 us ib_write_lat "-n 1000 -s 2"
compare "READ 2 B latency, typical" 5 us ib_read_lat "-n 1000 -s 2"
compare "atomic latency, typical" 5 us ib_atomic_lat "-n 1000"
compare "UD 1 KiB rate" 5 Mpps ib_send_bw "-c UD -n 5000 -s 1024"
rdma link delete rxe1
rdma link delete rxe2
