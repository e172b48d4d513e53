# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Extended reliable connections (IBTA vol. 1, annex A14): packets of a hostile initiator to a target, and another
connection whose data must stay correct."""

import os

import roce
from testbed import case, expect
from pair import Pair
from target import Queue

MTU = 1024
REQUESTS = [name for _, (name, headers) in roce.OPCODES.items() if name.startswith("XRC_") and "xrceth" in headers]
BEGINNERS = (("XRC_SEND_FIRST", MTU), ("XRC_SEND_ONLY", 8), ("XRC_SEND_ONLY_IMM", 8), ("XRC_SEND_ONLY_INV", 8),
             ("XRC_WRITE_FIRST", MTU), ("XRC_WRITE_ONLY", 8), ("XRC_WRITE_ONLY_IMM", 8), ("XRC_READ_REQUEST", 0),
             ("XRC_COMPARE_SWAP", 0), ("XRC_FETCH_ADD", 0))
CONTINUERS = ("XRC_SEND_MIDDLE", "XRC_SEND_LAST", "XRC_SEND_LAST_IMM", "XRC_SEND_LAST_INV", "XRC_WRITE_MIDDLE",
              "XRC_WRITE_LAST", "XRC_WRITE_LAST_IMM")


def refused(b, target, syndrome, opcode, payload=b"", **fields):
    """There is a NAK, nothing is written, and the SRQ still has all its requests."""
    b.send(target, opcode, payload, **fields)
    b.nak(target, syndrome)
    b.state(target, "ERR")
    expect("memory", target.memory.read(target.memory.size).strip(b"\0"), b"")


def long_write(opcode):
    """A FIRST packet of which only the length is right."""
    return {"dma_len": 3 * MTU} if "WRITE_FIRST" in opcode else {}


def attack(what):
    """A case during which a connection between the two devices carries data."""
    def mark(function):
        @case(what)
        def with_pair(b):
            with Pair(b) as pair:
                pair.check()
                function(b)
                pair.check()
        return with_pair
    return mark


@attack("the target executes valid requests")
def sanity(b):
    target = b.qp("XRC")
    target.post_recv()
    b.send_next(target, "XRC_SEND_ONLY", b"hello")
    b.acked(target)
    expect("length", target.completion().byte_len, 5)
    b.works(target)
    target.memory.write(b"12345678", 512)
    b.send_next(target, "XRC_READ_REQUEST", va=target.memory.va + 512, dma_len=8)
    expect("payload", b.one_answer("XRC_READ_RESPONSE_ONLY").payload, b"12345678")


@attack("SRQ numbers that do not exist")
def no_such_queue(b):
    for opcode, length in BEGINNERS:
        for number in (0, 1, 0xFFFFFF, None):
            target = b.qp("XRC")
            target.post_recv()
            number = target.srqn ^ 1 if number is None else number
            refused(b, target, roce.NAK_ACCESS, opcode, bytes(length), srqn=number, **long_write(opcode))
            expect("completions", target.completions(), [])
            b.clean()


@attack("the upper 8 bits of an XRCETH are ignored")
def reserved_bits(b):
    target = b.qp("XRC")
    for bits in (1 << 24, 0xFF << 24):
        b.send_next(target, "XRC_WRITE_ONLY", b"data", srqn=target.srqn | bits)
        b.acked(target)
    b.works(target)


@attack("reserved opcodes")
def reserved_opcodes(b):
    for code in roce.RESERVED[len(roce.RESERVED) // 2:]:
        target = b.qp("XRC")
        target.post_recv()
        b.raw(roce.bth(code, target.qpn, target.psn, ack_req=True) + bytes(16))
        b.nak(target, roce.NAK_INVALID)
        b.state(target, "ERR")
        expect("completions", target.completions(), [])
        b.clean()


@attack("an SRQ of another XRC domain")
def other_domain(b):
    for opcode, length in BEGINNERS:
        target, other = b.qp("XRC"), b.qp("XRC")
        other.post_recv()
        refused(b, target, roce.NAK_ACCESS, opcode, bytes(length), srqn=other.srqn, **long_write(opcode))
        expect("completions of the other", other.completions(), [])
        b.works(other)
        b.clean()


@attack("an SRQ that is destroyed, before a message and within one")
def destroyed(b):
    for within in (False, True):
        target = b.qp("XRC")
        queue = Queue(target)
        number = queue.number
        if within:
            queue.post_recv(3 * MTU)
            b.send_next(target, "XRC_SEND_FIRST", bytes(MTU), srqn=number)
            b.acked(target)
        queue.close()
        opcode = "XRC_SEND_MIDDLE" if within else "XRC_SEND_ONLY"
        refused(b, target, roce.NAK_ACCESS, opcode, bytes(MTU), srqn=number)
        b.clean()


@attack("packets of a message that name another SRQ")
def changed_queue(b):
    for opcode in ("XRC_SEND_MIDDLE", "XRC_SEND_LAST"):
        target = b.qp("XRC")
        queue = Queue(target)
        target.post_recv()
        queue.post_recv(4096)
        b.send_next(target, "XRC_SEND_FIRST", bytes(MTU))
        b.acked(target)
        refused(b, target, roce.NAK_INVALID, opcode, bytes(MTU), srqn=queue.number)
        expect("no completion is right", {wc.status == 0 for wc in target.completions()}, {False})
        queue.close()
        b.clean()
    for opcode in ("XRC_WRITE_MIDDLE", "XRC_WRITE_LAST"):
        target = b.qp("XRC")
        queue = Queue(target)
        b.send_next(target, "XRC_WRITE_FIRST", bytes(MTU), dma_len=3 * MTU)
        b.acked(target)
        refused(b, target, roce.NAK_INVALID, opcode, bytes(MTU), srqn=queue.number)
        queue.close()
        b.clean()


@attack("MIDDLE and LAST without FIRST, and a new message within one")
def order(b):
    for opcode in CONTINUERS:
        target = b.qp("XRC")
        target.post_recv()
        refused(b, target, roce.NAK_INVALID, opcode, bytes(MTU))
        b.clean()
    for opcode, length in BEGINNERS:
        target = b.qp("XRC")
        target.post_recv()
        target.post_recv()
        b.send_next(target, "XRC_SEND_FIRST", bytes(MTU), ack_req=False)
        refused(b, target, roce.NAK_INVALID, opcode, bytes(length))
        b.clean()


@attack("opcodes of RC, UC and UD at an XRC target, and those of XRC at them")
def other_transports(b):
    target = b.qp("XRC")
    target.post_recv()
    foreign = [name for _, (name, _) in roce.OPCODES.items() if not name.startswith(("XRC", "CNP"))]
    with b.counts("rx_bad_transport", len(foreign)):
        for name in foreign:
            b.send(target, name, **({"qkey": 0x11111111} if name.startswith("UD") else {}))
        b.silence()
    for transport in ("RC", "UC"):
        other = b.qp(transport)
        with b.counts("rx_bad_transport", len(REQUESTS)):
            for name in REQUESTS:
                b.send(other, name, bytes(8) if "WRITE_ONLY" in name else b"", srqn=target.srqn)
            b.silence()
        b.works(other)
    b.works(target)


@attack("responses sent to a target")
def answers(b):
    target = b.qp("XRC")
    names = [name for _, (name, headers) in roce.OPCODES.items() if name.startswith("XRC_") and "xrceth" not in headers]
    with b.counts("rx_bad_transport", len(names)):
        for name in names:
            b.send(target, name)
        b.silence()
    b.works(target)


@attack("packets truncated at every length")
def truncated(b):
    target = b.qp("XRC")
    bodies = []
    for code, (name, _) in roce.OPCODES.items():
        if name.startswith("XRC"):
            whole = b.body(target, name)
            bodies += [whole[:n] for n in range(roce.headers_length(code))]
    with b.counts("rx_malformed", len(bodies)):
        for body in bodies:
            b.raw(body)
        b.silence()
    b.works(target)


@attack("pad counts larger than the payload, and payload behind an opcode that has none")
def pads(b):
    target = b.qp("XRC")
    bodies = [b.body(target, name, b"", pad=n) for name in ("XRC_SEND_ONLY", "XRC_WRITE_ONLY", "XRC_READ_REQUEST") for n in (1, 2, 3)]
    bodies += [b.body(target, name) + bytes(4) for name in ("XRC_READ_REQUEST", "XRC_COMPARE_SWAP", "XRC_FETCH_ADD")]
    bodies += [b.body(target, "XRC_SEND_ONLY") + bytes(n) for n in (1, 2, 3)]
    with b.counts("rx_malformed", len(bodies)):
        for body in bodies:
            b.raw(body)
        b.silence()
    b.works(target)


@attack("RETH lengths beyond the region, that wrap, above 2 GiB, or different from the payload")
def lengths(b):
    for length in (16385, 2**30, 2**31):
        for opcode, payload in (("XRC_WRITE_FIRST", bytes(MTU)), ("XRC_READ_REQUEST", b"")):
            refused(b, b.qp("XRC"), roce.NAK_ACCESS, opcode, payload, dma_len=length)
    refused(b, b.qp("XRC"), roce.NAK_ACCESS, "XRC_WRITE_FIRST", bytes(MTU), va=2**64 - MTU, dma_len=2 * MTU)
    for length in (2**31 + 1, 2**32 - 1):
        for opcode, payload in (("XRC_WRITE_FIRST", bytes(MTU)), ("XRC_READ_REQUEST", b"")):
            refused(b, b.qp("XRC"), roce.NAK_INVALID, opcode, payload, dma_len=length)
    for length in (0, 3, 9, MTU):
        refused(b, b.qp("XRC"), roce.NAK_INVALID, "XRC_WRITE_ONLY", bytes(8), dma_len=length)
    refused(b, b.qp("XRC"), roce.NAK_INVALID, "XRC_WRITE_FIRST", bytes(MTU), dma_len=MTU)


@attack("keys of another target and of another PD")
def keys(b):
    for opcode, length in (("XRC_WRITE_ONLY", 8), ("XRC_READ_REQUEST", 0), ("XRC_FETCH_ADD", 0)):
        target, other = b.qp("XRC"), b.qp("XRC")
        fields = {"dma_len": 8} if "READ" in opcode else {}
        refused(b, target, roce.NAK_ACCESS, opcode, bytes(length), rkey=other.memory.rkey, va=other.memory.va, **fields)
        expect("the other's memory", other.memory.read(16), bytes(16))
        refused(b, other, roce.NAK_ACCESS, opcode, bytes(length), rkey=other.memory.rkey ^ 1, **fields)
        b.clean()


@attack("a duplicate READ with another SRQ number gets no data")
def duplicate(b):
    target = b.qp("XRC")
    queue = Queue(target)
    b.send_next(target, "XRC_READ_REQUEST", dma_len=8)
    b.one_answer("XRC_READ_RESPONSE_ONLY")
    b.send(target, "XRC_READ_REQUEST", dma_len=8, psn=target.psn - 1, srqn=queue.number)
    b.silence()
    b.send(target, "XRC_READ_REQUEST", dma_len=8, psn=target.psn - 1)
    b.one_answer("XRC_READ_RESPONSE_ONLY")
    queue.close()
    b.works(target)


@attack("an empty SRQ: RNR NAK, while another SRQ of the domain is served")
def not_ready(b):
    target = b.qp("XRC")
    queue = Queue(target)
    b.send(target, "XRC_SEND_ONLY", b"first")
    b.nak(target, roce.RNR | 12)
    queue.post_recv()
    b.send_next(target, "XRC_SEND_ONLY", b"other", srqn=queue.number)
    b.acked(target)
    expect("length", target.completion().byte_len, 5)
    queue.close()
    b.works(target)


@attack("random bytes behind BTH and XRCETH")
def noise(b):
    target = b.qp("XRC")
    for _ in range(120):
        code = 0xA0 | b.random.randrange(0x20)
        body = roce.bth(code, target.qpn, target.psn, pad=b.random.randrange(4))
        number = b.random.choice((target.srqn, target.srqn, 0)).to_bytes(4, "big")
        b.raw(body + number + b.random.randbytes(b.random.choice((0, 4, 16, 24, 28, 40, 1000, MTU + 16))))
        if target.state == "ERR":
            b.clean()
            target = b.qp("XRC")
    b.answers(settled=False)


@case("afterwards the target still works")
def afterwards(b):
    target = b.qp("XRC")
    for _ in range(3):
        data = os.urandom(3 * MTU)
        target.post_recv(3 * MTU)
        b.send_next(target, "XRC_SEND_FIRST", data[:MTU], ack_req=False)
        b.send_next(target, "XRC_SEND_MIDDLE", data[MTU:2 * MTU], ack_req=False)
        b.send_next(target, "XRC_SEND_LAST", data[2 * MTU:])
        b.acked(target)
        expect("length", target.completion().byte_len, 3 * MTU)
        expect("data", target.memory.read(3 * MTU, 8192), data)


@attack("a duplicate READ whose SRQ is destroyed gets no response; another SRQ of the domain still works")
def repeated_without_queue(b):
    target = b.qp("XRC")
    other = Queue(target)
    fields = {"va": target.memory.va, "rkey": target.memory.rkey}
    b.send_next(target, "XRC_READ_REQUEST", srqn=other.number, dma_len=8, **fields)
    b.one_answer("XRC_READ_RESPONSE_ONLY")
    gone = other.number
    other.close()
    with b.counts("rx_ignored"):
        b.send(target, "XRC_READ_REQUEST", srqn=gone, dma_len=8, psn=target.psn - 1, **fields)
        b.silence()
    b.works(target)
