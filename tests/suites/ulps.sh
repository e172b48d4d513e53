#!/bin/bash
# Kernel users of RDMA, in the initial namespace. Each is a file in tests/programs/ulps, which is sourced here and compares the
# data. PROGRAMS="iser" runs only this one. Debian's kernels do not have RNBD.
# timeout: 400
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/ulp.sh"

HERE=$(realpath "$(dirname "$0")/../programs/ulps")
WORK=$(mktemp -d /dev/shm/ulps.XXXXXX)
at_exit rm -rf "$WORK"
DATA_MB=4

# --- the SCSI target ---

CORE=/sys/kernel/config/target/core/fileio_0/disk

# disk_up: a file as a disk
disk_up() {
	truncate -s ${DATA_MB}M "$WORK/disk" && mkdir -p "${CORE%/*}" "$CORE" || return
	echo "fd_dev_name=$WORK/disk,fd_dev_size=$((DATA_MB << 20)),fd_buffered_io=1" >"$CORE/control" && echo 1 >"$CORE/enable"
}
disk_down() { rmdir "$CORE" "${CORE%/*}"; }

# scsi_disk: prints the name of the first disk that the target offers
scsi_disk() {
	local vendor
	for vendor in /sys/block/sd*/device/vendor; do
		[[ $(cat "$vendor" 2>/dev/null) != LIO-ORG* ]] || { cut -d / -f 4 <<<"$vendor"; return; }
	done
	return 1
}
no_scsi_disk() { ! scsi_disk; }

# compare_disk WHAT [FIND]: data written through the block device arrives in the target's file, and is read back the same
compare_disk() {
	local find=${2:-scsi_disk} disk size=$((DATA_MB << 20))
	ok "$1: its disk comes" wait_for 10 "$find"
	disk=$("$find") || return
	[ -b "/dev/$disk" ] || mknod "/dev/$disk" b "$(cut -d : -f 1 "/sys/block/$disk/dev")" "$(cut -d : -f 2 "/sys/block/$disk/dev")"
	head -c $size /dev/urandom >"$WORK/data"
	ok "$1: small writes" limited 60 dd if="$WORK/data" of="/dev/$disk" bs=4k count=64 oflag=direct
	ok "$1: large writes" limited 60 dd if="$WORK/data" of="/dev/$disk" bs=1M oflag=direct
	ok "$1: the target's file has the bytes" cmp "$WORK/data" "$WORK/disk"
	head -c $size /dev/urandom >"$WORK/disk"
	ok "$1: large reads" limited 60 dd if="/dev/$disk" of="$WORK/back" bs=1M iflag=direct
	ok "$1: the bytes come back" cmp "$WORK/disk" "$WORK/back"
	ok "$1: unaligned reads" limited 60 dd if="/dev/$disk" of="$WORK/back" bs=20480 skip=3 iflag=direct
	ok "$1: unaligned reads get the same bytes" cmp <(tail -c +61441 "$WORK/disk") "$WORK/back"
}

ulp_hosts_up || { fail "two devices"; exit 1; }
for program in ${PROGRAMS:-iser srp rnbd}; do
	# shellcheck disable=SC1090
	. "$HERE/${program%.sh}.sh"
	for device in $D1 $D2; do is "${program%.sh}: no errors counted by $device" "$(error_counters $device)" ""; done
done
