# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Keys, rights and bounds of remote memory (IBTA vol. 1, 9.7.4.1.5): NAK remote access error, QP in error, nothing touched."""

import os

import constants as e
import roce
from testbed import PATIENCE, TX_LIMIT, Failure, case, expect
from pyverbs.pd import PD
from target import Memory

MTU = 1024
ACCESSES = (("RC_WRITE_ONLY", b"12345678"), ("RC_READ_REQUEST", b""), ("RC_COMPARE_SWAP", b""), ("RC_FETCH_ADD", b""),
            ("RC_ATOMIC_WRITE", b"12345678"))


def refused(b, rc, opcode, payload=b"", **fields):
    with b.counts("resp_remote_access_errors"):
        b.send(rc, opcode, payload, **fields)
        b.nak(rc, roce.NAK_ACCESS)
    b.state(rc, "ERR")
    expect("memory", rc.memory.read(rc.memory.size).strip(b"\0"), b"")


def length(opcode):
    return {"dma_len": 8} if "READ" in opcode else {}


@case("keys that differ by one bit from a valid one")
def wrong_key(b):
    for opcode, payload in ACCESSES:
        for bit in (0, 7, 8, 19, 31):
            rc = b.rc()
            refused(b, rc, opcode, payload, rkey=rc.memory.rkey ^ 1 << bit, **length(opcode))


@case("a region of another PD")
def other_pd(b):
    pd = PD(b.context)
    memory = Memory(pd, 4096)
    for opcode, payload in ACCESSES:
        refused(b, b.rc(), opcode, payload, rkey=memory.rkey, va=memory.va, **length(opcode))
    expect("memory", memory.read(4096).strip(b"\0"), b"")
    memory.mr.close()
    pd.close()


@case("a region without the access right")
def no_right(b):
    rights = {"RC_WRITE_ONLY": e.IBV_ACCESS_REMOTE_WRITE, "RC_READ_REQUEST": e.IBV_ACCESS_REMOTE_READ,
              "RC_COMPARE_SWAP": e.IBV_ACCESS_REMOTE_ATOMIC, "RC_FETCH_ADD": e.IBV_ACCESS_REMOTE_ATOMIC,
              "RC_ATOMIC_WRITE": e.IBV_ACCESS_REMOTE_WRITE}
    for opcode, payload in ACCESSES:
        rc = b.rc()
        memory = b.memory(rc, sum(set(rights.values()) - {rights[opcode]}) | e.IBV_ACCESS_LOCAL_WRITE)
        refused(b, rc, opcode, payload, rkey=memory.rkey, va=memory.va, **length(opcode))
        expect("memory", memory.read(4096).strip(b"\0"), b"")
        memory.mr.close()


@case("addresses before, across and behind the region, and addresses that wrap")
def bounds(b):
    for opcode, payload in ACCESSES:
        across = 0 if opcode in ("RC_COMPARE_SWAP", "RC_FETCH_ADD", "RC_ATOMIC_WRITE") else 4
        for distance in (-8, -8 * 4096, 0, -across):
            rc = b.rc()
            end = rc.memory.size if distance in (0, -across) else 0
            refused(b, rc, opcode, payload, va=rc.memory.va + end + distance, **length(opcode))
        for va in (0, 2**64 - 8, 2**63):
            refused(b, b.rc(), opcode, payload, va=va, **length(opcode))


@case("lengths beyond the end of the region, and lengths that wrap")
def long_access(b):
    for extra in (1, 4096, 2**31 - 16384, 2**30):
        rc = b.rc()
        refused(b, rc, "RC_WRITE_FIRST", b"x" * MTU, dma_len=rc.memory.size + extra)
        rc = b.rc()
        refused(b, rc, "RC_READ_REQUEST", dma_len=rc.memory.size + extra)
    refused(b, b.rc(), "RC_WRITE_FIRST", b"x" * MTU, va=2**64 - MTU, dma_len=2 * MTU)
    refused(b, b.rc(), "RC_READ_REQUEST", va=2**64 - 1, dma_len=2**31)


@case("the last bytes of the region are accessible")
def last_bytes(b):
    rc = b.rc()
    end = rc.memory.va + rc.memory.size
    b.send_next(rc, "RC_WRITE_ONLY", b"end", va=end - 3)
    b.acked(rc)
    b.send_next(rc, "RC_READ_REQUEST", va=end - 3, dma_len=3)
    expect("payload", b.one_answer("RC_READ_RESPONSE_ONLY").payload, b"end")
    b.works(rc)


@case("a key that is revoked during a WRITE")
def deregistered(b):
    rc = b.rc()
    memory = b.memory(rc, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE)
    rkey, va = memory.rkey, memory.va
    b.send_next(rc, "RC_WRITE_FIRST", b"1" * MTU, rkey=rkey, va=va, dma_len=3 * MTU)
    b.acked(rc)
    memory.mr.close()
    b.send(rc, "RC_WRITE_MIDDLE", b"2" * MTU)
    b.nak(rc, roce.NAK_ACCESS)
    b.state(rc, "ERR")


@case("a key that is revoked between a READ and its response does not fail a SEND that is being received")
def deregistered_unanswered(b):
    # With XRC, receive requests that were not taken belong to the SRQ, and stay there.
    for transport, flushed in (("RC", (1, 2)), ("XRC", (1,))):
        victim, data = b.qp(transport), os.urandom(MTU)
        b.works(victim)
        memory = b.memory(victim, e.IBV_ACCESS_REMOTE_READ)
        for wr_id in (1, 2):
            victim.post_recv(wr_id=wr_id)
        with b.counts("resp_remote_access_errors"):
            with b.stuck_queue():
                # The responses to these fill the queue, and no more than may wait are left for the next one.
                for _ in range(TX_LIMIT + 3):
                    b.send_next(victim, transport + "_READ_REQUEST", dma_len=1000)
                psn = victim.psn
                # Twice, as from an impatient peer that has had no answer yet.
                b.send(victim, transport + "_READ_REQUEST", va=memory.va, rkey=memory.rkey, dma_len=1000)
                b.send_next(victim, transport + "_READ_REQUEST", va=memory.va, rkey=memory.rkey, dma_len=1000)
                b.send_next(victim, transport + "_SEND_FIRST", data, ack_req=False)
                b.wait_for("the SEND's data", lambda: victim.memory.read(MTU, 8192) == data)
                memory.mr.close()
                b.state(victim, "RTS")
            answer = b.wait_outgoing(None)
            while answer.name == transport + "_READ_RESPONSE_ONLY":
                answer = b.wait_outgoing(None)
        expect("answer", answer.name, transport + "_ACKNOWLEDGE")
        expect("syndrome", f"{answer.syndrome:#x}", f"{roce.NAK_ACCESS:#x}")
        expect("PSN of the NAK", answer.psn, psn)
        b.state(victim, "ERR")
        got = [victim.completion(PATIENCE) for _ in flushed] + victim.completions()
        expect("completions", [wc and (wc.wr_id, wc.status) for wc in got],
               [(wr_id, e.IBV_WC_WR_FLUSH_ERR) for wr_id in flushed])
        b.clean()


@case("misaligned atomics")
def misaligned(b):
    for opcode in ("RC_COMPARE_SWAP", "RC_FETCH_ADD"):
        for offset in (1, 4, 7):
            rc = b.rc()
            b.send(rc, opcode, va=rc.memory.va + offset, swap_add=1)
            b.nak(rc, roce.NAK_INVALID)
            b.state(rc, "ERR")
            expect("memory", rc.memory.read(32), bytes(32))


def refused_behind_reads(b):
    """A refused request behind READs, while the queue has room for one packet of a kilobyte."""
    rc, other = b.rc(), b.rc()
    reads = []
    for _ in range(6):
        reads.append(b.body(other, "RC_READ_REQUEST", dma_len=1000))
        b.advance(other)
    with b.small_queue():
        for body in [*reads, b.body(rc, "RC_WRITE_ONLY", b"data", rkey=rc.memory.rkey ^ 0x5500)]:
            b.raw(body)
        nak = b.wait_outgoing(None)
        while nak.name != "RC_ACKNOWLEDGE":
            nak = b.wait_outgoing(None)
    expect("syndrome and PSN", (f"{nak.syndrome:#x}", nak.psn), (f"{roce.NAK_ACCESS:#x}", rc.psn))
    b.state(rc, "ERR")


@case("a NAK that a full transmit queue drops is sent later")
def refused_by_queue(b):
    drops = b.counter("tx_local_drops")
    for _ in range(20):
        refused_behind_reads(b)
        if b.counter("tx_local_drops") > drops:
            return
    raise Failure("the queue refused nothing: this machine is too busy to fill it")
