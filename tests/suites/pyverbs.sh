#!/bin/bash
# rdma-core's own tests of verbs, unchanged, against sroce: tests/pyverbs. Tests that do not pass are listed there.
# timeout: 600
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../pyverbs/run.sh"

one_up() {
	at_exit ip link delete eth8
	ip link add eth8 type veth peer name eth9
	ip link set eth9 up
	address init eth8 1
	rdma link add sroce1 type sroce netdev eth8 && G1=$(gid sroce1 $IP1)
}

huge_pages
one_up || { fail "a device"; exit 1; }
pyverbs veth sroce1 "$G1" "$@"
