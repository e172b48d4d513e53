# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Atomic WRITE and FLUSH (IBTA vol. 1, annex A19): one packet, whose response is a READ response without payload, and which
takes a responder resource."""

import os

import constants as e
import roce
from testbed import case, expect
from target import ALL, READS

PSN = 500
GLOBAL, PERSISTENT = 1, 2
RANGE, REGION = 0, 1
# IBV_ACCESS_FLUSH_*, IBV_DEVICE_FLUSH_GLOBAL: rdma-core 44 has no names for them
FLUSH_GLOBAL, FLUSH_PERSISTENT = 1 << 8, 1 << 9
CAN_FLUSH = 1 << 38


def feth(kind=GLOBAL, level=RANGE):
    return level << 4 | kind


def can_flush(b):
    return bool(b.context.query_device_ex().device_cap_flags_ex & CAN_FLUSH)


def placed(b, rc, name="RC_READ_RESPONSE_ONLY"):
    """The response to the latest request."""
    answer = b.one_answer(name)
    expect("PSN", answer.psn, rc.psn - 1 & 0xFFFFFF)
    expect("syndrome class", answer.syndrome >> 5, 0)
    expect("payload", answer.payload, b"")
    return answer


@case("an atomic WRITE: its 8 bytes, and an empty READ response")
def atomic_write(b):
    rc = b.rc()
    for i in range(3 * READS):
        data = os.urandom(8)
        b.send_next(rc, "RC_ATOMIC_WRITE", data, va=rc.memory.va + 8 * i)
        expect("MSN", placed(b, rc).msn, i + 1)
        expect("data", rc.memory.read(16, 8 * i), data + bytes(8))
    b.works(rc)


@case("an atomic WRITE without AckReq gets a response")
def not_asked(b):
    rc = b.rc()
    b.send_next(rc, "RC_ATOMIC_WRITE", b"12345678", ack_req=False)
    placed(b, rc)
    b.works(rc)


@case("a duplicate atomic WRITE gets a response and is not executed again")
def duplicate(b):
    rc = b.rc()
    b.send_next(rc, "RC_ATOMIC_WRITE", b"old_word")
    placed(b, rc)
    rc.memory.write(b"new_word")
    with b.counts("duplicate_request", 2):
        for _ in range(2):
            b.send(rc, "RC_ATOMIC_WRITE", b"old_word", psn=rc.psn - 1)
            expect("MSN", placed(b, rc).msn, 1)
    expect("memory", rc.memory.read(8), b"new_word")
    # A packet of another kind is not a duplicate
    b.send(rc, "RC_READ_REQUEST", psn=rc.psn - 1, dma_len=8)
    b.send(rc, "RC_FETCH_ADD", psn=rc.psn - 1)
    b.silence()
    b.works(rc)


@case("responses to atomic WRITEs and READs keep their order")
def order(b):
    rc = b.rc()
    rc.memory.write(b"contents")
    b.send_next(rc, "RC_READ_REQUEST", dma_len=8)
    b.send_next(rc, "RC_ATOMIC_WRITE", b"12345678", va=rc.memory.va + 8)
    b.send_next(rc, "RC_WRITE_ONLY", b"more", va=rc.memory.va + 16)
    found = b.answers()
    expect("answers", [p.name for p in found], ["RC_READ_RESPONSE_ONLY"] * 2 + ["RC_ACKNOWLEDGE"])
    expect("data", [p.payload for p in found], [b"contents", b"", b""])
    expect("memory", rc.memory.read(20), b"contents12345678more")
    b.works(rc)


@case("an atomic WRITE of other than 8 bytes, by its RETH or its payload")
def lengths(b):
    for dma_len, size in [(n, 8) for n in (0, 4, 7, 9, 16, 2**31)] + [(8, n) for n in (0, 1, 4, 7, 9, 12, 16, 1024)] + [(4, 4), (16, 16)]:
        rc = b.rc()
        b.send(rc, "RC_ATOMIC_WRITE", b"x" * size, dma_len=dma_len)
        b.nak(rc, roce.NAK_INVALID)
        b.state(rc, "ERR")
        expect("memory", rc.memory.read(64), bytes(64))


@case("an atomic WRITE that is not aligned")
def misaligned(b):
    for distance in range(1, 8):
        rc = b.rc()
        b.send(rc, "RC_ATOMIC_WRITE", b"12345678", va=rc.memory.va + distance)
        b.nak(rc, roce.NAK_INVALID)
        b.state(rc, "ERR")
        expect("memory", rc.memory.read(64), bytes(64))


@case("an atomic WRITE to a QP that does not allow WRITEs, or within a message")
def not_allowed(b):
    rc = b.rc(access=ALL & ~e.IBV_ACCESS_REMOTE_WRITE)
    b.send(rc, "RC_ATOMIC_WRITE", b"12345678")
    b.nak(rc, roce.NAK_INVALID)
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_FIRST", bytes(1024), dma_len=2048, ack_req=False)
    b.send(rc, "RC_ATOMIC_WRITE", b"12345678")
    b.nak(rc, roce.NAK_INVALID)
    b.state(rc, "ERR")


@case("FLUSH without the access right of the QP or of the region")
def flush_refused(b):
    for level in (RANGE, REGION):
        rc = b.rc()
        b.send(rc, "RC_FLUSH", feth=feth(level=level), dma_len=8)
        b.nak(rc, roce.NAK_INVALID)
        b.state(rc, "ERR")
        rc = b.rc(access=ALL | FLUSH_GLOBAL)
        b.send(rc, "RC_FLUSH", feth=feth(level=level), dma_len=8)
        b.nak(rc, roce.NAK_ACCESS)
        b.state(rc, "ERR")


@case("FLUSH to persistence is refused")
def persistence(b):
    for kind in (PERSISTENT, GLOBAL | PERSISTENT):
        rc = b.rc(access=ALL | FLUSH_GLOBAL | FLUSH_PERSISTENT)
        memory = b.memory(rc, ALL | FLUSH_GLOBAL if can_flush(b) else ALL)
        b.send(rc, "RC_FLUSH", feth=feth(kind), dma_len=8, va=memory.va, rkey=memory.rkey)
        b.nak(rc, roce.NAK_ACCESS)
        b.state(rc, "ERR")
        memory.mr.close()


@case("FLUSH with reserved types and levels, with too large a length, with payload")
def flush_reserved(b):
    for bits in [feth(kind) for kind in (0, 4, 8, 12, 5)] + [feth(level=2), feth(level=3)]:
        rc = b.rc(access=ALL | FLUSH_GLOBAL | FLUSH_PERSISTENT)
        b.send(rc, "RC_FLUSH", feth=bits, dma_len=8)
        b.nak(rc, roce.NAK_INVALID)
    rc = b.rc(access=ALL | FLUSH_GLOBAL)
    b.send(rc, "RC_FLUSH", feth=feth(), dma_len=2**31 + 1)
    b.nak(rc, roce.NAK_INVALID)
    rc = b.rc(access=ALL | FLUSH_GLOBAL)
    with b.counts("rx_malformed"):
        b.send(rc, "RC_FLUSH", b"data", feth=feth(), dma_len=4)
        b.silence()
    b.works(rc)


@case("FLUSH of a range and of a region (kernels from 6.2 on)")
def flush(b):
    if not can_flush(b):
        return
    rc = b.rc(access=ALL | FLUSH_GLOBAL)
    memory = b.memory(rc, ALL | FLUSH_GLOBAL)
    end = memory.va + memory.size
    for level, va, dma_len in ((RANGE, memory.va, 0), (RANGE, memory.va, 4096), (RANGE, end - 1, 1), (RANGE, end, 0),
                               (REGION, 0, 0), (REGION, 2**64 - 1, 2**32 - 1)):
        b.send_next(rc, "RC_FLUSH", feth=feth(level=level), va=va, dma_len=dma_len, rkey=memory.rkey)
        placed(b, rc)
    # Reserved bits in FETH are ignored
    b.send_next(rc, "RC_FLUSH", feth=feth() | 0xFFFFFFC0, va=memory.va, dma_len=8, rkey=memory.rkey)
    msn = placed(b, rc).msn
    b.send(rc, "RC_FLUSH", feth=feth(), va=memory.va, dma_len=8, rkey=memory.rkey, psn=rc.psn - 1)
    expect("MSN of a duplicate", placed(b, rc).msn, msn)
    b.works(rc)
    memory.mr.close()


def asked(b):
    rc = b.rc(timeout=0)
    rc.memory.write(b"the word")
    rc.atomic_write()
    sent = b.outgoing("RC_ATOMIC_WRITE")[0]
    expect("PSN", sent.psn, PSN)
    expect("RETH", (sent.va, sent.rkey, sent.dma_len), (0x1000, 0x77, 8))
    expect("payload", sent.payload, b"the word")
    return rc


def respond(b, rc, name="READ_RESPONSE_ONLY", payload=b"", psn=PSN, syndrome=roce.ACK):
    b.raw(roce.transport("RC_" + name, rc.qpn, psn, payload, aeth=syndrome << 24 | 1))


@case("the requester's atomic WRITE completes with its response")
def answered(b):
    rc = asked(b)
    expect("completions", rc.completions(), [])
    respond(b, rc)
    wc = rc.completion()
    expect("completion", wc and (wc.status, wc.opcode), (0, e.IBV_WC_ATOMIC_WRITE))
    b.works(rc)


@case("an ACK does not complete an atomic WRITE: it is repeated")
def acknowledged(b):
    rc = asked(b)
    respond(b, rc, "ACKNOWLEDGE")
    again = b.outgoing("RC_ATOMIC_WRITE")[0]
    expect("PSN and payload", (again.psn, again.payload), (PSN, b"the word"))
    respond(b, rc)
    expect("status", rc.completion().status, 0)


@case("invalid responses to an atomic WRITE")
def bad_answers(b):
    for name, payload in (("READ_RESPONSE_ONLY", b"more"), ("READ_RESPONSE_FIRST", b""), ("READ_RESPONSE_LAST", b"")):
        rc = asked(b)
        respond(b, rc, name, payload)
        expect("status", rc.completion().status, e.IBV_WC_BAD_RESP_ERR)
        b.state(rc, "ERR")
    rc = asked(b)
    b.raw(roce.transport("RC_ATOMIC_ACKNOWLEDGE", rc.qpn, PSN, aeth=roce.ACK << 24, original=1))
    respond(b, rc, psn=PSN + 1)
    b.silence()
    expect("completions", rc.completions(), [])
    respond(b, rc, "ACKNOWLEDGE", syndrome=roce.NAK_ACCESS)
    expect("status", rc.completion().status, e.IBV_WC_REM_ACCESS_ERR)
