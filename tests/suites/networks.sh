#!/bin/bash
# Bad networks: packets are lost, late, duplicated, damaged, in the wrong order, or too many for a queue. All data arrives,
# losses are noticed early, and a sender that loses much has a smaller window. tests/verbs/data/heavy_load.c compares every byte.
# timeout: 400
# lanes: uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
modprobe -qa sch_netem sch_tbf || skip_all "no netem"

# The kernel repeats a lost ARP request after a second, and modify_qp() does not wait longer.
neighbour() { on "$1" ip neighbour replace "$2" lladdr "$(on "$3" cat /sys/class/net/eth0/address)" dev eth0 nud permanent; }
neighbour h1 $IP2 h2
neighbour h2 $IP1 h1

# network OPTIONS...: netem with these options in both directions. "tc qdisc change" would keep some of the old options.
network() {
	for host in h1 h2; do
		on $host tc qdisc delete dev eth0 root 2>/dev/null
		must on $host tc qdisc add dev eth0 root netem "$@"
	done
}
# lost: packets that both hosts have lost in their queues since these were made; a burst counts as one
lost() { for host in h1 h2; do on $host tc -s -j qdisc show dev eth0 root; done | grep -o '"drops":[0-9]*' | awk -F: '{ n += $2 } END { print n + 0 }'; }
# either COUNTER: of both devices; or lost
either() {
	if [ "$1" = lost ]; then lost; else
		sleep 0.05
		echo $(($(counter $D1 "$1") + $(counter $D2 "$1")))
	fi
}

# moved DEVICE NAME BEFORE: by how much the counter has grown. The kernel caches values for 10 ms.
moved() { sleep 0.05; echo $(($(counter "$1" "$2") - $3)); }

# bad WHAT COUNTER OPTIONS...: COUNTER shows that the network was bad
bad() {
	local what=$1 name=$2 before moved
	network "${@:3}"
	before=$(either "$name")
	run_program "$what: " 200 "$PROGRAMS/data" heavy_load
	moved=$(($(either "$name") - before))
	diag "$name $moved"
	ok "$what: packets met with that" test "$moved" -gt 0
}

# So few that none may be among these packets
network limit 10000 loss 0.1%
run_program "0.1 % lost: " 200 "$PROGRAMS/data" heavy_load
bad "1 % lost" lost limit 10000 loss 1%
# MIB=1024 for a long run; the guest needs 6 GiB then
[ "${SROCE_DEBUG_KERNEL:-0}" = 0 ] || MIB=${MIB-8}
export MIB=${MIB:-64}
run_program "1 % lost: " $((200 + 2 * MIB)) "$PROGRAMS/data" huge
bad "10 % lost" lost loss 10%
bad "20 % lost" lost loss 20%
bad "lost in bursts" lost loss gemodel 1% 30% 70% 0.1%
bad "in the wrong order" out_of_sequence delay 2ms reorder 80% 50%
bad "twice" duplicate_request duplicate 20%
# Where a header is damaged, the packet does not get as far as the ICRC.
bad "damaged" tx_retransmits corrupt 3%
bad "20 ms away, 1 % lost" lost delay 20ms 2ms loss 1%

# The timeout is 4.3 s, and each message is sent alone: with timeouts, this would take more than a minute.
network loss 4%
late=$(counter $D1 local_ack_timeout_err)
probes=$(counter $D1 tx_probes)
pair_run "single WRITEs arrive" 'ib_write_lat -F -d $D2 -x $G2 -n 200 -s 64 -u 20 -p $PORT' 'ib_write_lat -F -d $D1 -x $G1 -n 200 -s 64 -u 20 -p $PORT $IP2' 60
ok "probes detected lost WRITEs" test "$(moved $D1 tx_probes "$probes")" -gt 0
is "no timeout was needed for lost WRITEs" "$(moved $D1 local_ack_timeout_err "$late")" 0
probes=$(counter $D1 tx_probes)
pair_run "single READs arrive" 'ib_read_lat -F -d $D2 -x $G2 -n 200 -s 64 -u 20 -p $PORT' 'ib_read_lat -F -d $D1 -x $G1 -n 200 -s 64 -u 20 -p $PORT $IP2' 60
ok "probes detected lost READs" test "$(moved $D1 tx_probes "$probes")" -gt 0
is "no timeout was needed for lost READs" "$(moved $D1 local_ack_timeout_err "$late")" 0

# The distance of a peer is not taken for a loss again and again.
network delay 10ms limit 10000
probes=$(counter $D1 tx_probes)
pair_run "READs from a distant peer" 'ib_read_bw -F -d $D2 -x $G2 -n 32 -t 1 -s 65536 -p $PORT' 'ib_read_bw -F -d $D1 -x $G1 -n 32 -t 1 -s 65536 -p $PORT $IP2' 60
probes=$(moved $D1 tx_probes "$probes")
diag "$probes probes"
ok "the round-trip time is measured" test "$probes" -lt 16

# in_flight WHAT PROGRAM HOST OPTIONS: samples the bytes that HOST has in its netem queue; $most_bytes is the largest sample. One
# tc takes all samples: a busy guest of one processor needs longer to start a program than the transfer takes.
in_flight() {
	local sampler flights
	while sleep 0.02; do echo qdisc show dev eth0; done | exec_on $3 tc -j -s -b - >"$OUTPUT.flights" &
	sampler=$!
	pair_run "$1" "$2 -F -d \$D2 -x \$G2 $4 -s 65536 -p \$PORT" "$2 -F -d \$D1 -x \$G1 $4 -s 65536 -p \$PORT $IP2" 60
	kill $sampler
	wait $sampler 2>/dev/null
	mapfile -t flights < <(grep -o '"backlog":[0-9]*' "$OUTPUT.flights" | cut -d: -f2 | sort -n)
	most_bytes=${flights[*]: -1}
	diag "up to ${most_bytes:=0} bytes in flight in ${#flights[@]} samples"
}
at_exit rm -f "$OUTPUT.flights"

# The round trip exceeds the timeout of 134 ms. The timeout grows, or each flight would be sent twice.
network delay 100ms limit 10000
late=$(counter $D1 local_ack_timeout_err)
in_flight "WRITEs with a round trip longer than the timeout" ib_write_bw h1 "-n 200 -t 64 -u 15"
late=$(moved $D1 local_ack_timeout_err "$late")
diag "$late timeouts"
ok "the round trip is longer than the first timeout" test "$late" -gt 0
ok "the timeout grows" test "$late" -lt 8

# READs may request much data at once, but no more than the path holds: 128 READs are 384 bursts.
network delay 2ms limit 40
drops=$(counter $D2 tx_local_drops)
again=$(counter $D1 tx_retransmits)
pair_run "many READs over 2 ms" 'ib_read_bw -F -d $D2 -x $G2 -n 300 -t 128 -s 65536 -u 20 -p $PORT' \
	'ib_read_bw -F -d $D1 -x $G1 -n 300 -t 128 -s 65536 -u 20 -p $PORT $IP2' 60
# Of 14,400 packets. Some are requested again because the machine was busy elsewhere.
drops=$(moved $D2 tx_local_drops "$drops")
ok "nearly no response found the queue full" test "$drops" -lt 40
# A machine that stops for a while may request some twice all the same.
ok "nearly no READ is requested twice" test "$(moved $D1 tx_retransmits "$again")" -lt 20

# A distant peer has a larger window than the 512 packets of 1 KiB that are enough for others,
network delay 100ms limit 10000
in_flight "WRITEs to a distant peer" ib_write_bw h1 "-n 1000 -t 64 -u 20"
ok "WRITEs fill the path" test "$most_bytes" -gt 700000
in_flight "many READs from a distant peer" ib_read_bw h2 "-n 1000 -t 64 -u 20"
ok "READs fill the path" test "$most_bytes" -gt 700000
# but not if that only makes a queue longer, up to 4 MiB.
network delay 20ms rate 100mbit limit 10000
in_flight "WRITEs through a slow link" ib_write_bw h1 "-n 1000 -t 64 -u 20"
ok "WRITEs keep its queue short" test "$most_bytes" -gt 0 -a "$most_bytes" -lt 6000000

# A queue of ten packets drops most of each burst of 64, until the bursts are smaller.
for host in h1 h2; do must on $host tc qdisc replace dev eth0 root tbf rate 200mbit burst 3kb limit 11kb; done

# crosses WHAT PROGRAM DEVICE: DEVICE sends 100 messages of 64 KiB in packets of 1024 bytes
crosses() {
	local packets before
	packets=$(counter $3 tx_packets) before=$(lost)
	pair_run "a queue of ten packets: $1" "$2 -F -d \$D2 -x \$G2 -n 100 -s 65536 -p \$PORT" \
		"$2 -F -d \$D1 -x \$G1 -n 100 -s 65536 -p \$PORT $IP2" 60
	packets=$(moved $3 tx_packets "$packets")
	diag "$packets packets sent for 6400"
	ok "a queue of ten packets: $1 find it full" test "$(lost)" -gt "$before"
	ok "few packets are sent twice" test "$packets" -lt 12800
}
crosses WRITEs ib_write_bw $D1
crosses READs ib_read_bw $D2
