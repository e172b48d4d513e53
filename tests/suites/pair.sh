#!/bin/bash
# Two machines and a network between them: virtio-net, which splits bursts and has a hardware parent.
# guests: 2
# guest: --taps
# timeout: 240
# lanes: vm
. "$(dirname "$0")/lib.sh"

PEER=$((3 - ROLE)) IP1=10.99.0.1 IP2=10.99.0.2 IP1_6=fd99::1 IP2_6=fd99::2
DEVICE=sroce$ROLE
HOST1=init HOST2=init

ok "the other guest answers ping" wait_for 30 ping -c 1 -W 1 10.99.0.$PEER
ok "the device is added" rdma link add $DEVICE type sroce netdev eth0
at_exit rdma link delete $DEVICE
is "the device's parent is the network card" "$(readlink -f /sys/class/infiniband/$DEVICE/device)" \
	"$(readlink -f /sys/class/net/eth0/device)"
like "the device is active" "$(rdma link show $DEVICE/1)" 'state ACTIVE physical_state LINK_UP netdev eth0'
G=$(gid $DEVICE 10.99.0.$ROLE) G6=$(gid $DEVICE fd99::$ROLE)
like "IPv4 and IPv6 GIDs" "$G $G6" '^[0-9]+ [0-9]+$'

# Guest 2 tells guest 1 that its server listens.
await() {
	limited 60 python3 -c 'import socket, sys
with socket.create_server(("", int(sys.argv[1]))) as s: s.accept()' "$1"
}
tell() { (exec 3<>"/dev/tcp/$IP1/$1") 2>/dev/null; }

# between WHAT SERVER CLIENT: the server's command on guest 2, then the client's on guest 1
between() {
	local server status
	PORT=$((PORT + 1))
	export PORT DEVICE G G6 IP1 IP2 IP1_6 IP2_6
	if [ "$ROLE" = 1 ]; then
		ok "$1: the server listens" await $((PORT + 1000))
		ok "$1: the client ends well" limited 60 bash -c "exec $3"
		return
	fi
	limited 60 bash -c "exec $2" >"$OUTPUT.server" 2>&1 &
	server=$!
	wait_server $server $PORT && wait_for 60 tell $((PORT + 1000))
	wait $server
	status=$?
	ok "$1: the server ends well" test $status = 0
	[ $status = 0 ] || diag "status $status: $2" "$(tail -n 20 "$OUTPUT.server")"
}
at_exit rm -f "$OUTPUT.server"

# both WHAT COMMAND: between, with a client's command that is the server's and an address
both() { between "$1" "$2" "$2 \$IP2"; }

both "ibv_rc_pingpong" 'ibv_rc_pingpong -d $DEVICE -g $G -n 20 -e -c -p $PORT'
both "ibv_rc_pingpong over IPv6, messages of 64 KiB" 'ibv_rc_pingpong -d $DEVICE -g $G6 -n 20 -e -c -s 65536 -p $PORT'
both "ibv_uc_pingpong" 'ibv_uc_pingpong -d $DEVICE -g $G -n 20 -e -c -p $PORT'
both "ibv_ud_pingpong" 'ibv_ud_pingpong -d $DEVICE -g $G -n 20 -e -c -s 1000 -p $PORT'
for program in send write read; do
	both "ib_${program}_bw" "ib_${program}_bw -F -d \$DEVICE -x \$G -n 10 -s 262144 -p \$PORT"
done
both "ib_write_bw, small messages in lists" 'ib_write_bw -F -d $DEVICE -x $G -n 96 -s 2 -l 32 -p $PORT'
both "ib_send_lat" 'ib_send_lat -F -d $DEVICE -x $G -n 20 -s 64 -p $PORT'
# It polls once for each event, and fails after an event without a completion: see tests/kmod/event_race.c.
both "ib_send_lat with events" 'ib_send_lat -F -e -u 18 -d $DEVICE -x $G -n 2000 -s 2 -p $PORT'
both "ib_atomic_lat over IPv6" 'ib_atomic_lat -F -d $DEVICE -x $G6 -n 10 -p $PORT'
between "rping" 'rping -s -a $IP2 -p $PORT -C 5 -V' 'rping -c -a $IP2 -p $PORT -C 5 -V'
between "rping over IPv6" 'rping -s -a $IP2_6 -p $PORT -C 5 -V' 'rping -c -a $IP2_6 -p $PORT -C 5 -V'

is "no errors counted" "$(error_counters $DEVICE)" ""
for name in tx_bytes rx_bytes; do ok "$name moved" test "$(counter $DEVICE $name)" -gt 1000000; done
