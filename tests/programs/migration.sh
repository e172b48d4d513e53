# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Live migration of a virtual machine by QEMU. Not by default where the stock kernel is emulated, because it takes long.

if { [ "$SROCE_KERNEL" != stock ] || [ -n "${PROGRAMS:-}" ]; } && there qemu-system-x86_64; then
	MIGRATED=$(mktemp -d)
	at_exit rm -rf "$MIGRATED"
	received=$(received)
	ok "migration: a machine moves, and its memory with it" limited 60 "$HERE/migration.py" "$MIGRATED" $IP2 4444
	ok "migration: by RDMA" test $(($(received) - received)) -gt 8388608
fi
