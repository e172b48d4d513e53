#!/bin/bash
# Two machines and a network between them: virtio-net, which splits bursts and has a hardware parent.
# guests: 2
# guest: --taps
# timeout: 240
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guests.sh"

ok "the other guest answers ping" wait_for 30 ping -c 1 -W 1 10.99.0.$PEER
ok "the device is added" rdma link add $DEVICE type sroce netdev eth0
at_exit rdma link delete $DEVICE
is "the device's parent is the network card" "$(readlink -f /sys/class/infiniband/$DEVICE/device)" \
	"$(readlink -f /sys/class/net/eth0/device)"
like "the device is active" "$(rdma link show $DEVICE/1)" 'state ACTIVE physical_state LINK_UP netdev eth0'
G=$(gid $DEVICE 10.99.0.$ROLE) G6=$(gid $DEVICE fd99::$ROLE)
like "IPv4 and IPv6 GIDs" "$G $G6" '^[0-9]+ [0-9]+$'

ok "ibv_rc_pingpong" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G -n 20 -e -c -p $PORT'
ok "ibv_rc_pingpong over IPv6, messages of 64 KiB" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G6 -n 20 -e -c -s 65536 -p $PORT'
ok "ibv_uc_pingpong" both 60 'ibv_uc_pingpong -d $DEVICE -g $G -n 20 -e -c -p $PORT'
ok "ibv_ud_pingpong" both 60 'ibv_ud_pingpong -d $DEVICE -g $G -n 20 -e -c -s 1000 -p $PORT'
for program in send write read; do
	ok "ib_${program}_bw" both 60 "ib_${program}_bw -F -u 18 -d \$DEVICE -x \$G -n 10 -s 262144 -p \$PORT"
done
ok "ib_write_bw, small messages in lists" both 60 'ib_write_bw -F -u 18 -d $DEVICE -x $G -n 96 -s 2 -l 32 -p $PORT'
ok "ib_send_lat" both 60 'ib_send_lat -F -u 18 -d $DEVICE -x $G -n 20 -s 64 -p $PORT'
# It polls once for each event, and fails after an event without a completion: see tests/kmod/event_race.c.
ok "ib_send_lat with events" both 60 'ib_send_lat -F -e -u 18 -d $DEVICE -x $G -n 2000 -s 2 -p $PORT'
ok "ib_atomic_lat over IPv6" both 60 'ib_atomic_lat -F -u 18 -d $DEVICE -x $G6 -n 10 -p $PORT'
ok "rping" between 60 'rping -s -a $IP2 -p $PORT -C 5 -V' 'rping -c -a $IP2 -p $PORT -C 5 -V'
ok "rping over IPv6" between 60 'rping -s -a $IP2_6 -p $PORT -C 5 -V' 'rping -c -a $IP2_6 -p $PORT -C 5 -V'

is "no errors counted" "$(error_counters $DEVICE)" ""
for name in tx_bytes rx_bytes; do ok "$name moved" test "$(counter $DEVICE $name)" -gt 1000000; done
