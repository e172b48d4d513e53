#!/bin/bash
# rdma-core's own tests of verbs, unchanged, against sroce: tests/pyverbs. Every one of them that does not pass is listed there.
# timeout: 600
. "$(dirname "$0")/lib.sh"

RUN=$(dirname "$0")/../pyverbs/run
LIST=$(mktemp)
at_exit rm -f "$LIST"
cat "$(dirname "$0")/../pyverbs/expected" >"$LIST"

# Both players of a test are on one device, in the initial namespace: some of them look at sysfs for the netdev.
one_up() {
	at_exit ip link delete eth8
	ip link add eth8 type veth peer name eth9
	ip link set eth9 up
	address init eth8 1
	rdma link add sroce1 type sroce netdev eth8 && G1=$(gid sroce1 $IP1)
}

# Some tests want their memory in huge pages, which User Mode Linux does not have.
if [ -e /proc/sys/vm/nr_hugepages ]; then
	echo 32 >/proc/sys/vm/nr_hugepages
	at_exit sh -c 'echo 0 >/proc/sys/vm/nr_hugepages'
else
	echo "skip *huge*" >>"$LIST"
fi

one_up || { fail "a device"; exit 1; }
# Lines of its own, which have numbers and a plan already
limited 500 "$RUN" --expect "$LIST" --dev sroce1 --gid "$G1" "$@" 2>&1 || FAILED=1
