# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets behind a gap: they are kept, and executed in order when the gap is filled. READ responses likewise."""

import itertools

import constants as e
import roce
from target import Memory
from testbed import case, expect
from rc_responses import acknowledge, asked, respond

MTU = 1024
PSN = 500
# Packets behind a gap that are held: SROCE_MAX_AHEAD of drivers/sroce/core/params.h
AHEAD = 32768


def ahead(b, rc, *texts, first=1):
    """WRITEs of one letter each, @first PSNs ahead, each to its own address; a NAK reports the gap."""
    for i, text in enumerate(texts, first):
        b.send(rc, "RC_WRITE_ONLY", text, psn=rc.psn + i, va=rc.memory.va + i)
    b.nak(rc, roce.NAK_SEQUENCE)


@case("held packets are executed and acknowledged at once when the gap is filled")
def filled(b):
    rc = b.rc()
    with b.counts("rx_held", 3), b.counts("rx_gaps_filled"), b.counts("tx_nak_sequence"):
        ahead(b, rc, b"b", b"c", b"d")
        expect("nothing early", rc.memory.read(4), bytes(4))
        b.send_next(rc, "RC_WRITE_ONLY", b"a")
        b.advance(rc, 3)
        b.acked(rc)
    expect("memory", rc.memory.read(4), b"abcd")
    b.works(rc)


@case("the next gap is reported as soon as the first is filled")
def next_gap(b):
    rc = b.rc()
    ahead(b, rc, b"b")
    b.send(rc, "RC_WRITE_ONLY", b"d", psn=rc.psn + 3, va=rc.memory.va + 3)
    b.silence()
    b.send_next(rc, "RC_WRITE_ONLY", b"a")
    b.advance(rc)
    b.nak(rc, roce.NAK_SEQUENCE)
    expect("memory", rc.memory.read(4), b"ab\0\0")
    b.send_next(rc, "RC_WRITE_ONLY", b"c", va=rc.memory.va + 2)
    b.advance(rc)
    b.acked(rc)
    expect("memory", rc.memory.read(4), b"abcd")
    b.works(rc)


@case("the next gap is not reported while the peer repeats packets without asking for an ACK")
def next_gap_later(b):
    rc = b.rc()
    for i in (2, 4):
        b.send(rc, "RC_WRITE_ONLY", b"ce"[i // 2 - 1:i // 2], psn=rc.psn + i, va=rc.memory.va + i, ack_req=False)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_ONLY", b"a", ack_req=False)
    b.silence()
    b.send_next(rc, "RC_WRITE_ONLY", b"b", va=rc.memory.va + 1, ack_req=False)
    b.advance(rc)
    b.silence()
    expect("memory", rc.memory.read(5), b"abc\0\0")
    b.send(rc, "RC_WRITE_ONLY", b"f", psn=rc.psn + 2, va=rc.memory.va + 5)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_ONLY", b"d", va=rc.memory.va + 3)
    b.advance(rc, 2)
    b.acked(rc)
    expect("memory", rc.memory.read(6), b"abcdef")
    b.works(rc)


@case("a held packet asks for an ACK: the NAK of the next gap acknowledges it, too")
def gap_instead_of_ack(b):
    rc = b.rc()
    for i in (1, 3):
        b.send(rc, "RC_WRITE_ONLY", b"bd"[i // 2:i // 2 + 1], psn=rc.psn + i, va=rc.memory.va + i)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_ONLY", b"a", ack_req=False)
    b.advance(rc)
    b.nak(rc, roce.NAK_SEQUENCE)
    expect("memory", rc.memory.read(4), b"ab\0\0")
    b.send_next(rc, "RC_WRITE_ONLY", b"c", va=rc.memory.va + 2)
    b.advance(rc)
    b.acked(rc)
    b.works(rc)


@case("a duplicate asks for an ACK: the answer reports the next gap")
def duplicate_before_gap(b):
    rc = b.rc()
    for i in (1, 3):
        b.send(rc, "RC_WRITE_ONLY", b"bd"[i // 2:i // 2 + 1], psn=rc.psn + i, va=rc.memory.va + i, ack_req=False)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_ONLY", b"a", ack_req=False)
    b.silence()
    b.advance(rc)
    b.send(rc, "RC_WRITE_ONLY", b"x", psn=rc.psn - 1, va=rc.memory.va + 1)
    b.nak(rc, roce.NAK_SEQUENCE)
    expect("memory", rc.memory.read(4), b"ab\0\0")
    b.send_next(rc, "RC_WRITE_ONLY", b"c", va=rc.memory.va + 2)
    b.advance(rc)
    b.acked(rc)
    b.works(rc)


def stream(number, mtu, tail=b"end"):
    """Names and payloads of a message of @number packets."""
    kinds = ["FIRST"] + ["MIDDLE"] * (number - 2) + ["LAST"]
    return [(kind, bytes([65 + i % 26]) * mtu if kind != "LAST" else tail) for i, kind in enumerate(kinds)]


def send_message(b, rc, verb, packets, order, asks, **first):
    """Sends the packets of a message in @order; those in @asks request an ACK. @first: header fields of the first one."""
    for i in order:
        kind, data = packets[i]
        b.send(rc, f"RC_{verb}_{kind}", data, psn=rc.psn + i, ack_req=i in asks, **(first if kind == "FIRST" else {}))
    b.answers()


@case("many middle packets of one WRITE behind a gap, and a second gap: all bytes are right")
def long_write(b):
    rc, number = b.rc(), 60
    memory = Memory(rc.pd, number * MTU)
    packets = stream(number, MTU)
    length = (number - 1) * MTU + 3
    late = (1, 25, 40)
    with b.counts("rx_held", number - 1 - len(late)), b.counts("rx_gaps_filled", len(late)):
        order = [*(i for i in range(number) if i not in late), *late]
        send_message(b, rc, "WRITE", packets, order, (7, 30, number - 1, *late), dma_len=length, va=memory.va, rkey=memory.rkey)
        b.advance(rc, number)
    expect("data", memory.read(length) == b"".join(data for _, data in packets), True)
    b.works(rc)


@case("many middle packets of one SEND behind a gap: one completion, with its data")
def long_send(b):
    rc, number = b.rc(), 40
    memory = Memory(rc.pd, number * MTU)
    rc.post_recv(sge=memory.sge(number * MTU))
    packets = stream(number, MTU)
    with b.counts("rx_held", number - 2), b.counts("rx_gaps_filled"):
        send_message(b, rc, "SEND", packets, [0, *range(2, number), 1], [1])
        b.advance(rc, number)
    length = (number - 1) * MTU + 3
    expect("completion", [(wc.status, wc.byte_len) for wc in rc.completions(1)], [(0, length)])
    expect("data", memory.read(length) == b"".join(data for _, data in packets), True)
    b.works(rc)


@case("a WRITE that is too long: the packet behind a gap that exceeds it is refused, those before are executed")
def long_write_refused(b):
    rc, number = b.rc(), 30
    memory = Memory(rc.pd, number * MTU)
    packets = stream(number, MTU)
    order = [0, *range(2, number), 1]
    send_message(b, rc, "WRITE", packets, order, (), dma_len=20 * MTU, va=memory.va, rkey=memory.rkey)
    expect("data", memory.read(20 * MTU), b"".join(data for _, data in packets[:19]) + bytes(MTU))
    b.state(rc, "ERR")


@case("packets of one message, in every order")
def orders(b):
    packets = stream(4, MTU, tail=b"D" * MTU)
    for order in itertools.permutations(range(4)):
        rc = b.rc()
        send_message(b, rc, "WRITE", packets, order, order[-1:], dma_len=4 * MTU)
        b.advance(rc, 4)
        expect(f"data in the order {order}", rc.memory.read(4 * MTU) == b"".join(data for _, data in packets), True)
        b.works(rc)


@case("SENDs complete in order, with their own data")
def sends(b):
    rc = b.rc()
    for i in range(3):
        rc.post_recv(wr_id=i)
    for i in (2, 1):
        b.send(rc, "RC_SEND_ONLY_IMM", b"x" * i, psn=rc.psn + i, imm=i)
    b.nak(rc, roce.NAK_SEQUENCE)
    expect("none early", rc.completions(), [])
    b.send_next(rc, "RC_SEND_ONLY", b"")
    b.advance(rc, 2)
    b.acked(rc)
    expect("completions", [(wc.wr_id, wc.status, wc.byte_len) for wc in rc.completions(3)], [(i, 0, i) for i in range(3)])
    b.works(rc)


@case("READ and atomic behind a gap: executed once, after it")
def responses(b):
    rc = b.rc()
    rc.memory.write((7).to_bytes(8, "little"))
    b.send(rc, "RC_FETCH_ADD", psn=rc.psn + 1, swap_add=3)
    b.send(rc, "RC_READ_REQUEST", psn=rc.psn + 2, dma_len=8)
    b.nak(rc, roce.NAK_SEQUENCE)
    expect("nothing early", rc.memory.read(8), (7).to_bytes(8, "little"))
    b.send_next(rc, "RC_WRITE_ONLY", b"data", va=rc.memory.va + 8, ack_req=False)
    b.advance(rc, 2)
    found = b.answers()
    expect("answers", [p.name for p in found], ["RC_ATOMIC_ACKNOWLEDGE", "RC_READ_RESPONSE_ONLY"])
    expect("value before", found[0].original, 7)
    expect("data of the READ", found[1].payload, (10).to_bytes(8, "little"))
    b.works(rc)


@case("a packet behind a gap that is refused: the NAK comes after the gap is filled")
def refused(b):
    rc = b.rc()
    b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 1, rkey=rc.memory.rkey ^ 0xFF)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.state(rc, "RTS")
    b.send_next(rc, "RC_WRITE_ONLY", b"a")
    b.nak(rc, roce.NAK_ACCESS)
    expect("memory", rc.memory.read(1), b"a")
    b.state(rc, "ERR")


@case("an RNR NAK drops held packets, and the peer repeats them")
def not_ready(b):
    rc = b.rc()
    ahead(b, rc, b"b")
    b.send(rc, "RC_SEND_ONLY", b"data")
    b.nak(rc, roce.RNR | 12)
    rc.post_recv()
    b.send_next(rc, "RC_SEND_ONLY", b"data")
    b.acked(rc)
    expect("memory", rc.memory.read(2), bytes(2))
    b.works(rc)


@case("a packet that arrives early several times is held once")
def repeated(b):
    rc = b.rc()
    with b.counts("rx_held"), b.counts("out_of_sequence", 50):
        for _ in range(50):
            b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 1)
        b.nak(rc, roce.NAK_SEQUENCE)


@case("thousands of packets behind a gap: executed in several steps, and the gap counts once")
def many(b):
    rc, number = b.rc(), 2000
    with b.counts("rx_held", number), b.counts("rx_gaps_filled"):
        for i in range(1, number + 1):
            b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + i, ack_req=i == number)
            if not i % 500:
                b.answers()
        b.send_next(rc, "RC_WRITE_ONLY", b"a")
        b.advance(rc, number)
        while b.wait_outgoing("RC_ACKNOWLEDGE").psn != rc.psn - 1 & 0xFFFFFF:
            pass
    b.works(rc)


@case("gaps that are never filled: held packets have a limit, and the connection still works")
def bounded(b):
    rc = b.rc()
    with b.counts("out_of_sequence", 9000), b.counts("rx_held", 8192):
        for first in range(0, 9000, 500):
            for i in range(first, first + 500):
                b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 2 * i + 1, ack_req=False)
            b.answers()
    other = b.rc()
    b.works(other)
    ahead(b, other, b"b")
    b.send_next(rc, "RC_WRITE_ONLY", b"a")
    b.advance(rc)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.state(rc, "RTS")


@case("a packet too far ahead, as of an earlier connection: dropped, and the connection goes on with ACKs")
def stale(b):
    for distance in (AHEAD + 1, 2**22, 2**23 - 1):
        rc = b.rc()
        with b.counts("rx_held", 0):
            b.send(rc, "RC_WRITE_ONLY", b"x", psn=rc.psn + distance)
            b.nak(rc, roce.NAK_SEQUENCE)
            for _ in range(2):
                b.works(rc)
        expect("memory", rc.memory.read(1), bytes(1))


def taught(b):
    """A connection whose network reorders: its device has learned this from NAKs that were not needed."""
    rc = b.rc()
    for _ in range(12):
        b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 1)
        b.answers()
        b.send_next(rc, "RC_WRITE_ONLY", b"a")
        b.send(rc, "RC_WRITE_ONLY", b"a", psn=rc.psn - 1)
        b.advance(rc)
        b.answers()
    return rc


@case("a network that reorders: a loss is reported without further packets")
def late(b):
    rc = taught(b)
    with b.counts("tx_nak_sequence"):
        before = b.counter("tx_nak_sequence")
        b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 1)
        b.wait_for("a NAK", lambda: b.counter("tx_nak_sequence") > before)
    b.answers()
    b.send_next(rc, "RC_WRITE_ONLY", b"a")
    b.advance(rc)
    b.acked(rc)
    b.works(rc)


@case("a network that reorders, with holding off: a gap is reported at once")
def late_turned_off(b):
    rc = taught(b)
    with b.setting("hold_out_of_order", "0"):
        b.send(rc, "RC_WRITE_ONLY", b"b", psn=rc.psn + 1)
        b.nak(rc, roce.NAK_SEQUENCE)
    b.works(rc)


@case("with holding off a packet behind a gap is dropped")
def turned_off(b):
    rc = b.rc()
    with b.setting("hold_out_of_order", "0"), b.counts("rx_held", 0):
        ahead(b, rc, b"b")
        b.send_next(rc, "RC_WRITE_ONLY", b"a")
        b.acked(rc)
    expect("memory", rc.memory.read(2), b"a\0")
    b.works(rc)


@case("the requester repeats only the lost packet if its peer holds the rest")
def repair(b):
    rc = b.rc()
    for wr_id in range(1, 6):
        rc.send(wr_id=wr_id)
    b.until_sent(PSN + 4)
    with b.counts("tx_repairs"), b.counts("packet_seq_err"):
        acknowledge(b, rc, PSN + 1, roce.NAK_SEQUENCE)
        expect("PSNs sent again", [p.psn for p in b.outgoing("RC_SEND_ONLY")], [PSN + 1])
    rc.send(wr_id=6)
    b.silence()
    acknowledge(b, rc, PSN + 4)
    expect("PSNs of new requests", [p.psn for p in b.outgoing("RC_SEND_ONLY")], [PSN + 5])
    acknowledge(b, rc, PSN + 5)
    expect("completions", [wc.wr_id for wc in rc.completions(6)], [1, 2, 3, 4, 5, 6])


@case("the requester repeats all packets to a peer that drops the rest, and remembers it")
def legacy(b):
    rc = b.rc()
    for wr_id in range(1, 5):
        rc.send(wr_id=wr_id)
    b.until_sent(PSN + 3)
    acknowledge(b, rc, PSN, roce.NAK_SEQUENCE)
    expect("PSNs sent again", [p.psn for p in b.outgoing("RC_SEND_ONLY")], [PSN])
    acknowledge(b, rc, PSN)
    expect("the rest", b.until_sent(PSN + 2)[:2], [PSN + 1, PSN + 2])
    acknowledge(b, rc, PSN + 3)
    for wr_id in range(5, 8):
        rc.send(wr_id=wr_id)
    b.until_sent(PSN + 6)
    acknowledge(b, rc, PSN + 4, roce.NAK_SEQUENCE)
    expect("all at once", b.until_sent(PSN + 5)[:2], [PSN + 4, PSN + 5])
    acknowledge(b, rc, PSN + 6)
    expect("completions", [wc.wr_id for wc in rc.completions(7)], list(range(1, 8)))


@case("READ responses behind a gap: only the gap is requested again")
def read_gap(b):
    rc = asked(b)
    with b.counts("rx_held"), b.counts("tx_repairs"):
        respond(b, rc, "FIRST", PSN, b"1" * MTU)
        respond(b, rc, "LAST", PSN + 2, b"3" * MTU)
        again = b.outgoing("RC_READ_REQUEST")[0]
    expect("PSN, address, length", (again.psn, again.va, again.dma_len), (PSN + 1, 0x1000 + MTU, MTU))
    respond(b, rc, "ONLY", PSN + 1, b"2" * MTU)
    wc = rc.completion()
    expect("completion", wc and wc.status, e.IBV_WC_SUCCESS)
    expect("memory", rc.memory.read(3 * MTU) == b"1" * MTU + b"2" * MTU + b"3" * MTU, True)
