# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Congestion notification packets (annex A17.9.3): counted, never answered."""

import roce
from testbed import case


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
