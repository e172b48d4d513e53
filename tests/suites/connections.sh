#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Connections of librdmacm: ended under traffic, hundreds at once, thousands one after another. Nothing of them remains.
# AT_ONCE and ONE_BY_ONE set the numbers.
# timeout: 200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

# The stock kernel is usually emulated and slow, so it makes few.
few() { if [ "${SROCE_DEBUG_KERNEL:-0}" = 1 ]; then echo "$1"; else echo "$2"; fi; }
AT_ONCE=${AT_ONCE:-$(few 500 60)} ONE_BY_ONE=${ONE_BY_ONE:-$(few 2000 60)} CMTIME=$(few 1000 60)

# prints the kilobytes that the kernel uses for itself
kilobytes() { awk '$1 ~ /^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' /proc/meminfo; }

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2 IP1 IP2 AT_ONCE ONE_BY_ONE NS1=/run/netns/h1 NS2=/run/netns/h2
before=$(rdma resource show)
as_before() { [ "$(rdma resource show)" = "$before" ]; }

# The first ones fill the kernel's caches.
ONE_BY_ONE=30 run_program "" 60 "$PROGRAMS/cm" connections one-by-one
held=$(kilobytes)
run_program "" $((10 + ONE_BY_ONE / 50)) "$PROGRAMS/cm" connections one-by-one
is "no resource is left" "$(rdma resource show)" "$before"
grown=$(($(kilobytes) - held))
diag "the kernel's memory grew by $grown KiB"
ok "memory is given back" test $grown -lt 8192
run_program "" 60 "$PROGRAMS/cm" connections
is "no resource is left of connections at once" "$(rdma resource show)" "$before"

# rdma_cm tells the peer of a process that is killed.
ok "rping runs" endless 'rping -s -a $IP2 -p $PORT -C 100000000' 'rping -c -a $IP2 -p $PORT -C 100000000'
stop "$SERVER"
ok "its server is killed: the client ends" wait_for 1 ended "$CLIENT"
stop "$CLIENT"
like "the client was told" "$(<"$OUTPUT.client")" 'DISCONNECT EVENT'
ok "no resource is left of both" wait_for 10 as_before

# cmtime of newer rdma-core is a different program, for many peers and with a controller.
if cmtime -h 2>&1 | grep -q controller_address; then
	skip "cmtime" "it is another program here"
else
	(exec_on h2 timeout -k 5 "$(seconds 60)" cmtime -c "$CMTIME" -p 20800) >/dev/null 2>&1 &
	server=$!
	ok "cmtime's server listens" wait_server $server 20800
	ok "cmtime connects $CMTIME times" limited 60 ip netns exec h1 cmtime -p 20800 -c "$CMTIME" -s "$IP2"
	kill $server 2>/dev/null
	wait $server 2>/dev/null
	ok "no resource is left of cmtime" wait_for 10 as_before
fi
is "errors that h1 counted" "$(error_counters $D1)" ""
is "errors that h2 counted" "$(error_counters $D2)" ""
