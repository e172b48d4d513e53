#!/bin/bash
# Invalid input and misuse of every verb: errno, completion status at both ends, events; others are not affected: tests/verbs/errors.
# Documentation/errors.rst has the table of errnos.
# timeout: 650
# lanes: vm uml smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 1500 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

export ROWS=${ROWS-$(mktemp)}
run_program "" 550 "$PROGRAMS/errors"

TOP=$(dirname "$0")/../..
documented() { sed -n '/^.. csv-table::/,$p' "$TOP/Documentation/errors.rst"; }
ok "Documentation/errors.rst says so" diff -u <("$TOP/tests/verbs/errors/table" "$ROWS") <(documented)

# Without a route packets are lost, a message at a time: small ones of a large message would keep a processor for minutes.
# killed_without_route HOST PID WHAT: the process on it can be ended
killed_without_route() {
	on "$1" ip link set eth0 down
	sleep 2
	kill -KILL "$2"
	ok "$3" wait_for 10 ended "$2"
	kill -KILL $SERVER $CLIENT 2>/dev/null
	wait $SERVER $CLIENT 2>/dev/null
	on "$1" ip link set eth0 up
}
large='-F --run_infinitely -m 256 -s 8388608 -p $PORT'
ok "large WRITEs of UC" endless "ib_write_bw -c UC -d \$D2 -x \$G2 $large" "ib_write_bw -c UC -d \$D1 -x \$G1 $large \$IP2"
killed_without_route h1 $CLIENT "without a route: the program that sends them ends"
ok "large READs" endless "ib_read_bw -d \$D2 -x \$G2 $large" "ib_read_bw -d \$D1 -x \$G1 $large \$IP2"
killed_without_route h2 $SERVER "without a route: the one that they are of ends"
