#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# perftest between two hosts: every operation, transport and way of posting, in short runs. Both sides must finish, the client
# must have measured, and there must be no errors.
# timeout: 600
. "$(dirname "$0")/lib.sh"

# figures NUMBER: does the client's output have this number of lines of figures, one for each size, none of which ends with 0?
figures() {
	awk -v want="$1" '/^ *[0-9]+ +[0-9]+ +[0-9.]+/ && $NF > 0 { lines++ } END { exit lines != want }' \
		<<<"$CLIENT_OUTPUT"
}

# measured SERVER CLIENT LIMIT: both finish. Repeated if perftest reports that it could not measure the frequency of the processor's
# clock, which happens on a busy machine: its figures are 0 then.
measured() {
	local tries
	for tries in 1 2 3; do
		run_pair "$@" || return
		[[ $CLIENT_OUTPUT == *"Correlation coefficient"* ]] || break
	done
}

# path_mtu OPTIONS...: the client has the path MTU that was asked for, or the one that fits
path_mtu() {
	local mtu=$MTU
	[[ ! " $* " =~ \ -m\ ([0-9]+)\  ]] || mtu=${BASH_REMATCH[1]}
	[[ $CLIENT_OUTPUT =~ Mtu\ +:\ $mtu\[B\] ]]
}

# perf [6] PROGRAM OPTIONS...: over IPv6 if the first word is a 6
perf() {
	local gid1=$G1 gid2=$G2 sizes=1 limit=40 what="$*" pair
	if [ "$1" = 6 ]; then
		what="IPv6: ${*:2}" gid1=$G1_6 gid2=$G2_6
		shift
	fi
	if [[ " $* " == *" -a "* ]]; then
		sizes=23 limit=90 # 2 bytes to 8 MiB
		# A datagram fits into a packet of the netdev's MTU.
		[[ " $* " != *" -c UD "* ]] || sizes=12
	fi
	pair=("$1 -F -d \$D2 -x $gid2 -p \$PORT ${*:2}" "$1 -F -d \$D1 -x $gid1 -p \$PORT ${*:2} $IP2")
	if measured "${pair[@]}" $limit && figures $sizes && path_mtu "$@"; then
		pass "$what"
	else
		fail "$what"
		show_pair "${pair[@]}"
	fi
}

# some_cases NUMBER STEP: every STEP-th case, from case NUMBER on; returns the number of failures
some_cases() {
	local i words first=$TESTS
	OUTPUT+=.$1 PORT=$((PORT + 1000 * $1))
	for ((i = $1; i < ${#CASES[@]}; i += $2)); do
		TESTS=$((first + i))
		read -r -a words <<<"${CASES[i]}"
		perf "${words[@]}" >"$OUTPUT"
		cat "$OUTPUT"
	done
	rm -f "$OUTPUT"
	exit $FAILED
}

# cases AT_ONCE: those on standard input, one in a line; AT_ONCE of them run at the same time
cases() {
	local i line worker workers=()
	CASES=()
	while read -r line; do
		[ -z "$line" ] || CASES+=("$line")
	done
	for ((i = 0; i < $1; i++)); do
		(trap - EXIT; FAILED=0; some_cases $i "$1") &
		workers+=($!)
	done
	for worker in "${workers[@]}"; do
		wait "$worker"
		FAILED=$((FAILED + $?))
	done
	TESTS=$((TESTS + ${#CASES[@]}))
}

# Each option meets every operation and transport that it is for; every path MTU meets every operation of every transport.
# Cases that perftest does not have:
# - rdma_cm (-R) with UC and XRC, events (-e) with WRITE, an SRQ with anything but SEND. With rdma_cm the path MTU is that of
#   the netdev.
# - more than 16 completions at once with events: it polls 16 of them for each event, and then waits. With -b, this applies to
#   completions of received messages, too.
# - an SRQ (that of XRC, too) of fewer requests than QPs (XRC with -b has twice as many QPs), and with UC or UD an SRQ for the
#   messages of several QPs: the number of its requests is the number of messages of one QP.
# All sizes (-a, up to 8 MiB) take long, so they are run with one program of each operation only.
MTU=4096
hosts_up 9000 || { fail "two hosts"; exit 1; }
cases 2 <<'CASES'
ib_send_bw -a -n 5
ib_send_bw -R -e -b -l 4 -n 12 -s 4096
ib_send_bw -R -q 16 -I 64 -s 64 -n 20
ib_send_bw --use-srq -q 4 -l 8 -e -n 32 -s 4609 -m 512
ib_send_bw --use-srq -R -b -n 20 -s 9000
ib_send_bw --odp -q 2 --mr_per_qp --use_old_post_send -r 2 -Q 50 -m 256 -n 100 -s 2305
6 ib_send_bw -q 16 -b -l 32 -I 1 -s 1 -n 64
ib_send_lat --use-srq -e -I 32 -s 32 -n 20
ib_send_lat --use-srq -R -e -n 5 -s 1048577
6 ib_send_lat -e -m 2048 -n 20 -s 18433

ib_write_bw -a -l 5 -n 5
ib_write_bw -R -q 16 -l 8 -b -n 32 -s 4096
ib_write_bw -R -q 16 -I 64 -s 64 -n 20
ib_write_bw -q 16 -l 32 -b -n 64 -s 2
ib_write_bw -Q 1 -I 1 -s 1 -n 50
ib_write_bw --odp -q 2 --mr_per_qp --use_old_post_send -m 512 -n 20 -s 4609
6 ib_write_bw -t 1 -m 256 -n 20 -s 2305

ib_read_bw -a -e -n 5
ib_read_bw -R -q 16 -l 8 -b -n 32 -s 4097
ib_read_bw -o 1 -m 256 -n 20 -s 65537
ib_read_bw --odp -o 16 -q 2 --mr_per_qp -m 512 -n 50 -s 16385
6 ib_read_bw -q 16 -s 1 -n 20
ib_read_lat -R -e -n 5 -s 1048577
6 ib_read_lat -e -m 1024 -n 10 -s 9217

ib_atomic_bw -R -q 16 -l 8 -b -e -n 8
ib_atomic_bw -A CMP_AND_SWAP -q 16 -l 8 -m 256 -n 32
6 ib_atomic_bw -b -n 20
ib_atomic_lat -R -e -A CMP_AND_SWAP -n 10

ib_send_bw -c UC -b -e -m 512 -n 12 -s 4609
ib_send_bw -c UC -q 16 -l 8 -I 64 -s 64 -n 32
ib_send_bw -c UC --use-srq -m 256 -n 20 -s 2305
ib_send_bw -c UC -m 2048 -n 5 -s 1048577
ib_send_lat -c UC -e -n 10 -s 70001
ib_write_bw -c UC -m 4096 -n 5 -s 1048577
ib_write_bw -c UC -q 16 -l 8 -b -m 1024 -n 32 -s 4097
ib_write_bw -c UC -I 64 -s 64 -b -n 20
6 ib_write_bw -c UC -m 256 -n 20 -s 2305

ib_send_bw -c UD -a -b -e -n 5
ib_send_bw -c UD -q 16 -l 8 -b -m 1024 -n 32 -s 1024
ib_send_bw -c UD -R -e -b -I 64 -s 64 -n 12
ib_send_bw -c UD --use-srq -m 512 -n 20 -s 512
ib_send_lat -c UD -a -R -e -n 5
ib_send_lat -c UD --use-srq -e -m 256 -n 10 -s 256

ib_send_bw -c XRC -b -n 5 -s 1048577
ib_send_bw -c XRC -q 4 -l 8 -e -m 256 -n 32 -s 1025
ib_send_bw -c XRC -I 64 -s 64 -b -m 1024 -n 20
ib_send_lat -c XRC -e -m 2048 -n 10 -s 9000
6 ib_send_lat -c XRC -e -m 512 -n 10 -s 4609
ib_write_bw -c XRC -n 5 -s 1048577
ib_write_bw -c XRC -q 16 -l 8 -b -m 512 -n 32 -s 4097
ib_write_bw -c XRC -I 64 -s 64 -b -n 20
ib_write_bw -c XRC -m 2048 -n 20 -s 18433
ib_read_bw -c XRC -n 5 -s 1048577
ib_read_bw -c XRC -q 16 -l 8 -b -e -m 1024 -n 8 -s 4097
ib_read_bw -c XRC -m 256 -n 20 -s 2305
ib_read_lat -c XRC -e -m 2048 -n 10 -s 9000
ib_atomic_bw -c XRC -q 16 -l 8 -b -e -n 8
ib_atomic_lat -c XRC -e -n 10
CASES
# Not at the same time as others: both ends poll, and each needs a processor.
cases 1 <<'CASES'
ib_send_lat -m 1024 -n 10 -s 70001
ib_write_lat -R -I 64 -s 64 --tclass=96 -S 2 -n 10
ib_write_lat -m 1024 -n 5 -s 1048577
6 ib_write_lat -m 2048 -n 10 -s 18433
6 ib_read_lat -m 2048 -n 10 -s 18433
ib_atomic_lat -n 10
6 ib_send_lat -c UC -I 64 -s 64 -m 1024 -n 10
ib_write_lat -c UC -m 512 -n 10 -s 9000
6 ib_write_lat -c UC -m 2048 -n 10 -s 18433
6 ib_send_lat -c UD -I 64 -s 64 -m 2048 -n 10
6 ib_write_lat -c XRC -m 256 -n 10 -s 2305
ib_write_lat -c XRC -m 1024 -n 10 -s 9217
6 ib_read_lat -c XRC -m 512 -n 10 -s 4609
CASES
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
for name in tx_bytes rx_bytes; do ok "$name moved" test "$(counter $D1 $name)" -gt 40000000; done
hosts_down

# The usual MTU of networks
MTU=1024
hosts_up 1500 || { fail "two hosts"; exit 1; }
cases 1 <<'CASES'
ib_send_bw -n 20 -s 65536
ib_write_bw -n 20 -s 65536
ib_read_bw -n 20 -s 65536
CASES
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
