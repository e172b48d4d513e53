# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Non-blocking connections over rsockets. rdmacm.sh and rsockets.sh of the suites have librdmacm's own programs.
# Not by default where the stock kernel is emulated, because it takes long.

if [ "$SROCE_KERNEL" != stock ] || [ -n "${PROGRAMS:-}" ]; then
	RSOCKETS_SERVER=$OUTPUT.process
	export RSOCKETS_SERVER
	at_exit rm -f "$RSOCKETS_SERVER"
	received=$(received)
	pair_run "rsockets: non-blocking connects, rpoll and rselect, data both ways" \
		'python3 $HERE/rsockets.py server $IP2 $PORT $RSOCKETS_SERVER' \
		'python3 $HERE/rsockets.py client $IP2 $PORT $RSOCKETS_SERVER 3000000'
	ok "rsockets: by RDMA" test $(($(received) - received)) -gt 3000000
fi
