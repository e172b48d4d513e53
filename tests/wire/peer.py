# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The peer that the tests impersonate: it sends any frame to the device under test and sees all responses."""

import ctypes
import socket
import struct
import time

import roce

SO_RCVBUFFORCE = 33
SOL_PACKET, PACKET_AUXDATA = 263, 8
VLAN_VALID = 1 << 4
ETHERTYPE = {4: 0x0800, 6: 0x86DD}
UDP_SEGMENT = 103
# Level and number of the socket option, and the length of IP and UDP headers, by IP version.
MTU_DISCOVER = {4: (socket.IPPROTO_IP, 10), 6: (socket.IPPROTO_IPV6, 23)}
MTU_DISCOVER_DO = 2
HEADERS = {4: 28, 6: 48}


def socket_in(namespace, *kind):
    """A socket of another network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", encoding="ascii") as ours, open(f"/run/netns/{namespace}", encoding="ascii") as theirs:
        libc.setns(theirs.fileno(), 0)
        try:
            return socket.socket(*kind)
        finally:
            libc.setns(ours.fileno(), 0)


class Peer:
    """One end of a link, below IP."""

    def __init__(self, namespace, netdev, mac, target_mac, qpn=0x123456):
        self.namespace = namespace
        self.socket = socket_in(namespace, socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        self.socket.bind((netdev, 0))
        self.mac = mac
        self.target_mac = target_mac
        self.qpn = qpn

    def send(self, packet, vlan=None):
        """Sends a packet, given from its IP header on; with the tag of a VLAN if one is given."""
        tag = b"" if vlan is None else struct.pack(">HH", 0x8100, vlan)
        head = self.target_mac + self.mac + tag + struct.pack(">H", ETHERTYPE.get(packet[0] >> 4, 0x0800))
        self.socket.send(head + packet)

    def send_burst(self, packets):
        """Sends these packets as one skb. They have the same addresses, ports and length, except that the last one may be shorter;
        IPv4 identifications count from 0."""
        first = roce.Packet(packets[0])
        version = packets[0][0] >> 4
        size = HEADERS[version]
        bodies = [packet[size:] for packet in packets]
        with socket_in(self.namespace, socket.AF_INET if version == 4 else socket.AF_INET6, socket.SOCK_DGRAM, 0) as udp:
            udp.setsockopt(*MTU_DISCOVER[version], MTU_DISCOVER_DO)
            udp.bind((str(first.source), int.from_bytes(packets[0][size - 8:size - 6], "big")))
            udp.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, len(bodies[0]))
            udp.sendto(b"".join(bodies), (str(first.target), roce.UDP_PORT))

    @staticmethod
    def tag(ancillary):
        """The VLAN tag, which the kernel has removed from the frame and reports separately; None if there was none."""
        for level, kind, data in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci = struct.unpack_from("=I12xH", data)
                return tci if status & VLAN_VALID else None
        return None

    def receive(self, seconds):
        """Returns the next RoCE packet that was sent to our QPs; None if there is none in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame, ancillary, _, address = self.socket.recvmsg(70000, 256)
            except socket.timeout:
                break
            if address[2] == socket.PACKET_OUTGOING or frame[12:14] not in (b"\x08\x00", b"\x86\xdd"):
                continue
            try:
                packet = roce.Packet(frame[14:])
            except ValueError:
                continue
            packet.vlan = self.tag(ancillary)
            packet.target_mac = frame[:6]
            return packet
        return None
