# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Attributes that libraries read before they use a device. Because of a legal but unusual value, they may silently refuse the
# device or not use a feature.

# Name and value in the output of ibv_devinfo -v
attributes() {
	cat <<-END
		transport|InfiniBand (0)
		vendor_id|0xffffff
		phys_port_cnt|1
		max_mr_size|0xffffffffffffffff
		atomic_cap|ATOMIC_HCA (1)
		state|PORT_ACTIVE (4)
		port_lid|0
		port_lmc|0x00
		link_layer|Ethernet
		phys_state|LINK_UP (5)
	END
}

INFO=$(ibv_devinfo -v -d $D1)
while IFS='|' read -r name value; do
	is "$name" "$(sed -n "s/^\s*$name:\s*//p" <<<"$INFO" | head -n 1)" "$value"
done < <(attributes)

# SPDK and Valkey size their lists by it.
like "max_sge" "$INFO" 'max_sge:[[:space:]]*32'
# SPDK and kernel users want the first, libfabric's shared endpoints the second, librpma the third for files.
for flag in MEM_MGT_EXTENSIONS XRC ODP_SUPPORT; do like "$flag" "$INFO" "[[:space:]]${flag}[[:space:]]"; done
# NCCL takes devices with the same one for ports of one card.
is "sys_image_guid" "$(sed -n 's/^\s*sys_image_guid:\s*//p' <<<"$INFO")" "$(<"/sys/class/infiniband/$D1/node_guid")"

PORT_FILES=/sys/class/infiniband/$D1/ports/1
is "the first P_Key" "$(<"$PORT_FILES/pkeys/0")" 0xffff
# Libraries look for GIDs of version 2 there.
is "the GID's type in sysfs" "$(<"$PORT_FILES/gid_attrs/types/$G1")" "RoCE v2"
is "the LID in sysfs" "$(<"$PORT_FILES/lid")" 0x0
like "the rate in sysfs" "$(<"$PORT_FILES/rate")" '^[0-9.]+ Gb/sec \([0-9]+X'
# Of Debian 12, node_exporter takes no device if one lacks it.
is "board_id in sysfs" "$(<"/sys/class/infiniband/$D1/board_id")" sroce

if there fi_info; then
	FABRICS=$(on h1 fi_info -v -p verbs 2>&1)
	like "libfabric finds the device" "$FABRICS" "name: $D1"
	like "libfabric has its atomics" "$FABRICS" FI_ATOMIC
	like "libfabric has its datagrams" "$FABRICS" "name: $D1-dgram"
fi
