# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# fio's engine "rdma": one side writes to the other's memory, reads it or sends to it. Messages contain checksums, which the
# receiver verifies.

# fio_pair VERB RW [SERVER-OPTION [CLIENT-OPTIONS]]
fio_pair() {
	local received server client
	received=$(received)
	server="fio --name=server --ioengine=rdma --port=\$PORT --bs=65536 --size=1m --iodepth=16 --rw=read ${3:-}"
	client="fio --name=client --ioengine=rdma --hostname=\$IP2 --port=\$PORT --verb=$1 --bs=65536 --size=1m --iodepth=16 --rw=$2 ${4:-}"
	pair_run "fio: $1" "$server" "$client"
	like "fio: $1: all of it" "$CLIENT_OUTPUT" 'io=1024KiB|io=1024KB|\(1049kB/'
	[ "$1" = read ] || ok "fio: $1: by RDMA" test $(($(received) - received)) -gt 1048576
}

# The verification can fail: data without checksums are noticed.
fio_spoiled() {
	! run_pair "fio --name=server --ioengine=rdma --port=\$PORT --bs=65536 --size=1m --iodepth=16 --rw=read --verify=crc32c" \
		"fio --name=client --ioengine=rdma --hostname=\$IP2 --port=\$PORT --verb=send --bs=65536 --size=1m --iodepth=16 --rw=write" &&
		[[ $SERVER_OUTPUT == *verify:* ]]
}

if there fio; then
	fio_pair write write
	fio_pair read write
	fio_pair send write --verify=crc32c "--verify=crc32c --do_verify=0"
	ok "fio: send: data that are spoiled are noticed" fio_spoiled
fi
