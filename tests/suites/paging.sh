#!/bin/bash
# On-demand paging: regions that are not pinned, and advice about them: tests/verbs.
# timeout: 500
# lanes: vm uml debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

modprobe -q fuse
run_program "" 250 "$PROGRAMS/odp"
D2=$D1 G2=$G1 run_program "one device: " 100 "$PROGRAMS/odp" odp_ops odp_invalidate

# perftest
pair_run "ib_write_bw --odp" 'ib_write_bw -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_write_bw -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_read_bw --odp" 'ib_read_bw -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_read_bw -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_send_lat --odp" 'ib_send_lat -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_send_lat -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_send_bw -c UD --odp" 'ib_send_bw -F -c UD -d $D2 -x $G2 -p $PORT -n 300' 'ib_send_bw -F -c UD -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'

# libibverbs' example, which checks the data. -O: with a region of all addresses; -P: with prefetching
for options in -o "-o -P" "-o -O" "-o -O -P"; do
	pair_run "ibv_rc_pingpong $options" "ibv_rc_pingpong -d \$D2 -g \$G2 -p \$PORT -n 50 -c -s 70000 $options" \
		"ibv_rc_pingpong -d \$D1 -g \$G1 -p \$PORT -n 50 -c -s 70000 $options \$IP2"
done

# Some users map a file of a FUSE server that never answers. Only their own QPs wait for it, although more QPs wait than the
# kernel runs work items of one workqueue at a time (512, later 2,048), and more QPs of each user than a user has threads (64).
USERS=33
EACH=66
WAITING=$((USERS * EACH))
has_mount() { mountpoint -q "$1"; }
said() { [ "$(cat "$OUTPUT".stuck.* | grep -c "^$EACH wait")" = $USERS ]; }
stuck_qps() { rdma resource show qp >"$OUTPUT.qps" && grep -c "comm odp" "$OUTPUT.qps"; }
number_of_qps() { rdma resource show qp >"$OUTPUT.qps" && wc -l <"$OUTPUT.qps"; }
no_more_qps() { [ "$(number_of_qps)" -le "$qps" ]; }
held_mib() { echo $(($(cat $cgroup/memory.current) >> 20)); }
others() {
	pair_run "$1" "$2ibv_rc_pingpong -d \$D2 -g \$G2 -p \$PORT -n 50 -c -s 70000 -o" \
		"$2ibv_rc_pingpong -d \$D1 -g \$G1 -p \$PORT -n 50 -c -s 70000 -o \$IP2"
}
if grep -qw fuse /proc/filesystems; then
	AT=$(mktemp -d)
	# The kernel reports tasks that wait for long.
	hung=/proc/sys/kernel/hung_task_timeout_secs
	if [ -e $hung ]; then
		at_exit eval "echo $(cat $hung) >$hung"
		echo 0 >$hung
	fi
	at_exit rmdir "$AT"
	"$PROGRAMS/odp" fuse_server serve "$AT" &
	server=$!
	at_exit umount -l "$AT"
	at_exit stop $server
	ok "a file that cannot be read" wait_for 10 has_mount "$AT"
	for held in odp_stall odp_stall_more; do HELD=$AT/file run_program "" 60 "$PROGRAMS/odp" $held; done
	# The OOM killer's victim cannot end while a page-in waits, but its memory is freed.
	cgroup=/sys/fs/cgroup/reaped
	echo +memory >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
	if mkdir $cgroup && [ -e $cgroup/memory.max ]; then
		at_exit rmdir $cgroup
		echo 96M >$cgroup/memory.max
		{
			(echo $BASHPID >$cgroup/cgroup.procs && exec_on h1 "$PROGRAMS/odp" odp_reaped "$AT/file" 48) >"$OUTPUT.reaped" 2>&1
		} 2>/dev/null # where the shell says that it was killed
		is "a process uses up its memory while a page-in waits" "$(cat "$OUTPUT.reaped")" waits
		like "it is killed" "$(cat $cgroup/memory.events)" 'oom_kill [1-9]'
		mostly_freed() { [ "$(held_mib)" -lt 16 ]; }
		ok "its memory is freed" wait_for 30 mostly_freed
		diag "$(held_mib) MiB are held"
		rm "$OUTPUT.reaped"
	else
		skip "memory of a killed process" "there is no memory cgroup"
	fi
	qps=$(number_of_qps)
	hostile=()
	for ((i = 0; i < USERS; i++)); do
		(exec_on h1 setpriv --reuid $((1001 + i)) --clear-groups "$PROGRAMS/odp" fuse_server send "$AT/file" $EACH) >"$OUTPUT.stuck.$i" 2>&1 &
		hostile+=($!)
		at_exit stop $!
	done
	at_exit rm -f "$OUTPUT".stuck.* "$OUTPUT.qps"
	ok "$USERS users' QPs wait for it" wait_for 120 said
	is "all the users' QPs exist" "$(stuck_qps)" $WAITING
	others "another user's memory is paged in" "setpriv --reuid 1000 --clear-groups "
	not_ok "nothing was sent from the file" grep -q status "$OUTPUT".stuck.*
	kill -9 "${hostile[@]}"
	for process in "${hostile[@]}"; do
		wait_for 30 ended "$process" || fail "a process cannot be killed"
	done 2>/dev/null # where the shell says of each that it was killed
	stop $server
	ok "QPs of killed users are destroyed when no page-in waits" wait_for 60 no_more_qps
	others "and paging goes on" ""
else
	skip "memory of a file that cannot be read" "no FUSE"
fi
