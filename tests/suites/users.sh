#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A user of this host tries to inject a message into another user's connection (tests/verbs/robust/connected.c,
# tests/wire/inject.py): the module lets only those with CAP_NET_RAW send to the port of RoCE, and Documentation/security.rst's
# rule for the firewall stops these as well. Nobody in a container gets a message into it by NAT.
# timeout: 200
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

# as USER HOST COMMAND...
as() { on "$2" setpriv --reuid "$1" --regid "$1" --clear-groups --no-new-privs --inh-caps=-all --bounding-set=-all "${@:3}"; }

# connect: the first user's connection from D1 to D2, which "tell COMMAND" speaks to; the answer is in $SAID
# They are not exported here: with "G1=$G1_6 attacked ..." they would keep that value afterwards.
connect() {
	coproc VICTIM { export D1 D2 G1 G2; as 1001 h1 "$PROGRAMS/robust" connected 2>&1; }
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

# The users that inject: the second user, also with all capabilities in a user namespace or in a container, or somebody with
# CAP_NET_RAW
user() { as 1002 h1 "$@"; }
user_of_namespace() { as 1002 h1 unshare -Ur "$@"; }
contained() { as 1002 container "$@"; }
privileged() { on h1 "$@"; }

# inject WHAT SOURCE TARGET: $ATTACKER, whose address is $OWN if NAT replaces it by SOURCE, sends a message of its own to the peer
# of that connection
inject() {
	$ATTACKER "$INJECT" "$2" "$3" "$QPN" "from another user" ${OWN:+"$OWN"} >"$OUTPUT.inject" 2>&1 ||
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
other_port() { as 1002 h1 python3 -c 'import socket, sys; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (sys.argv[1], 4790))' $IP2; }
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

# A namespace without a device, whose packets h1 forwards, or a namespace ROUTER. h2 knows the way back.
CONTAINED=10.0.9.1 CONTAINED_6=fd09::1
# behind_router ROUTER
behind_router() {
	ip link add eth0 netns container type veth peer name inner netns "$1" || return
	on container sysctl -qw net/ipv6/conf/eth0/accept_dad=0
	on container ip addr add $CONTAINED/24 dev eth0
	on container ip -6 addr add $CONTAINED_6/64 dev eth0 nodad
	on "$1" sysctl -qw net/ipv6/conf/inner/accept_dad=0 net/ipv4/ip_forward=1 net/ipv6/conf/all/forwarding=1
	on "$1" ip addr add 10.0.9.254/24 dev inner
	on "$1" ip -6 addr add fd09::fe/64 dev inner nodad
	on "$1" ip link set inner up
	on container ip link set eth0 up
	on container ip route add default via 10.0.9.254
	on container ip -6 route add default via fd09::fe
}
container_up() {
	at_exit ip netns delete container
	ip netns add container && behind_router h1 || return
	on h2 ip route add 10.0.9.0/24 via $IP1
	on h2 ip -6 route add fd09::/64 via $IP1_6
}

# From port FROM: four datagrams of SIZE bytes to RoCE's port, then four to another one. Each time from another port, because NAT
# does not give two senders the same one.
FROM=5555
DATAGRAMS='
import socket, sys
family, kind, _, _, address = socket.getaddrinfo(sys.argv[1], 4791, type=socket.SOCK_DGRAM)[0]
with socket.socket(family, kind) as sock:
    sock.bind(("", int(sys.argv[3])))
    for port in (4791, 4790):
        for _ in range(4):
            sock.sendto(bytes(int(sys.argv[2])), (address[0], port))
'
# arrived PORT: how many datagrams, or first fragments, h2 has counted
arrived() { on h2 nft list table inet arrived | sed -n "s/.* udp dport $1 counter packets \([0-9]*\) .*/\1/p"; }
all_arrived() { [ "$(arrived 4790)" = 4 ]; }

# forwarded WHAT SIZE SOURCE TARGET WANTED: h2 gets WANTED of the attacker's datagrams to RoCE's port, and all to the other one
forwarded() {
	local ip=ip
	[[ $3 != *:* ]] || ip=ip6
	must on h2 nft -f - <<-END
		table inet arrived
		delete table inet arrived
		table inet arrived {
			chain prerouting {
				type filter hook prerouting priority raw
				$ip saddr $3 udp sport $FROM udp dport 4791 counter
				$ip saddr $3 udp sport $FROM udp dport 4790 counter
			}
		}
	END
	ok "$1: the sender sends" $ATTACKER python3 -c "$DATAGRAMS" "$4" "$2" $FROM
	ok "$1: what goes to another port arrives" wait_for 10 all_arrived
	is "$1: datagrams that arrive at the port of RoCE" "$(arrived 4791)" "$5"
	FROM=$((FROM + 1))
}

# nat WHAT RULES: h1 changes addresses
nat() {
	if ! on h1 nft -f - <<<"table inet nat { $2; }" 2>"$OUTPUT"; then
		if grep -Eq 'No such file|not supported' "$OUTPUT"; then skip "$1" "the kernel does not have it"; else
			fail "$1: the firewall takes the rules"
			show_output
		fi
		return 1
	fi
}
no_nat() { must on h1 nft delete table inet nat; }

# behind WHAT RULES: h1 replaces the container's addresses by its own
behind() {
	nat "$1" "$2" || return
	OWN=$CONTAINED attacked "IPv4, $1" $IP1 $IP2 nothing
	OWN=$CONTAINED_6 G1=$G1_6 G2=$G2_6 attacked "IPv6, $1" $IP1_6 $IP2_6 nothing
	forwarded "IPv4, $1" 100 $IP1 $IP2 0
	forwarded "IPv6, $1" 100 $IP1_6 $IP2_6 0
}

# A datagram to a port of h1 from RoCE's port, then one from the other one. On h2 the module has that port, hence the raw socket.
ASK='
import socket, struct, sys
family, _, _, _, address = socket.getaddrinfo(sys.argv[1], None)[0]
with socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_UDP) as sock:
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_CHECKSUM, 6)
    for port in (4791, 4790):
        sock.sendto(struct.pack("!HHHH", port, int(sys.argv[2]), 8, 0), address)
'
# answered WHAT SOURCE TARGET TIMES: the container answers what h2 has sent TIMES times. The first datagram begins a flow; a second
# one brings the flow into the table, so that no answer passes a hook.
answered() {
	local i
	for ((i = 0; i < $4; i++)); do ok "$1: h2 sends" on h2 python3 -c "$ASK" "$2" $FROM; done
	forwarded "$1" 100 "$2" "$3" 0
}

# Another namespace between container and h1, on an ipvlan of h1. h1 forwards its packets as if they were of h1 itself.
ROUTER=10.0.8.1 ROUTER_6=fd08::1
router_up() {
	at_exit ip netns delete router
	ip netns add router && on h1 ip link add link eth0 name ipv0 netns router type ipvlan mode l3 || return
	on h1 ip link delete inner && behind_router router || return
	on router ip addr add $ROUTER/24 dev ipv0
	on router ip -6 addr add $ROUTER_6/64 dev ipv0 nodad
	on router ip link set ipv0 up
	on router ip route add default dev ipv0
	on router ip -6 route add default dev ipv0
}
routing() { on router "$@"; }

# An address of h1 in a VRF that neither container nor h2 is in
vrf_up() {
	on h1 ip link add blue type vrf table 77 && on h1 ip link add blue0 type dummy || return
	on h1 ip link set blue up
	on h1 ip link set blue0 master blue up
	on h1 ip addr add $CONTAINED/32 dev blue0
	on h1 ip -6 addr add $CONTAINED_6/128 dev blue0 nodad
}

# not_up WHAT: after a failed set-up
not_up() { if grep -q 'Unknown device type' "$OUTPUT"; then skip "$1" "the kernel does not have it"; else fail "$1"; show_output; fi; }

on h1 nft delete table inet sroce 2>/dev/null
must on h1 ip route change 10.0.0.0/24 dev eth0 src $IP1
must on h1 ip -6 route change fd00::/64 dev eth0 metric 256
ATTACKER=contained
if must container_up; then
	forwarded "IPv4, no NAT" 100 $CONTAINED $IP2 4
	forwarded "IPv6, no NAT" 100 $CONTAINED_6 $IP2_6 4
	if vrf_up >"$OUTPUT" 2>&1; then
		forwarded "IPv4, a VRF has the address" 100 $CONTAINED $IP2 4
		forwarded "IPv6, a VRF has the address" 100 $CONTAINED_6 $IP2_6 4
		must on h1 ip link delete blue0
		must on h1 ip link delete blue
	else
		not_up "a VRF has the address"
	fi
	if behind "changed source addresses" "chain out { type filter hook postrouting priority srcnat
		ip saddr $CONTAINED ip saddr set $IP1; ip6 saddr $CONTAINED_6 ip6 saddr set $IP1_6; }"; then no_nat; fi
	MASQUERADE='chain out { type nat hook postrouting priority srcnat; iifname inner masquerade; }'
	if behind "NAT" "$MASQUERADE"; then
		forwarded "IPv4, NAT, fragments" 3000 $IP1 $IP2 0
		forwarded "IPv6, NAT, fragments" 3000 $IP1_6 $IP2_6 0
		pair_run "NAT: bursts of the host itself go through" 'ib_write_bw -F -d $D2 -x $G2 -p $PORT -n 200' \
			'ib_write_bw -F -d $D1 -x $G1 -p $PORT -n 200 $IP2'
		no_nat
	fi
	# Packets of a flow in it do not pass the hooks of forwarding
	FLOWS='flowtable flows { hook ingress priority 0; devices = { eth0, inner }; };
		chain forward { type filter hook forward priority 0; meta l4proto udp flow add @flows; }'
	if behind "NAT with a flow table" "$MASQUERADE; $FLOWS"; then no_nat; fi
	if nat "answers by NAT with a flow table" "$FLOWS; chain in { type nat hook prerouting priority dstnat;
		ip daddr $IP1 udp dport 5555-5999 dnat to $CONTAINED; ip6 daddr $IP1_6 udp dport 5555-5999 dnat to $CONTAINED_6; }"; then
		for times in 1 2; do
			answered "IPv4, answers by NAT with a flow table, $times" $IP1 $IP2 $times
			answered "IPv6, answers by NAT with a flow table, $times" $IP1_6 $IP2_6 $times
		done
		no_nat
	fi
	# Root of h1 itself, not of a container
	must on h1 ip addr add 10.0.0.3/24 dev eth0
	if nat "NAT of the host" "chain out { type nat hook postrouting priority srcnat;
		ip saddr $IP1 udp sport 5555-5999 snat to 10.0.0.3; }"; then
		ATTACKER=privileged forwarded "NAT of the host" 100 10.0.0.3 $IP2 4
		no_nat
	fi
	must on h1 ip addr del 10.0.0.3/24 dev eth0
	if router_up >"$OUTPUT" 2>&1; then
		forwarded "IPv4, ipvlan, no NAT" 100 $CONTAINED $IP2 4
		forwarded "IPv6, ipvlan, no NAT" 100 $CONTAINED_6 $IP2_6 4
		if behind "NAT of an ipvlan" "chain out { type nat hook postrouting priority srcnat;
			ip saddr { $CONTAINED, $ROUTER } masquerade; ip6 saddr { $CONTAINED_6, $ROUTER_6 } masquerade; }"; then
			ATTACKER=routing forwarded "IPv4, NAT of an ipvlan, root in it" 100 $IP1 $IP2 0
			ATTACKER=routing forwarded "IPv6, NAT of an ipvlan, root in it" 100 $IP1_6 $IP2_6 0
			no_nat
		fi
	else
		not_up "an ipvlan"
	fi
fi
