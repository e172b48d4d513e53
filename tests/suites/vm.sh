#!/bin/bash
# The rig itself: the assumptions of all other suites, tested with the in-tree rxe.
# timeout: 180
. "$(dirname "$0")/lib.sh"

ok "the root file system is writable" touch /usr/rig-test
for folder in debug/bdi tracing/events config; do ok "/sys/kernel/$folder is there" test -d "/sys/kernel/$folder"; done
ok "/out is a directory of the host" touch /out/rig-test
not_ok "the status of a failed command is returned" false
is "a job has no standard input" "$(cat)" ""

# The guest's clock follows the host's. A guest that calibrated its own clock on a busy host ran fifty times too fast.
seconds_pass() {
	local before
	before=$(cat /sys/class/rtc/rtc0/since_epoch)
	sleep 3
	[ $(($(cat /sys/class/rtc/rtc0/since_epoch) - before)) -ge 2 ]
}
if [ -e /sys/class/rtc/rtc0 ]; then
	ok "a sleep of three seconds takes as long on the host" seconds_pass
else
	skip "a sleep of three seconds takes as long on the host" "no clock but the kernel's own"
fi

complaints() { "$SROCE_TOP/tests/vm/complaints" 'said on purpose' <<<"[  1.0] $1"; }
for line in 'WARNING: CPU: 0 PID: 1 at drivers/sroce/queue/qp.c:1' 'general protection fault: 0000 [#1]' \
	'general protection fault, probably for non-canonical address 0x6b6b6b6b6b6b6b6b: 0000 [#1] SMP'; do
	is "a complaint of the kernel: $line" "$(complaints "$line")" "$line"
done
for line in 'sroce: loaded' 'WARNING: said on purpose' 'traps: client[9] general protection fault ip:1 sp:2 error:0'; do
	is "none of the kernel's: $line" "$(complaints "$line")" ""
done

# rxe with both ends on one device: its packets go round through lo
ip link add rig0 type veth peer name rig1
at_exit ip link delete rig0
for number in 0 1; do address init "rig$number" "$((number + 1))"; done
at_exit rdma link delete rxe0
ok "rdma link add loads rxe" rdma link add rxe0 type rxe netdev rig0
ok "rxe's device node exists" wait_for 5 test -c /dev/infiniband/uverbs0
HOST1=init HOST2=init D1=rxe0 D2=rxe0 G1=$(gid rxe0 10.0.0.1) G2=$G1
like "a GID is found by address" "$G1" '^[0-9]+$'
pair_run "ibv_rc_pingpong" 'ibv_rc_pingpong -d $D2 -g $G2 -n 50 -p $PORT' 'ibv_rc_pingpong -d $D1 -g $G1 -n 50 -p $PORT 127.0.0.1'
pair_run "rping" 'rping -s -a $IP1 -p $PORT -C 3' 'rping -c -a $IP1 -p $PORT -C 3'
