#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Other network cards than virtio-net, one after another: first with virtio-net at the other end, then the same at both. These are
# those that people use; "make check-nics" runs ten, one boot for each.
# guests: 2
# guest: --taps --cards igb,e1000e,vmxnet3 --capture
# timeout: 900
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guests.sh"

[ "${TAPS:-0}" = 1 ] || skip_all "the host has no taps for guests"
HERE=$(dirname "$0")
declare -A DRIVERS=([igb]=igb [e1000e]=e1000e [e1000]=e1000 [vmxnet3]=vmxnet3 [rtl8139]=8139cp [pcnet]=pcnet32 [ne2k_pci]=ne2k-pci
	[tulip]=tulip [i82559er]=e100 [usb-net]=cdc_ether)

# Both guests have several cards on one bridge: each card answers for its own addresses only.
sysctl -qw net.ipv4.conf.{all,default}.arp_ignore=1 net.ipv4.conf.{all,default}.arp_announce=2
sysctl -qw net.ipv6.conf.default.accept_dad=0 net.ipv4.conf.{all,default}.rp_filter=0

# netdev DRIVER: the one that this driver has
netdev() {
	local driver
	for driver in /sys/class/net/*/device/driver; do
		[ "$(basename "$(readlink "$driver")")" != "$1" ] || basename "${driver%/device/driver}"
	done
}
found() { NETDEV=$(netdev "$1") && [ -n "$NETDEV" ]; }

feature() { ethtool -k "$1" | sed -n "s/^[[:space:]]*$2: \([a-z]*\)\( \[requested.*\)\?$/\1/p"; }

# A UDP socket of guest 2 lets the card segment, without sroce: how many of ten datagrams arrive at guest 1?
segmented() {
	local address="10.99.$1.1" receiver
	[ "$2" = 4 ] || address="fd99:$1::1"
	if [ "$ROLE" = 1 ]; then
		limited 30 python3 - "$address" 29000 <<'PY' &
import socket, sys
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], int(sys.argv[2])))
s.settimeout(20)
sizes = []
while not sizes or sizes[-1] != 1:
    try:
        sizes.append(len(s.recv(65536)))
    except TimeoutError:
        break
print("a UDP socket's ten datagrams of 1000 bytes, segmented by the card, arrive as", sizes[:-1])
PY
		receiver=$!
		wait_for 10 grep -q ":7148 " /proc/net/udp /proc/net/udp6
		meet >/dev/null
		wait $receiver
		return
	fi
	meet >/dev/null
	python3 - "$address" 29000 <<'PY'
import socket, sys, time
s = socket.socket(socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET, socket.SOCK_DGRAM)
s.connect((sys.argv[1], int(sys.argv[2])))
s.setsockopt(17, 103, 1000)
s.send(bytes(10000))
time.sleep(1)
s.setsockopt(17, 103, 0)
s.send(b"x")
PY
}

# begin NETDEV NUMBER: addresses and a device on it
begin() {
	ip addr add "10.99.$2.$ROLE/24" dev "$1"
	ip -6 addr add "fd99:$2::$ROLE/64" dev "$1" nodad
	ip link set "$1" up
	DEVICE=$ON.$2
	ok "$CARD, $ON: add" rdma link add "$DEVICE" type sroce netdev "$1"
	G=$(gid "$DEVICE" "10.99.$2.$ROLE") G6=$(gid "$DEVICE" "fd99:$2::$ROLE")
	like "$CARD, $ON: GIDs" "$G $G6" '^[0-9]+ [0-9]+$'
	ok "$CARD, $ON: the guests see each other" wait_for 30 ping -c 1 -W 1 "10.99.$2.$PEER"
	meet
}

# end NETDEV NUMBER
end() {
	meet
	ok "$CARD, $ON: packets were counted both ways" test "$(counter "$DEVICE" rx_packets)" -gt 100 -a "$(counter "$DEVICE" tx_packets)" -gt 100
	diag "$CARD, $ON: $(counter "$DEVICE" tx_packets) packets in $(counter "$DEVICE" tx_bursts) bursts left, $(
		counter "$DEVICE" rx_packets) in $(counter "$DEVICE" rx_bursts) came, $(counter "$DEVICE" local_ack_timeout_err) timeouts"
	rdma link delete "$DEVICE"
	ip addr flush dev "$1" to "10.99.$2.0/24"
	ip addr flush dev "$1" to "fd99:$2::/64"
}
no_errors() { is "$CARD, $ON: no errors counted" "$(error_counters "$DEVICE")" ""; }

# compare WHAT: data both ways, in packets that a burst has many of
compare() { ok "$CARD, $ON: RC pingpong, $1" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G -n 5 -c -s 65536 -p $PORT'; }

programs() {
	local program
	ok "$CARD, $ON: RC pingpong" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G -n 20 -e -c -s 4095 -p $PORT'
	ok "$CARD, $ON: RC pingpong over IPv6" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G6 -n 5 -e -c -s 65536 -p $PORT'
	# Packets shorter than Ethernet's shortest frame
	ok "$CARD, $ON: UC pingpong of a byte" both 60 'ibv_uc_pingpong -d $DEVICE -g $G -n 20 -e -c -s 1 -p $PORT'
	ok "$CARD, $ON: UD pingpong over IPv6" both 60 'ibv_ud_pingpong -d $DEVICE -g $G6 -n 20 -e -c -s 1000 -p $PORT'
	for program in write read send; do
		ok "$CARD, $ON: $program" both 60 "ib_${program}_bw -F -u 18 -d \$DEVICE -x \$G -s 65536 -n 10 -p \$PORT"
	done
	ok "$CARD, $ON: write of 1 MiB over IPv6" both 60 'ib_write_bw -F -u 18 -d $DEVICE -x $G6 -s 1048576 -n 5 -p $PORT'
}

# features NETDEV: each by itself in the other state
features() {
	local name before after
	for name in rx-checksumming tx-checksumming scatter-gather generic-segmentation-offload generic-receive-offload \
		large-receive-offload rx-gro-list; do
		before=$(feature "$1" $name)
		case $before in on) after=off ;; off) after=on ;; *) continue ;; esac
		ethtool -K "$1" $name $after >/dev/null 2>&1
		meet
		[ "$(feature "$1" $name)" = $after ] && compare "$name $after"
		ethtool -K "$1" $name "$before" >/dev/null 2>&1
	done
	meet
}

# traffic NETDEV: features change meanwhile. Some cards reset for that.
traffic() {
	local name server
	BEFORE=$(counter "$DEVICE" rx_packets)
	both 60 'ib_send_bw -F -u 20 -d $DEVICE -x $G -s 65536 -D 10 -p $PORT' >"$OUTPUT.traffic" 2>&1 &
	server=$!
	PORT=$((PORT + 1))
	wait_for 20 moving
	for name in rx-checksumming tx-checksumming scatter-gather tcp-segmentation-offload generic-segmentation-offload \
		generic-receive-offload large-receive-offload; do
		case $(feature "$1" $name) in
		on) ethtool -K "$1" $name off; ethtool -K "$1" $name on ;;
		off) ethtool -K "$1" $name on; ethtool -K "$1" $name off ;;
		esac >/dev/null 2>&1
	done
	ok "$CARD, $ON: features change under traffic" wait $server
	[ "$FAILED" = 0 ] || tail -n 15 "$OUTPUT.traffic" | sed 's/^/#   /'
}
moving() { [ "$(counter "$DEVICE" rx_packets)" -gt $((BEFORE + 100)) ]; }
at_exit rm -f "$OUTPUT.traffic"

# jumbo NETDEV: packets of 4096 bytes, if the card can
jumbo() {
	ip link set "$1" mtu 9000 2>/dev/null || return 0
	meet
	ok "$CARD, $ON: packets of 4096 bytes" both 60 '$PATIENT ibv_rc_pingpong -d $DEVICE -g $G -m 4096 -n 5 -c -s 65536 -p $PORT'
	ok "$CARD, $ON: write, packets of 4096 bytes" both 60 'ib_write_bw -F -u 18 -m 4096 -d $DEVICE -x $G6 -s 65536 -n 10 -p $PORT'
	meet
	ip link set "$1" mtu 1500
	meet
}

# vlan NETDEV: the card inserts and removes tags, or does not
vlan() {
	local ON=vlan DEVICE G G6 state
	ip link add link "$1" name tagged type vlan id 5
	begin tagged $((NUMBER + 100))
	compare "tags by default"
	for state in off on; do
		ethtool -K "$1" txvlan $state rxvlan $state >/dev/null 2>&1
		meet
		compare "tags by the card: $state"
	done
	no_errors
	end tagged $((NUMBER + 100))
	ip link delete tagged
}

# QEMU's igb takes bursts for something else (compat.rst). Connections come through, and find out.
segmenting() {
	[ "$(feature "$NETDEV" tx-udp-segmentation)" = on ] || return
	ON=segmenting
	begin $THIS $((NUMBER + 190))
	diag "$CARD: IPv4: $(segmented $((NUMBER + 190)) 4 2>&1)"
	meet
	diag "$CARD: IPv6: $(segmented $((NUMBER + 190)) 6 2>&1)"
	meet
	compare "the card segments"
	ok "$CARD, $ON: read" both 60 'ib_read_bw -F -u 18 -d $DEVICE -x $G6 -s 65536 -n 100 -p $PORT'
	[ "$ROLE" = 1 ] || diag "$(dmesg | grep 'sroce: UDP segmentation' | tail -n 2)"
	end $THIS $((NUMBER + 190))
	ethtool -K "$NETDEV" tx-udp-segmentation off
}

# The capture does not have the VLAN's tags if the bridge removes them.
settled() {
	local size
	size=$(stat -c %s "$CAPTURE")
	sleep 1
	[ "$size" = "$(stat -c %s "$CAPTURE")" ]
}

NUMBER=9
for CARD in $CARDS; do
	NUMBER=$((NUMBER + 1))
	case $CARD in usb-*) modprobe -q xhci-pci ;; esac
	modprobe -q "${DRIVERS[$CARD]}" || { skip "$CARD" "the kernel has no driver for it"; continue; }
	ok "$CARD: found" wait_for 10 found "${DRIVERS[$CARD]}"
	found "${DRIVERS[$CARD]}" || continue
	if [ "$ROLE" = 1 ]; then THIS=eth0; else THIS=$NETDEV; fi
	meet
	segmenting
	ON=mixed
	begin $THIS $NUMBER
	programs
	no_errors
	end $THIS $NUMBER
	ON=same
	meet
	begin "$NETDEV" $NUMBER
	programs
	features "$NETDEV"
	jumbo "$NETDEV"
	traffic "$NETDEV"
	no_errors
	end "$NETDEV" $NUMBER
	vlan "$NETDEV"
	ip link set "$NETDEV" down
done
meet
if [ "$ROLE" = 1 ] && [ -s "${CAPTURE:-}" ]; then
	wait_for 20 settled
	relay "on the bridge: " "" 120 "$HERE/../wire/check-capture" "$CAPTURE" some 1024
fi
