# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Datagrams (IBTA vol. 1, 9.8.3), to a UD QP and to the GSI: strangers can send anything, so no packet may break the QP or use
up its receive requests."""

import os

from pyverbs.addr import AH

import roce
from testbed import case, expect
from target import QKEY, address_vector

GSI_QKEY = 0x80010000


def send(b, ud, payload=b"data", **fields):
    fields.setdefault("qkey", QKEY)
    fields.setdefault("src_qpn", b.peer.qpn)
    b.send(ud, "UD_SEND_ONLY", payload, **fields)


def arrives(b, ud, length=4):
    """The next datagram takes the receive request that was posted before."""
    send(b, ud, b"y" * length)
    b.silence()
    wc = ud.completion()
    expect("status, length, request", (wc.status, wc.byte_len, wc.wr_id), (0, 40 + length, 1))
    b.state(ud, "RTS")


@case("UD: a wrong Q_Key")
def wrong_qkey(b):
    ud = b.qp("UD")
    ud.post_recv()
    with b.counts("rx_bad_qkey", 4):
        for qkey in (0, QKEY + 1, QKEY ^ 0x80000000, GSI_QKEY):
            send(b, ud, qkey=qkey)
        b.silence()
    arrives(b, ud)


@case("UD: a datagram longer than the receive buffer")
def too_long(b):
    ud = b.qp("UD")
    ud.post_recv(40 + 16)
    with b.counts("resp_local_length_error", 3):
        for n in (17, 100, 1400):
            send(b, ud, b"x" * n)
        b.silence()
    expect("completions", ud.completions(), [])
    arrives(b, ud, 16)
    expect("memory behind the buffer", ud.memory.read(1000, 8192 + 56).strip(b"\0"), b"")


@case("UD: a receive buffer without room for the GRH")
def no_room(b):
    for n in (1, 39, 40):
        ud = b.qp("UD")
        ud.post_recv(n)
        with b.counts("resp_local_length_error"):
            send(b, ud, b"x")
            b.silence()
        expect("completions", ud.completions(), [])
        b.state(ud, "RTS")
        expect("memory behind the buffer", ud.memory.read(1000, 8192 + n).strip(b"\0"), b"")


@case("UD: no receive posted")
def no_receive(b):
    ud = b.qp("UD")
    with b.counts("out_of_buffer"):
        send(b, ud)
        b.silence()
    ud.post_recv()
    arrives(b, ud)


@case("UD: an empty datagram, with and without immediate")
def empty(b):
    ud = b.qp("UD")
    for _ in range(2):
        ud.post_recv()
    send(b, ud, b"")
    b.send(ud, "UD_SEND_ONLY_IMM", b"", qkey=QKEY, src_qpn=5, imm=0x01020304)
    b.silence()
    got = [ud.completion() for _ in range(2)]
    expect("lengths and senders", [(wc.byte_len, wc.src_qp) for wc in got], [(40, b.peer.qpn), (40, 5)])


@case("UD: datagrams from any address are accepted")
def any_source(b):
    ud = b.qp("UD")
    ud.post_recv()
    b.raw(b.body(ud, "UD_SEND_ONLY", b"hello", qkey=QKEY), source=b.stranger)
    b.silence()
    expect("status", ud.completion().status, 0)


@case("UD: PSNs, headers and payload of datagrams that are posted as a list")
def listed(b):
    ud = b.qp("UD", sq_psn=0xFFFFFD)
    lengths = [256] * 5 + [255, 254, 256, 100, 100, 64, 1024, 1024, 1024]
    data = b.random.randbytes(sum(lengths))
    ud.memory.write(data)
    handle = AH(ud.pd, attr=address_vector(b.gid, b.ours))
    ud.send_list(handle, b.peer.qpn, lengths, (2, 9))
    found = b.outgoing(*["UD_SEND_ONLY"] * len(lengths))
    expect("PSNs", [packet.psn for packet in found], [(0xFFFFFD + i) & 0xFFFFFF for i in range(len(lengths))])
    expect("headers", {(packet.qkey, packet.src_qpn, packet.ack_req, packet.reserved) for packet in found},
           {(QKEY, ud.qpn, 0, 0)})
    expect("solicited", [i for i, packet in enumerate(found) if packet.solicited], [2, 9])
    expect("lengths", [len(packet.payload) for packet in found], lengths)
    expect("payload", b"".join(packet.payload for packet in found), data)
    expect("padding", b"".join(packet.padding for packet in found).strip(b"\0"), b"")
    handle.close()


@case("opcodes that do not exist for UD")
def no_such_opcode(b):
    ud = b.qp("UD")
    ud.post_recv()
    codes = [code for code in range(0x60, 0x80) if code not in (0x64, 0x65)]
    with b.counts("rx_malformed", len(codes)):
        for code in codes:
            b.raw(roce.bth(code, ud.qpn, 0) + bytes(28))
        b.silence()
    arrives(b, ud)


def mad(b, payload, **fields):
    """To the GSI. Its answers, if any, go to a QPN that is not watched."""
    fields.setdefault("qkey", GSI_QKEY)
    b.raw(roce.transport("UD_SEND_ONLY", 1, b.random.getrandbits(24), payload, src_qpn=1, **fields))


@case("QP 1 accepts its own Q_Key only")
def gsi_qkey(b):
    with b.counts("rx_bad_qkey", 3):
        for qkey in (0, QKEY, 0x80010001):
            mad(b, bytes(256), qkey=qkey)
        b.silence()


@case("random MADs of every length and class")
def noise(b):
    for n in (0, 1, 4, 24, 63, 64, 255, 256, 257, 512, 1024, 1400):
        mad(b, b.random.randbytes(n))
    for _ in range(300):
        body = bytearray(b.random.randbytes(256))
        body[0] = 1
        body[1] = b.random.choice((0x01, 0x03, 0x04, 0x07, 0x08, 0x0C, 0x30, 0x81, 0x21))
        body[2] = b.random.choice((1, 2))
        body[3] = b.random.choice((1, 2, 3, 5, 6, 0x12, 0x81, 0x86))
        if body[1] == 0x07:
            body[16:18] = bytes((0, b.random.randint(0x10, 0x1B)))
        mad(b, bytes(body))
    b.answers()


@case("truncated connection requests")
def short_requests(b):
    request = bytes((1, 7, 2, 3)) + bytes(12) + bytes((0, 0x10)) + bytes(6) + os.urandom(232)
    for n in range(0, 256, 5):
        mad(b, request[:n])
    b.answers()
