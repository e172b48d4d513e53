# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Datagrams in IP fragments. The kernel reassembles them into an skb with a frag_list, which is not a burst."""

import ipaddress
import os
import struct

import roce
from testbed import case, expect

MORE = 0x2000
FRAGMENT = 44


def pieces(b, packet, size, ident):
    """The fragments of a packet; size is a multiple of 8."""
    ours, theirs = ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs)
    start = 20 if ours.version == 4 else 40
    if len(packet) - start <= size:
        yield packet
        return
    for at in range(start, len(packet), size):
        piece, offset = packet[at:at + size], at - start
        more = at + size < len(packet)
        if ours.version == 4:
            yield roce.ip_header(ours, theirs, len(piece), ident, MORE * more | offset // 8) + piece
        else:
            extension = struct.pack(">BBHI", 17, 0, offset | more, ident)
            head = roce.ip_header(ours, theirs, len(extension) + len(piece))
            yield head[:6] + bytes([FRAGMENT]) + head[7:] + extension + piece


def send_fragments(b, victim, opcode, payload, size, order=1, **fields):
    """Like send_next(), in fragments."""
    ident = b.random.randrange(1, 65536)
    body = b.body(victim, opcode, payload, **fields)
    ip = {"ident": ident, "fragment": 0} if ipaddress.ip_address(b.ours).version == 4 else {}
    for piece in list(pieces(b, roce.datagram(b.ours, b.theirs, body, **ip), size, ident))[::order]:
        b.peer.send(piece)
    b.advance(victim)


@case("a WRITE in IP fragments of any size")
def write(b):
    rc = b.rc()
    for size in (8, 16, 24, 32, 64, 520, 1032, 1064):
        for length in (1, 100, 1023, 1024):
            for order in (1, -1):
                data = os.urandom(length)
                send_fragments(b, rc, "RC_WRITE_ONLY", data, size, order)
                b.acked(rc)
                expect("memory", rc.memory.read(length), data)
    b.works(rc)


@case("an IPv6 packet with a fragment header that is not fragmented is dropped")
def atomic(b):
    """The kernel leaves the fragment header in front of UDP, and the ICRC does not define how to cover it."""
    ours, theirs = ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs)
    if ours.version == 4:
        return
    rc = b.rc()
    packet = roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", os.urandom(100)))
    extension = struct.pack(">BBHI", 17, 0, 0, 77)
    head = roce.ip_header(ours, theirs, len(extension) + len(packet) - 40)
    with b.counts("rx_malformed"):
        b.peer.send(head[:6] + bytes([FRAGMENT]) + head[7:] + extension + packet[40:])
        b.silence()
    b.works(rc)


@case("fragmented SENDs between whole ones")
def send(b):
    rc = b.rc()
    data = os.urandom(3 * 1024)
    rc.post_recv()
    b.send_next(rc, "RC_SEND_FIRST", data[:1024], ack_req=False)
    send_fragments(b, rc, "RC_SEND_MIDDLE", data[1024:2048], 400, ack_req=False)
    b.send_next(rc, "RC_SEND_LAST", data[2048:])
    b.acked(rc)
    expect("length", rc.completion().byte_len, len(data))
    expect("memory", rc.memory.read(len(data), 8192), data)
    b.works(rc)


@case("fragments of a packet with a wrong ICRC")
def wrong(b):
    rc = b.rc()
    body = b.body(rc, "RC_WRITE_ONLY", os.urandom(1000))
    ip = {"ident": 77, "fragment": 0} if ipaddress.ip_address(b.ours).version == 4 else {}
    packet = bytearray(roce.datagram(b.ours, b.theirs, body, **ip))
    packet[700] ^= 1
    with b.counts("rx_icrc_encapsulated"):
        for piece in pieces(b, bytes(packet), 240, 77):
            b.peer.send(piece)
        b.silence()
    b.works(rc)
