#!/bin/bash
# Sockets over RDMA for unchanged programs that use plain sockets: librdmacm's library is preloaded, and data is compared.
# troubleshooting.rst says for which programs this does not work. rdmacm.sh has the programs that use rsockets themselves.
# timeout: 300
. "$(dirname "$0")/lib.sh"

hosts_up 9000 || { fail "two hosts"; exit 1; }
PRELOAD=$(find /usr/lib -name librspreload.so -print -quit)
ok "the library to preload exists" test -n "$PRELOAD"
export PRELOAD

# segments: prints the number of TCP segments that host 1 has sent
segments() { on h1 awk '/^Tcp: [0-9]/ { print $12 }' /proc/net/snmp; }
sent() { counter $D1 tx_packets; }

# preloaded WHAT PROGRAM SERVER-OPTIONS CLIENT-OPTIONS: everything by RDMA, nothing by TCP
preloaded() {
	local tcp rdma
	tcp=$(segments) rdma=$(sent)
	pair_run "$1" "env LD_PRELOAD=\$PRELOAD $2 $3" "env LD_PRELOAD=\$PRELOAD $2 $4"
	ok "$1: it uses RDMA" test "$(sent)" -gt $((rdma + 10))
	is "$1: it does not use TCP" "$(segments)" "$tcp"
}

# rstream's -T s takes plain sockets, -T v compares each byte.
for mode in b n; do
	options="-T s -T v -T $mode -p \$PORT -S 4096 -C 20 -I 3"
	preloaded "rstream -T $mode" rstream "$options" "$options -s \$IP2"
done
options='-T s -T v -p $PORT -S 100000 -C 3 -I 1'
preloaded "rstream, large messages" rstream "$options" "$options -s \$IP2"

# A server that serves each connection in a child: the RDMA connection is made in the child, and TCP only sets it up.
rm -f /dev/shm/sem.rsocket_fork
options='-T f -T v -p $PORT -S 4096 -C 20 -I 3'
rdma=$(sent)
pair_run "rstream -T f: a child serves" "env RDMAV_FORK_SAFE=1 LD_PRELOAD=\$PRELOAD rstream $options" \
	"env RDMAV_FORK_SAFE=1 LD_PRELOAD=\$PRELOAD rstream $options -s \$IP2"
ok "rstream -T f: it uses RDMA" test "$(sent)" -gt $((rdma + 60))

for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done

# Datagrams: librdmacm wants an address handle without GRH, to the port's own LID. RoCE has none, so the kernel refuses
# that for every RoCE device. It has to end at once, and with an error.
udp_bound() { on h2 ss -Hlun "sport = :$1" | grep -q .; }
udpong_refused() {
	PORT=$((PORT + 1))
	(exec_on h2 timeout -k 5 "$(seconds 60)" udpong -b $IP2 -p $PORT) >/dev/null 2>&1 &
	SERVER=$!
	ok "$1: udpong's server runs" wait_for 20 udp_bound $PORT
	like "$1: datagrams over rsockets: refused" \
		"$(on h1 timeout "$(seconds 20)" udpong -p $PORT -S 700 -C 5 -s $IP2 2>&1)" 'rconnect: '
	{ kill $SERVER; wait $SERVER; } 2>/dev/null
	return 0
}
udpong_refused $D1
hosts_down
rxe_up && udpong_refused $D1
