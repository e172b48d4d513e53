# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# SMC-R, which carries data of AF_SMC stream sockets over RDMA, or over TCP if it finds no device.

if loaded smc smc_diag; then
	SMC_BYTES=1048576
	export SMC_BYTES
	received=$(received)
	ok "SMC: an enterprise ID is allowed" "$HERE/smc.py" eid SROCE.TEST
	pair_run "SMC: data both ways" 'python3 $HERE/smc.py server $IP2 $PORT' \
		'python3 $HERE/smc.py client $IP2 $PORT $SMC_BYTES'
	is "SMC: not by TCP" "$CLIENT_OUTPUT" "connections: SMC-R"
	ok "SMC: by RDMA" test $(($(received) - received)) -gt $SMC_BYTES
fi
