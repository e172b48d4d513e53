#!/bin/bash
# NVMe over Fabrics: the kernel's own target and host, over fast-registered memory. A loop device on a file is the disk.
# timeout: 400
# A boot of its own: nvmet and rdma_cm of kernel 6.1 take locks in a circle, and lockdep turns itself off after reporting that.
# guest: --mem 2G
# NVMe's own workqueues may also flush a workqueue without WQ_MEM_RECLAIM.
# dmesg-allow: possible circular locking|check_flush_dependency
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

CONFIG=/sys/kernel/config/nvmet
NAME=sroce-test
DISK_MB=8
WORK=$(mktemp -d /dev/shm/nvmeof.XXXXXX)
at_exit rm -rf "$WORK"

# --- target ---

make_disk() {
	truncate -s ${DISK_MB}M "$WORK/disk" || return
	modprobe loop
	LOOP=$(losetup -f) || return
	[ -e "$LOOP" ] || mknod "$LOOP" b 7 "${LOOP#/dev/loop}"
	losetup "$LOOP" "$WORK/disk" && at_exit losetup -d "$LOOP"
}

# target_up ADDRESS
target_up() {
	local subsystem=$CONFIG/subsystems/$NAME port=$CONFIG/ports/1
	mkdir "$subsystem" "$subsystem/namespaces/1" "$port" || return
	echo 1 >"$subsystem/attr_allow_any_host"
	printf %s "$LOOP" >"$subsystem/namespaces/1/device_path"
	echo 1 >"$subsystem/namespaces/1/enable" || return
	printf ipv4 >"$port/addr_adrfam"
	printf rdma >"$port/addr_trtype"
	printf %s "$1" >"$port/addr_traddr"
	printf 4420 >"$port/addr_trsvcid"
	ln -s "$subsystem" "$port/subsystems/"
}

target_down() {
	rm "$CONFIG/ports/1/subsystems/$NAME"
	rmdir "$CONFIG/ports/1"
	echo 0 >"$CONFIG/subsystems/$NAME/namespaces/1/enable"
	rmdir "$CONFIG/subsystems/$NAME/namespaces/1" "$CONFIG/subsystems/$NAME"
} 2>/dev/null

# --- host ---

# Newer kernels refuse a name of the host that another controller has with the same UUID, and nvme has names of its own.
HOST_UUID=$(</proc/sys/kernel/random/uuid)
HOST_NAME=nqn.2014-08.org.nvmexpress:uuid:$HOST_UUID

# connect TARGET HOST: sets BLOCK. The controller comes at once, its disk a little later.
connect() {
	local controller
	printf %s "transport=rdma,traddr=$1,trsvcid=4420,host_traddr=$2,nqn=$NAME,hostnqn=$HOST_NAME,hostid=$HOST_UUID,ctrl_loss_tmo=0" \
		>/dev/nvme-fabrics || return
	controller=$(cd /sys/class/nvme && echo nvme*)
	BLOCK=/dev/${controller}n1
	wait_for 10 test -b "$BLOCK"
}

disconnect() {
	local file
	for file in /sys/class/nvme/*/delete_controller; do [ ! -e "$file" ] || echo 1 >"$file"; done
	wait_for 20 no_controllers
} 2>/dev/null

no_controllers() { [ -z "$(ls -A /sys/class/nvme 2>/dev/null)" ]; }

# transfer COMMAND: as many at a time as there are sizes of requests, each a quarter of the disk
transfer() {
	local i=0 size pid pids=() status=0
	for size in 4096 16384 131072 1048576; do
		"$1" $size $i &
		pids+=($!)
		i=$((i + 1))
	done
	for pid in "${pids[@]}"; do wait "$pid" || status=1; done
	return $status
}

QUARTER=$((DISK_MB * 1048576 / 4))
write_part() {
	limited 60 dd if="$WORK/data" of="$BLOCK" bs="$1" skip=$(($2 * QUARTER / $1)) seek=$(($2 * QUARTER / $1)) \
		count=$((QUARTER / $1)) oflag=direct conv=notrunc
}
read_part() {
	limited 60 dd if="$BLOCK" of="$WORK/back" bs="$1" skip=$(((3 - $2) * QUARTER / $1)) seek=$(((3 - $2) * QUARTER / $1)) \
		count=$((QUARTER / $1)) iflag=direct conv=notrunc
}

new_data() {
	python3 -c 'import random, sys; sys.stdout.buffer.write(random.randbytes(int(sys.argv[1])))' \
		$((DISK_MB << 20)) >"$WORK/data"
}

# exercise WHAT TARGET HOST
exercise() {
	ok "$1: connect" connect "$2" "$3"
	new_data
	ok "$1: write" transfer write_part
	ok "$1: the target's file has the written data" cmp "$WORK/data" "$WORK/disk"
	rm -f "$WORK/back"
	ok "$1: read" transfer read_part
	ok "$1: what was written comes back" cmp "$WORK/data" "$WORK/back"
	ok "$1: disconnect" disconnect
}

for module in nvmet-rdma nvme-rdma; do
	modprobe $module || skip_all "the kernel has no $module"
done
at_exit modprobe -qr nvme-rdma nvmet-rdma
at_exit target_down
at_exit disconnect
modprobe sroce
ulp_hosts_up || { fail "two devices"; exit 1; }
ok "the target has a disk" make_disk

ok "the target listens" target_up $IP2
exercise "over veth" $IP2 $IP1
for device in $D1 $D2; do is "no errors counted by $device" "$(error_counters $device)" ""; done
is "no region is left" "$(used $D1 mr)" 0
exercise "again" $IP2 $IP1

# A network that loses, duplicates and reorders packets
dropped() { tc -s qdisc show dev ulp1 root | grep -oP 'dropped \K[0-9]+' | head -n 1; }
if modprobe -q sch_netem; then
	for netdev in ulp1 ulp2; do tc qdisc add dev $netdev root netem loss 1% duplicate 1% delay 500us reorder 25%; done
	exercise "lossy" $IP2 $IP1
	ok "lossy: packets were lost" test "$(dropped)" -gt 0
	for netdev in ulp1 ulp2; do tc qdisc delete dev $netdev root; done
else
	skip "lossy" "the kernel has no netem"
fi

# Pages are registered by one request, and invalidated by the target's answer.
ok "the host connects to the target" connect $IP2 $IP1
before=$(counter $D2 tx_packets)
ok "a read of 1 MiB" dd if="$BLOCK" of=/dev/null bs=1M count=1 iflag=direct
# The kernel remembers values for 10 ms.
sleep 0.05
ok "the read went over the devices" test $(($(counter $D2 tx_packets) - before)) -gt 200
ok "the host disconnects" disconnect
target_down

ok "the target listens on the host's own device" target_up $IP1
exercise "one device" $IP1 $IP1
target_down

# --- discoveries and resets under I/O ---
#
# ROUNDS of each. Where a second of I/O takes ten, as on an emulated machine, none unless asked for.

ROUNDS=${ROUNDS:-$([ "$SROCE_KERNEL" = stock ] || echo 20)}

# Writes and reads the disk until there is a file "enough"; each time it is other data, and compared. Counts in the file "times".
io() {
	local times=0
	until [ -e "$WORK/enough" ]; do
		new_data
		limited 60 dd if="$WORK/data" of="$BLOCK" bs=64k oflag=direct && cmp "$WORK/data" "$WORK/disk" &&
			limited 60 dd if="$BLOCK" of="$WORK/back" bs=64k iflag=direct && cmp "$WORK/data" "$WORK/back" || return
		times=$((times + 1))
		echo $times >"$WORK/times"
	done
} 2>/dev/null
times() { cat "$WORK/times" 2>/dev/null || echo 0; }
more_times() { [ "$(times)" -gt "$1" ]; }

discoveries() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		limited 60 nvme discover -t rdma -a $IP2 -s 4420 -w $IP1 -q "$HOST_NAME" -I "$HOST_UUID" | grep -q "subnqn: *$NAME" || return
	done
}

resets() {
	local i
	for ((i = 0; i < ROUNDS; i++)); do
		limited 60 nvme reset "${BLOCK%n1}" && wait_for 30 more_times "$(times)" || return
	done
}

if [ -n "$ROUNDS" ] && there nvme; then
	ok "the target listens again" target_up $IP2
	ok "the host connects to the target" connect $IP2 $IP1
	rm -f "$WORK/enough"
	io &
	writer=$!
	ok "I/O runs" wait_for 60 more_times 0
	ok "$ROUNDS discoveries beside it" discoveries
	ok "$ROUNDS resets of the controller under it" resets
	touch "$WORK/enough"
	ok "all data read were right" wait $writer
	ok "the host disconnects" disconnect
	target_down
fi

modprobe -r nvme-rdma nvmet-rdma
modprobe nvmet-rdma use_srq=1
modprobe nvme-rdma register_always=0
is "the target has an SRQ" "$(cat /sys/module/nvmet_rdma/parameters/use_srq)" Y
is "the host registers no memory" "$(cat /sys/module/nvme_rdma/parameters/register_always)" N
ok "the target listens, with an SRQ" target_up $IP2
exercise "SRQ, no registrations" $IP2 $IP1
target_down
modprobe -r nvme-rdma nvmet-rdma
modprobe nvmet-rdma
modprobe nvme-rdma

# A device that goes under a mounted disk. endless_reads: in the background, until one fails
reads() { while dd if="$BLOCK" of=/dev/null bs=64k iflag=direct; do : >"$WORK/has-read"; done; }
endless_reads() {
	rm -f "$WORK/has-read"
	reads >/dev/null 2>&1 &
	reader=$!
	ok "the host reads" wait_for 60 test -e "$WORK/has-read"
}
target_up $IP2
ok "the host connects to the target" connect $IP2 $IP1
endless_reads
ok "the host's device is deleted while it reads" limited 60 rdma link delete $D1
ok "the controller is removed with its device" wait_for 30 no_controllers
wait $reader
not_ok "reads fail when the controller is gone" limited 60 dd if="$BLOCK" of=/dev/null bs=1M iflag=direct
ok "the host's device is added again" rdma link add $D1 type sroce netdev ulp1
G1=$(gid $D1 $IP1)
exercise "after the host's device was deleted" $IP2 $IP1
ok "the host connects to the target" connect $IP2 $IP1
ok "the target's device is deleted under a connection" limited 60 rdma link delete $D2
ok "the host disconnects" disconnect
ok "the target's device is added again" rdma link add $D2 type sroce netdev ulp2
G2=$(gid $D2 $IP2)
target_down
target_up $IP2
exercise "after the target's device was deleted" $IP2 $IP1
target_down

# A device that moves to another namespace is gone for kernel users, who are all in the initial one. Devices move in exclusive
# mode only, which has to be set before there is another namespace; "initial" is a name by which to come back.
away() { limited 60 rdma dev set "$1" netns elsewhere; }
back() { limited 60 ip netns exec elsewhere rdma dev set "$1" netns initial; }
ok "exclusive mode" rdma system set netns exclusive
at_exit wait_for 20 rdma system set netns shared
ip netns add elsewhere
ip netns attach initial 1
at_exit ip netns delete elsewhere
at_exit ip netns delete initial
target_up $IP2
ok "the host connects to the target" connect $IP2 $IP1
endless_reads
ok "the host's device moves to another namespace while it reads" away $D1
ok "the controller is removed with its device" wait_for 30 no_controllers
wait $reader
ok "the device moves back" back $D1
ok "the device has its GID after moving back" gid $D1 $IP1
exercise "after the host's device moved" $IP2 $IP1
ok "the host connects to the target" connect $IP2 $IP1
ok "the target's device moves under a connection" away $D2
ok "the host disconnects" disconnect
ok "the device moves back" back $D2
ok "the device has its GID after moving back" gid $D2 $IP2
target_down
target_up $IP2
exercise "after the target's device moved" $IP2 $IP1
target_down
like "the kernel log has the controllers" "$(dmesg)" 'nvme nvme[0-9]+: .*'
not_ok "no lock of sroce is in a circular dependency" sh -c "dmesg | grep -A 30 'possible circular locking' | grep '\[sroce\]'"
not_ok "no workqueue flush of sroce causes a warning" sh -c "dmesg | grep 'WQ_MEM_RECLAIM.*sroce'"
ok "the modules can be unloaded" modprobe -r nvme-rdma nvmet-rdma sroce
