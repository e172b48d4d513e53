#!/bin/bash
# SMB Direct: ksmbd and cifs, the server and the client of the kernel. Debian's kernels leave it out; tests/vm/build-smb builds both
# modules for the stock kernel. A few lines of Python (tests/programs/ksmbd.py) stand for ksmbd.mountd, whose version in Debian 12
# does not fit the kernel there.
# timeout: 300
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

WORK=$(mktemp -d /dev/shm/smb.XXXXXX)
at_exit rm -rf "$WORK"
HERE=$(realpath "$(dirname "$0")/../programs")
MNT=$WORK/mnt
SHARE=$WORK/share
DATA_MB=4

# --- modules ---

# needs FILE: prints the modules of the kernel that it needs
needs() { modinfo -F depends "$1" | tr , '\n' | grep -vxFf "$SROCE_SMB/modules"; }

load_modules() {
	local module
	while read -r module; do
		needs "$SROCE_SMB/$module.ko" | xargs -r modprobe -a && insmod "$SROCE_SMB/$module.ko" || return
	done <"$SROCE_SMB/modules"
}
unload_modules() { tac "$SROCE_SMB/modules" | xargs rmmod; }

# --- server ---

server_up() {
	mkdir "$SHARE"
	"$HERE/ksmbd.py" "$SHARE" &
	MOUNTD=$!
	wait_for 20 cm_listens 445
}
server_down() {
	echo hard >/sys/class/ksmbd-control/kill_server
	stop $MOUNTD
	wait_for 20 no_listener
}
no_listener() { ! cm_listens 445; }

# --- client ---

# mount_it [OPTION]: there is a neighbour before, as in rnbd.sh
mount_it() {
	mkdir -p "$MNT"
	wait_for 30 ping -qc 1 -W 1 -I $IP1 $IP2 &&
		limited 20 mount -i -t cifs -o "rdma,vers=3.1.1,hard,ip=$IP2,username=root,password=secret${1:+,$1}" "//$IP2/share" "$MNT"
}

forget_pages() { echo 3 >/proc/sys/vm/drop_caches; }

# write_open, write_file, read_file: other data each time, compared with the server's file. The first writes to an open file, for an
# open() that waits for its response fails when the connection breaks.
write_open() {
	head -c ${DATA_MB}M /dev/urandom >"$WORK/data"
	limited 30 dd if="$WORK/data" bs=1M conv=fsync && cmp "$WORK/data" "$SHARE/file"
}
write_file() { write_open >"$MNT/file"; }
read_file() { forget_pages && limited 30 cmp "$MNT/file" "$SHARE/file"; }

odd_read() {
	limited 30 dd if="$MNT/file" of="$WORK/odd" bs=40961 skip=7 iflag=direct &&
		cmp "$WORK/odd" <(tail -c +$((7 * 40961 + 1)) "$WORK/data")
}

# small_files: some of one SEND, some of several
small_files() {
	local i
	mkdir "$MNT/small" && for i in {1..30}; do head -c $((i * 136)) /dev/urandom >"$MNT/small/$i" || return; done &&
		forget_pages && limited 30 diff -r "$MNT/small" "$SHARE/small" && [ "$(find "$MNT/small" -type f | wc -l)" = 30 ] &&
		[ ! -e "$MNT/none" ] && rm -r "$MNT/small"
}

# exercise WHAT
exercise() {
	ok "$1: mount" mount_it
	like "$1: the mount uses RDMA" "$(grep " $MNT " /proc/mounts)" ',rdma,'
	ok "$1: a file is written" write_file
	ok "$1: it is read" read_file
	ok "$1: direct I/O from an odd offset" odd_read
	ok "$1: small files" small_files
}
leave() { ok "$1: unmount" limited 20 umount "$MNT"; }

# --- faults ---

# loss PERCENT: packets of both hosts are lost
loss() { tc qdisc replace dev ulp1 root netem loss "$1%" && tc qdisc replace dev ulp2 root netem loss "$1%"; }
no_loss() { tc qdisc del dev ulp1 root && tc qdisc del dev ulp2 root; }

broken() { rdma resource show qp link "$D1" | grep -q "type RC state ERR"; }

# Nobody else has the file open: the end of such a process, too, would wait for what is written.
write_during_break() { { loss 100 && write_open; } >"$MNT/file"; }

# in_background COMMAND: its status is that of "wait $WRITER"
in_background() { "$@" 2>"$WORK/log" & WRITER=$!; }
written_file() { wait $WRITER || { cat "$WORK/log"; return 1; }; }
# written WHAT
written() {
	ok "$1: the file is written after all" written_file
	ok "$1: it is read" read_file
}

[ -e "${SROCE_SMB:-}/modules" ] || skip_all "cifs and ksmbd have not been built with SMB Direct for this kernel"
at_exit unload_modules
ok "the modules" load_modules
ulp_hosts_up || { fail "two devices"; exit 1; }
ok "the server listens" server_up

READS=$(counter $D1 rx_read_requests) WRITES=$(counter $D1 rx_write_requests)
exercise "SMB"
ok "SMB: the server fetched data by RDMA READ" test $(($(counter $D1 rx_read_requests) - READS)) -ge $DATA_MB
ok "SMB: the server sent data by RDMA WRITE" test $(($(counter $D1 rx_write_requests) - WRITES)) -ge $DATA_MB
leave "SMB"

# Only small files, because the kernel's signatures of more than a page are wrong.
ok "SMB, signed: mount" mount_it sign
ok "SMB, signed: small files" small_files
leave "SMB, signed"
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done

if loaded sch_netem; then
	ok "packets are lost" loss 1
	exercise "SMB with loss"
	in_background write_during_break
	ok "the client's connection breaks" wait_for 30 broken
	ok "no packets are lost" no_loss
	written "SMB after a break"
else
	ok "SMB: mount" mount_it
fi

ok "the client's device is deleted" limited 20 rdma link delete $D1
in_background write_file
ok "the client's device is added again" rdma link add $D1 type sroce netdev ulp1
written "SMB on the new device"
leave "SMB"
ok "the server ends" server_down
