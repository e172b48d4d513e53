#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# What the tools show of verbs that only new kernels and a new rdma-core have. rdma-core's tests and ours that use these verbs are in
# suite pyverbs.
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../pyverbs/run.sh"

ok "two hosts" hosts_up

details() { on h1 rdma resource show "$@" -dd | tr -s ' \n' ' '; }
version=$(modinfo -F version sroce)
attributes=$(on h1 ibv_devinfo -v -d $D1)
like "ibv_devinfo shows the version" "$attributes" "fw_ver:[[:space:]]+$version"
like "rdma dev shows the version" "$(on h1 rdma dev show $D1 -d)" " fw $version "

if on h1 rdma resource show srq >/dev/null 2>&1 && [ "$(uname -r | cut -d. -f1)" -ge 7 ]; then
	ok "a server with an SRQ" on h1 sh -c "ibv_srq_pingpong -d $D1 -g $G1 -p 20000 >/dev/null 2>&1 & echo \$!"
	server=$(<"$OUTPUT")
	at_exit kill "$server"
	ok "it has posted" wait_for 20 eval '[[ $(details srq dev $D1) == *drv_entries* ]]'
	like "an SRQ" "$(details srq dev $D1)" 'drv_entries [1-9][0-9]* drv_taken 0 drv_limit 0 drv_broken 0'
else
	skip "an SRQ" "the kernel or rdma has no details of SRQs"
fi

if [[ $attributes == *effective_speed* ]]; then
	# A veth says that it has 10 Gb/s.
	like "the speed of the port" "$attributes" 'effective_speed:[[:space:]]+10\.0 Gbps'
else
	skip "the speed of the port" "the kernel or ibv_devinfo does not have it"
fi

if [[ $attributes == *max_comp_cntr* ]]; then
	like "completion counters" "$attributes" 'max_comp_cntr:[[:space:]]+65536'
else
	skip "completion counters" "the kernel or ibv_devinfo does not have them"
fi
