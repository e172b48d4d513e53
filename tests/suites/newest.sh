#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Tools show features of verbs that only new kernels and a new rdma-core have. Suite pyverbs has the tests that use these verbs.
# "rdma link delete" goes by the driver where the kernel asks it.
# timeout: 120
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../pyverbs/run.sh"

# --- devices with the same name in two namespaces ---

# The mode can change only while there is no other namespace.
one_name() {
	local name=$1
	ip netns add "$name" && on "$name" ip link add eth0 type dummy && on "$name" ip link set eth0 up &&
		on "$name" rdma link add same type sroce netdev eth0
}
no_names() {
	ip netns delete a
	ip netns delete b
	wait_for 20 no_devices
	wait_for 20 rdma system set netns shared
} 2>/dev/null
if rdma system set netns exclusive && one_name a; then
	if one_name b 2>/dev/null; then
		is "two devices of one name in two namespaces both have settings" "$(echo /sys/kernel/debug/sroce/same*/ecn | wc -w)" 2
	else
		skip "two devices of one name in two namespaces both have settings" "this kernel does not let two devices have one name"
	fi
fi
ok "namespaces share devices again" no_names

# --- verbs ---

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
	ok "the server has posted receives to its SRQ" wait_for 20 eval '[[ $(details srq dev $D1) == *drv_entries* ]]'
	like "an SRQ" "$(details srq dev $D1)" 'drv_entries [1-9][0-9]* drv_taken 0 drv_limit 0 drv_broken 0'
else
	skip "an SRQ" "the kernel or rdma has no details of SRQs"
fi

if [[ $attributes == *effective_speed* ]]; then
	# A veth reports a speed of 10 Gb/s.
	like "the speed of the port" "$attributes" 'effective_speed:[[:space:]]+10\.0 Gbps'
else
	skip "the speed of the port" "the kernel or ibv_devinfo does not have it"
fi

if [[ $attributes == *max_comp_cntr* ]]; then
	like "completion counters" "$attributes" 'max_comp_cntr:[[:space:]]+65536'
else
	skip "completion counters" "the kernel or ibv_devinfo does not have them"
fi

# --- rdma link delete ---

# Before 7.1 the driver is not asked. A kprobe sees it.
TRACING=/sys/kernel/tracing
[ -d $TRACING/events ] || mount -t tracefs none $TRACING
if printf '7.1\n%s\n' "$(uname -r)" | sort -VC && [ -e $TRACING/kprobe_events ]; then
	ok "a probe" eval 'echo "p:sroce_test/dellink sroce:sroce_dellink" >>$TRACING/kprobe_events'
	echo 1 >$TRACING/events/sroce_test/dellink/enable
	ok "the device is deleted" rdma link delete $D1
	is "the driver was asked to close its ports" "$(awk '$1 == "dellink" { print $2 }' $TRACING/kprobe_profile)" 1
	echo 0 >$TRACING/events/sroce_test/dellink/enable
	echo -:sroce_test/dellink >>$TRACING/kprobe_events
else
	skip "the driver closes its ports" "the kernel does not ask for it, or has no kprobes"
	rdma link delete $D1
fi
sockets() { on h1 grep -hci ':12B7 ' /proc/net/udp /proc/net/udp6 | tr '\n' ' '; }
is "no socket is left" "$(sockets)" "0 0 "

# at_once COMMAND...: two requests to delete the device, and a command that runs meanwhile
at_once() {
	local requests=()
	on h1 rdma link add $D1 type sroce netdev eth0 || return
	for _ in 1 2; do
		rdma link delete $D1 2>/dev/null &
		requests+=($!)
	done
	"$@"
	wait "${requests[@]}"
	wait_for 20 test ! -e /sys/class/infiniband/$D1
}
for i in 1 2 3; do ok "the device is deleted twice at once ($i)" at_once true; done
ok "the device is deleted twice while its netdev is" at_once ip -n h1 link delete eth0
is "no socket is left then" "$(sockets)" "0 0 "
