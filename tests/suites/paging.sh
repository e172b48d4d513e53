#!/bin/bash
# On-demand paging: regions that are not pinned, and advice about them: tests/verbs.
# timeout: 400
# lanes: vm debug smoke
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../verbs/run.sh"

hosts_up 4400 || { fail "two hosts"; exit 1; }
export D1 D2 G1 G2

run_program "" 250 "$PROGRAMS/paging"
D2=$D1 G2=$G1 run_program "one device: " 100 "$PROGRAMS/paging" present changes

# perftest
pair_run "ib_write_bw --odp" 'ib_write_bw -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_write_bw -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_read_bw --odp" 'ib_read_bw -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_read_bw -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_send_lat --odp" 'ib_send_lat -F -d $D2 -x $G2 -p $PORT --odp -n 300' 'ib_send_lat -F -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'
pair_run "ib_send_bw -c UD --odp" 'ib_send_bw -F -c UD -d $D2 -x $G2 -p $PORT -n 300' 'ib_send_bw -F -c UD -d $D1 -x $G1 -p $PORT --odp -n 300 $IP2'

# libibverbs' example, which checks the data; -O is a region of all addresses, -P prefetches
for options in -o "-o -P" "-o -O" "-o -O -P"; do
	pair_run "ibv_rc_pingpong $options" "ibv_rc_pingpong -d \$D2 -g \$G2 -p \$PORT -n 50 -c -s 70000 $options" \
		"ibv_rc_pingpong -d \$D1 -g \$G1 -p \$PORT -n 50 -c -s 70000 $options \$IP2"
done
