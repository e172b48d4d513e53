#!/bin/bash
# Runs the commands of README.md.
# timeout: 120
. "$(dirname "$0")/lib.sh"

README=$(dirname "$0")/../../README.md

# block NAME: prints the fenced block after the comment "tested: tests/suites/readme.sh, block NAME"
block() {
	awk -v mark="<!-- tested: tests/suites/readme.sh, block $1 -->" '
		$0 == mark { found = 1; next }
		found && /^```/ { if (inside) exit; inside = 1; next }
		inside { print }
	' "$README"
}

# Runs a command of the README on a host of the suite
typed() { on "$1" bash -euc "$(block "$2")"; }

# with_server HOST BLOCK PORT COMMAND...: runs the command while the block's program is a server on that host
with_server() {
	local host=$1 server status
	(exec_on "$host" bash -euc "exec $(block "$2")") >"$OUTPUT.server" 2>&1 </dev/null &
	server=$!
	wait_server $server "$3" || { cat "$OUTPUT.server"; kill $server; return 1; }
	"${@:4}" && wait $server
	status=$?
	kill $server 2>/dev/null
	cat "$OUTPUT.server"
	rm -f "$OUTPUT.server"
	return $status
}

ok "two hosts" hosts_up
# The README's device takes the place of the one that hosts_up made on host 1.
rdma link delete "$D1"
D1=sroce0

for name in device look server client; do
	[ -n "$(block $name)" ] || fail "the README has the block $name"
done
ok "the two commands of the README add a device" typed h1 device
like "the device has a GID for its address" "$(gid $D1 $IP1)" '^[0-9]+$'
LOOK=$(typed h1 look)
like "ibv_devinfo shows an active port" "$LOOK" 'state:.*PORT_ACTIVE'
like "ibv_devinfo shows the address" "$LOOK" "GID\[.*::ffff:$IP1"
ok "server and client of the README exchange messages" with_server h2 server 7174 on h1 timeout -k 5 "$(seconds 30)" bash -euc "$(block client)"
