# Helpers for the suites (shell scripts that run in the guest): TAP lines, two hosts in namespaces, servers and clients.
#
#   . "$(dirname "$0")/lib.sh"
#   hosts_up                                      # see the drawing below
#   ok "both see a device" ibv_devinfo -d sroce1  # passes when the command does; its output shows only if it fails
#   pair_run "SEND" 'ibv_rc_pingpong -d $D2 -g $G2 -p $PORT' 'ibv_rc_pingpong -d $D1 -g $G1 -p $PORT $IP2'
#
# Cleaning up, the plan line and the exit status follow automatically at the end. Never sleep to wait for something; use
# wait_for and wait_server.

set -u

TESTS=0
FAILED=0
CLEANUPS=()
OUTPUT=$(mktemp)

# --- TAP ---

diag() { printf '# %s\n' "$@"; }

pass() { TESTS=$((TESTS + 1)); echo "ok $TESTS - $*"; }

fail() { TESTS=$((TESTS + 1)); FAILED=$((FAILED + 1)); echo "not ok $TESTS - $*"; }

# skip WHAT WHY
skip() { TESTS=$((TESTS + 1)); echo "ok $TESTS - $1 # SKIP $2"; }

# skip_all WHY: ends a suite that cannot run here
skip_all() { skip "everything" "$1"; exit 0; }

show_output() { head -c 8000 "$OUTPUT" | tail -n 60 | sed 's/^/#   /'; }

# ok WHAT COMMAND...
ok() {
	local what=$1 status=0
	shift
	"$@" >"$OUTPUT" 2>&1 || status=$?
	if [ $status = 0 ]; then pass "$what"; else
		fail "$what"
		diag "status $status: $*"
		show_output
	fi
	return 0
}

# not_ok WHAT COMMAND...: the command has to fail, and not by a signal or the time limit
not_ok() {
	local what=$1 status=0
	shift
	"$@" >"$OUTPUT" 2>&1 || status=$?
	if [ $status = 255 ] || { [ $status != 0 ] && [ $status -lt 124 ]; }; then pass "$what"; else
		fail "$what"
		diag "status $status, should have failed: $*"
		show_output
	fi
	return 0
}

# must COMMAND...: part of a test's setup. Without it, the test might pass for a wrong reason.
must() {
	"$@" >"$OUTPUT" 2>&1 && return
	fail "setup: $*"
	show_output
	return 1
}

# is WHAT GOT WANTED
is() {
	if [ "$2" = "$3" ]; then pass "$1"; else
		fail "$1"
		diag "got    '$2'" "wanted '$3'"
	fi
}

# like WHAT TEXT REGEX
like() {
	if [[ $2 =~ $3 ]]; then pass "$1"; else
		fail "$1"
		diag "got '$2'" "wanted something like '$3'"
	fi
}

# relay PREFIX SUFFIX SECONDS COMMAND...: lines of the program "ok TEXT" and "not ok TEXT", as in TAP or without numbers, become lines
# of the suite. A program that reports nothing, or ends with an error that it does not report, has failed.
relay() {
	local prefix=$1 suffix=$2 limit=$3 line status='' before=$TESTS failed=$FAILED
	local result='^(not )?ok ([0-9]+ )?(- )?(.*)$'
	shift 3
	while IFS= read -r line; do
		if [[ $line =~ $result ]]; then
			if [ -z "${BASH_REMATCH[1]}" ]; then pass "$prefix${BASH_REMATCH[4]}$suffix"; else fail "$prefix${BASH_REMATCH[4]}$suffix"; fi
			continue
		fi
		case $line in
		"status: "*) status=${line#status: } ;;
		1..*) ;;
		"#"*) echo "$line" ;;
		*) diag "$line" ;;
		esac
	done < <(limited "$limit" "$@" 2>&1 </dev/null; echo "status: $?")
	[ "$TESTS" != "$before" ] || fail "$prefix$(basename "$1") reports tests$suffix"
	[ "$status" = 0 ] || { [ "$FAILED" != "$failed" ] && [ "${status:-255}" -lt 124 ]; } ||
		fail "$prefix$(basename "$1") ended with status ${status:-unknown}$suffix"
}

# at_exit COMMAND...: is run at the end; the latest command comes first
at_exit() { CLEANUPS=("$(printf '%q ' "$@")" "${CLEANUPS[@]}"); }

finish() {
	local status=$? command
	trap - EXIT
	for command in "${CLEANUPS[@]}"; do eval "$command"; done
	rm -f "$OUTPUT"
	[ $TESTS = 0 ] || echo "1..$TESTS"
	[ $FAILED = 0 ] && exit $status
	exit 1
}
trap finish EXIT
trap 'exit 130' INT TERM

# --- optional programs and modules ---

# there COMMAND...: fails, after a line that reports a skipped test, unless all commands exist. Copies programs that
# tests/vm/fetch-programs has unpacked into the guest.
there() {
	local command
	for command; do
		command -v "$command" >/dev/null || unpacked "$command" || { skip "$command" "it is not installed"; return 1; }
	done
}

unpacked() {
	[ -n "${SROCE_UNPACKED:-}" ] && [ -d "$SROCE_UNPACKED" ] && tar -C "$SROCE_UNPACKED" -c . | tar -C / -x --keep-directory-symlink &&
		command -v "$1" >/dev/null
}

# loaded MODULE...: loads modules; fails, after a line that reports a skipped test, if the kernel does not have one
loaded() {
	local module
	for module; do
		modprobe -q "$module" || { skip "$module" "the kernel does not have it"; return 1; }
		at_exit modprobe -qr "$module"
	done
}

# --- waiting ---

# Time limits detect a hang. They are written for a fast machine with the stock kernel. Machines whose hypervisor is busy can
# be ten times slower, and the debug kernel is slower still.
seconds() { if [ "${SROCE_DEBUG_KERNEL:-0}" = 1 ]; then echo $(($1 * 20)); else echo $(($1 * 6)); fi; }

limited() { local limit=$1; shift; timeout -k 5 "$(seconds "$limit")" "$@"; }

# wait_for SECONDS COMMAND...: repeats the command until it succeeds
wait_for() {
	local end=$((SECONDS + $(seconds "$1")))
	shift
	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# tcp_listens PID PORT: does anything listen in the network namespace of that process? Reads files only, because starting
# processes is slow here.
tcp_listens() {
	local port file address state
	printf -v port ':%04X' "$2"
	for file in "/proc/$1/net/tcp" "/proc/$1/net/tcp6"; do
		while read -r _ address _ state _; do
			[ "$state" = 0A ] && [[ $address == *$port ]] && return 0
		done 2>/dev/null <"$file"
	done
	return 1
}

cm_listens() { rdma resource show cm_id 2>/dev/null | grep -q "LISTEN.*:$1 "; }

# wait_server PID PORT: waits until the process listens, by TCP or rdma_cm; fails if it ends or does not listen in time
wait_server() {
	local end=$((SECONDS + $(seconds 20))) round=0
	while [ $SECONDS -lt $end ] && kill -0 "$1" 2>/dev/null; do
		tcp_listens "$1" "$2" && return 0
		[ $((round++ % 5)) = 4 ] && cm_listens "$2" && return 0
		sleep 0.05
	done
	return 1
}

# --- hosts ---
#
# hosts_up [MTU]: two hosts, each with sroce
#
#     namespace h1                            namespace h2
#     D1=sroce1                               D2=sroce2
#     eth0, IP1 10.0.0.1/24    --- veth ---   eth0, IP2 10.0.0.2/24
#           IP1_6 fd00::1/64                        IP2_6 fd00::2/64
#
# rxe_up [MTU]: rxe, which works in the initial namespace only, and sroce
#
#     initial namespace                       namespace h2
#     D1=rxe1                                 D2=sroce2
#     rxe1e, IP1 10.0.0.1/24   --- veth ---   eth0, IP2 10.0.0.2/24
#           IP1_6 fd00::1/64                        IP2_6 fd00::2/64
#
# Both functions set G1 and G2 to the GID indices of the IPv4 addresses, and G1_6 and G2_6 to those of the IPv6 addresses.
# After that, "on h1 COMMAND..." runs a command on a host.

IP1=10.0.0.1 IP2=10.0.0.2 IP1_6=fd00::1 IP2_6=fd00::2
# 'init' is the initial namespace
HOST1=h1 HOST2=h2

# exec_on HOST COMMAND...: like on, but this shell becomes the command. After "(exec_on ...) &", $! is the command's process.
exec_on() {
	local host=$1
	shift
	[ "$host" = h1 ] && host=$HOST1
	[ "$host" = init ] && exec "$@"
	exec ip netns exec "$host" "$@"
}

on() { (exec_on "$@"); }

# address HOST NETDEV NUMBER
address() {
	on "$1" sysctl -qw "net/ipv6/conf/$2/accept_dad=0" "net/ipv6/conf/$2/addr_gen_mode=0"
	on "$1" ip addr add "10.0.0.$3/24" dev "$2"
	on "$1" ip -6 addr add "fd00::$3/64" dev "$2" nodad
	on "$1" ip link set "$2" up
}

# gid_text ADDRESS: prints the address as a GID in the format of sysfs
gid_text() {
	local a b c d left right=() text
	case $1 in
	*:*) IFS=: read -ra left <<<"${1%%::*}"
		[[ $1 != *::* ]] || IFS=: read -ra right <<<"${1##*::}"
		while [ $((${#left[@]} + ${#right[@]})) -lt 8 ]; do left+=(0); done
		printf -v text ':%04x' "${left[@]/#/0x}" "${right[@]/#/0x}"
		echo "${text:1}" ;;
	*) IFS=. read -r a b c d <<<"$1"
		printf '0000:0000:0000:0000:0000:ffff:%02x%02x:%02x%02x\n' "$a" "$b" "$c" "$d" ;;
	esac
}

# find_gid DEVICE GID-TEXT: prints the index
find_gid() {
	local file gid
	for file in "/sys/class/infiniband/$1/ports/1/gids/"*; do
		read -r gid 2>/dev/null <"$file" && [ "$gid" = "$2" ] && echo "${file##*/}" && return 0
	done
	return 1
}

# gid DEVICE ADDRESS: waits until the address is in the device's GID table, and prints its index
gid() {
	local text
	text=$(gid_text "$2")
	wait_for 5 find_gid "$1" "$text" && find_gid "$1" "$text"
}

gids() {
	G1=$(gid "$D1" $IP1) G2=$(gid "$D2" $IP2) G1_6=$(gid "$D1" $IP1_6) G2_6=$(gid "$D2" $IP2_6)
	[ -n "$G1" ] && [ -n "$G2" ] && [ -n "$G1_6" ] && [ -n "$G2_6" ]
}

# cards: prints the network cards of a guest with --taps
cards() {
	local driver
	modprobe -q virtio_net
	for driver in /sys/class/net/*/device/driver; do
		[[ $(readlink "$driver") != */virtio_net ]] || basename "${driver%/device/driver}"
	done
}
# The kernel returns the cards of a removed namespace to the initial one.
two_cards() { [ "$(cards | wc -l)" = 2 ]; }
# join_cards NAME: gives each host one of the two cards
join_cards() {
	local cards
	wait_for 1 two_cards || { echo "this machine has no two cards"; return 1; }
	mapfile -t cards < <(cards)
	ip link set "${cards[0]}" netns h1 name "$1" && ip link set "${cards[1]}" netns h2 name "$1"
}

set_mtu() {
	[ -n "$1" ] || return 0
	on "$HOST1" ip link set "$2" mtu "$1"
	on "$HOST2" ip link set eth0 mtu "$1"
}

hosts_up() {
	HOST1=h1 HOST2=h2 D1=sroce1 D2=sroce2
	at_exit hosts_down
	ip netns add h1 && ip netns add h2 || return
	ip link add eth0 netns h1 type veth peer name eth0 netns h2
	on h1 ip link set lo up
	on h2 ip link set lo up
	set_mtu "${1:-}" eth0
	address h1 eth0 1
	address h2 eth0 2
	on h1 rdma link add $D1 type sroce netdev eth0 && on h2 rdma link add $D2 type sroce netdev eth0 && gids
}

rxe_up() {
	HOST1=init HOST2=h2 D1=rxe1 D2=sroce2
	at_exit hosts_down
	ip netns add h2 || return
	ip link add rxe1e type veth peer name eth0 netns h2
	on h2 ip link set lo up
	set_mtu "${1:-}" rxe1e
	address init rxe1e 1
	address h2 eth0 2
	modprobe rdma_rxe && rdma link add $D1 type rxe netdev rxe1e &&
		on h2 rdma link add $D2 type sroce netdev eth0 && gids
}

# Also works after a failed or partial set-up. Waits, because the kernel removes a namespace asynchronously.
hosts_down() {
	local device
	for device in /sys/class/infiniband/*; do
		[ -e "$device" ] && rdma link delete "${device##*/}" 2>/dev/null
	done
	ip link delete rxe1e 2>/dev/null
	ip netns delete h1 2>/dev/null
	ip netns delete h2 2>/dev/null
	wait_for 10 no_devices
}

# counter DEVICE NAME
counter() { cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"; }

# error_counters DEVICE: prints counters that should be 0 between correct peers and are not
error_counters() {
	local name value
	for name in tx_nak_invalid resp_remote_access_errors tx_nak_operation rx_icrc_encapsulated rx_malformed rx_bad_address rx_bad_pkey \
		rx_bad_qkey rx_bad_transport cq_overflows bad_wqes; do
		value=$(counter "$1" $name)
		[ "$value" = 0 ] || echo "$name=$value"
	done
}

no_devices() { [ -z "$(ls -A /sys/class/infiniband 2>/dev/null)" ]; }

# --- a server and a client ---

PORT=20000

# pair_run WHAT SERVER CLIENT [SECONDS]: runs the server's command line on h2 and, once it listens, the client's on h1. Passes
# if both end with 0 in time. Quote the command lines with '...': $D1, $G1, $IP1 and so on are in their environment, and so is
# $PORT, a new port each time. Their output is in $SERVER_OUTPUT and $CLIENT_OUTPUT.
pair_run() {
	local what=$1
	shift
	if run_pair "$@"; then pass "$what"; else fail "$what"; show_pair "$@"; fi
	return 0
}

# The same without a TAP line; returns the status of the pair. Tries again if the server did not listen yet: with -R, programs
# of perftest first exchange data over TCP. The client may then connect before the server listens by rdma_cm, and crash.
run_pair() {
	local tries
	for tries in 1 2 3; do
		one_pair "$@" && return 0
		# Rejected: no consumer of the connection, or no service for datagrams
		[[ $CLIENT_OUTPUT =~ (EVENT_REJECTED; error: 8|EVENT_UNREACHABLE; error: 1)\. ]] || return 1
		diag "the client was too early, $tries"
	done
	return 1
}

one_pair() {
	local limit=${3:-30} server
	PORT=$((PORT + 1))
	SERVER_OUTPUT='' CLIENT_OUTPUT='' CLIENT_STATUS=none
	export PORT HOST1 HOST2 D1 D2 G1 G2 G1_6 G2_6 IP1 IP2 IP1_6 IP2_6
	(exec_on $HOST2 timeout -k 5 "$(seconds "$limit")" bash -c "exec $1") >"$OUTPUT.server" 2>&1 </dev/null &
	server=$!
	if wait_server $server $PORT; then
		on h1 timeout -k 5 "$(seconds "$limit")" bash -c "exec $2" >"$OUTPUT.client" 2>&1 </dev/null
		CLIENT_STATUS=$?
		[ $CLIENT_STATUS = 0 ] || kill $server 2>/dev/null
		CLIENT_OUTPUT=$(<"$OUTPUT.client")
	else
		kill $server 2>/dev/null
	fi
	wait $server
	SERVER_STATUS=$?
	SERVER_OUTPUT=$(<"$OUTPUT.server")
	rm -f "$OUTPUT.server" "$OUTPUT.client"
	[ "$SERVER_STATUS" = 0 ] && [ "$CLIENT_STATUS" = 0 ]
}

show_pair() {
	diag "server, status $SERVER_STATUS: $1"
	tail -n 25 <<<"$SERVER_OUTPUT" | sed 's/^/#   /'
	diag "client, status $CLIENT_STATUS: $2"
	[ -z "$CLIENT_OUTPUT" ] || tail -n 25 <<<"$CLIENT_OUTPUT" | sed 's/^/#   /'
}

# mckey_pair NETDEV: runs a receiver on h2 and a sender on h1. The sender starts once the receiver has joined: then rdma_cm and
# sroce have each joined the group once, on the netdev that has the address.
mckey_joined() { on h2 ip maddress show dev "$1" | grep -q "239.1.2.3 ${2:-}"; }
mckey_pair() {
	local receiver status
	(exec_on h2 timeout "$(seconds 60)" mckey -m 239.1.2.3 -b "$IP2") >"$OUTPUT.receiver" 2>&1 </dev/null &
	receiver=$!
	wait_for 40 mckey_joined "$1" "users 2" && limited 40 ip netns exec h1 mckey -m 239.1.2.3 -b "$IP1" -s
	status=$?
	[ $status = 0 ] || kill $receiver
	wait $receiver && [ $status = 0 ]
	status=$?
	cat "$OUTPUT.receiver"
	rm -f "$OUTPUT.receiver"
	return $status
}

# --- endless traffic ---

# endless SERVER CLIENT: starts two programs that do not end by themselves, and sets $SERVER and $CLIENT to their process IDs.
# If there is no traffic, it prints their output.
endless() {
	start_endless "$@" && return 0
	tail -n 20 "$OUTPUT.server" "$OUTPUT.client"
	rdma link
	return 1
}
start_endless() {
	local before
	PORT=$((PORT + 1))
	before=$(packets_of_d1)
	export PORT D1 D2 G1 G2 IP1 IP2
	(exec_on h2 bash -c "exec $1") >"$OUTPUT.server" 2>&1 &
	SERVER=$!
	wait_server $SERVER $PORT || return
	(exec_on h1 bash -c "exec $2") >"$OUTPUT.client" 2>&1 &
	CLIENT=$!
	wait_for 20 under_way_or_ended "$before"
	under_way "$before"
}
packets_of_d1() { echo $(($(counter $D1 rx_packets) + $(counter $D1 tx_packets))); }
under_way() { [ "$(packets_of_d1)" -gt $(($1 + 40)) ]; }
under_way_or_ended() { under_way "$1" || ended $CLIENT || ended $SERVER; }
at_exit rm -f "$OUTPUT.server" "$OUTPUT.client"

ended() { [ ! -d "/proc/$1" ] || grep -q 'State:.*Z' "/proc/$1/status"; }

# fails WHAT PID OUTPUT REGEX: passes if the process ends by itself with an error, and its output matches
fails() {
	local status
	wait_for 30 ended "$2"
	kill -9 "$2" 2>/dev/null
	wait "$2" 2>/dev/null
	status=$?
	ok "$1: it ends with an error" test $status -gt 0 -a $status -lt 124
	like "$1: it says which" "$(<"$3")" "$4"
}
stop() { kill -9 "$@"; wait "$@"; } 2>/dev/null

# count_calls FUNCTION: counts its calls by a kprobe, until the end or stop_counting. Fails on kernels without kprobes.
TRACING=/sys/kernel/tracing
count_calls() {
	[ -e $TRACING/kprobe_events ] || mount -t tracefs none $TRACING 2>/dev/null
	[ -e $TRACING/kprobe_events ] || return
	echo "p:sroce_test/calls $1" >>$TRACING/kprobe_events || { fail "calls of $1 can be counted"; return 1; }
	echo 1 >$TRACING/events/sroce_test/calls/enable
	at_exit stop_counting
}
stop_counting() {
	counting || return 0
	echo 0 >$TRACING/events/sroce_test/calls/enable
	echo -:sroce_test/calls >>$TRACING/kprobe_events
}
counting() { [ -e $TRACING/events/sroce_test/calls ]; }
calls() { awk '$1 == "calls" { print $2 }' $TRACING/kprobe_profile; }
