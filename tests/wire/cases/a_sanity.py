# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The testbed itself: correct packets are accepted, so packets of other cases are refused for the reason that the case names."""

import ipaddress
import os

import roce
from testbed import case, expect


@case("a WRITE is executed and acknowledged")
def write(b):
    b.works(b.rc())


@case("a WRITE to a UC QP is executed without a response")
def write_uc(b):
    b.works(b.qp("UC"))


@case("a SEND of two and a half packets arrives whole")
def send(b):
    rc, data = b.rc(), os.urandom(2500)
    rc.post_recv()
    b.send_next(rc, "RC_SEND_FIRST", data[:1024], ack_req=False)
    b.send_next(rc, "RC_SEND_MIDDLE", data[1024:2048], ack_req=False)
    b.send_next(rc, "RC_SEND_LAST", data[2048:])
    b.acked(rc)
    wc = rc.completion()
    expect("status and length", (wc.status, wc.byte_len), (0, 2500))
    expect("data", rc.memory.read(2500, 8192) == data, True)


@case("a READ gets the data")
def read(b):
    rc, data = b.rc(), os.urandom(2500)
    rc.memory.write(data)
    b.send_next(rc, "RC_READ_REQUEST", dma_len=2500)
    found = b.answers()
    expect("answers", [p.name for p in found],
           ["RC_READ_RESPONSE_FIRST", "RC_READ_RESPONSE_MIDDLE", "RC_READ_RESPONSE_LAST"])
    expect("data", b"".join(p.payload for p in found) == data, True)


@case("a UD SEND arrives with its GRH")
def datagram(b):
    ud, data = b.qp("UD"), os.urandom(99)
    ud.post_recv()
    b.send(ud, "UD_SEND_ONLY", data, qkey=0x11111111, src_qpn=b.peer.qpn)
    b.silence()
    wc = ud.completion()
    expect("status, length and sender", (wc.status, wc.byte_len, wc.src_qp), (0, 139, b.peer.qpn))
    expect("data", ud.memory.read(99, 8192 + 40) == data, True)
    header = roce.ip_header(*map(ipaddress.ip_address, (b.ours, b.theirs)), 8 + 12 + 8 + 100 + 4)
    expect("IP header", ud.memory.read(len(header), 8192 + 40 - len(header)).hex(), header.hex())


@case("requests of the device itself are correct on the wire")
def requester(b):
    rc = b.rc()
    rc.memory.write(b"0123456789abcdef")
    rc.send(13)
    request = b.outgoing("RC_SEND_ONLY")[0]
    expect("PSN, QPN, payload", (request.psn, request.qpn, request.payload), (500, b.peer.qpn, b"0123456789abc"))
    b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, 500, aeth=roce.ACK << 24 | 1))
    expect("completion", rc.completion().status, 0)
