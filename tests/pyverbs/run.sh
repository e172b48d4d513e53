# Runs rdma-core's tests in a suite, sourced by suites after lib.sh.

PYVERBS=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

# For the tests that want their memory there; User Mode Linux has none.
huge_pages() {
	local knob=/proc/sys/vm/nr_hugepages
	[ -e $knob ] || return 0
	echo 32 >$knob
	at_exit sh -c "echo 0 >$knob"
}

# pyverbs KIND DEVICE GID [TEST...]: on a device whose netdev is of that KIND. Both players of a test are on one device, in
# the initial namespace: some of them look at sysfs for the netdev. TAP lines of its own, with numbers and a plan.
pyverbs() {
	local kind=$1 device=$2 gid=$3 where=() version
	shift 3
	where=(--where "$kind" --where "$(uname -r | cut -d. -f1-2)")
	[ "$SROCE_KIND" != uml ] || where+=(--where uml)
	# dpkg knows no package of a root for arm64; libibverbs.so.1.14.44.0 is of rdma-core 44.0.
	version=$(realpath /usr/lib/*/libibverbs.so.1 | cut -d. -f5)
	where+=(--where "rdma-core-$version")
	[ "$version" -lt 56 ] || where+=(--where rdma-core-56+)
	limited 500 "$PYVERBS/run" --expect "$PYVERBS/expected" "${where[@]}" --dev "$device" --gid "$gid" "$@" 2>&1 || FAILED=1
}
