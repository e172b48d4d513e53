# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# RNBD: the kernel's block device over RTRS, its server and client. RTRS writes with immediate data.

RNBD=/sys/class/rnbd-client/ctl

rnbd_disk_up() {
	truncate -s ${DATA_MB}M "$WORK/disk" && modprobe loop && LOOP=$(losetup -f) || return
	[ -e "$LOOP" ] || mknod "$LOOP" b 7 "${LOOP#/dev/loop}"
	losetup "$LOOP" "$WORK/disk"
}

# rnbd_disk: prints the name of the client's disk
rnbd_disk() {
	local disk
	for disk in /sys/block/rnbd*; do [ ! -e "$disk" ] || { basename "$disk"; return; }; done
	return 1
}

# rdma_cm may miss that the neighbour has answered if that takes no time. It then asks again when the program's time is over,
# and that of RTRS is 30 seconds. So there is a neighbour before.
rnbd_map() {
	ping -qc 1 -I $IP1 $IP2 &&
		echo "sessname=sroce path=ip:$IP1@ip:$IP2 device_path=${LOOP#/} access_mode=rw" >$RNBD/map_device
}
rnbd_unmap() { echo normal >"/sys/block/$(rnbd_disk)/rnbd/unmap_device"; }

# By default the server takes 640 MB.
if { modprobe -q rtrs_server sess_queue_depth=64; loaded rnbd_server rnbd_client; }; then
	ok "RNBD: a disk" rnbd_disk_up
	received=$(counter $D2 rx_bytes) writes=$(counter $D2 rx_write_requests)
	ok "RNBD: the client maps the server's disk" rnbd_map
	compare_disk RNBD rnbd_disk
	ok "RNBD: over the wire" test $(($(counter $D2 rx_bytes) - received)) -gt $((DATA_MB << 20))
	ok "RNBD: by RDMA WRITE" test $(($(counter $D2 rx_write_requests) - writes)) -ge $((64 + DATA_MB))
	ok "RNBD: the disk goes" rnbd_unmap
	ok "RNBD: the modules can be unloaded" modprobe -r rnbd_client rnbd_server
	losetup -d "$LOOP"
fi
