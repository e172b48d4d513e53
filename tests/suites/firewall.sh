#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# The rule of Documentation/administration.rst lets RoCE through a firewall that drops everything but replies. Both hosts need it:
# connection tracking does not take responses for replies.
# timeout: 120
. "$(dirname "$0")/lib.sh"

ADMIN=$SROCE_TOP/Documentation/administration.rst
RULE=$(sed -n '/^.. tested: tests\/suites\/firewall.sh, block accept$/,/^[^ .:]/{s/^    //p}' "$ADMIN")

# firewall HOST: TCP and ICMP are for the programs, and for the neighbours of IPv6.
firewall() {
	on "$1" nft -f - <<-END
		table inet filter {
			chain input {
				type filter hook input priority filter; policy drop;
				ct state established,related accept
				meta l4proto { tcp, icmp, ipv6-icmp } accept
				udp dport 4791 counter
			}
		}
	END
}
dropped() { on "$1" nft list chain inet filter input | grep -q 'counter packets [1-9]'; }
accept() { on "$1" bash -euc "$RULE"; }

hosts_up || exit 1
like "administration.rst has the rule" "$RULE" '^nft .* 4791 accept$'
ok "both hosts have a firewall" eval 'firewall h1 && firewall h2'
ok "the server accepts RoCE" accept h2
(exec_on h2 rping -s -a "$IP2" -p 7200 -C 1) >/dev/null 2>&1 &
SERVER=$!
at_exit stop $SERVER
wait_server $SERVER 7200
(exec_on h1 rping -c -a "$IP2" -p 7200 -C 1) >/dev/null 2>&1 &
CLIENT=$!
at_exit stop $CLIENT
ok "the client's firewall drops a response" wait_for 30 dropped h1
ok "the server's firewall drops no request" eval '! dropped h2'
stop $CLIENT $SERVER
ok "the client accepts RoCE, too" accept h1
pair_run "both accept it: rping" 'rping -s -a $IP2 -p $PORT -C 3' 'rping -c -a $IP2 -p $PORT -C 3'
