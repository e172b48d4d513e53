# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Lengths against path MTU, RETH and receive buffer (IBTA vol. 1, 9.7.4.1.6 to 9.7.4.1.8): NAK invalid request, QP in error."""

import constants as e
import roce
from testbed import case, expect

MTU = 1024


def refused(b, rc, opcode, payload=b"", **fields):
    b.send(rc, opcode, payload, **fields)
    b.nak(rc, roce.NAK_INVALID)
    b.state(rc, "ERR")


def untouched(rc):
    expect("memory", rc.memory.read(rc.memory.size).strip(b"\0"), b"")


def begin_write(b, rc, length=3 * MTU):
    b.send_next(rc, "RC_WRITE_FIRST", bytes(MTU), dma_len=length, ack_req=False)


def begin_send(b, rc):
    rc.post_recv()
    b.send_next(rc, "RC_SEND_FIRST", bytes(MTU), ack_req=False)


@case("payload longer than the path MTU")
def longer_than_mtu(b):
    for opcode in ("RC_WRITE_ONLY", "RC_SEND_ONLY", "RC_WRITE_ONLY_IMM", "RC_SEND_ONLY_IMM"):
        rc = b.rc()
        rc.post_recv()
        refused(b, rc, opcode, b"x" * (MTU + 4))
        untouched(rc)


@case("a FIRST packet that is not as long as the path MTU")
def short_first(b):
    for opcode in ("RC_WRITE_FIRST", "RC_SEND_FIRST"):
        for n in (0, 1, MTU - 4, MTU + 4):
            rc = b.rc()
            rc.post_recv()
            refused(b, rc, opcode, b"x" * n, **({"dma_len": 3 * MTU} if "WRITE" in opcode else {}))
            untouched(rc)


@case("a MIDDLE packet that is not as long as the path MTU")
def short_middle(b):
    for n in (0, MTU - 4, MTU + 4):
        rc = b.rc()
        begin_write(b, rc)
        refused(b, rc, "RC_WRITE_MIDDLE", b"x" * n)
        untouched(rc)
        rc = b.rc()
        begin_send(b, rc)
        refused(b, rc, "RC_SEND_MIDDLE", b"x" * n)
        expect("status", rc.completion().status, e.IBV_WC_REM_INV_REQ_ERR)


@case("a LAST packet without payload")
def empty_last(b):
    for opcode in ("RC_WRITE_LAST", "RC_WRITE_LAST_IMM"):
        rc = b.rc()
        rc.post_recv()
        begin_write(b, rc, 2 * MTU)
        refused(b, rc, opcode)
    for opcode in ("RC_SEND_LAST", "RC_SEND_LAST_IMM"):
        rc = b.rc()
        begin_send(b, rc)
        refused(b, rc, opcode)


@case("a RETH of length 0 with payload (what crashed rxe)")
def zero_length_payload(b):
    for opcode, n in (("RC_WRITE_ONLY", 4), ("RC_WRITE_ONLY_IMM", 4), ("RC_WRITE_FIRST", MTU)):
        for va, rkey in ((0, 0), (0, 0xFFFFFFFF)):
            rc = b.rc()
            rc.post_recv()
            refused(b, rc, opcode, b"x" * n, va=va, rkey=rkey, dma_len=0)


@case("a RETH of length 0 without payload needs no key")
def zero_length(b):
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", va=12345, rkey=0, dma_len=0)
    b.acked(rc)
    b.send_next(rc, "RC_READ_REQUEST", va=2**64 - 1, rkey=0xABCDEF, dma_len=0)
    expect("payload", b.one_answer("RC_READ_RESPONSE_ONLY").payload, b"")
    b.works(rc)


@case("a WRITE with less or more payload than the RETH says")
def reth_mismatch(b):
    for n in (1, 4, 7, 9, 12, 2**31, 2**31 + 1, 2**32 - 1):
        rc = b.rc()
        refused(b, rc, "RC_WRITE_ONLY", b"12345678", dma_len=n)
        untouched(rc)
    for n in (1, 1023, 1024):
        rc = b.rc()
        refused(b, rc, "RC_WRITE_FIRST", b"x" * MTU, dma_len=n)
        untouched(rc)


@case("a WRITE of several packets with less or more payload than the RETH says")
def reth_mismatch_later(b):
    for opcode, payload, announced in (("RC_WRITE_LAST", 100, 2000), ("RC_WRITE_LAST", 1000, MTU + 4),
                                       ("RC_WRITE_MIDDLE", MTU, 2 * MTU), ("RC_WRITE_MIDDLE", MTU, MTU + 4)):
        rc = b.rc()
        begin_write(b, rc, announced)
        refused(b, rc, opcode, b"x" * payload)
        untouched(rc)


@case("lengths beyond 2^31")
def too_long(b):
    for length in (2**31 + 1, 2**32 - 1):
        refused(b, b.rc(), "RC_WRITE_FIRST", b"x" * MTU, dma_len=length)
        refused(b, b.rc(), "RC_READ_REQUEST", dma_len=length)


@case("a SEND longer than its receive buffer")
def receive_too_small(b):
    for n in (0, 3, 99):
        rc = b.rc()
        rc.post_recv(n or 1)
        refused(b, rc, "RC_SEND_ONLY", b"x" * 100)
        expect("status", rc.completion().status, e.IBV_WC_LOC_LEN_ERR)
        untouched_behind(rc, 8192 + (n or 1))


def untouched_behind(rc, at):
    expect("memory behind the buffer", rc.memory.read(1000, at).strip(b"\0"), b"")


@case("a SEND whose third packet exceeds the receive buffer")
def receive_too_small_later(b):
    rc = b.rc()
    rc.post_recv(2 * MTU)
    b.send_next(rc, "RC_SEND_FIRST", bytes(MTU), ack_req=False)
    b.send_next(rc, "RC_SEND_MIDDLE", bytes(MTU), ack_req=False)
    refused(b, rc, "RC_SEND_LAST", b"x")
    expect("status", rc.completion().status, e.IBV_WC_LOC_LEN_ERR)
    untouched_behind(rc, 8192 + 2 * MTU)


@case("a receive buffer with an unknown lkey")
def receive_bad_key(b):
    rc = b.rc()
    sge = rc.memory.sge(100)
    sge.lkey ^= 0x100
    rc.post_recv(sge=sge)
    b.send(rc, "RC_SEND_ONLY", b"data")
    b.nak(rc, roce.NAK_OPERATION)
    expect("status", rc.completion().status, e.IBV_WC_LOC_PROT_ERR)
    b.state(rc, "ERR")
