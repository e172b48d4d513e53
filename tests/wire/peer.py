# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The peer that the tests impersonate: it sends any frame to the device under test and sees all that comes back."""

import ctypes
import socket
import struct
import time

import roce

SO_RCVBUFFORCE = 33
ETHERTYPE = {4: 0x0800, 6: 0x86DD}


def socket_in(namespace):
    """A packet socket of another network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open("/proc/self/ns/net", encoding="ascii") as ours, open(f"/run/netns/{namespace}", encoding="ascii") as theirs:
        libc.setns(theirs.fileno(), 0)
        try:
            return socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
        finally:
            libc.setns(ours.fileno(), 0)


class Peer:
    """One end of a link, below IP."""

    def __init__(self, namespace, netdev, mac, target_mac, qpn=0x123456):
        self.socket = socket_in(namespace)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
        self.socket.bind((netdev, 0))
        self.mac = mac
        self.target_mac = target_mac
        self.qpn = qpn

    def send(self, packet):
        """A packet from its IP header on."""
        head = self.target_mac + self.mac + struct.pack(">H", ETHERTYPE.get(packet[0] >> 4, 0x0800))
        self.socket.send(head + packet)

    def receive(self, seconds):
        """The next RoCE packet for our QPs that was sent to us; None if there is none in time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.socket.settimeout(left)
            try:
                frame, address = self.socket.recvfrom(70000)
            except socket.timeout:
                break
            if address[2] == socket.PACKET_OUTGOING or frame[12:14] not in (b"\x08\x00", b"\x86\xdd"):
                continue
            try:
                return roce.Packet(frame[14:])
            except ValueError:
                continue
        return None
