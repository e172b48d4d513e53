# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The order of opcodes in a message (IBTA vol. 1, 9.7.4.1.3): NAK invalid request, QP in error."""

import roce
from testbed import case, expect

MTU = 1024


def refused(b, rc, opcode, payload=b"", **fields):
    b.send(rc, opcode, payload, **fields)
    b.nak(rc, roce.NAK_INVALID)
    b.state(rc, "ERR")


@case("MIDDLE and LAST without FIRST")
def no_first(b):
    for opcode in ("RC_SEND_MIDDLE", "RC_SEND_LAST", "RC_SEND_LAST_IMM", "RC_WRITE_MIDDLE", "RC_WRITE_LAST",
                   "RC_WRITE_LAST_IMM"):
        rc = b.rc()
        rc.post_recv()
        refused(b, rc, opcode, bytes(MTU))


@case("reserved opcodes, between messages and within one")
def reserved(b):
    for code in roce.RESERVED[:len(roce.RESERVED) // 2]:
        for within in (False, True):
            for n in (0, 4, 60):
                rc = b.rc()
                rc.post_recv()
                if within:
                    b.send_next(rc, "RC_WRITE_FIRST", bytes(MTU), dma_len=2 * MTU, ack_req=False)
                with b.counts("tx_nak_invalid"):
                    b.raw(roce.bth(code, rc.qpn, rc.psn, ack_req=True) + bytes(n))
                    b.nak(rc, roce.NAK_INVALID)
                b.state(rc, "ERR")
                b.clean()


@case("a reserved opcode behind a gap, and one of the past")
def reserved_elsewhere(b):
    rc = b.rc()
    behind = rc.psn + 1 & 0xFFFFFF
    for psn in (behind, behind + 1 & 0xFFFFFF):
        b.raw(roce.bth(roce.RESERVED[0], rc.qpn, psn) + b"data")
    b.nak(rc, roce.NAK_SEQUENCE)
    b.state(rc, "RTS")
    b.send(rc, "RC_WRITE_ONLY", b"data")
    last = b.answers()[-1]
    expect("syndrome and PSN", (last.syndrome, last.psn), (roce.NAK_INVALID, behind))
    b.state(rc, "ERR")
    expect("memory", rc.memory.read(4), b"data")
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", b"data")
    b.acked(rc)
    b.raw(roce.bth(roce.RESERVED[0], rc.qpn, rc.psn - 1 & 0xFFFFFF))
    b.acked(rc)
    b.works(rc)


BEGINNERS = (("RC_SEND_FIRST", MTU), ("RC_SEND_ONLY", 8), ("RC_SEND_ONLY_IMM", 8), ("RC_WRITE_FIRST", MTU), ("RC_WRITE_ONLY", 8),
             ("RC_WRITE_ONLY_IMM", 8), ("RC_READ_REQUEST", 0), ("RC_COMPARE_SWAP", 0), ("RC_FETCH_ADD", 0))


@case("a new message within a SEND")
def within_send(b):
    for opcode, n in BEGINNERS + (("RC_WRITE_MIDDLE", MTU), ("RC_WRITE_LAST", 8)):
        rc = b.rc()
        rc.post_recv()
        rc.post_recv()
        b.send_next(rc, "RC_SEND_FIRST", bytes(MTU), ack_req=False)
        refused(b, rc, opcode, bytes(n))
        expect("no completion is right", {wc.status == 0 for wc in rc.completions()}, {False})


@case("a new message within a WRITE")
def within_write(b):
    for opcode, n in BEGINNERS + (("RC_SEND_MIDDLE", MTU), ("RC_SEND_LAST", 8)):
        rc = b.rc()
        b.send_next(rc, "RC_WRITE_FIRST", bytes(MTU), dma_len=3 * MTU, ack_req=False)
        refused(b, rc, opcode, bytes(n))


@case("a packet behind a gap causes one NAK")
def gap(b):
    rc = b.rc()
    with b.counts("out_of_sequence", 6), b.counts("tx_nak_sequence"):
        for ahead in (1, 2, 3, 1, 1000, 2**23 - 1):
            b.send(rc, "RC_WRITE_ONLY", b"data", psn=rc.psn + ahead)
        b.nak(rc, roce.NAK_SEQUENCE)
    expect("memory", rc.memory.read(4), bytes(4))
    # The next gap, before the packet that was 1000 ahead
    b.send_next(rc, "RC_WRITE_ONLY", b"data")
    b.advance(rc, 3)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.state(rc, "RTS")


@case("a gap within a message: it continues after the gap is filled")
def gap_within(b):
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_FIRST", b"1" * MTU, dma_len=3 * MTU, ack_req=False)
    b.send(rc, "RC_WRITE_LAST", b"3" * MTU, psn=rc.psn + 1)
    b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_MIDDLE", b"2" * MTU, ack_req=False)
    b.advance(rc)
    b.acked(rc)
    expect("data", rc.memory.read(3 * MTU), b"1" * MTU + b"2" * MTU + b"3" * MTU)


@case("no receive posted: one RNR NAK until the packet is repeated")
def not_ready(b):
    rc = b.rc()
    with b.counts("tx_nak_rnr"), b.counts("out_of_buffer"), b.counts("out_of_sequence", 0):
        b.send(rc, "RC_SEND_ONLY", b"first")
        b.send(rc, "RC_SEND_ONLY", b"other", psn=rc.psn + 1)
        answer = b.nak(rc, roce.RNR | 12)
    expect("MSN", answer.msn, 0)
    rc.post_recv()
    b.send_next(rc, "RC_SEND_ONLY", b"first")
    expect("MSN", b.acked(rc).msn, 1)
    expect("data", rc.memory.read(5, 8192), b"first")
    b.works(rc)


@case("WRITE with immediate and no receive posted: RNR NAK, and no data is written")
def not_ready_write(b):
    rc = b.rc()
    b.send(rc, "RC_WRITE_ONLY_IMM", b"data")
    b.nak(rc, roce.RNR | 12)
    expect("memory", rc.memory.read(4), bytes(4))
    rc.post_recv()
    b.send_next(rc, "RC_WRITE_ONLY_IMM", b"data", imm=0x12345678)
    b.acked(rc)
    wc = rc.completion()
    expect("length", (wc.status, wc.byte_len), (0, 4))


@case("operations that the QP's access flags do not allow")
def not_enabled(b):
    for opcode, payload in (("RC_WRITE_ONLY", b"data"), ("RC_WRITE_FIRST", bytes(MTU)), ("RC_READ_REQUEST", b""),
                            ("RC_COMPARE_SWAP", b""), ("RC_FETCH_ADD", b"")):
        rc = b.rc(access=1)
        refused(b, rc, opcode, payload, **({"dma_len": 2 * MTU} if opcode == "RC_WRITE_FIRST" else {}))
