#!/bin/bash
# The data path makes hardly any system calls: tests/verbs counts its own, and the module counts the kicks of perftest.
# On a debug kernel, a post may take longer than the module waits for the next one (SROCE_BATCH_NS), and each one kicks.
# timeout: 200
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 120 "$PROGRAMS/data" stream

# kicks: prints the number so far. The kernel caches values for 10 ms.
kicks() { sleep 0.1; cat "/sys/class/infiniband/$D1/ports/1/hw_counters/kicks"; }

# few_kicks WHAT POSTS COMMAND: the command makes less than one kick for ten posts, apart from a few to set up. A busy host
# delays posts, as a debug kernel does, so one run of five is enough.
few_kicks() {
	local what=$1 posts=$2 command=$3 before number=$2 run
	for ((run = 0; run < 5 && number * 10 >= posts; run++)); do
		before=$(kicks)
		run_pair "$command -d \$D2 -x \$G2 -p \$PORT" "$command -d \$D1 -x \$G1 -p \$PORT \$IP2" 60 || { fail "$what runs"; show_pair "$command" "$command"; return; }
		number=$(($(kicks) - before))
		diag "$number kicks for $posts posts"
	done
	ok "$what: less than one kick in ten posts" test $((number * 10)) -lt "$posts"
}

for size in 2 64 1024 4096; do
	few_kicks "ib_write_bw of $size bytes" 5000 "ib_write_bw -F -n 5000 -s $size"
done
few_kicks "ib_send_bw of 64 bytes" 5000 "ib_send_bw -F -n 5000 -s 64"
few_kicks "ib_read_bw of 4096 bytes" 2000 "ib_read_bw -F -n 2000 -s 4096"

# Nor do timers fire for each message: a millisecond has 10 round trips and more.
timers() { awk '$1 == "HRTIMER:" { for (i = 2; i <= NF; i++) n += $i } END { print n }' /proc/softirqs; }
before=$(timers) began=$(date +%s%N)
pair_run "pings of 2 bytes" 'ib_send_lat -F -n 20000 -s 2 -d $D2 -x $G2 -p $PORT' 'ib_send_lat -F -n 20000 -s 2 -d $D1 -x $G1 -p $PORT $IP2' 60
number=$(($(timers) - before)) ms=$((($(date +%s%N) - began) / 1000000))
diag "$number times in $ms ms"
ok "timers fire less than five times in a millisecond" test $number -lt $((5 * ms))
