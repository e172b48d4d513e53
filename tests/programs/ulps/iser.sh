# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# iSER: the kernel's iSCSI target and initiator over RDMA, open-iscsi's daemon logs in.

ISCSI=/sys/kernel/config/target/iscsi
TARGET=iqn.2026-01.test.sroce:disk
PORTAL=$ISCSI/$TARGET/tpgt_1/np/$IP2:3260

iser_target_up() {
	local group=$ISCSI/$TARGET/tpgt_1
	mkdir -p "$group/lun/lun_0" || return
	ln -s $CORE "$group/lun/lun_0/disk"
	mkdir "$group/np/$IP2:3260" && echo 1 >"$PORTAL/iser" || return
	echo 0 >"$group/attrib/authentication"
	echo 1 >"$group/attrib/generate_node_acls"
	echo 0 >"$group/attrib/demo_mode_write_protect"
	echo 1 >"$group/enable"
}

iser_target_down() {
	local group=$ISCSI/$TARGET/tpgt_1
	echo 0 >"$group/enable"
	rmdir "$PORTAL"
	rm "$group/lun/lun_0/disk"
	rmdir "$group/lun/lun_0" "$group" "$ISCSI/$TARGET" "$ISCSI"
}

initiator_up() {
	mkdir -p /etc/iscsi /run/lock/iscsi
	echo "InitiatorName=iqn.2026-01.test.sroce:host" >/etc/iscsi/initiatorname.iscsi
	iscsid -f -c /etc/iscsi/iscsid.conf &
	ISCSID=$!
	wait_for 20 iscsid_answers
}
# "No active sessions" has a status of its own.
iscsid_answers() { iscsiadm -m session; [ $? = 21 ]; }

# node COMMAND...
node() { limited 60 iscsiadm -m node -T $TARGET -p $IP2:3260 "$@"; }
log_in() {
	node -o new && node -o update -n iface.transport_name -v iser && node --login
}

if there iscsid iscsiadm && loaded target_core_mod iscsi_target_mod ib_isert ib_iser sd_mod; then
	ok "iSER: a disk" disk_up
	ok "iSER: the target listens" iser_target_up
	ok "iSER: iscsid runs" initiator_up
	received=$(counter $D2 rx_bytes)
	ok "iSER: login" log_in
	like "iSER: by RDMA" "$(iscsiadm -m session)" '^iser:'
	compare_disk iSER
	ok "iSER: over the wire" test $(($(counter $D2 rx_bytes) - received)) -gt $((DATA_MB << 20))
	ok "iSER: logout" node --logout
	ok "iSER: the disk goes" wait_for 20 no_scsi_disk
	stop $ISCSID
	ok "iSER: the target ends" iser_target_down
	disk_down
	ok "iSER: the modules can be unloaded" modprobe -r ib_iser ib_isert iscsi_target_mod
fi
