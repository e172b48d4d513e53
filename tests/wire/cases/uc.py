# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unreliable connections (IBTA vol. 1, 9.8): an invalid or missing packet costs only its message; there are no responses."""

import os

import constants as e
import roce
from testbed import case, expect

MTU = 1024


def dropped(b, uc, opcode, payload=b"", **fields):
    b.send_next(uc, opcode, payload, **fields)
    b.silence()
    b.state(uc, "RTS")


def nothing_came(uc):
    expect("completions", [wc.status for wc in uc.completions()], [])
    expect("memory", uc.memory.read(8192).strip(b"\0"), b"")


@case("opcodes that do not exist for UC")
def no_such_opcode(b):
    uc = b.qp("UC")
    codes = range(0x2C, 0x40)
    with b.counts("rx_malformed", len(codes)):
        for code in codes:
            b.raw(roce.bth(code, uc.qpn, uc.psn) + bytes(28))
        b.silence()
    b.works(uc)


@case("MIDDLE and LAST without FIRST")
def no_first(b):
    uc = b.qp("UC")
    uc.post_recv()
    for opcode in ("UC_SEND_MIDDLE", "UC_SEND_LAST", "UC_SEND_LAST_IMM", "UC_WRITE_MIDDLE", "UC_WRITE_LAST", "UC_WRITE_LAST_IMM"):
        dropped(b, uc, opcode, b"x" * MTU)
    nothing_came(uc)
    b.works(uc)


@case("UC: wrong lengths")
def lengths(b):
    uc = b.qp("UC")
    uc.post_recv()
    dropped(b, uc, "UC_WRITE_ONLY", b"x" * (MTU + 4))
    dropped(b, uc, "UC_SEND_ONLY", b"x" * (MTU + 4))
    dropped(b, uc, "UC_WRITE_FIRST", b"x" * 8, dma_len=2 * MTU)
    dropped(b, uc, "UC_SEND_FIRST", b"x" * 8)
    dropped(b, uc, "UC_WRITE_ONLY", b"x" * 8, dma_len=0)
    dropped(b, uc, "UC_WRITE_ONLY", b"x" * 8, dma_len=4)
    dropped(b, uc, "UC_WRITE_ONLY", b"x" * 8, dma_len=2**32 - 1)
    nothing_came(uc)
    b.works(uc)


@case("UC: wrong keys and bounds")
def keys(b):
    uc = b.qp("UC")
    va, rkey = uc.memory.va, uc.memory.rkey
    for fields in ({"rkey": rkey ^ 0x100, "va": va}, {"va": va - 8}, {"va": va + uc.memory.size - 4}, {"va": 2**64 - 4}):
        dropped(b, uc, "UC_WRITE_ONLY", b"12345678", **fields)
    nothing_came(uc)
    b.works(uc)


@case("UC: a lost packet loses its message only, and its receive buffer is used again")
def lost(b):
    uc = b.qp("UC")
    uc.post_recv()
    b.send_next(uc, "UC_SEND_FIRST", b"x" * MTU)
    b.advance(uc)
    b.send_next(uc, "UC_SEND_LAST", b"x" * 8)
    b.silence()
    expect("completions", uc.completions(), [])
    data = os.urandom(MTU + 5)
    b.send_next(uc, "UC_SEND_FIRST", data[:MTU])
    b.send_next(uc, "UC_SEND_LAST", data[MTU:])
    b.silence()
    wc = uc.completion()
    expect("status, length", (wc.status, wc.byte_len), (0, MTU + 5))
    expect("data", uc.memory.read(MTU + 5, 8192) == data, True)
    b.works(uc)


@case("UC: a new message within another one")
def within(b):
    uc = b.qp("UC")
    uc.post_recv()
    b.send_next(uc, "UC_SEND_FIRST", b"x" * MTU)
    b.send_next(uc, "UC_SEND_ONLY", b"short")
    b.silence()
    wc = uc.completion()
    expect("status, length", (wc.status, wc.byte_len), (0, 5))
    b.works(uc)


@case("UC: no receive posted: the message is lost")
def no_receive(b):
    uc = b.qp("UC")
    with b.counts("out_of_buffer"):
        dropped(b, uc, "UC_SEND_ONLY", b"data")
    b.works(uc)


@case("UC: a SEND longer than its receive buffer fails the QP")
def too_small(b):
    uc = b.qp("UC")
    uc.post_recv(16)
    b.send(uc, "UC_SEND_ONLY", b"x" * 17)
    b.silence()
    expect("status", uc.completion().status, e.IBV_WC_LOC_LEN_ERR)
    b.state(uc, "ERR")
