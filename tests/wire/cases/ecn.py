# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Explicit congestion notification (RFC 3168; IBTA annex A17.9.3): marked packets cause CNPs, a CNP reduces the window, and data is
sent as ECN capable if the setting is on."""

import contextlib
import os
import subprocess
import time

import roce
from testbed import case, expect
from pair import Pair
from pyverbs.addr import AH
from target import MTU, address_vector

TCLASS = 0xB8
INTERVAL = 50e-6  # SROCE_CNP_INTERVAL_NS of drivers/sroce/core/params.h
WINDOW = 512  # SROCE_WINDOW
FIRST_PSN = 500
CONNECTED = ("RC", "UC", "XRC")


@contextlib.contextmanager
def counting(b, marked, sent):
    with b.counts("np_ecn_marked_roce_packets", marked), b.counts("np_cnp_sent", sent):
        yield


def send_marked(b, victim, opcode, payload=b"", ecn=roce.CE, **fields):
    """The next packet of the connection, marked as by a congested router."""
    b.raw(b.body(victim, opcode, payload, **fields), tclass=ecn)
    b.advance(victim)


def cnps_of(b, found, tclass=0):
    """Returns the CNPs among the responses, after checking the format of each."""
    cnps = [packet for packet in found if packet.name == "CNP"]
    for cnp in cnps:
        expect("CNP from BTH to ICRC", cnp.transport.hex(), roce.transport("CNP", b.peer.qpn, 0, becn=0x40).hex())
        expect("traffic class of a CNP", cnp.traffic_class, tclass)
    return cnps


def one_cnp(b, *others, tclass=0):
    """Checks that the device sent a CNP, then these packets."""
    found = b.answers()
    expect("answers", [packet.name for packet in found], ["CNP", *others])
    cnps_of(b, found, tclass)


def ack_of(transport):
    return [] if transport == "UC" else [transport + "_ACKNOWLEDGE"]


# --- notification point ---


@case("a marked WRITE or SEND is executed and causes one CNP, with the DSCP of the connection")
def marked(b):
    for transport in CONNECTED:
        for opcode in ("_WRITE_ONLY", "_SEND_ONLY"):
            victim = b.qp(transport, traffic_class=TCLASS | roce.CE)
            victim.post_recv()
            with counting(b, 1, 1), b.counts("rp_cnp_handled", 0):
                send_marked(b, victim, transport + opcode, b"data", ecn=TCLASS | roce.CE)
                one_cnp(b, *ack_of(transport), tclass=TCLASS)
            expect("data", victim.memory.read(4, 8192 if "SEND" in opcode else 0), b"data")
            b.works(victim)


@case("packets without a mark cause no CNP")
def not_marked(b):
    for transport in CONNECTED:
        victim = b.qp(transport)
        with counting(b, 0, 0):
            for ecn in (roce.NOT_ECT, roce.ECT0, roce.ECT1):
                send_marked(b, victim, transport + "_WRITE_ONLY", b"data", ecn=ecn)
            found = b.answers()
        expect("answers", {packet.name for packet in found}, set(ack_of(transport)))


@case("marked packets of a message are counted, and cause a CNP")
def message(b):
    rc = b.rc()
    rc.post_recv()
    data = os.urandom(4 * MTU)
    with b.counts("np_ecn_marked_roce_packets", 3):
        for i, (place, ecn) in enumerate((("FIRST", roce.CE), ("MIDDLE", roce.CE), ("MIDDLE", roce.ECT0), ("LAST", roce.CE))):
            send_marked(b, rc, "RC_SEND_" + place, data[i * MTU:(i + 1) * MTU], ecn=ecn, ack_req=place == "LAST")
        found = b.answers()
    expect("at least one CNP, at most one each", 1 <= len(cnps_of(b, found)) <= 3, True)
    expect("data", rc.memory.read(4 * MTU, 8192), data)


@case("marked READ requests, atomics and duplicates cause a CNP")
def without_payload(b):
    rc = b.rc()
    with counting(b, 1, 1):
        send_marked(b, rc, "RC_READ_REQUEST", dma_len=8)
        one_cnp(b, "RC_READ_RESPONSE_ONLY")
    rc = b.rc()
    with counting(b, 1, 1):
        send_marked(b, rc, "RC_FETCH_ADD", swap_add=1)
        one_cnp(b, "RC_ATOMIC_ACKNOWLEDGE")
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", b"data")
    b.acked(rc)
    with counting(b, 1, 1):
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"data", psn=rc.psn - 1), tclass=roce.CE)
        one_cnp(b, "RC_ACKNOWLEDGE")


@case("a marked READ response causes a CNP, and the requester reduces its window of READs")
def read_response(b):
    rc = b.rc(depth=64)
    rc.read(3 * MTU)
    b.outgoing("RC_READ_REQUEST")
    with counting(b, 1, 1):
        for i, (place, ecn) in enumerate((("FIRST", roce.CE), ("MIDDLE", roce.ECT0), ("LAST", roce.ECT0))):
            fields = {} if place == "MIDDLE" else {"aeth": roce.ACK << 24 | 1}
            b.raw(roce.transport("RC_READ_RESPONSE_" + place, rc.qpn, FIRST_PSN + i, bytes(MTU), **fields), tclass=ecn)
        one_cnp(b)
    expect("completion", rc.completion().status, 0)
    for _ in range(32):
        rc.write()
    expect("a small window", len(b.answers()) < 8, True)


@case("marked ACKs, CNPs, datagrams and invalid packets cause no CNP")
def never(b):
    rc, ud = b.rc(), b.qp("UD")
    rc.send()
    b.outgoing("RC_SEND_ONLY")
    ud.post_recv()
    other = b.rc()
    other.to_error()
    wrong = bytearray(roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", b"data"), tclass=roce.CE))
    wrong[-1] ^= 1
    with counting(b, 0, 0):
        b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, FIRST_PSN, aeth=roce.ACK << 24 | 1), tclass=roce.CE)
        b.raw(roce.transport("CNP", rc.qpn, 0, becn=0x40), tclass=roce.CE)
        b.raw(b.body(ud, "UD_SEND_ONLY", b"data", qkey=0x11111111, src_qpn=b.peer.qpn), tclass=roce.CE)
        b.peer.send(bytes(wrong))
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"data"), source=b.stranger, tclass=roce.CE)
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"data", pkey=0x8001), tclass=roce.CE)
        b.raw(b.body(rc, "UC_WRITE_ONLY", b"data"), tclass=roce.CE)
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"data", qpn=rc.qpn ^ 0x10101), tclass=roce.CE)
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"dat")[:-1], tclass=roce.CE)
        b.raw(b.body(other, "RC_WRITE_ONLY", b"data"), tclass=roce.CE)
        b.silence()
    expect("completion of the SEND", rc.completion().status, 0)
    b.works(rc)


@case("many marked packets: each QP sends at most one CNP in 50 us")
def interval(b):
    count = 300
    for transport in ("RC", "UC"):
        victims = [b.qp(transport, psn=100) for _ in range(2)]
        before = b.counter("np_cnp_sent")
        with b.counts("np_ecn_marked_roce_packets", 2 * count):
            start = time.monotonic()
            for _ in range(count):
                for victim in victims:
                    send_marked(b, victim, transport + "_WRITE_ONLY", b"data", ack_req=False)
            found = b.answers()
            intervals = (time.monotonic() - start) / INTERVAL
        sent = b.counter("np_cnp_sent") - before
        expect("CNPs that arrived", len(cnps_of(b, found)), sent)
        expect(f"{sent} CNPs in {intervals:.0f} intervals", 2 <= sent <= 2 * (intervals + 1), True)


@contextlib.contextmanager
def marking_queue(host):
    """Packets of this host are marked if they are ECN capable, and lost otherwise."""
    command = ["ip", "netns", "exec", host, "tc", "qdisc"]
    subprocess.run([*command, "add", "dev", "eth0", "root", "netem", "loss", "100%", "ecn"], check=True)
    try:
        yield
    finally:
        subprocess.run([*command, "delete", "dev", "eth0", "root"], check=True)


@case("a burst marked as a whole causes one CNP, which reaches the sending QP")
def burst(b):
    sender = os.environ["D1"]
    data = os.urandom(12 * MTU)
    with Pair(b) as pair:
        pair.one.memory.write(data)
        handled = b.counter("rp_cnp_handled", sender)
        bursts, sent = b.counter("rx_bursts"), b.counter("np_cnp_sent")
        with b.setting("ecn", "1", sender), b.counts("np_ecn_marked_roce_packets", 12):
            with marking_queue("h1"):
                pair.one.write(len(data), va=pair.two.memory.va, rkey=pair.two.memory.rkey)
                wc = pair.one.completion(30)
        bursts, sent = b.counter("rx_bursts") - bursts, b.counter("np_cnp_sent") - sent
        expect("completion", wc and wc.status, 0)
        expect("data", pair.two.memory.read(len(data)) == data, True)
        expect(f"{sent} CNPs for {bursts} bursts", 1 <= sent <= bursts < 12, True)
        expect("CNPs that arrived", b.counter("rp_cnp_handled", sender) - handled, sent)
        pair.check()


# --- reaction point ---


def cnp(b, victim):
    with b.counts("rp_cnp_handled"):
        b.raw(roce.transport("CNP", victim.qpn, 0, becn=0x40))
        b.silence()


def sent_after_ack(b, victim, packets):
    """Returns the number of packets that the device sends after all of the first ones except these are acknowledged."""
    b.raw(roce.transport("RC_ACKNOWLEDGE", victim.qpn, FIRST_PSN + packets - 1, aeth=roce.ACK << 24))
    return len(b.answers())


def full_window(b):
    rc = b.rc(depth=2048)
    for _ in range(2000):
        rc.write()
    expect("the window", len(b.answers()), WINDOW)
    return rc


@case("a CNP reduces the window by a sixth, at most once per round trip")
def slower(b):
    rc = full_window(b)
    expect("without a CNP an ACK lets as many go", sent_after_ack(b, rc, 128), 128)
    for _ in range(3):
        cnp(b, rc)
    few = sent_after_ack(b, rc, 256)
    expect(f"{few} packets after a CNP", few < 96, True)
    cnp(b, rc)
    many = sent_after_ack(b, rc, 384)
    expect(f"{many} packets within the same round trip", many >= 128, True)
    # Those that were in flight at the first CNP, and all later ones
    sent_after_ack(b, rc, 128 + WINDOW)
    cnp(b, rc)
    few = sent_after_ack(b, rc, 128 + WINDOW + 64)
    expect(f"{few} packets after a CNP in the next round trip", few < 32, True)
    b.works(rc)


@case("a CNP from another address or for another QP does not reduce the window")
def not_slower(b):
    rc, other = full_window(b), b.rc()
    b.raw(roce.transport("CNP", rc.qpn, 0, becn=0x40), source=b.stranger)
    cnp(b, other)
    expect("packets after an ACK", sent_after_ack(b, rc, 128), 128)


# --- sender ---


def data_of(b, transport):
    """Requests, and responses with data, of a connection."""
    victim = b.qp(transport, traffic_class=TCLASS | roce.ECT1)
    found = []
    if transport != "XRC":
        victim.send(2500)
        found += b.outgoing(*(f"{transport}_SEND_{place}" for place in ("FIRST", "MIDDLE", "LAST")))
        victim.write(8)
        found += b.outgoing(transport + "_WRITE_ONLY")
    if transport == "RC":
        victim.read(10)
        victim.fetch_add()
        found += b.outgoing("RC_READ_REQUEST", "RC_FETCH_ADD")
    if transport != "UC":
        b.send(victim, transport + "_READ_REQUEST", dma_len=2500)
        b.advance(victim, 3)
        found += b.outgoing(*(f"{transport}_READ_RESPONSE_{place}" for place in ("FIRST", "MIDDLE", "LAST")))
    return found


def rest_of(b, transport):
    """ACKs, atomic responses, NAKs and a CNP."""
    victim = b.qp(transport, traffic_class=TCLASS | roce.ECT1)
    found = []
    send_marked(b, victim, transport + "_WRITE_ONLY", b"data")
    found += b.outgoing("CNP", *ack_of(transport))
    if transport != "UC":
        b.send_next(victim, transport + "_FETCH_ADD", swap_add=1)
        found += b.outgoing(transport + "_ATOMIC_ACKNOWLEDGE")
        b.send(victim, transport + "_WRITE_ONLY", b"data", rkey=victim.memory.rkey ^ 0x100)
        found.append(b.nak(victim, roce.NAK_ACCESS))
    return found


def datagrams(b):
    ud = b.qp("UD")
    handle = AH(ud.pd, attr=address_vector(b.gid, b.ours, traffic_class=TCLASS | roce.ECT1))
    ud.send_to(handle, b.peer.qpn)
    found = b.outgoing("UD_SEND_ONLY")
    handle.close()
    return found


def check(packets, ecn):
    for packet in packets:
        expect(f"traffic class of {packet}", f"{packet.traffic_class:#x}", f"{TCLASS | ecn:#x}")


@case("with the setting, data of connections is ECN capable, and nothing else")
def capable(b):
    for ask, ecn in (("0", roce.NOT_ECT), ("1", roce.ECT0)):
        with b.setting("ecn", ask):
            for transport in CONNECTED:
                check(data_of(b, transport), ecn)
                check(rest_of(b, transport), roce.NOT_ECT)
            check(datagrams(b), roce.NOT_ECT)
        check(data_of(b, "RC"), roce.NOT_ECT)
