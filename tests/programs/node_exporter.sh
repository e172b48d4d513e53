# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Prometheus' exporter, as an operator runs it: in the initial namespace, because the RDMA core shows counters only there.

scrape() {
	python3 -c 'import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())' \
		"http://127.0.0.1:$PORT/metrics"
}

# metric NAME DEVICE: its value, as an integer
metric() {
	scrape | awk -v name="node_infiniband_$1{device=\"$2\",port=\"1\"}" '$1 == name { printf "%.0f\n", $2 }'
}

if there prometheus-node-exporter; then
	PORT=$((PORT + 1))
	prometheus-node-exporter --collector.disable-defaults --collector.infiniband --web.listen-address=127.0.0.1:$PORT \
		>"$OUTPUT.exporter" 2>&1 &
	exporter=$!
	exporter_port=$PORT
	at_exit rm -f "$OUTPUT.exporter"
	ok "node_exporter: it listens" wait_server $exporter $PORT
	like "node_exporter: the collector has data" "$(scrape)" 'collector_success\{collector="infiniband"\} 1'
	before=$(metric port_data_transmitted_bytes_total $D1)
	is "node_exporter: the port is active" "$(metric state_id $D1)" 4
	pair_run "node_exporter: traffic" 'ib_write_bw -d $D2 -x $G2 -p $PORT -F -s 65536 -n 20' \
		'ib_write_bw -d $D1 -x $G1 -p $PORT -F -s 65536 -n 20 $IP2'
	# Values are kept for 10 ms.
	sleep 0.05
	PORT=$exporter_port
	after=$(metric port_data_transmitted_bytes_total $D1)
	ok "node_exporter: it counts the bytes" test $((${after:-0} - ${before:-0})) -gt $((20 * 65536))
	bytes=$(counter $D1 tx_bytes)
	is "node_exporter: as many as the device counts" "$after" $((bytes / 4 * 4))
	PORT=$((PORT + 1))
	stop $exporter
fi
