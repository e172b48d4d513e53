#!/bin/bash
# Two guests reach each other.
# guests: 2
# lanes: vm
. "$(dirname "$0")/lib.sh"

ok "the guests reach each other over IPv4" wait_for 20 ping -c 1 -W 1 "10.99.0.$((3 - ROLE))"
ok "the guests reach each other over IPv6" wait_for 20 ping -c 1 -W 1 "fd99::$((3 - ROLE))"
