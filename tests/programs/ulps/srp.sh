# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# SRP: the kernel's target and initiator, which connect by rdma_cm.

SRPT=/sys/kernel/config/target/srpt
SRP_PORT=5555

# By these names the target knows its port and the initiator's.
srp_names() {
	SRP_GROUP=$SRPT/$1/$1
	SRP_ACL=$SRP_GROUP/acls/$2
}

srp_target_up() {
	local gid guid
	gid=$(<"/sys/class/infiniband/$D2/ports/1/gids/0") guid=$(<"/sys/class/infiniband/$D1/node_guid")
	srp_names "0x${gid//:/}" "0x0000000000000000${guid//:/}"
	mkdir -p $SRPT && echo $SRP_PORT >$SRPT/discovery_auth/rdma_cm_port || return
	mkdir -p "$SRP_GROUP/lun/lun_0" "$SRP_ACL/lun_0" || return
	ln -s $CORE "$SRP_GROUP/lun/lun_0/disk" && ln -s "$SRP_GROUP/lun/lun_0" "$SRP_ACL/lun_0/" && echo 1 >"$SRP_GROUP/enable"
}

srp_target_down() {
	echo 0 >"$SRP_GROUP/enable"
	echo 0 >$SRPT/discovery_auth/rdma_cm_port
	rm "$SRP_ACL/lun_0/lun_0" "$SRP_GROUP/lun/lun_0/disk"
	rmdir "$SRP_ACL/lun_0" "$SRP_ACL" "$SRP_GROUP/lun/lun_0" "$SRP_GROUP" "${SRP_GROUP%/*}" "$SRPT"
}

# srp_log_in PORT
srp_log_in() {
	local guid
	printf -v guid %016x "$(</sys/module/ib_srpt/parameters/srpt_service_guid)"
	echo "id_ext=$guid,ioc_guid=$guid,dest=$IP2:$1,src=$IP1" >"/sys/class/infiniband_srp/srp-$D1-1/add_target"
}
srp_log_out() {
	local port
	for port in /sys/class/srp_remote_ports/*/delete; do echo 1 >"$port"; done
}

# ib_srp of kernel 7.2 uses freed memory if it loses the connection while it removes the host (srp_stop_rport_timers()).
srp_connected() { rdma resource show qp link "$D1" | grep -q 'type RC'; }
srp_is_gone() { ! srp_connected; }

if loaded target_core_mod ib_srpt ib_srp sd_mod; then
	ok "SRP: a disk" disk_up
	ok "SRP: the target listens" srp_target_up
	not_ok "SRP: nobody listens at another port" srp_log_in $((SRP_PORT + 1))
	received=$(counter $D2 rx_bytes)
	ok "SRP: login" srp_log_in $SRP_PORT
	ok "SRP: the initiator is connected" srp_connected
	compare_disk SRP
	ok "SRP: over the wire" test $(($(counter $D2 rx_bytes) - received)) -gt $((DATA_MB << 20))
	ok "SRP: logout" srp_log_out
	ok "SRP: the disk goes" wait_for 20 no_scsi_disk
	ok "SRP: the initiator has disconnected" wait_for 20 srp_is_gone
	ok "SRP: the target ends" srp_target_down
	disk_down
	ok "SRP: the modules can be unloaded" modprobe -r ib_srp ib_srpt
fi
