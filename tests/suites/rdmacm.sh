#!/bin/bash
# librdmacm's programs: connections, datagrams and sockets by address.
# timeout: 480
# lanes: vm uml debug smoke
. "$(dirname "$0")/lib.sh"

hosts_up || exit 1

pair_run "rping over IPv4" 'rping -s -a $IP2 -p $PORT -C 10 -V' 'rping -c -a $IP2 -p $PORT -C 10 -v -V'
like "rping's data came back" "$CLIENT_OUTPUT" 'ping data: rdma-ping-9:'
pair_run "rping over IPv6" 'rping -s -a $IP2_6 -p $PORT -C 10 -V' 'rping -c -a $IP2_6 -p $PORT -C 10 -v -V'
like "rping's data came back" "$CLIENT_OUTPUT" 'ping data: rdma-ping-9:'
pair_run "rping, 64000 bytes, bound to a source address" 'rping -s -a 0.0.0.0 -p $PORT -C 10 -V -S 64000' \
	'rping -c -a $IP2 -I $IP1 -p $PORT -C 10 -V -S 64000'
pair_run "rping, QPs modified by the program" 'rping -s -a $IP2 -p $PORT -C 10 -V -q' 'rping -c -a $IP2 -p $PORT -C 10 -V -q'

pair_run "ucmatose" 'ucmatose -p $PORT' 'ucmatose -p $PORT -s $IP2'
pair_run "ucmatose over IPv6" 'ucmatose -p $PORT -b $IP2_6' 'ucmatose -p $PORT -s $IP2_6'
pair_run "ucmatose, 8 connections, 20 messages of 3000 bytes" \
	'ucmatose -p $PORT -c 8 -C 20 -S 3000' 'ucmatose -p $PORT -c 8 -C 20 -S 3000 -s $IP2'

# udaddy and udpong use ports of their own
UDADDY=7174
run_udaddy() { PORT=$((UDADDY - 1)) pair_run "$@"; }
run_udaddy "udaddy" 'udaddy' 'udaddy -s $IP2'
run_udaddy "udaddy over IPv6" 'udaddy -b $IP2_6' 'udaddy -s $IP2_6'
run_udaddy "udaddy, 4 connections, 20 messages of 900 bytes" 'udaddy -c 4 -C 20 -S 900' 'udaddy -c 4 -C 20 -S 900 -s $IP2'

# Not "-T a": with it, the program takes the end of the connection for an error if it arrives together with the last data.
for mode in b n; do
	pair_run "rstream -T $mode, data verified" "rstream -p \$PORT -S 4096 -C 20 -I 3 -T $mode -T v" \
		"rstream -p \$PORT -S 4096 -C 20 -I 3 -T $mode -T v -s \$IP2"
	pair_run "riostream -T $mode, data verified" "riostream -p \$PORT -S 4096 -C 20 -I 3 -T $mode -T v" \
		"riostream -p \$PORT -S 4096 -C 20 -I 3 -T $mode -T v -s \$IP2"
done
pair_run "rstream over IPv6" 'rstream -p $PORT -S 65536 -C 10 -I 2 -T v -b $IP2_6' \
	'rstream -p $PORT -S 65536 -C 10 -I 2 -T v -s $IP2_6'

pair_run "riostream, inline data, small buffers" 'riostream -p $PORT -i 64 -B 8192 -S 300 -C 50 -I 2 -T v' \
	'riostream -p $PORT -i 64 -B 8192 -S 300 -C 50 -I 2 -T v -s $IP2'

# The servers of rcopy and cmtime never end by themselves.
serve() {
	PORT=$((PORT + 1))
	(exec_on h2 timeout -k 5 "$(seconds 120)" "$@" -p $PORT) >/dev/null 2>&1 &
	SERVER=$!
}
served() { kill $SERVER; wait $SERVER; } 2>/dev/null

serve rcopy
ok "rcopy's server listens" wait_server $SERVER $PORT
at_exit rm -f "$OUTPUT.copy" "$OUTPUT.copied"
head -c 3000001 /dev/urandom >"$OUTPUT.copy"
ok "rcopy" on h1 timeout "$(seconds 60)" rcopy "$OUTPUT.copy" "$IP2:$OUTPUT.copied" -p $PORT
ok "the copy is the same" cmp "$OUTPUT.copy" "$OUTPUT.copied"
served

for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
for name in tx_packets rx_packets tx_acks rx_acks; do ok "$name moved" test "$(counter $D1 $name)" -gt 0; done

# cmtime of newer rdma-core is a different program, for many peers and with a controller.
if cmtime -h 2>&1 | grep -q controller_address; then
	serve cmtime -c 5 -L -b $IP2 -C $IP2
	client="-b $IP1 -C $IP2"
else
	serve cmtime -c 5
	client="-s $IP2"
fi
ok "cmtime's server listens" wait_server $SERVER $PORT
like "cmtime connects 5 times" "$(on h1 timeout 60 cmtime -p $PORT -c 5 $client 2>&1)" 'connect +:? *[0-9].*disconnect +:? *[0-9]'
served
like "a connection to a port without a listener is refused" "$(on h1 timeout 60 rping -c -a $IP2 -p 9 -C 1 2>&1)" 'REJECTED, error 8'
