# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packets that are not for the QP they name (IBTA vol. 1, 9.6.1): dropped in silence and counted."""

import roce
from testbed import case, expect


@case("a QPN that does not exist, and special QPNs")
def wrong_qpn(b):
    rc = b.rc()
    qpns = [rc.qpn ^ 1 << bit for bit in range(24)] + [0, 0xFFFFFF]
    qpns = [qpn for qpn in qpns if qpn not in (1, b.bystander.qpn)]
    with b.counts("rx_bad_qpn", len(qpns)):
        for qpn in qpns:
            b.send(rc, "RC_WRITE_ONLY", b"data", qpn=qpn)
        b.silence()
    b.works(rc)


@case("an opcode of a transport that is not the QP's")
def wrong_transport(b):
    xrc = ("XRC_SEND_ONLY", "XRC_WRITE_MIDDLE", "XRC_READ_REQUEST", "XRC_ACKNOWLEDGE")
    names = {"RC": ("UC_SEND_ONLY", "UD_SEND_ONLY", *xrc), "UC": ("RC_SEND_ONLY", "RC_ACKNOWLEDGE", "UD_SEND_ONLY", *xrc),
             "UD": ("RC_SEND_ONLY", "RC_READ_REQUEST", "RC_ACKNOWLEDGE", "UC_WRITE_ONLY", *xrc)}
    for transport, wrong in names.items():
        victim = b.qp(transport)
        with b.counts("rx_bad_transport", len(wrong)):
            for name in wrong:
                b.send(victim, name)
            b.silence()
        if transport != "UD":
            b.works(victim)


@case("opcodes of connected transports to QP 1")
def gsi_transport(b):
    with b.counts("rx_bad_transport", 3):
        for name in ("RC_SEND_ONLY", "RC_WRITE_ONLY", "UC_SEND_ONLY"):
            b.raw(roce.transport(name, 1, 0, b"data"))
        b.silence()


@case("a P_Key of another partition")
def wrong_pkey(b):
    for transport in ("RC", "UC"):
        victim = b.qp(transport)
        with b.counts("rx_bad_pkey", 3):
            for pkey in (0, 0x8001, 0x7FFE):
                b.send(victim, transport + "_WRITE_ONLY", b"data", pkey=pkey)
            b.silence()
        b.works(victim)


@case("the P_Key of a limited member of our partition")
def limited_pkey(b):
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", b"data", pkey=0x7FFF)
    b.acked(rc)


@case("a source address that is not the peer's")
def wrong_source(b):
    for transport in ("RC", "UC"):
        victim = b.qp(transport)
        with b.counts("rx_bad_address", 2):
            for _ in range(2):
                b.raw(b.body(victim, transport + "_WRITE_ONLY", b"data"), source=b.stranger)
            b.silence()
        expect("memory", victim.memory.read(4), bytes(4))
        b.works(victim)


@case("a source address of the other address family")
def wrong_family(b):
    rc = b.rc()
    with b.counts("rx_bad_address"):
        b.raw(b.body(rc, "RC_WRITE_ONLY", b"data"), *b.others)
        b.silence()
    b.works(rc)


@case("a QP in the error state")
def in_error(b):
    rc = b.rc()
    rc.to_error()
    with b.counts("rx_bad_state", 3):
        for name in ("RC_WRITE_ONLY", "RC_READ_REQUEST", "RC_ACKNOWLEDGE"):
            b.send(rc, name)
        b.silence()


@case("a packet from the network that claims to come from this host, to a QP connected to a QP of this host")
def from_ourselves(b):
    victim = b.unconnected()
    victim.connect(b.gid, b.theirs, b.peer.qpn)
    # In IPv4 this is a martian source, which the kernel itself drops.
    with b.counts("rx_bad_address", int(b.ipv6)):
        b.raw(b.body(victim, "RC_WRITE_ONLY", b"data"), source=b.theirs)
        b.silence()
    expect("memory", victim.memory.read(4), bytes(4))
