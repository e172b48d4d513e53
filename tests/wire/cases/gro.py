# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets that GRO may join (in tests/suites/gro.sh): with any IPv4 identification, with and without a UDP checksum, each packet
arrives as it was sent."""

import ipaddress
import os
import struct

import roce
from testbed import case, expect
from target import MTU, READS

PACKETS, SIZE = 12, 300  # the last one shorter


def with_checksum(datagram):
    """The same with a UDP checksum, which the ICRC does not cover."""
    source, target = (16, 4) if datagram[0] >> 4 == 4 else (8, 16)
    n = 20 if source == 16 else 40
    addresses = datagram[12:20] if n == 20 else datagram[8:40]
    pseudo = addresses + struct.pack(">HH", 17, len(datagram) - n)
    body = datagram[n:]
    found = roce.checksum(pseudo + body + bytes(len(body) & 1)) or 0xFFFF
    return datagram[:n + 6] + struct.pack(">H", found) + body[8:]


def writes(b, rc, data, idents, checksums, **ip):
    """WRITEs of SIZE bytes each, without a pause."""
    pieces = [data[at:at + SIZE] for at in range(0, len(data), SIZE)]
    datagrams = []
    for i, piece in enumerate(pieces):
        body = b.body(rc, "RC_WRITE_ONLY", piece, va=rc.memory.va + i * SIZE, ack_req=i == len(pieces) - 1)
        b.advance(rc)
        addresses = ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs)
        datagram = roce.datagram(*addresses, body, ident=idents(i), **ip)
        datagrams.append(with_checksum(datagram) if checksums(i) else datagram)
    for datagram in datagrams:
        b.peer.send(datagram)


def arrive(b, idents, checksums, **ip):
    rc = b.rc()
    data = os.urandom(PACKETS * SIZE - 20)
    writes(b, rc, data, idents, checksums, **ip)
    b.acked(rc)
    expect("data", rc.memory.read(len(data)), data)
    b.works(rc)


@case("GRO: IP identifications that count and wrap")
def counting(b):
    arrive(b, lambda i: 0xFFFA + i & 0xFFFF, lambda i: False)


@case("GRO: equal IP identifications")
def still(b):
    arrive(b, lambda i: 0, lambda i: False)


@case("GRO: equal IP identifications without DF", ipv4_only=True)
def fragmentable(b):
    arrive(b, lambda i: 7, lambda i: False, fragment=0)


@case("GRO: IP identifications that are equal, then count, then jump")
def jumping(b):
    arrive(b, lambda i: (5, 5, 5, 6, 7, 8, 20, 19, 19, 20, 400, 402)[i], lambda i: False)


@case("GRO: packets with UDP checksums")
def checksums(b):
    arrive(b, lambda i: i, lambda i: True)


@case("GRO: packets with and without UDP checksums stay in order")
def mixed(b):
    arrive(b, lambda i: i, lambda i: i % 3 == 1)


@case("GRO: a message of full packets")
def message(b):
    rc = b.rc()
    data = os.urandom(3 * MTU + 100)
    names = ("FIRST", "MIDDLE", "MIDDLE", "LAST")
    for i, name in enumerate(names):
        length = {"dma_len": len(data)} if name == "FIRST" else {}
        b.send_next(rc, "RC_WRITE_" + name, data[i * MTU:(i + 1) * MTU], ack_req=name == "LAST", **length)
    b.acked(rc)
    expect("data", rc.memory.read(len(data)), data)


@case("GRO: packets of two QPs in turn")
def two(b):
    first, second = b.rc(), b.rc()
    data = os.urandom(16 * 8)
    for i in range(8):
        for rc in (first, second):
            b.send_next(rc, "RC_WRITE_ONLY", data[16 * i:16 * i + 16], va=rc.memory.va + 16 * i, ack_req=i == 7)
    # Each message is acknowledged once, or twice if its last packet was not joined.
    found = {packet.qpn for packet in b.answers()}
    expect("who answered", found, {b.peer.qpn})
    for rc in (first, second):
        expect("data", rc.memory.read(len(data)), data)


@case("GRO: each packet keeps its ECN mark")
def congestion_marks(b):
    rc = b.rc()
    data = os.urandom(16 * PACKETS)
    with b.counts("np_ecn_marked_roce_packets", PACKETS // 2):
        for i in range(PACKETS):
            body = b.body(rc, "RC_WRITE_ONLY", data[16 * i:16 * i + 16], va=rc.memory.va + 16 * i, ack_req=i == PACKETS - 1)
            b.advance(rc)
            b.raw(body, ident=i, tclass=roce.CE if i // 2 % 2 else roce.ECT0)
        found = b.answers()
    marks = [packet for packet in found if packet.name == "CNP"]
    expect("CNPs", 1 <= len(marks) <= PACKETS // 2, True)
    expect("data", rc.memory.read(len(data)), data)


@case("GRO: a packet with a wrong ICRC between others leaves a gap")
def wrong_icrc(b):
    rc = b.rc()
    bodies = [b.body(rc, "RC_WRITE_ONLY", bytes([i]) * 16, va=rc.memory.va + 16 * i, psn=rc.psn + i, ack_req=True) for i in range(3)]
    addresses = ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs)
    datagrams = [bytearray(roce.datagram(*addresses, body, ident=i)) for i, body in enumerate(bodies)]
    datagrams[1][-1] ^= 1
    for datagram in datagrams:
        b.peer.send(bytes(datagram))
    found = b.answers()
    expect("NAK", [packet.psn for packet in found if packet.syndrome >> 5 == 3], [rc.psn + 1 & 0xFFFFFF])
    expect("data", rc.memory.read(48), bytes(48))


@case("GRO: a message of full packets, one of them with a wrong ICRC, is stored up to that packet")
def wrong_icrc_in_message(b):
    rc = b.rc()
    count, bad = 10, 5
    data = os.urandom((count - 1) * MTU + 100)
    names = ["FIRST"] + ["MIDDLE"] * (count - 2) + ["LAST"]
    addresses = ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs)
    datagrams = []
    for i, name in enumerate(names):
        length = {"dma_len": len(data)} if name == "FIRST" else {}
        body = b.body(rc, "RC_WRITE_" + name, data[i * MTU:(i + 1) * MTU], psn=rc.psn + i, ack_req=name == "LAST", **length)
        datagrams.append(roce.datagram(*addresses, body, ident=i))
    wrong = bytearray(datagrams[bad])
    wrong[-1] ^= 1
    for datagram in datagrams[:bad] + [bytes(wrong)] + datagrams[bad + 1:]:
        b.peer.send(datagram)
    found = b.answers()
    expect("NAK", [packet.psn for packet in found if packet.syndrome >> 5 == 3], [rc.psn + bad & 0xFFFFFF])
    expect("data before it", rc.memory.read(bad * MTU), data[:bad * MTU])
    # Its own payload may be stored: the message is not complete.
    behind = (bad + 1) * MTU
    expect("data behind it", rc.memory.read(len(data))[behind:], bytes(len(data) - behind))
    for datagram in datagrams[bad:]:
        b.peer.send(datagram)
    found = b.answers()
    expect("ACK", found[-1].psn, rc.psn + count - 1 & 0xFFFFFF)
    expect("data", rc.memory.read(len(data)), data)


@case("GRO: more READs in a row than max_dest_rd_atomic get all their data")
def reads_in_a_row(b):
    rc = b.rc()
    data = os.urandom(8)
    rc.memory.write(data)
    bodies = []
    for _ in range(3 * READS):
        bodies.append(b.body(rc, "RC_READ_REQUEST", dma_len=8))
        b.advance(rc)
    for ident, body in enumerate(bodies):
        b.peer.send(roce.datagram(b.ours, b.theirs, body, ident=ident))
    found = b.answers()
    expect("answers", [packet.name for packet in found], ["RC_READ_RESPONSE_ONLY"] * len(bodies))
    expect("data", {bytes(packet.payload) for packet in found}, {data})
    b.works(rc)


@case("GRO: two parts of a READ that are requested again together both arrive")
def parts(b):
    rc, data = b.rc(), os.urandom(4 * MTU)
    rc.memory.write(data)
    b.send(rc, "RC_READ_REQUEST", dma_len=4 * MTU)
    b.answers()
    first, addresses = rc.psn, (ipaddress.ip_address(b.ours), ipaddress.ip_address(b.theirs))
    b.advance(rc, 4)
    bodies = [b.body(rc, "RC_READ_REQUEST", va=rc.memory.va + at * MTU, dma_len=MTU, psn=first + at) for at in (0, 2)]
    for i, body in enumerate(bodies):
        b.peer.send(roce.datagram(*addresses, body, ident=i))
    found = b.answers()
    expect("PSNs", [p.psn for p in found], [first & 0xFFFFFF, first + 2 & 0xFFFFFF])
    expect("data", [p.payload for p in found], [data[:MTU], data[2 * MTU:3 * MTU]])
    b.works(rc)
