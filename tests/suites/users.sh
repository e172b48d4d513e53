#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A user of this host tries to inject a message into another user's connection (tests/verbs/robust/connected.c,
# tests/wire/inject.py): the module lets only those with CAP_NET_RAW send to the port of RoCE, and Documentation/security.rst's
# rule for the firewall stops these as well.
# timeout: 120
# lanes: vm debug uml
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

SECURITY=$(dirname "$0")/../../Documentation/security.rst
INJECT=$(dirname "$0")/../wire/inject.py

# block NAME: the literal block that follows the comment "tested: tests/suites/users.sh, block NAME"
block() {
	awk -v mark=".. tested: tests/suites/users.sh, block $1" '
		{ text = $0; sub(/^ +/, "", text) }
		text == mark { found = 1; next }
		!found { next }
		!begun { if (text == "::") begun = 1; next }
		/^[^ ]/ { exit }
		{ print }
	' "$SECURITY"
}

as() { on h1 setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "${@:2}"; }

# connect: the first user's connection from D1 to D2, which "tell COMMAND" speaks to; the answer is in $SAID
# They are not exported here: with "G1=$G1_6 attacked ..." they would keep that value afterwards.
connect() {
	coproc VICTIM { export D1 D2 G1 G2; as 1001 "$PROGRAMS/robust" connected 2>&1; }
	read -t "$(seconds 20)" -r QPN <&"${VICTIM[0]}"
}
tell() {
	echo "$*" >&"${VICTIM[1]}"
	SAID=''
	read -t "$(seconds 20)" -r SAID <&"${VICTIM[0]}"
}
disconnect() {
	local pid=$VICTIM_PID
	eval "exec ${VICTIM[1]}>&-"
	wait "$pid"
}

# The users that inject: the second user, also with all capabilities in a user namespace, or somebody with CAP_NET_RAW
user() { as 1002 "$@"; }
user_of_namespace() { as 1002 unshare -Ur "$@"; }
privileged() { on h1 "$@"; }

# inject WHAT SOURCE TARGET: $ATTACKER sends a message of its own to the peer of that connection
inject() {
	$ATTACKER "$INJECT" "$2" "$3" "$QPN" "from another user" >"$OUTPUT.inject" 2>&1 ||
		grep -q 'Operation not permitted' "$OUTPUT.inject" || { fail "$1: it could not be tried"; sed 's/^/#   /' "$OUTPUT.inject"; }
	tell look
}
at_exit rm -f "$OUTPUT.inject"

# attacked WHAT SOURCE TARGET WANTED: a connection that carries data, then the other user's datagram
attacked() {
	ok "$1: a connection" connect
	tell send before
	is "$1: the connection carries data" "$SAID" "received before"
	inject "$1" "$2" "$3"
	is "$1: data from another user's packet" "$SAID" "$4"
	[ "$4" = nothing ] && { tell send after; is "$1: it goes on" "$SAID" "received after"; }
	ok "$1: the connection ends" disconnect
}

hosts_up 1500 || { fail "two hosts"; exit 1; }
RULE=$(block firewall)
[ -n "$RULE" ] || fail "the documentation has the rule"
on h1 nft list ruleset >/dev/null 2>&1 || modprobe -q nf_tables

ATTACKER=privileged attacked "IPv4, with CAP_NET_RAW" $IP1 $IP2 "received from another user"
ATTACKER=privileged G1=$G1_6 G2=$G2_6 attacked "IPv6, with CAP_NET_RAW" $IP1_6 $IP2_6 "received from another user"
# Packets from a device to itself do not come by the network
ATTACKER=privileged D2=$D1 G2=$G1 attacked "one address, with CAP_NET_RAW" $IP1 $IP1 nothing
for attacker in user user_of_namespace; do
	ATTACKER=$attacker attacked "IPv4, $attacker" $IP1 $IP2 nothing
	ATTACKER=$attacker G1=$G1_6 G2=$G2_6 attacked "IPv6, $attacker" $IP1_6 $IP2_6 nothing
done
other_port() { as 1002 python3 -c 'import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (sys.argv[1], 4790))' $IP2; }
ok "users send to other ports" other_port

ATTACKER=privileged
if on h1 nft -f - <<<"$RULE" 2>"$OUTPUT"; then
	pass "the firewall takes the rule"
	attacked "IPv4" $IP1 $IP2 nothing
	G1=$G1_6 G2=$G2_6 attacked "IPv6" $IP1_6 $IP2_6 nothing
	# Such packets have a socket: the module's
	ok "a smaller MTU of the IPv4 route" on h1 ip route change 10.0.0.0/24 dev eth0 mtu 1400
	ok "a smaller MTU of the IPv6 route" on h1 ip -6 route change fd00::/64 dev eth0 metric 256 mtu 1400
	attacked "IPv4, the route has a smaller MTU" $IP1 $IP2 nothing
	G1=$G1_6 G2=$G2_6 attacked "IPv6, the route has a smaller MTU" $IP1_6 $IP2_6 nothing
	pair_run "rdma_cm connects" 'rping -s -a $IP2 -p $PORT -C 10 -V' 'rping -c -a $IP2 -p $PORT -C 10 -V'
	pair_run "bursts go through" 'ib_write_bw -F -d $D2 -x $G2 -p $PORT -n 200' \
		'ib_write_bw -F -d $D1 -x $G1 -p $PORT -n 200 $IP2'
else
	show_output
	fail "the firewall takes the rule"
fi
