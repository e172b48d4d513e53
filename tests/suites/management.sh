#!/bin/bash
# What an operator sees: counters of the port and of chosen QPs, resources, tracepoints.
# timeout: 200
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"

hosts_up || { fail "two hosts"; exit 1; }
TRACING=/sys/kernel/tracing
SIZE=4096

# traffic BACKGROUND-SECONDS: WRITEs both ways, as long as that
traffic() {
	PORT=$((PORT + 1))
	(exec_on h2 timeout 60 ib_write_lat -d $D2 -x $G2 -p $PORT -F -D $1 -s $SIZE) >/dev/null 2>&1 </dev/null &
	SERVER=$!
	wait_server $SERVER $PORT
	(exec_on h1 timeout 60 ib_write_lat -d $D1 -x $G1 -p $PORT -F -D $1 -s $SIZE $IP2) >/dev/null 2>&1 </dev/null &
	CLIENT=$!
}

# of_qps NAME: sum of that counter over the QPs that are counted by themselves
of_qps() { rdma statistic qp show link $D1/1 | grep -o " $1 [0-9]*" | awk '{ n += $2 } END { print n + 0 }'; }

port() { cat "/sys/class/infiniband/$D1/ports/1/counters/$1"; }

more_than() { [ "$(eval "$2")" -gt "$1" ]; }

# --- counters ---

packets=$(counter $D1 tx_packets)
ok "QPs of a type are counted by themselves" rdma statistic qp set link $D1/1 auto type on
traffic 8
ok "they count packets" wait_for 10 more_than 100 'of_qps tx_packets'
ok "and bytes" more_than $((100 * SIZE / 4)) 'of_qps rx_bytes'
ok "the port counts them, too" more_than $((packets + 100)) 'counter $D1 tx_packets'
ok "sysfs: packets" more_than 100 'port port_xmit_packets'
ok "sysfs: words of data" more_than $((100 * SIZE / 16)) 'port port_rcv_data'
is "sysfs: errors" "$(port port_rcv_errors)" 0

# --- resources ---

like "a QP's send queue" "$(rdma resource show qp link $D1/1 -dd)" 'drv_sq_next_psn [0-9]+ .*drv_sq_retries_left 7'
like "a QP's receive queue" "$(rdma resource show qp link $D1/1 -dd)" 'drv_rq_next_psn [0-9]+ drv_rq_msn [1-9]'
like "a CQ" "$(rdma resource show cq dev $D1 -dd)" 'ib_write_lat drv_entries [0-9]+ drv_written [1-9][0-9]* drv_overflown 0'
like "an MR" "$(rdma resource show mr dev $D1 -dd)" 'ib_write_lat drv_access 0x[0-9a-f]+ drv_block_size [1-9]'

# --- tracepoints ---

echo 1 >$TRACING/events/sroce/enable
wait $CLIENT $SERVER
number="qp [0-9]+"
trace=$(<$TRACING/trace)
like "trace: packets out" "$trace" "sroce_packet_out: $D1 $number opcode 0x06 psn [0-9]+ bytes"
like "trace: packets in" "$trace" "sroce_packet_in: $D1 $number opcode 0x0[68] psn [0-9]+ bytes"
like "trace: completions" "$trace" "sroce_complete: $D1 $number wr_id 0x[0-9a-f]+ opcode 1 status 0 bytes $SIZE"

: >$TRACING/trace
traffic 1
wait $CLIENT $SERVER
trace=$(<$TRACING/trace)
like "trace: states of a QP" "$trace" "sroce_state: $D1 $number RTR -> RTS"
echo 0 >$TRACING/events/sroce/enable

# --- the end of counting ---

total=$(counter $D1 tx_packets)
ok "QPs are not counted by themselves any more" rdma statistic qp set link $D1/1 auto off
is "and nothing is forgotten" "$(counter $D1 tx_packets)" "$total"
is "no QP has counters" "$(of_qps tx_packets)" 0
