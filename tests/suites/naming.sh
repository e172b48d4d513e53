#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# A device on a PCI card, with udev running: it keeps the name that the user chose.
# timeout: 60
# guest: --nic e1000e
# lanes: vm
. "$(dirname "$0")/lib.sh"

RULES=60-rdma-persistent-naming.rules

# Before udev starts, because it would rename the card's netdev after its PCI slot, too.
ok "there is a network card" eval 'modprobe e1000e && wait_for 10 test -d /sys/class/net/eth0'
cp "$SROCE_TOP/packaging/udev/$RULES" /etc/udev/rules.d/
for udevd in /usr/lib/systemd/systemd-udevd /lib/systemd/systemd-udevd; do [ ! -x $udevd ] || break; done
at_exit pkill systemd-udevd
ok "udev runs" sh -c "$udevd --daemon && udevadm control --ping"
ok "udev has rdma-core's naming rules, replaced by sroce's" test -e "/usr/lib/udev/rules.d/$RULES" -o -e "/lib/udev/rules.d/$RULES"
ip addr add 10.0.0.1/24 dev eth0
ip link set eth0 up
ok "a device on the card" rdma link add given type sroce netdev eth0
udevadm settle -t "$(seconds 20)"
like "its parent is the card" "$(readlink -f /sys/class/infiniband/given/device)" '^/sys/devices/.*pci[0-9a-f]{4}:'
is "the device keeps the name it was given" "$(echo /sys/class/infiniband/*)" /sys/class/infiniband/given
echo "a host's name" >/sys/class/infiniband/given/node_desc
udevadm trigger --action=add --subsystem-match=infiniband
udevadm settle -t "$(seconds 20)"
is "the device keeps its name after another udev event" "$(echo /sys/class/infiniband/*)" /sys/class/infiniband/given
ok "the device can be deleted by its name" rdma link delete given

# node DEVICE: of libibverbs
node() { grep -l "^$1\$" /sys/class/infiniband_verbs/*/ibdev | cut -d / -f 5; }
ADMIN=$SROCE_TOP/Documentation/administration.rst
getent group rdma >/dev/null || must groupadd --system rdma
sed -n '/^.. tested: tests\/suites\/naming.sh, block group$/,/^[^ .:]/{s/^    //p}' "$ADMIN" >/etc/udev/rules.d/70-sroce.rules
like "administration.rst has a rule for a group" "$(cat /etc/udev/rules.d/70-sroce.rules)" '^SUBSYSTEM=='
must udevadm control --reload
# Programs load it. The driver did it in older kernels.
must modprobe ib_uverbs
ok "a device whose name the rule has" rdma link add sroce0 type sroce netdev eth0
udevadm settle -t "$(seconds 20)"
is "its group may open it" "$(stat -c '%a %G' "/dev/infiniband/$(node sroce0)")" "660 rdma"
ok "another name" eval 'rdma link delete sroce0 && rdma link add other0 type sroce netdev eth0'
udevadm settle -t "$(seconds 20)"
like "everybody may open that one" "$(stat -c %a "/dev/infiniband/$(node other0)")" '^666$'
