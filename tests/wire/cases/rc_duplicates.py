# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Duplicate requests (IBTA vol. 1, 9.7.5.1.4 to 9.7.5.2): SEND and WRITE are acknowledged again, READ is executed again, an
response to an atomic comes from the record; nothing is executed twice."""

import os
import struct

import roce
from testbed import TX_LIMIT, case, expect
from target import READS

MTU = 1024
# SROCE_IGNORED_READS of core/params.h
IGNORED_READS = 8


def number(rc, offset=0):
    return struct.unpack("=Q", rc.memory.read(8, offset))[0]


def ask(b, rc, *names):
    """The responses, by name."""
    found = b.answers()
    expect("answers", [p.name for p in found], list(names))
    return found


@case("a duplicate SEND is acknowledged again and not delivered again")
def send(b):
    rc = b.rc()
    rc.post_recv(wr_id=1)
    rc.post_recv(wr_id=2)
    b.send_next(rc, "RC_SEND_ONLY", b"once")
    b.acked(rc)
    with b.counts("duplicate_request"):
        b.send(rc, "RC_SEND_ONLY", b"more", psn=rc.psn - 1)
        expect("MSN", b.acked(rc).msn, 1)
    expect("completions", [wc.wr_id for wc in rc.completions(1)], [1])
    expect("data", rc.memory.read(4, 8192), b"once")
    b.works(rc)


@case("a duplicate WRITE is not executed again")
def write(b):
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", b"old!")
    b.acked(rc)
    rc.memory.write(b"new!")
    b.send(rc, "RC_WRITE_ONLY", b"old!", psn=rc.psn - 1)
    b.acked(rc)
    expect("memory", rc.memory.read(4), b"new!")
    b.works(rc)


@case("duplicates in a row: an ACK for the first one and for those with AckReq")
def asking(b):
    for psn in (0, 100, 0xFFFFFF):
        rc = b.rc(psn=psn)
        for _ in range(3):
            b.send_next(rc, "RC_WRITE_ONLY", b"data")
        b.answers()
        for behind, asks, answers in ((3, False, 1), (2, False, 0), (1, True, 1), (3, False, 1), (1, False, 1)):
            with b.counts("duplicate_request"):
                b.send(rc, "RC_WRITE_ONLY", b"data", psn=rc.psn - behind, ack_req=asks)
                found = b.answers()
            expect(f"from {psn}, answers to the duplicate {behind} behind", [p.psn for p in found], [rc.psn - 1 & 0xFFFFFF] * answers)
        b.works(rc)


@case("duplicates from the whole PSN window, with any content")
def very_old(b):
    rc = b.rc()
    b.works(rc)
    for behind in (2, 1000, 2**22, 2**23):
        b.send(rc, "RC_WRITE_ONLY", b"old!", psn=rc.psn - behind, rkey=0xDEAD, va=0)
        b.acked(rc)
    b.works(rc)


@case("duplicates between the packets of a message do not disturb it")
def within(b):
    rc, data = b.rc(), os.urandom(3 * MTU)
    rc.post_recv()
    b.send_next(rc, "RC_SEND_FIRST", data[:MTU], ack_req=False)
    b.send_next(rc, "RC_SEND_MIDDLE", data[MTU:2 * MTU], ack_req=False)
    b.silence()
    b.send(rc, "RC_SEND_FIRST", bytes(MTU), psn=rc.psn - 2)
    b.acked(rc)
    b.send_next(rc, "RC_SEND_LAST", data[2 * MTU:])
    b.acked(rc)
    expect("data", rc.memory.read(3 * MTU, 8192) == data, True)
    expect("length", rc.completion().byte_len, 3 * MTU)


@case("a duplicate READ is executed again, with the current data")
def read(b):
    rc = b.rc()
    rc.memory.write(b"then")
    b.send_next(rc, "RC_READ_REQUEST", dma_len=4)
    expect("payload", b.one_answer("RC_READ_RESPONSE_ONLY").payload, b"then")
    rc.memory.write(b"now.")
    with b.counts("duplicate_request"):
        b.send(rc, "RC_READ_REQUEST", dma_len=4, psn=rc.psn - 1)
        answer = b.one_answer("RC_READ_RESPONSE_ONLY")
    expect("payload, PSN, MSN", (answer.payload, answer.psn, answer.msn), (b"now.", rc.psn - 1 & 0xFFFFFF, 1))
    b.works(rc)


@case("the ACK of a duplicate WRITE does not cover a later READ or atomic")
def not_of_answers(b):
    rc = b.rc()
    for what, answer, fields in (("READ_REQUEST", "READ_RESPONSE_ONLY", {"dma_len": 8}), ("FETCH_ADD", "ATOMIC_ACKNOWLEDGE", {})):
        write = rc.psn
        b.send_next(rc, "RC_WRITE_ONLY", b"12345678")
        b.acked(rc)
        b.send_next(rc, "RC_" + what, **fields)
        ask(b, rc, "RC_" + answer)
        # The device has received nothing, so the peer begins with the WRITE
        b.send(rc, "RC_WRITE_ONLY", b"12345678", psn=write)
        ack = b.one_answer("RC_ACKNOWLEDGE")
        expect("class and PSN of the ACK", (ack.syndrome >> 5, ack.psn), (0, write & 0xFFFFFF))
        b.send(rc, "RC_" + what, psn=write + 1, **fields)
        ask(b, rc, "RC_" + answer)
    b.works(rc)


@case("the rest of a READ can be requested again")
def read_rest(b):
    rc, data = b.rc(), os.urandom(4 * MTU)
    rc.memory.write(data)
    first = rc.psn
    b.send(rc, "RC_READ_REQUEST", dma_len=4 * MTU)
    b.advance(rc, 4)
    expect("data", b"".join(p.payload for p in b.answers()) == data, True)
    b.send(rc, "RC_READ_REQUEST", dma_len=2 * MTU, va=rc.memory.va + 2 * MTU, psn=first + 2)
    found = ask(b, rc, "RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_LAST")
    expect("PSNs", [p.psn for p in found], [first + 2 & 0xFFFFFF, first + 3 & 0xFFFFFF])
    expect("data", b"".join(p.payload for p in found) == data[2 * MTU:], True)
    b.works(rc)


@case("a duplicate READ with another address or length is ignored")
def read_other(b):
    rc = b.rc()
    first = rc.psn
    b.send(rc, "RC_READ_REQUEST", dma_len=2 * MTU)
    b.advance(rc, 2)
    ask(b, rc, "RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_LAST")
    va, rkey = rc.memory.va, rc.memory.rkey
    for psn, fields in ((first, {"dma_len": 2 * MTU + 1}), (first, {"dma_len": 8, "va": va + 8}), (first, {"dma_len": 8, "va": va - 8}),
                        (first, {"dma_len": 8, "rkey": rkey ^ 0x100, "va": va}), (first + 1, {"dma_len": MTU, "va": va}),
                        (first + 1, {"dma_len": 2**32 - 1, "va": va + MTU}), (first - 1, {"dma_len": 8})):
        b.send(rc, "RC_READ_REQUEST", psn=psn, **fields)
    b.silence()
    b.works(rc)


@case("a duplicate atomic gets the saved result and is not executed again")
def atomic(b):
    rc = b.rc()
    rc.memory.write(struct.pack("=Q", 100))
    b.send_next(rc, "RC_FETCH_ADD", swap_add=1)
    expect("value", b.one_answer("RC_ATOMIC_ACKNOWLEDGE").original, 100)
    b.send_next(rc, "RC_COMPARE_SWAP", compare=101, swap_add=7)
    expect("value", b.one_answer("RC_ATOMIC_ACKNOWLEDGE").original, 101)
    for _ in range(3):
        b.send(rc, "RC_FETCH_ADD", swap_add=1, psn=rc.psn - 2)
        answer = b.one_answer("RC_ATOMIC_ACKNOWLEDGE")
        expect("value and PSN", (answer.original, answer.psn), (100, rc.psn - 2 & 0xFFFFFF))
        b.send(rc, "RC_COMPARE_SWAP", compare=101, swap_add=7, psn=rc.psn - 1)
        expect("value", b.one_answer("RC_ATOMIC_ACKNOWLEDGE").original, 101)
    expect("memory", number(rc), 7)
    b.works(rc)


@case("a duplicate atomic whose result is no longer saved is ignored")
def forgotten(b):
    rc = b.rc()
    for _ in range(READS + 1):
        b.send_next(rc, "RC_FETCH_ADD", swap_add=1)
    ask(b, rc, *["RC_ATOMIC_ACKNOWLEDGE"] * (READS + 1))
    b.send(rc, "RC_FETCH_ADD", swap_add=1, psn=rc.psn - READS - 1)
    b.silence()
    b.send(rc, "RC_FETCH_ADD", swap_add=1, psn=rc.psn - READS)
    expect("value", b.one_answer("RC_ATOMIC_ACKNOWLEDGE").original, 1)
    expect("memory", number(rc), READS + 1)
    b.works(rc)


@case("a READ with the PSN of an atomic, and the reverse, are ignored")
def other_kind(b):
    rc = b.rc()
    b.send_next(rc, "RC_READ_REQUEST", dma_len=8)
    ask(b, rc, "RC_READ_RESPONSE_ONLY")
    b.send_next(rc, "RC_FETCH_ADD", swap_add=5)
    ask(b, rc, "RC_ATOMIC_ACKNOWLEDGE")
    b.send(rc, "RC_FETCH_ADD", swap_add=5, psn=rc.psn - 2)
    b.send(rc, "RC_READ_REQUEST", dma_len=8, psn=rc.psn - 1)
    b.silence()
    expect("memory", number(rc), 5)
    b.works(rc)


@case("a duplicate READ whose key was revoked: no data is sent, and the connection still works")
def read_without_key(b):
    rc = b.rc()
    memory = b.memory(rc, 7)
    va, rkey = memory.va, memory.rkey
    b.send_next(rc, "RC_READ_REQUEST", va=va, rkey=rkey, dma_len=8)
    ask(b, rc, "RC_READ_RESPONSE_ONLY")
    memory.mr.close()
    with b.counts("rx_ignored"):
        b.send(rc, "RC_READ_REQUEST", va=va, rkey=rkey, dma_len=8, psn=rc.psn - 1)
        b.silence()
    b.works(rc)


@case("a READ repeated many times after its key was revoked gets a NAK")
def read_refused(b):
    rc = b.rc()
    memory = b.memory(rc, 7)
    va, rkey, read = memory.va, memory.rkey, rc.psn
    b.send_next(rc, "RC_READ_REQUEST", va=va, rkey=rkey, dma_len=2 * MTU)
    ask(b, rc, "RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_LAST")
    b.advance(rc, 1)
    memory.mr.close()
    fields = {"va": va + MTU, "rkey": rkey, "dma_len": MTU, "psn": read + 1}
    # One by one: a duplicate that arrives while another is not answered yet replaces it.
    for _ in range(IGNORED_READS):
        with b.counts("rx_ignored"):
            b.send(rc, "RC_READ_REQUEST", **fields)
            b.silence()
    with b.counts("resp_remote_access_errors"):
        b.send(rc, "RC_READ_REQUEST", **fields)
        nak = b.one_answer("RC_ACKNOWLEDGE")
    expect("syndrome", f"{nak.syndrome:#x}", f"{roce.NAK_ACCESS:#x}")
    expect("PSN of the NAK", nak.psn, read + 1 & 0xFFFFFF)
    b.state(rc, "ERR")


@case("more READs than max_dest_rd_atomic at once are refused")
def too_many(b):
    rc, answers = b.rc(), []
    # Until the queue is full, then as many more as may wait, and one more; READs that wait share a burst
    most = READS * TX_LIMIT + READS + 1
    with b.plugged_queue():
        while rc.state == "RTS" and rc.psn - rc.first_psn & 0xFFFFFF < most:
            b.send_next(rc, "RC_READ_REQUEST", dma_len=1000)
        b.wait_for("the QP fails", lambda: rc.state == "ERR")
    while not answers or answers[-1].name != "RC_ACKNOWLEDGE":
        answers.append(b.wait_outgoing(None))
    nak = answers.pop()
    expect("syndrome", f"{nak.syndrome:#x}", f"{roce.NAK_INVALID:#x}")
    expect("answers", {packet.name for packet in answers}, {"RC_READ_RESPONSE_ONLY"})
    expect("all before it are answered", len(answers), nak.psn - rc.first_psn & 0xFFFFFF)
