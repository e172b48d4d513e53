# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Thousands of corrupted packets to QPs that may break, while a connection between two devices carries data that must stay
correct. The seed is fixed."""

import pyverbs.enums as e
import roce
from testbed import case
from pair import Pair
from target import QKEY

ROUNDS = 2000


def valid(b, victim):
    """A packet that a peer might send now."""
    names = [name for _, (name, _) in roce.OPCODES.items() if name.startswith(victim.transport)]
    name = b.random.choice(names)
    fields = {}
    if victim.transport == "UD":
        fields = {"qkey": QKEY, "src_qpn": b.peer.qpn}
    elif "ACK" in name or "RESPONSE" in name:
        fields = {"psn": victim.sq_psn + b.random.randint(0, 3)}
    payload = b.random.randbytes(b.random.choice((0, 1, 8, 1000, 1024)))
    if "FIRST" in name or "MIDDLE" in name:
        payload = b.random.randbytes(1024)
    if "READ_REQUEST" in name or "ATOMIC" in name or "ACKNOW" in name or "SWAP" in name or "FETCH" in name:
        payload = b""
    body = b.body(victim, name, payload, **fields)
    return body


def mutate(b, body):
    """Changes bits, bytes or the length."""
    data = bytearray(body)
    for _ in range(b.random.choice((0, 1, 1, 1, 2, 4))):
        what = b.random.randrange(6)
        at = b.random.randrange(len(data)) if data else 0
        if what < 3 and data:
            # Mostly in the headers
            at = min(at, b.random.randrange(44)) if what else at
            data[at % len(data)] ^= 1 << b.random.randrange(8)
        elif what == 3 and data:
            data[at] = b.random.choice((0, 0x7F, 0x80, 0xFF))
        elif what == 4:
            del data[at:]
        else:
            data[at:at] = b.random.randbytes(b.random.choice((1, 4, 100)))
    return bytes(data[:8000])


def attack(b, victim):
    packet = roce.datagram(b.ours, b.theirs, mutate(b, valid(b, victim)))
    if b.random.random() < 0.2:
        packet = bytearray(packet)
        packet[b.random.randrange(20 + 8, len(packet))] ^= 1 << b.random.randrange(8)
    b.peer.send(bytes(packet))


def fresh(b, transport):
    victim = b.qp(transport, timeout=20 if transport == "RC" else 0)
    for _ in range(8):
        victim.post_recv(2000)
    if transport == "RC":
        victim.read(2000)
        victim.fetch_add()
        victim.send()
    return victim


def replaced(b, victim):
    if victim.state == "RTS":
        attr, _ = victim.qp.query(e.IBV_QP_STATE | e.IBV_QP_RQ_PSN)
        victim.psn = attr.rq_psn
        return victim
    victim.close()
    b.victims.remove(victim)
    return fresh(b, victim.transport)


@case(f"{ROUNDS} packets with something changed, and a connection beside them")
def mutations(b):
    victims = [fresh(b, transport) for transport in ("RC", "UC", "UD", "RC")]
    with Pair(b) as pair:
        for i in range(ROUNDS):
            attack(b, victims[i % len(victims)])
            if i % 5 == 0:
                victims = [replaced(b, victim) for victim in victims]
            if i % 100 == 0:
                b.answers(settled=False)
                pair.check()
        b.answers(settled=False)
        pair.check()


@case("random UDP payloads of every length")
def noise(b):
    for n in list(range(0, 80)) + [200, 1000, 1400]:
        b.raw(b.random.randbytes(n))
    b.answers(settled=False)


@case("afterwards connections still work")
def afterwards(b):
    for transport in ("RC", "UC", "XRC"):
        b.works(b.qp(transport))
