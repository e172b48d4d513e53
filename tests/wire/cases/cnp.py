# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Congestion notification packets (annex A17.9.3): counted, never answered."""

import time

import roce
from target import Memory
from testbed import TX_LIMIT, case, expect


def cnp(victim, psn=0, **fields):
    return roce.transport("CNP", victim.qpn, psn, becn=0x40, **fields)


@case("a CNP for a QP of each transport is counted, and the connection goes on")
def counted(b):
    for transport in ("RC", "UC", "UD", "XRC"):
        victim = b.qp(transport)
        with b.counts("rp_cnp_handled", 3):
            for psn in (0, victim.psn, 0xFFFFFF):
                b.raw(cnp(victim, psn))
            b.silence()
        if transport != "UD":
            b.works(victim)


@case("a CNP from another address than the peer's has no effect")
def stranger(b):
    for transport in ("RC", "UC", "XRC"):
        victim = b.qp(transport)
        with b.counts("rp_cnp_handled", 0), b.counts("rx_bad_address", 1):
            b.raw(cnp(victim), source=b.stranger)
            b.silence()
        b.works(victim)


@case("a CNP that is too short or too long is malformed")
def wrong_length(b):
    rc = b.rc()
    whole = cnp(rc)
    with b.counts("rp_cnp_handled", 0), b.counts("rx_malformed", 3):
        b.raw(whole[:-4])
        b.raw(whole[:12])
        b.raw(whole + bytes(4))
        b.silence()
    b.works(rc)


@case("a CNP for a QPN that does not exist has no effect")
def stray(b):
    rc = b.rc()
    with b.counts("rp_cnp_handled", 0), b.counts("rx_bad_qpn", 1):
        b.raw(roce.transport("CNP", rc.qpn ^ 0x10101, 0, becn=0x40))
        b.silence()
    b.works(rc)


@case("an ACK is requested if a CNP shrinks the window behind a burst that requested none", ipv4_only=True)
def behind_burst(b):
    """The queue has room for one burst more, so the next one has to wait. QPs have no timeout here that would help."""
    rc = b.rc()
    memory = Memory(rc.pd, 256 * 1024)
    with b.plugged_queue():
        for acks in range(1, TX_LIMIT):
            before = b.counter("tx_acks")
            b.send_next(rc, "RC_WRITE_ONLY", b"data")
            b.wait_for(f"ACK {acks}", lambda: b.counter("tx_acks") > before)
        before = b.counter("tx_packets")
        rc.send(sge=memory.sge(memory.size))
        b.wait_for("a burst", lambda: b.counter("tx_packets") > before)
        burst = b.counter("tx_packets") - before
        with b.counts("rp_cnp_handled"):
            b.raw(cnp(rc))
            time.sleep(0.1)
    sent = [packet for packet in b.answers() if packet.name != "RC_ACKNOWLEDGE"]
    expect("requests for an ACK", [packet.psn for packet in sent if packet.ack_req], [sent[0].psn])
    expect("packets", len(sent), burst + 1)
    b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, sent[burst - 1].psn, aeth=roce.ACK << 24))
    b.wait_for("more packets", lambda: b.counter("tx_packets") > before + burst + 1)
