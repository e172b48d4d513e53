#!/bin/bash
# perftest between two hosts: every operation, transport and way of posting. Short runs: what counts is that both sides
# finish, that the server sees what the client did, and that nothing went wrong on the way.
# timeout: 900
. "$(dirname "$0")/lib.sh"

hosts_up 9000 || exit 1

# perf WHAT PROGRAM OPTIONS...: over IPv4; with GIDS=6 over IPv6
perf() {
	local what=$1 program=$2
	shift 2
	pair_run "$program, $what" "$program -F -d \$D2 -x \$G2${GIDS:+_6} -p \$PORT $*" \
		"$program -F -d \$D1 -x \$G1${GIDS:+_6} -p \$PORT $* $IP2" "${LIMIT:-40}"
}

# results: how many lines of figures the client printed
results() { grep -cE '^ +[0-9]+ +[0-9]+ +[0-9.]+' <<<"$CLIENT_OUTPUT"; }

# Every operation on every transport that has it
for program in send write read atomic; do
	options=()
	[ $program = atomic ] || options=(-s 4096)
	perf "RC" ib_${program}_bw -n 20 "${options[@]}"
	perf "RC" ib_${program}_lat -n 20 "${options[@]}"
	GIDS=6 perf "RC over IPv6" ib_${program}_bw -n 20 "${options[@]}"
done
perf "compare and swap" ib_atomic_bw -n 20 -A CMP_AND_SWAP
for program in send write; do
	perf "UC" ib_${program}_bw -c UC -n 20 -s 4096
	perf "UC" ib_${program}_lat -c UC -n 20 -s 4096
done
for program in send write read atomic; do
	options=()
	[ $program = atomic ] || options=(-s 4096)
	perf "XRC" ib_${program}_bw -c XRC -n 20 "${options[@]}"
	perf "XRC" ib_${program}_lat -c XRC -n 20 "${options[@]}"
done
perf "UD" ib_send_bw -c UD -n 20 -s 2048
perf "UD" ib_send_lat -c UD -n 20 -s 2048
GIDS=6 perf "UD over IPv6" ib_send_lat -c UD -n 20 -s 2048

# Sizes
LIMIT=120 perf "every size from 2 bytes to 8 MiB" ib_write_bw -a -n 5
is "it measured 23 of them" "$(results)" 23
for program in send read; do LIMIT=60 perf "8 MiB" ib_${program}_bw -s 8388608 -n 5; done
for program in send write read; do perf "1 byte" ib_${program}_bw -s 1 -n 20; done
perf "a size of no round number" ib_send_lat -s 70001 -n 10

# Ways of posting and of waiting
for program in send write read; do
	perf "both ways" ib_${program}_bw -b -n 50 -s 16384
	perf "16 QPs" ib_${program}_bw -q 16 -n 10 -s 4096
	perf "lists of 32" ib_${program}_bw -l 32 -n 96 -s 64
	perf "rdma_cm" ib_${program}_bw -R -n 20 -s 4096
done
for program in bw lat; do perf "with a shared receive queue" ib_send_$program --use-srq -n 20 -s 4096; done
perf "with a shared receive queue and events" ib_send_bw --use-srq -e -n 20 -s 4096
perf "ibv_post_send()" ib_write_bw -n 20 -s 1024 --use_old_post_send
perf "a send queue of 1" ib_write_bw -t 1 -n 20 -s 4096
for program in send write; do
	perf "inline" ib_${program}_bw -I 64 -s 64 -n 50
	perf "inline" ib_${program}_lat -I 1 -s 1 -n 20
done
perf "both ways, 16 QPs, lists of 32 of 2 bytes" ib_write_bw -b -q 16 -l 32 -n 64 -s 2
perf "a completion for every request" ib_write_bw -Q 1 -n 50 -s 64
perf "few completions" ib_send_bw -Q 50 -n 200 -s 64
perf "a short receive queue" ib_send_bw -r 2 -n 50 -s 4096
perf "with events" ib_send_bw -e -n 20 -s 65536
perf "with events" ib_send_lat -e -n 20 -s 64
perf "UD with lists" ib_send_bw -c UD -l 16 -n 64 -s 512
perf "rdma_cm, UD" ib_send_bw -R -c UD -n 20 -s 512
perf "rdma_cm, atomic" ib_atomic_lat -R -n 10
perf "one READ outstanding" ib_read_bw -o 1 -n 20 -s 65536
perf "16 READs outstanding" ib_read_bw -o 16 -n 50 -s 16384
perf "traffic class and service level" ib_write_lat --tclass=96 -S 2 -n 10
perf "a memory region per QP" ib_write_bw -n 20 -s 1024 --mr_per_qp -q 2

# Path MTUs, with messages of packets that are full and one that is not
for mtu in 256 512 1024 2048 4096; do
	for program in write read; do perf "path MTU $mtu" ib_${program}_bw -m $mtu -n 5 -s $((mtu * 9 + 1)); done
done

for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
for name in tx_bytes rx_bytes; do ok "$name moved" test "$(counter $D1 $name)" -gt 40000000; done
hosts_down

# The MTU that networks have
hosts_up 1500
for program in send write read; do
	perf "netdev MTU 1500" ib_${program}_bw -n 20 -s 65536
	like "the path MTU is what fits" "$CLIENT_OUTPUT" 'Mtu +: 1024\[B\]'
done
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
