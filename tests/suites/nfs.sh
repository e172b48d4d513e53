#!/bin/bash
# NFS over RDMA: knfsd and the NFS client of the kernel. Their user space is not needed: exports are written into the kernel's
# caches, and a few lines of Python stand for rpcbind, without which knfsd does not start.
# timeout: 400
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

WORK=$(mktemp -d /dev/shm/nfs.XXXXXX)
at_exit rm -rf "$WORK"
NFSD=/proc/fs/nfsd
MNT=$WORK/mnt
DATA_MB=4

# --- server ---

# Answers every call with success.
rpcbind_up() {
	python3 -c '
import socket, struct, threading

def serve(link):
    while head := link.recv(4, socket.MSG_WAITALL):
        call = link.recv(struct.unpack(">I", head)[0] & 0x7fffffff, socket.MSG_WAITALL)
        link.sendall(struct.pack(">I4s6I", 0x80000000 | 28, call[:4], 1, 0, 0, 0, 0, 1))

with socket.create_server(("127.0.0.1", 111)) as server:
    while True:
        threading.Thread(target=serve, args=server.accept()[:1], daemon=True).start()' &
	RPCBIND=$!
	at_exit kill $RPCBIND
	wait_for 60 tcp_listens $RPCBIND 111
}

# The answers of rpc.mountd: the name of the client, its rights (read and write, no root squash), and the root export
export_folder() {
	local never=2000000000 flags=$((0x2 | 0x400 | 0x2000))
	printf 'nfsd %s %d client\n' "$IP1" $never >/proc/net/rpc/auth.unix.ip/channel &&
		printf 'client %s %d %d 65534 65534 0\n' "$1" $never $flags >/proc/net/rpc/nfsd.export/channel &&
		printf 'client 1 \\x00000000 %d %s\n' $never "$1" >/proc/net/rpc/nfsd.fh/channel
}

server_up() {
	mkdir "$WORK/export"
	mountpoint -q $NFSD || mount -t nfsd nfsd $NFSD || return
	at_exit umount $NFSD
	echo 10 >$NFSD/nfsv4gracetime
	echo 10 >$NFSD/nfsv4leasetime
	export_folder "$WORK/export" || return
	echo "rdma 20049" >$NFSD/portlist || return
	at_exit server_down
	echo 4 >$NFSD/threads
}

server_down() {
	local cache
	echo 0 >$NFSD/threads
	for cache in nfsd.fh nfsd.export auth.unix.ip; do date +%s >/proc/net/rpc/$cache/flush; done
}

# --- client ---

mount_it() {
	mkdir -p "$MNT"
	limited 60 mount -i -t nfs -o "vers=$1,sec=sys,proto=rdma,port=20049,addr=$IP2,clientaddr=$IP1" $IP2:/ "$MNT"
}

forget_pages() { echo 3 >/proc/sys/vm/drop_caches; }

# exercise WHAT VERSION
exercise() {
	ok "$1: mount" mount_it "$2"
	like "$1: the mount uses RDMA" "$(grep " $MNT " /proc/mounts)" 'proto=rdma,port=20049'
	ok "$1: a file is written" limited 60 dd if="$WORK/data" of="$MNT/file" bs=1M conv=fsync
	ok "$1: the server has the written bytes" cmp "$WORK/data" "$WORK/export/file"
	forget_pages
	ok "$1: the written bytes are read again" limited 60 cmp "$WORK/data" "$MNT/file"
	ok "$1: 30 small files" small_files
	ok "$1: a missing file is reported" test ! -e "$MNT/none"
	ok "$1: a directory with many files is listed" test "$(find "$MNT/small" -type f | wc -l)" = 30
	ok "$1: direct I/O from an odd offset" limited 60 dd if="$MNT/file" of="$WORK/odd" bs=40961 skip=7 iflag=direct
	ok "$1: direct I/O reads the same bytes" cmp "$WORK/odd" <(tail -c +$((7 * 40961 + 1)) "$WORK/data")
	ok "$1: unmount" limited 60 umount "$MNT"
	rm -rf "$WORK/export/small" "$WORK/export/file"
}

small_files() {
	local i
	mkdir "$MNT/small" && for i in {1..30}; do echo "file $i" >"$MNT/small/$i"; done &&
		forget_pages && [ "$(cat "$MNT"/small/* | sort | md5sum)" = "$(for i in {1..30}; do echo "file $i"; done | sort | md5sum)" ]
}

for module in nfsd rpcrdma nfsv4; do modprobe $module || skip_all "the kernel has no $module"; done
at_exit modprobe -qr nfsv4 nfsd rpcrdma
ulp_hosts_up || { fail "two devices"; exit 1; }
head -c ${DATA_MB}M /dev/urandom >"$WORK/data"
ok "rpcbind runs" rpcbind_up
ok "the server listens" server_up

exercise "NFS 4.2" 4.2
exercise "NFS 4.0" 4.0
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
ok "NFS used the devices" test "$(counter $D1 rx_packets)" -gt $((DATA_MB * 256))

# The client's device is removed and added again under a mount: the mount waits, and goes on.
ok "mount" mount_it 4.2
cp "$WORK/data" "$MNT/file"
forget_pages
ok "the client's device is deleted" limited 60 rdma link delete $D1
limited 100 cmp "$WORK/data" "$MNT/file" &
reader=$!
ok "the client's device is added again" rdma link add $D1 type sroce netdev ulp1
G1=$(gid $D1 $IP1)
ok "a read that lasted through the deletion has the right data" wait $reader
ok "unmount" limited 60 umount "$MNT"
