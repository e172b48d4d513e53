#!/bin/bash
# Administrators' tools, unchanged: the listings of ibverbs-utils, infiniband-diags as far as they fit RoCE, and qperf.
# Not perfquery and others that open QP 0, which RoCE does not have; tests/wire/cases/pma.py queries the counters instead.
# timeout: 300
# lanes: vm
. "$(dirname "$0")/lib.sh"

hosts_up 9000 || { fail "two hosts"; exit 1; }
modprobe -q ib_umad

# --- listings ---

like "ibv_devices" "$(ibv_devices)" "${D1}[[:space:]]+[0-9a-f]{16}"
VERBOSE=$(ibv_devinfo -v -d $D1)
like "ibv_devinfo -v: transport" "$VERBOSE" 'transport:[[:space:]]+InfiniBand'
like "ibv_devinfo -v: link layer" "$VERBOSE" 'link_layer:[[:space:]]+Ethernet'
like "ibv_devinfo -v: MTU" "$VERBOSE" 'active_mtu:[[:space:]]+4096'
like "ibv_devinfo -v: GIDs" "$VERBOSE" 'GID\[ *[0-9]+\]:[[:space:]]+::ffff:10.0.0.1, RoCE v2'
like "ibv_devinfo -l" "$(ibv_devinfo -l)" "2 HCAs found"
for option in "" -s -p -l; do ok "ibstat $option" ibstat $D1 $option; done
like "ibstat tells the state" "$(ibstat $D1)" 'State: Active.*Physical state: LinkUp.*Link layer: Ethernet'
like "ibstatus" "$(ibstatus $D1)" "'$D1' port 1 status:.*state:[[:space:]]+4: ACTIVE"

stdbuf -oL ibv_asyncwatch -d $D1 >"$OUTPUT.watch" 2>&1 &
WATCH=$!
at_exit rm -f "$OUTPUT.watch"
ok "ibv_asyncwatch" wait_for 20 grep -q 'async event FD' "$OUTPUT.watch"
on h2 ip link set eth0 down
ok "ibv_asyncwatch reports that the link is down" wait_for 20 grep -q PORT_ERR "$OUTPUT.watch"
on h2 ip link set eth0 up
ok "ibv_asyncwatch reports that the link is up again" wait_for 20 grep -q PORT_ACTIVE "$OUTPUT.watch"
kill $WATCH
wait $WATCH 2>/dev/null
gids

# --- qperf ---

(exec_on h2 qperf -lp 19800) >/dev/null 2>&1 &
SERVER=$!
ok "qperf's server listens" wait_server $SERVER 19800

# By rdma_cm: without it, qperf supports only InfiniBand addresses, so it cannot test UC and UD over RoCE. A client that connects
# before the server listens is rejected, although the two have a TCP connection by then, as with perftest -R.
qperf_run() {
	local tries
	for tries in 1 2 3; do
		on h1 timeout "$(seconds 30)" qperf -lp 19800 -t 1 -cm 1 $IP2 "$1" >"$OUTPUT.qperf" 2>&1 && return
		cat "$OUTPUT.qperf"
		grep -q "RDMA CM: Event rejected" "$OUTPUT.qperf" || return 1
	done
	return 1
}

for test in rc_bw rc_bi_bw rc_lat rc_rdma_read_bw rc_rdma_read_lat rc_rdma_write_bw rc_rdma_write_lat rc_rdma_write_poll_lat \
	rc_compare_swap_mr rc_fetch_add_mr ver_rc_compare_swap ver_rc_fetch_add; do
	ok "qperf $test" qperf_run $test
done
rm -f "$OUTPUT.qperf"
kill $SERVER
wait $SERVER 2>/dev/null
is "no errors counted by $D1" "$(error_counters $D1)" ""
# qperf's server exits without destroying its queue pair. The kernel releases the region first, because it is younger, so a SEND of
# the client that arrives in between is refused.
is "no errors counted by $D2" "$(error_counters $D2 | grep -v ^tx_nak_operation=)" ""
