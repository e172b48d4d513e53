# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Bursts, which arrive as one skb. The first middle packet is checked before it is stored. Those that follow are checked while they
are stored, so the payload of one with a wrong ICRC may be in memory, but nothing behind it, and the message is not complete."""

import os

import roce
from testbed import case, expect
from target import MTU

PACKETS = 10  # FIRST, which is sent alone because it is longer, 8 MIDDLE, LAST
LENGTH = (PACKETS - 1) * MTU + 100
DAMAGED = 2, 5, 8


def one_pass():
    """Is payload copied while the ICRC is computed?"""
    path = "/sys/module/sroce/parameters/crc"
    if not os.path.exists(path):
        return False
    with open(path, encoding="ascii") as file:
        return file.read().strip() != "library"


def piece(data, i):
    return data[i * MTU:(i + 1) * MTU]


def bodies_from(b, qp, prefix, data, begin):
    """The packets of a message from this one on, behind FIRST, which has the PSN before qp.psn."""
    return [b.body(qp, prefix + ("LAST" if i == PACKETS - 1 else "MIDDLE"), piece(data, i), psn=qp.psn + i - 1, ack_req=i == PACKETS - 1)
            for i in range(begin, PACKETS)]


def burst(b, bodies):
    return [roce.datagram(b.ours, b.theirs, body, ident=i) for i, body in enumerate(bodies)]


def packets_from(b, qp, prefix, data, begin):
    return burst(b, bodies_from(b, qp, prefix, data, begin))


def damaged(packet):
    """The same with another byte of payload."""
    at = len(packet) - 4 - MTU + 7
    return packet[:at] + bytes([packet[at] ^ 1]) + packet[at + 1:]


def send_damaged(b, packets, bad):
    """Sends the burst; the packet with this number in the message is damaged."""
    b.peer.send_burst(packets[:bad - 1] + [damaged(packets[bad - 1])] + packets[bad:])


def expect_stored(qp, data, bad, offset, stored):
    """Everything before the packet is in memory, nothing behind it; its own payload, damaged, if "stored"."""
    wrong = bytearray(piece(data, bad))
    wrong[7] ^= 1
    expect("before it", qp.memory.read(bad * MTU, offset), data[:bad * MTU])
    expect("in its place", qp.memory.read(MTU, offset + bad * MTU), bytes(wrong) if stored else bytes(MTU))
    behind = (bad + 1) * MTU
    expect("behind it", qp.memory.read(LENGTH - behind, offset + behind), bytes(LENGTH - behind))


def refused(b, rc, prefix, data, bad):
    """The packet is damaged: a NAK requests it again."""
    with b.counts("rx_icrc_encapsulated"):
        send_damaged(b, packets_from(b, rc, prefix, data, 1), bad)
        found = b.answers()
    expect("NAK", [(packet.syndrome, packet.psn) for packet in found if packet.syndrome >> 5 == 3], [(0x60, rc.psn + bad - 1 & 0xFFFFFF)])
    expect_stored(rc, data, bad, 0, one_pass())


def repeated(b, rc, prefix, data, begin):
    """The packets from this one on come again, and complete the message."""
    b.peer.send_burst(packets_from(b, rc, prefix, data, begin))
    b.advance(rc, PACKETS - 1)
    expect("ACK", b.answers()[-1].psn, rc.psn - 1 & 0xFFFFFF)


@case("a burst arrives whole, at any address")
def whole(b):
    for offset in (0, 4, 100, 4095):
        rc, data = b.rc(), os.urandom(LENGTH)
        with b.counts("rx_bursts", 3):  # FIRST, the burst, the probe
            b.send_next(rc, "RC_WRITE_FIRST", piece(data, 0), va=rc.memory.va + offset, dma_len=LENGTH, ack_req=False)
            b.peer.send_burst(packets_from(b, rc, "RC_WRITE_", data, 1))
            b.advance(rc, PACKETS - 1)
            b.acked(rc)
        expect("data", rc.memory.read(LENGTH, offset), data)
        expect("memory before it", rc.memory.read(offset), bytes(offset))
        expect("memory behind it", rc.memory.read(16384 - LENGTH - offset, LENGTH + offset), bytes(16384 - LENGTH - offset))


@case("WRITE: a middle packet with a wrong ICRC, and the same packets again")
def write(b):
    for bad in DAMAGED:
        rc, data = b.rc(), os.urandom(LENGTH)
        b.send_next(rc, "RC_WRITE_FIRST", piece(data, 0), dma_len=LENGTH, ack_req=False)
        b.silence()
        refused(b, rc, "RC_WRITE_", data, bad)
        repeated(b, rc, "RC_WRITE_", data, bad)
        expect("data", rc.memory.read(LENGTH), data)
        b.works(rc)


@case("SEND: a middle packet with a wrong ICRC, and the same packets again")
def send(b):
    for bad in DAMAGED:
        rc, data = b.rc(), os.urandom(LENGTH)
        rc.post_recv(LENGTH, 0)
        b.send_next(rc, "RC_SEND_FIRST", piece(data, 0), ack_req=False)
        b.silence()
        refused(b, rc, "RC_SEND_", data, bad)
        expect("completions", rc.completions(), [])
        repeated(b, rc, "RC_SEND_", data, bad)
        expect("length", rc.completion().byte_len, LENGTH)
        expect("data", rc.memory.read(LENGTH), data)
        b.works(rc)


@case("UC: nobody repeats a middle packet, so it is not stored with a wrong ICRC")
def unreliable(b):
    for bad in DAMAGED:
        uc, data = b.qp("UC"), os.urandom(LENGTH)
        b.send_next(uc, "UC_WRITE_FIRST", piece(data, 0), dma_len=LENGTH, ack_req=False)
        with b.counts("rx_icrc_encapsulated"):
            send_damaged(b, packets_from(b, uc, "UC_WRITE_", data, 1), bad)
            b.silence()
        expect_stored(uc, data, bad, 0, False)
        b.advance(uc, PACKETS - 1)
        b.works(uc)


@case("READ: a middle packet of the response with a wrong ICRC is requested again")
def read(b):
    for bad in DAMAGED:
        rc, data = b.rc(timeout=14), os.urandom(LENGTH)
        b.answers()  # among them are repeated requests of the last QP
        rc.read(LENGTH)
        request = b.wait_outgoing("RC_READ_REQUEST")

        def response(place, i):
            fields = {} if place == "MIDDLE" else {"aeth": roce.ACK << 24 | 1}
            return roce.transport("RC_READ_RESPONSE_" + place, rc.qpn, request.psn + i & 0xFFFFFF, piece(data, i), **fields)

        def responses(begin):
            return burst(b, [response("LAST" if i == PACKETS - 1 else "MIDDLE", i) for i in range(begin, PACKETS)])

        b.raw(response("FIRST", 0))
        with b.counts("rx_icrc_encapsulated"):
            send_damaged(b, responses(1), bad)
            again = request
            while again.psn != request.psn + bad & 0xFFFFFF:  # others ask whether packets were lost
                again = b.wait_outgoing("RC_READ_REQUEST")
        expect("address", again.va, request.va + bad * MTU)
        expect("before it", rc.memory.read(bad * MTU), data[:bad * MTU])
        expect("completions", rc.completions(), [])
        if again.dma_len == MTU:  # only the gap; what was behind it is held
            b.raw(response("ONLY", bad))
        else:
            b.raw(response("FIRST", bad))
            b.peer.send_burst(responses(bad + 1))
        expect("length", rc.completion().byte_len, LENGTH)
        expect("data", rc.memory.read(LENGTH), data)


@case("a burst with a packet for another QP, and one that asks for an ACK, in the middle")
def interrupted(b):
    one, other = b.rc(), b.rc()
    data = os.urandom(LENGTH)
    b.send_next(one, "RC_WRITE_FIRST", piece(data, 0), dma_len=LENGTH, ack_req=False)
    b.send_next(other, "RC_WRITE_FIRST", b"y" * MTU, dma_len=3 * MTU, ack_req=False)
    b.silence()
    bodies = bodies_from(b, one, "RC_WRITE_", data, 1)
    asking = b.body(one, "RC_WRITE_MIDDLE", piece(data, 6), psn=one.psn + 5)
    stranger = b.body(other, "RC_WRITE_MIDDLE", b"z" * MTU)
    b.peer.send_burst(burst(b, bodies[:3] + [stranger] + bodies[3:5] + [asking] + bodies[6:]))
    b.advance(one, PACKETS - 1)
    expect("ACK", b.answers()[-1].psn, one.psn - 1 & 0xFFFFFF)
    expect("data", one.memory.read(LENGTH), data)
    expect("the other QP's data", other.memory.read(3 * MTU), b"y" * MTU + b"z" * MTU + bytes(MTU))
