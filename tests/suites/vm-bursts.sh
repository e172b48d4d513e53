#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# Two virtual machines on taps of a bridge, the usual configuration. Counts the packets per burst. If virtio-net segments UDP,
# bursts leave and arrive whole. If not, the host splits them and GRO joins the packets, or the sender sends single packets.
# guests: 2
# guest: --taps
# timeout: 400
# lanes: vm
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/guests.sh"

[ "${TAPS:-0}" = 1 ] || skip_all "the host has no taps for guests"

feature() { ethtool -k eth0 | sed -n "s/^$1: \([a-z]*\).*/\1/p"; }
# This guest sends and receives unsplit bursts. Kernels between 6.1 and 7 can, but it is off by default.
ethtool -K eth0 tx-udp-segmentation on 2>/dev/null
USO=$(feature tx-udp-segmentation)
ok "the other guest answers" wait_for 30 ping -c 1 -W 1 10.99.0.$PEER
ok "add" rdma link add $DEVICE type sroce netdev eth0
at_exit rdma link delete $DEVICE
G=$(gid $DEVICE 10.99.0.$ROLE) G6=$(gid $DEVICE fd99::$ROLE)
like "IPv4 and IPv6 GIDs" "$G $G6" '^[0-9]+ [0-9]+$'

# counted DIRECTION COMMAND...: sets PACKETS and BURSTS to the device's counts during the command
counted() {
	local way=$1 packets bursts
	shift
	packets=$(counter $DEVICE ${way}_packets) bursts=$(counter $DEVICE ${way}_bursts)
	"$@" || return
	PACKETS=$(($(counter $DEVICE ${way}_packets) - packets)) BURSTS=$(($(counter $DEVICE ${way}_bursts) - bursts))
}

# moves WHAT LEAST DIRECTION COMMAND...: a burst has at least LEAST packets on average
moves() {
	local what=$1 least=$2 way=$3
	shift 3
	PACKETS=0 BURSTS=0
	ok "$what" counted_to_file $way "$@"
	read -r PACKETS BURSTS <"$OUTPUT.count"
	diag "$way: $PACKETS packets in $BURSTS bursts"
	ok "$what: at least $least a burst" test "$PACKETS" -ge $((BURSTS * least)) -a "$PACKETS" -ge 6000
}
counted_to_file() {
	echo "0 0" >"$OUTPUT.count"
	counted "$@" && echo "$PACKETS $BURSTS" >"$OUTPUT.count"
}
at_exit rm -f "$OUTPUT.count"

write_bw='ib_write_bw -F -u 18 -d $DEVICE -x $G -s 65536 -n 100 -p $PORT'
write6_bw='ib_write_bw -F -u 18 -d $DEVICE -x $G6 -s 65536 -n 100 -p $PORT'
send_bw='ib_send_bw -F -u 18 -d $DEVICE -x $G -s 65536 -n 100 -p $PORT'
read_bw='ib_read_bw -F -u 18 -d $DEVICE -x $G -s 65536 -n 100 -p $PORT'
# WRITE and SEND leave guest 1, READ responses leave guest 2.
one() { if [ "$ROLE" = 1 ]; then echo tx; else echo rx; fi; }
two() { if [ "$ROLE" = 1 ]; then echo rx; else echo tx; fi; }

# all WHAT OUT IN: with the smallest number of packets per burst at the sender (OUT) and at the receiver (IN)
all() {
	local leave=$2 arrive=$3
	[ "$ROLE" = 1 ] || { leave=$3 arrive=$2; }
	moves "$1: WRITE" "$leave" "$(one)" between 120 "$write_bw" "$write_bw \$IP2"
	moves "$1: WRITE over IPv6" "$leave" "$(one)" between 120 "$write6_bw" "$write6_bw \$IP2"
	moves "$1: SEND" "$leave" "$(one)" between 120 "$send_bw" "$send_bw \$IP2"
	moves "$1: READ" $((arrive < 15 ? arrive : 15)) "$(two)" between 120 "$read_bw" "$read_bw \$IP2"
}

# 64 packets of a WRITE are two bursts, because its first packet is longer than the others. Those of a READ are three, because
# its last packet is longer, too. On a very busy host packets were repeated, and a burst had 16 on average. The number of packets
# that GRO can join at a time depends on the speeds of both guests: there it was below four. Without GRO it is one.
FULL=8 JOINED=2
if [ "$USO" = on ]; then WHOLE=$FULL; else WHOLE=$JOINED; fi
all "as it comes" $FULL $WHOLE
meet
ok "GRO off" ethtool -K eth0 gro off
meet
all "without GRO" $FULL "$([ "$USO" = on ] && echo $FULL || echo 1)"
meet
ethtool -K eth0 gro on
if [ "$USO" = on ]; then
	# The host splits bursts for a guest that does not accept them.
	ok "virtio-net receives single packets" ethtool -K eth0 rx-gro-hw off
	meet
	all "split by the host" $FULL $JOINED
	meet
	ethtool -K eth0 rx-gro-hw on
fi
is "no errors counted" "$(error_counters $DEVICE)" ""
is "no ICRC is wrong" "$(counter $DEVICE rx_icrc_encapsulated)" 0

# --- a guest that lies about the size of packets in a burst ---

# A UDP socket would get its sizes from the kernel; a packet socket takes the sizes as given (Linux 6.2 and later).
lie() {
	python3 - "$1" eth0 10.99.0.$ROLE 10.99.0.$PEER <<'END'
import random, socket, struct, sys

mac, device, here, there = sys.argv[1:]
SOL_PACKET, PACKET_VNET_HDR, NEEDS_CSUM, GSO_UDP_L4 = 263, 15, 1, 5
addresses = socket.inet_aton(here) + socket.inet_aton(there)
out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
out.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
out.bind((device, 0x800))
own = out.getsockname()[4]

def words(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total

def burst(size, payload):
    length = 8 + len(payload)
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + length, 7, 0x4000, 64, 17, 0) + addresses
    ip = ip[:10] + struct.pack(">H", 0xFFFF - words(ip)) + ip[12:]
    udp = struct.pack(">HHHH", 50000, 4791, length, words(addresses + struct.pack(">HH", 17, length)))
    header = struct.pack("<BBHHHH", NEEDS_CSUM, GSO_UDP_L4, 42, size, 34, 6)
    out.send(header + bytes.fromhex(mac.replace(":", "")) + own + b"\x08\0" + ip + udp + payload)

random.seed(24)
sent = 0
for size in (1, 2, 15, 16, 17, 19, 20, 21, 24, 64, 255, 1000, 1400, 1452, 9000, 40000, 65534):
    for length in (size + 1, 2 * size, 2 * size + 3, 60 * size, 63 * size + 5):
        # A BTH of a plausible request, then anything
        payload = struct.pack(">BBHII", 4, 0x40, 0xFFFF, 17, 1) + random.randbytes(max(length - 12, 0))
        if length > 60000:
            continue
        try:
            burst(size, payload[:length])
            sent += 1
        except OSError as error:
            print(size, length, error)
print(sent, "bursts")
sys.exit(sent < 20)
END
}
if [ "$USO" = on ]; then
	BEFORE=$(($(counter $DEVICE rx_malformed) + $(counter $DEVICE rx_icrc_encapsulated)))
	meet
	[ "$ROLE" = 2 ] || ok "bursts with sizes that are not true" lie 52:54:00:99:00:02
	meet
	[ "$ROLE" = 1 ] || ok "they are refused" test \
		$(($(counter $DEVICE rx_malformed) + $(counter $DEVICE rx_icrc_encapsulated))) -gt $((BEFORE + 40))
	ok "and the device works" between 120 "$send_bw" "$send_bw \$IP2"
fi
