#!/bin/bash
# libibverbs' own examples between two hosts: RC, UC and UD over IPv4 and IPv6, polling and with events, every path MTU, with
# data checks.
# timeout: 480
. "$(dirname "$0")/lib.sh"

hosts_up 9000 || exit 1

# pingpong WHAT TRANSPORT OPTIONS...: over IPv4; with GIDS=6 over IPv6
pingpong() {
	local what=$1 program=ibv_$2_pingpong
	shift 2
	pair_run "$what" "$program -d \$D2 -g \$G2${GIDS:+_6} -n 20 -c -p \$PORT $*" \
		"$program -d \$D1 -g \$G1${GIDS:+_6} -n 20 -c -p \$PORT $* $IP2"
}

for transport in rc uc ud; do
	pingpong "$transport over IPv4" $transport
	like "$transport: the client reports its messages" "$CLIENT_OUTPUT" '20 iters in'
	like "$transport: the server reports its messages" "$SERVER_OUTPUT" '20 iters in'
	GIDS=6 pingpong "$transport over IPv6" $transport
	pingpong "$transport with events" $transport -e
	GIDS=6 pingpong "$transport with events over IPv6" $transport -e
done

for mtu in 256 512 1024 2048 4096; do
	for transport in rc uc; do
		pingpong "$transport, path MTU $mtu, messages of 3 and a bit" $transport -e -m $mtu -s $((mtu * 3 + 5))
	done
	before=$(counter $D1 tx_packets)
	GIDS=6 pingpong "rc over IPv6, path MTU $mtu, messages of 2" rc -e -m $mtu -s $((mtu * 2))
	after=$(counter $D1 tx_packets)
	ok "at least two packets per message were counted" test $((after - before)) -ge 40
done

# 16 QPs on one receive queue
pingpong "srq over IPv4" srq
GIDS=6 pingpong "srq over IPv6, with events" srq -e
pingpong "srq, 3 QPs, messages of 3 packets and a bit" srq -q 3 -s 3077
pingpong "srq, path MTU 4096, 16 receives at a time" srq -m 4096 -s 16384 -r 16

for size in 1 2 3 1023 1048576; do pingpong "rc, messages of $size bytes" rc -s $size; done
pingpong "uc, messages of 1 byte" uc -s 1
pingpong "uc, messages of 1 MiB" uc -s 1048576 -m 4096
pingpong "ud, messages of 1 byte" ud -s 1
pingpong "ud, messages of 4096 bytes fill the MTU" ud -s 4096

pingpong "rc, one receive at a time" rc -r 1
pingpong "rc, ibv_wr_* calls" rc -N
pingpong "rc, ibv_wr_* calls with events" rc -N -e
pingpong "rc, completion timestamps" rc -t
like "rc, completion timestamps are there" "$CLIENT_OUTPUT" 'Average receive completion clock cycles'
pingpong "rc, service level" rc -l 3

like "a GID index that does not exist is refused" "$(on h1 timeout 60 ibv_rc_pingpong -d $D1 -g 5000 2>&1)" "can't read sgid of index 5000"

for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
ok "bytes were counted" test "$(counter $D1 tx_bytes)" -gt 20000000
ok "doorbells were counted" test "$(counter $D1 kicks)" -gt 0

# XRC: each client has a target of its own in the server's domain; one SRQ receives for all
# xrc WHAT CLIENTS OPTIONS...
xrc() {
	local what=$1 clients=$2
	shift 2
	pair_run "$what" "ibv_xsrq_pingpong -d \$D2 -g \$G2 -n 20 -p \$PORT -c $clients $*" \
		"xargs -P $clients -n 1 ibv_xsrq_pingpong -d \$D1 -g \$G1 -n 20 -p \$PORT $* < <(yes $IP2 | head -n $clients)"
}
xrc "xrc" 1
xrc "xrc with events" 1 -e
xrc "xrc, three clients" 3 -s 5000

# Both ends on one device
HOST2=h1 D2=$D1 G2=$G1 G2_6=$G1_6
IP2=$IP1
for transport in rc uc ud; do
	pingpong "$transport on one device" $transport
	GIDS=6 pingpong "$transport on one device over IPv6 with events" $transport -e
done
HOST2=h2
