# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# DAPL over rdma_cm: dtest sends, writes and reads; dapltest compares the data of a transaction of each kind.

dapl_test='sh -c "dapltest -T T -D sroce -s $IP2 -i 10 -V -P client SR 4096 2 server SR 4096 client RR 65536 client RW 65536 &&
	dapltest -T Q -D sroce -s $IP2"'

if there dapltest dtest; then
	DAT_OVERRIDE=$OUTPUT.dat
	export DAT_OVERRIDE
	at_exit rm -f "$DAT_OVERRIDE"
	echo 'sroce u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 "eth0 0" ""' >"$DAT_OVERRIDE"
	received=$(received)
	# Where they listen: dtest by TCP, dapltest by rdma_cm.
	PORT=15827 pair_run "DAPL: dtest" 'dtest -P sroce -b 65536 -B 10 -s' 'dtest -P sroce -b 65536 -B 10 -h $IP2'
	PORT=61999 pair_run "DAPL: dapltest" 'dapltest -T S -D sroce' "$dapl_test"
	ok "DAPL: by RDMA" test $(($(received) - received)) -gt 655360
fi
