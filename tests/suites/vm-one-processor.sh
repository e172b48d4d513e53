#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two virtual machines with one processor each. Programs that poll share it with the softirqs that deliver their completions.
# They have to give it up from time to time, at both ends, and their messages arrive. Programs that wait for events need not.
# MESSAGES is the number of messages of the latency with events, of which duplicates are reported.
# guests: 2
# guest: --taps --cpus 1
# timeout: 240
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guests.sh"

MESSAGES=${MESSAGES:-300}
TRACE=/sys/kernel/tracing

ethtool -K eth0 tx-udp-segmentation on 2>/dev/null
is "one processor" "$(nproc)" 1
ok "the other guest answers" wait_for 30 ping -c 1 -W 1 10.99.0.$PEER
ok "add" rdma link add $DEVICE type sroce netdev eth0
at_exit rdma link delete $DEVICE
G=$(gid $DEVICE 10.99.0.$ROLE)
like "a GID" "$G" '^[0-9]+$'

# runs PROGRAM OPTION...: the timeout is long, because the host may stop a guest.
runs() {
	local command="$1 -F -u 18 -d \$DEVICE -x \$G -p \$PORT ${*:2}"
	both $((60 + MESSAGES / 50)) "$command"
}

# Calls of sched_yield() by all processes, since yields_begin
[ -d $TRACE/events ] || mount -t tracefs tracefs $TRACE
yields_begin() {
	echo 1 >$TRACE/events/syscalls/sys_enter_sched_yield/enable
	echo >$TRACE/trace
}
yields() { awk '/^(entries|overrun):/ { sum += $2 } END { print sum }' $TRACE/per_cpu/cpu0/stats; }
at_exit sh -c "echo 0 >$TRACE/events/syscalls/sys_enter_sched_yield/enable"

# polls WHAT PROGRAM OPTION...: both ends poll
polls() {
	local before
	before=$(counter $DEVICE local_ack_timeout_err)
	yields_begin
	ok "$1: $2" runs "${@:2}"
	diag "$(yields) calls of sched_yield(), $(($(counter $DEVICE local_ack_timeout_err) - before)) timeouts"
	ok "$1: the processor was given up" test "$(yields)" -gt 0
}
if [ -e $TRACE/events/syscalls/sys_enter_sched_yield ]; then
	polls "latency" ib_send_lat -s 2 -n 300
	polls "bandwidth" ib_send_bw -s 65536 -n 100
else
	skip "programs that poll" "this kernel does not trace system calls"
fi
ok "READ latency" runs ib_read_lat -s 2 -n 300
before=$(counter $DEVICE duplicate_request)
ok "latency, events" runs ib_send_lat -e -s 2 -n "$MESSAGES"
diag "$(($(counter $DEVICE duplicate_request) - before)) duplicates of $MESSAGES messages"
ok "bandwidth, events" runs ib_send_bw -e -s 65536 -n 100
is "no errors counted" "$(error_counters $DEVICE)" ""
