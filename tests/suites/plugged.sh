#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A plugged queue holds packets of processes: their memory is limited, others continue, and everything is released at the end.
# timeout: 200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

MIB=1048576
hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
before=$(rdma resource show)
modprobe -q sch_plug
on h1 tc qdisc replace dev eth0 root plug limit 1000000000 || { skip "a queue is plugged" "there is no sch_plug"; exit 0; }

# Static neighbour entries, because answers to ARP requests would have to pass that queue.
mac() { on "$1" cat /sys/class/net/eth0/address; }
on h1 ip neigh replace "$IP2" lladdr "$(mac h2)" dev eth0 nud permanent
on h2 ip neigh replace "$IP1" lladdr "$(mac h1)" dev eth0 nud permanent

plug() { on h1 tc qdisc change dev eth0 root plug "$@"; }

# prints the number of bytes in the queue
backlog() {
	local words unit
	words=$(on h1 tc -s qdisc show dev eth0 | grep -oE 'backlog [0-9]+[KM]?b')
	words=${words#backlog } unit=1
	case $words in *Mb) unit=$MIB ;; *Kb) unit=1024 ;; esac
	echo $((${words%%[KMb]*} * unit))
}

empty() { [ "$(backlog)" = 0 ]; }

# start COMMAND WORD...: starts the program in the background ($HELD), and waits until it has posted. On one processor: a QP sends
# nothing on another one while its packets wait in the queue, so that they do not overtake each other.
start() {
	mkfifo "$OUTPUT.in" "$OUTPUT.out"
	taskset -c 0 "$PROGRAMS/robust" "$@" <"$OUTPUT.in" >"$OUTPUT.out" 2>&1 &
	HELD=$!
	exec 8>"$OUTPUT.in" 9<"$OUTPUT.out"
	rm "$OUTPUT.in" "$OUTPUT.out"
	IFS= read -t "$(seconds 60)" -r line <&9
	is "${2-$1}: all requests are posted while the queue is plugged" "$line" posted
}

# complete NAME: everything completes when the queue is open
complete() {
	exec 8>&-
	IFS= read -t "$(seconds 60)" -r line <&9
	is "$1: all requests complete when the queue is open" "$line" completed
	ok "$1: the program ends" wait $HELD
	exec 9<&-
	ok "$1: nothing is left in the queue" wait_for 10 empty
}

# others NAME [COMMAND...]: traffic that does not pass that queue continues; COMMAND runs it as another user
others() { D2=$D1 G2=$G1 run_program "$1, beside it: " 60 "${@:2}" "$PROGRAMS/data" notify; }
nobody=(setpriv --reuid 65534 --clear-groups)

# 80 queue pairs could hold 76 MiB if only the limit of each QP counted.
plug block
start plugged uc 80 40
# Work items send what the processes have posted.
filled() { held=$(backlog); [ "$held" -gt $((24 * MIB)) ]; }
ok "uc: packets wait in the queue" wait_for 60 filled
diag "$((held / MIB)) MiB are held"
ok "uc: the packets are within the limit of a process" test "$held" -lt $((40 * MIB))
others uc
others "uc, another user" "${nobody[@]}"
plug release_indefinite
complete uc

# After a while, datagrams are sent one by one or in bursts, up to twice the limit. All of them would be 83 MiB.
plug block
drops=$(counter $D1 tx_local_drops)
start plugged ud 200 400
dropped() { [ "$(counter $D1 tx_local_drops)" -gt "$drops" ]; }
ok "ud: packets above the limit are dropped" wait_for 60 dropped
discards() { cat "/sys/class/infiniband/$D1/ports/1/counters/port_xmit_discards"; }
# Packets may be dropped between the two readings.
ok "ud: the port's counter has them" wait_for 10 eval '[ "$(discards)" = "$(counter $D1 tx_local_drops)" ]'
held=$(backlog)
diag "$((held / MIB)) MiB are held"
ok "ud: the packets are within twice the limit of a process" test "$held" -lt $((72 * MIB))
plug release_indefinite
complete ud

# Packets of killed processes stay in the queue and are charged to the user.
plug block
for i in 1 2 3 4 5 6 7 8 9; do
	start plugged uc 20 32
	kill -9 $HELD
	wait $HELD 2>/dev/null
	exec 8>&- 9<&-
done
held=$(backlog)
diag "$((held / MIB)) MiB are held"
ok "killed: the packets are within the limit of a user" test "$held" -lt $((140 * MIB))
others "killed, another user" "${nobody[@]}"
plug release_indefinite
ok "killed: nothing is left in the queue" wait_for 10 empty

# Without a timeout, nothing but the queue itself can have a packet repeated that it has refused.
plug limit 0
plug block
drops=$(counter $D1 tx_local_drops)
start no_timeout
refused() { [ "$(counter $D1 tx_local_drops)" -gt $((drops + 101)) ]; }
ok "without a timeout: the packet is refused again and again" wait_for 60 refused
plug limit 1000000000
plug release_indefinite
complete "without a timeout"

route=$(on h1 ip route show dev eth0)
on h1 ip route flush dev eth0
start no_timeout
on h1 ip route add $route dev eth0
complete "without a route"

# The ACK of a message on one processor waits until that of another one has left the queue.
for how in error reset destroy failed refused; do
	if [ "$(nproc)" = 1 ]; then
		skip "$how: the last ACK is sent" "there is one processor"
		continue
	fi
	plug block
	start last_ack $how
	plug release_indefinite
	complete $how
done
on h1 tc qdisc delete dev eth0 root

# The queue has no room for the last ACK when the queue pair fails.  Other packets may take the room first, or the process may be
# too late, so this is tried until the queue has refused one.
refused() { [ "$(counter $D1 tx_local_drops)" -gt "$1" ]; }
if [ "$(nproc)" = 1 ]; then
	skip "the last ACK is sent when the queue has room" "there is one processor"
elif modprobe -q sch_netem && on h1 tc qdisc replace dev eth0 root netem limit 1 delay 15ms 2>/dev/null; then
	drops=$(counter $D1 tx_local_drops)
	for n in {1..10}; do
		start last_ack error
		complete "attempt $n, without room"
		! refused "$drops" || break
	done
	ok "the queue has refused the last ACK" refused "$drops"
	on h1 tc qdisc delete dev eth0 root
else
	skip "the last ACK is sent when the queue has room" "there is no netem"
fi
run_program "afterwards: " 60 "$PROGRAMS/data" notify
is "no resource is left" "$(rdma resource show)" "$before"
