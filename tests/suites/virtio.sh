#!/bin/bash
# A network card instead of veth: rdma-core's tests that look for the netdev in the parent of the device, hwloc, and hot unplug.
# timeout: 300
# guest: --nic
# lanes: vm debug
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/../pyverbs/run.sh"

card_up() {
	modprobe -q virtio_net
	address init eth0 1
	rdma link add sroce1 type sroce netdev eth0 && G1=$(gid sroce1 $IP1)
}

card_up || { fail "a device on a network card"; exit 1; }
pyverbs virtio sroce1 "$G1" test_rdmacm "$@"

! there lstopo-no-graphics || like "lstopo shows the device" "$(lstopo-no-graphics --of console 2>/dev/null)" 'OpenFabrics[^"]*"sroce1"'

# --- the card is pulled out under a process ---

CARD=$(readlink -f /sys/class/net/eth0/device/..)
stdbuf -oL ibv_asyncwatch -d sroce1 >"$OUTPUT.watch" 2>&1 &
WATCH=$!
wait_for 10 grep -q "async event FD" "$OUTPUT.watch"
echo 1 >"$CARD/remove"
ok "the device is removed with its card" wait_for 20 test ! -e /sys/class/infiniband/sroce1
ok "the netdev is removed with its card" wait_for 20 test ! -e /sys/class/net/eth0
wait_for 20 grep -q DEVICE_FATAL "$OUTPUT.watch"
kill $WATCH 2>/dev/null
wait $WATCH 2>/dev/null
like "the process gets IBV_EVENT_DEVICE_FATAL" "$(<"$OUTPUT.watch")" 'DEVICE_FATAL'
rm -f "$OUTPUT.watch"
echo 1 >/sys/bus/pci/rescan
ok "the card is added again" wait_for 20 test -e /sys/class/net/eth0
card_up
ok "the device is added again for the new card" ibv_devinfo -d sroce1
