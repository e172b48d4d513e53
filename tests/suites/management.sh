#!/bin/bash
# Tools of operators: counters of the port and of selected QPs, resources, tracepoints.
# timeout: 200
# lanes: vm uml debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2
TRACING=/sys/kernel/tracing
SIZE=4096

# traffic SECONDS [OPTION...]: WRITEs both ways for that time, in the background
traffic() {
	PORT=$((PORT + 1))
	(exec_on h2 timeout "$(seconds $(($1 + 5)))" ib_write_lat -d $D2 -x $G2 -p $PORT -F -D $1 -s $SIZE "${@:2}") >/dev/null 2>&1 </dev/null &
	SERVER=$!
	wait_server $SERVER $PORT
	(exec_on h1 timeout "$(seconds $(($1 + 5)))" ib_write_lat -d $D1 -x $G1 -p $PORT -F -D $1 -s $SIZE "${@:2}" $IP2) >/dev/null 2>&1 </dev/null &
	CLIENT=$!
}

# of_qps NAME: sum of that counter over the QPs that are counted by themselves
of_qps() { rdma statistic qp show link $D1/1 | grep -o " $1 [0-9]*" | awk '{ n += $2 } END { print n + 0 }'; }

port() { cat "/sys/class/infiniband/$D1/ports/1/counters/$1"; }

more_than() { [ "$(eval "$2")" -gt "$1" ]; }

stop_traffic() {
	kill $CLIENT $SERVER
	wait $CLIENT $SERVER
}

# finished WHAT: the traffic ends by itself
finished() {
	ok "$1: the client ends without an error" wait $CLIENT
	ok "$1: the server ends without an error" wait $SERVER
}

# --- counters ---

packets=$(counter $D1 tx_packets)
ok "rdma statistic: a counter for each QP of a type" rdma statistic qp set link $D1/1 auto type on
# It goes on until all has been looked at, however long that takes.
traffic 600
ok "rdma statistic: QP counters count packets" wait_for 10 more_than 100 'of_qps tx_packets'
counted=$(of_qps tx_packets)
ok "rdma statistic: QP counters go on counting" wait_for 10 more_than "$counted" 'of_qps tx_packets'
ok "rdma statistic: QP counters count bytes" wait_for 10 more_than $((100 * SIZE / 4)) 'of_qps rx_bytes'
ok "the port's counters count the same packets" wait_for 10 more_than $((packets + 100)) 'counter $D1 tx_packets'
ok "sysfs: the port's counter of packets" wait_for 10 more_than 100 'port port_xmit_packets'
ok "sysfs: the port's counter of data words" wait_for 10 more_than $((100 * SIZE / 16)) 'port port_rcv_data'
is "sysfs: the port's counter of errors" "$(port port_rcv_errors)" 0

# --- resources ---

# Newer versions of rdma have several lines for each.
resources() { rdma resource show "$@" -dd | tr -s ' \n' ' '; }
like "rdma resource: details of a QP's send queue" "$(resources qp link $D1/1)" 'drv_sq_next_psn [0-9]+ .*drv_sq_retries_left 7'
like "rdma resource: details of a QP's receive queue" "$(resources qp link $D1/1)" 'drv_rq_next_psn [0-9]+ drv_rq_msn [1-9]'
like "rdma resource: details of a CQ" "$(resources cq dev $D1)" 'ib_write_lat drv_entries [0-9]+ drv_written [1-9][0-9]* drv_overflowed 0'
like "rdma resource: details of an MR" "$(resources mr dev $D1)" 'ib_write_lat drv_access 0x[0-9a-f]+ drv_block_size [1-9]'
# Those of SRQs are in suite newest.
details() { sed -n '/^Resources$/,/^Tracepoints$/p' "$SROCE_TOP/Documentation/administration.rst" | grep '^``drv_' | grep -v '  SRQ:'; }
documented() { details | grep -o 'drv_[a-z_]*' | sort -u; }
shown() { { resources qp link $D1/1; resources cq dev $D1; resources mr dev $D1; } | grep -o 'drv_[a-z_]*' | sort -u; }
is "the documentation names each detail" "$(documented)" "$(shown)"

total=$(counter $D1 tx_packets)
stop_traffic
ok "the port's counter keeps what QPs have counted that are gone" test "$(counter $D1 tx_packets)" -ge "$total"

# Packets of the second host are lost. Its request stays unacknowledged and is repeated, for eight seconds.
sender() { resources qp link $D2/1 | grep -o 'type RC.*' | sed 's/ link .*//'; }
unacked() { [[ $(sender) =~ drv_sq_unacked\ 1\ drv_sq_next_psn\ ([0-9]+)\ drv_sq_unacked_psn\ ([0-9]+) ]]; }
waits() { unacked && [ "${BASH_REMATCH[1]}" = $(((BASH_REMATCH[2] + SIZE / 1024) % (1 << 24))) ]; }
tries() { [[ $(sender) =~ drv_sq_retries_left\ [0-6]\  ]]; }
if modprobe -q sch_netem; then
	total=$(counter $D1 tx_packets)
	traffic 600 -u 18
	ok "rdma resource: there is traffic" wait_for 20 more_than $((total + 100)) 'counter $D1 tx_packets'
	must on h2 tc qdisc add dev eth0 root netem loss 100%
	ok "rdma resource: a request of four packets waits for its ACK" wait_for 10 waits
	ok "rdma resource: it has been repeated" wait_for 10 tries
	on h2 tc qdisc delete dev eth0 root
	stop_traffic
else
	skip "rdma resource: a request waits for its ACK" "no netem"
fi

# --- tracepoints ---

echo 1 >$TRACING/events/sroce/enable
traffic 1
finished "traced traffic"
number="qp [0-9]+"
trace=$(<$TRACING/trace)
like "tracepoint of sent packets" "$trace" "sroce_packet_out: $D1 $number opcode 0x06 psn [0-9]+ bytes"
like "tracepoint of received packets" "$trace" "sroce_packet_in: $D1 $number opcode 0x0[68] psn [0-9]+ bytes"
like "tracepoint of completions" "$trace" "sroce_complete: $D1 $number wr_id 0x[0-9a-f]+ opcode 1 status 0 bytes $SIZE"

echo 0 >$TRACING/events/sroce/enable
echo 1 >$TRACING/events/sroce/sroce_state/enable
: >$TRACING/trace
traffic 1
finished "traffic with traced states"
trace=$(<$TRACING/trace)
like "tracepoint of a QP's states" "$trace" "sroce_state: $D1 $number RTR -> RTS"
echo 0 >$TRACING/events/sroce/enable

# All that are documented. Each has a buffer of its own, because packets would overwrite events that are rare.
documented() { sed -n '/^Tracepoints$/,/^Environment/p' "$SROCE_TOP/Documentation/administration.rst" | grep '^``sroce_' | grep -o 'sroce_[a-z_]*' | sort; }
offered() { for event in $TRACING/events/sroce/*/; do basename "$event"; done | sort; }
no_instances() { for event in $(offered); do rmdir "$TRACING/instances/$event"; done 2>/dev/null; }
is "the documentation names each tracepoint" "$(documented)" "$(offered)"
at_exit no_instances
for event in $(offered); do
	must mkdir "$TRACING/instances/$event"
	echo 1 >"$TRACING/instances/$event/events/sroce/$event/enable"
done
# An RNR NAK is followed by sroce_retransmit. Most losses are repaired: sroce_repair.
run_program "SENDs that find no receive WQE: " 60 "$PROGRAMS/data" unready
if modprobe -q sch_netem && must on h1 tc qdisc add dev eth0 root netem loss 10%; then
	pair_run "WRITEs, some of which are lost" 'ib_write_bw -F -d $D2 -x $G2 -n 300 -s 65536 -u 12 -p $PORT' \
		'ib_write_bw -F -d $D1 -x $G1 -n 300 -s 65536 -u 12 -p $PORT $IP2' 60
	for event in $(documented); do like "tracepoint $event fires" "$(<"$TRACING/instances/$event/trace")" " $event: $D1 $number "; done
	on h1 tc qdisc delete dev eth0 root
else
	skip "each tracepoint fires" "no netem"
fi
no_instances

# --- names ---

# Those of hw_counters that node_exporter's collector infiniband reads and that have a meaning here
for name in duplicate_request implied_nak_seq_err local_ack_timeout_err out_of_buffer out_of_sequence packet_seq_err \
	req_cqe_error req_cqe_flush_error resp_cqe_error resp_cqe_flush_error \
	req_remote_access_errors req_remote_invalid_request resp_local_length_error resp_remote_access_errors \
	rnr_nak_retry_err rx_atomic_requests rx_icrc_encapsulated rx_read_requests rx_write_requests lifespan; do
	like "counter $name exists" "$(counter $D1 $name 2>&1)" '^[0-9]+$'
done
ok "rx_write_requests counted the WRITEs" test "$(counter $D1 rx_write_requests)" -gt 100

is "the device's parent file names its netdev" "$(cat /sys/class/infiniband/$D1/parent)" eth0
describe() { echo "$1" >/sys/class/infiniband/$D1/node_desc; }
is "the node description is that of sroce" "$(cat /sys/class/infiniband/$D1/node_desc)" "sroce"
ok "the node description can be changed, as rdma-ndd does" describe "$(uname -n) $D1"
is "the node description was changed" "$(cat /sys/class/infiniband/$D1/node_desc)" "$(uname -n) $D1"
ok "a node description of 64 characters" describe "$(printf %064d 7)"
is "a node description is at most 64 characters" "$(cat /sys/class/infiniband/$D1/node_desc)" "$(printf %064d 7)"

# --- settings ---

SETTINGS=/sys/kernel/debug/sroce
setting() { cat "$SETTINGS/$1" 2>&1; }
set_to() { echo "$2" >"$SETTINGS/$1"; }
is "a device has its settings in debugfs" "$(ls "$SETTINGS/$D1" | tr '\n' ' ')" "ecn hold_out_of_order "
is "setting ecn is off at first" "$(setting $D1/ecn)" N
is "setting hold_out_of_order is on at first" "$(setting $D1/hold_out_of_order)" Y
ok "a setting is changed" set_to $D1/ecn 1
set_to $D1/ecn 2 2>/dev/null # not every kernel returns an error
is "a setting takes only 0 and 1" "$(setting $D1/ecn)" Y
is "other devices keep their setting" "$(setting $D2/ecn)" N
ok "the device is renamed" rdma dev set $D1 name other0
is "the settings of a renamed device keep their values" "$(setting other0/ecn)" Y
is "no settings are left under the old name" "$(ls -d "$SETTINGS/$D1" 2>/dev/null)" ""
spare() { on h1 ip link add spare0 type dummy && on h1 rdma link add "$1" type sroce netdev spare0; }
ok "another device takes the old name" spare $D1
is "the other device has settings of its own" "$(setting $D1/ecn)" N
ok "the other device is deleted" rdma link delete $D1
is "the settings of a deleted device are gone" "$(ls -d "$SETTINGS/$D1" 2>/dev/null)" ""
ok "the device is renamed back" rdma dev set other0 name $D1
is "the settings still have their values" "$(setting $D1/ecn)" Y

# --- the end of counting ---

ok "rdma statistic: QP counters are turned off" rdma statistic qp set link $D1/1 auto off
total=$(counter $D1 tx_packets)
traffic 600
ok "the port's counters count a QP that has none" wait_for 10 more_than $((total + 100)) 'counter $D1 tx_packets'
ok "rdma statistic shows QPs" rdma statistic qp show link $D1/1
is "no QP has counters any more" "$(of_qps tx_packets)" 0
stop_traffic

# --- two threads that modify a QP ---

ok "each QP gets a counter" rdma statistic qp set link $D1/1 auto type on
ok "two threads modify each QP to INIT at once" limited 60 "$PROGRAMS/robust" bind_at_once 3000
ok "QP counters are turned off again" rdma statistic qp set link $D1/1 auto off
ok "no counter is left" rdma statistic qp set link $D1/1 auto type on
rdma statistic qp set link $D1/1 auto off

# --- a name that collectors of counters look for ---

rdma link delete $D1
ok "a device with the name of a NIC's" on h1 rdma link add mlx5_s0 type sroce netdev eth0
D1=mlx5_s0
ok "the device with a NIC's name has GIDs" wait_for 10 gids
pair_run "ibv_rc_pingpong on the device with a NIC's name" 'ibv_rc_pingpong -d $D2 -g $G2 -p $PORT' 'ibv_rc_pingpong -d $D1 -g $G1 -p $PORT $IP2'
ok "the device with a NIC's name counts packets" test "$(counter $D1 rx_packets)" -gt 1000
