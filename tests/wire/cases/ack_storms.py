# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Floods of packets that cause responses: the responder sends at most one response for each run of packets that arrives together,
and the requester retransmits once. Nobody can make sroce send more ACKs than requests. Where GRO joins packets
(tests/suites/gro.sh), runs are long; otherwise a run is one packet."""

import contextlib

import constants as e
import roce
from testbed import case, expect

PSN = 500
PACKETS = 300


def storm(b, bodies):
    """Sends the packets without a pause."""
    for body in [roce.datagram(b.ours, b.theirs, body, ident=at) for at, body in enumerate(bodies)]:
        b.peer.send(body)


@contextlib.contextmanager
def one_for_each_run(b):
    """Packets that arrive within this block get at most one ACK or NAK for each run. The bystander's probe is a run, too."""
    acks, runs = b.counter("tx_acks"), b.counter("rx_bursts")
    yield
    acks, runs = b.counter("tx_acks") - acks, b.counter("rx_bursts") - runs
    expect(f"{acks} ACKs for {runs} runs", 0 < acks <= runs <= PACKETS + 1, True)


def bounded(found, name, most):
    expect("answers", {packet.name for packet in found}, {name})
    expect(f"{len(found)} answers are at most {most}", len(found) <= most, True)


def answers(rc, psn, *syndromes):
    return [roce.transport("RC_ACKNOWLEDGE", rc.qpn, psn & 0xFFFFFF, aeth=syndrome << 24) for syndrome in syndromes]


@case("a storm of duplicates: at most one ACK for each run of packets, none longer than a request")
def duplicates(b):
    rc = b.rc()
    b.send_next(rc, "RC_WRITE_ONLY", b"old!")
    b.acked(rc)
    rc.memory.write(b"new!")
    body = b.body(rc, "RC_WRITE_ONLY", b"old!", psn=rc.psn - 1)
    with b.counts("duplicate_request", PACKETS), one_for_each_run(b):
        storm(b, [body] * PACKETS)
        found = b.answers()
    bounded(found, "RC_ACKNOWLEDGE", PACKETS)
    expect("PSNs", {packet.psn for packet in found}, {rc.psn - 1 & 0xFFFFFF})
    expect("longest", max(len(packet.raw) for packet in found) <= len(roce.datagram(b.ours, b.theirs, body)), True)
    expect("memory", rc.memory.read(4), b"new!")
    b.works(rc)


@case("a storm of the same READ: the data is sent at most once for each request")
def reads(b):
    rc = b.rc()
    rc.memory.write(b"data")
    b.send_next(rc, "RC_READ_REQUEST", dma_len=4)
    b.one_answer("RC_READ_RESPONSE_ONLY")
    with b.counts("duplicate_request", PACKETS):
        storm(b, [b.body(rc, "RC_READ_REQUEST", dma_len=4, psn=rc.psn - 1)] * PACKETS)
        found = b.answers()
    bounded(found, "RC_READ_RESPONSE_ONLY", PACKETS)
    b.works(rc)


@case("a storm behind a gap: a single NAK")
def gap(b):
    rc = b.rc()
    with b.counts("out_of_sequence", PACKETS):
        storm(b, [b.body(rc, "RC_WRITE_ONLY", b"data", psn=rc.psn + 1 + i) for i in range(PACKETS)])
        b.nak(rc, roce.NAK_SEQUENCE)
    b.send_next(rc, "RC_WRITE_ONLY", b"data")
    b.advance(rc, PACKETS)
    b.acked(rc)
    b.works(rc)


@case("a storm of SENDs without a receive posted: at most one RNR NAK for each run of packets")
def not_ready(b):
    rc = b.rc()
    with one_for_each_run(b):
        storm(b, [b.body(rc, "RC_SEND_ONLY", b"data")] * PACKETS)
        found = b.answers()
    bounded(found, "RC_ACKNOWLEDGE", PACKETS)
    expect("syndromes", {packet.syndrome for packet in found}, {roce.RNR | 12})
    b.works(rc)


@case("a storm of ACKs and NAKs when nothing is outstanding: no response")
def unsolicited(b):
    rc = b.rc()
    syndromes = (roce.ACK, roce.NAK_SEQUENCE, roce.RNR | 1, roce.NAK_INVALID, roce.NAK_ACCESS)
    storm(b, [body for i in range(PACKETS // 5) for body in answers(rc, PSN - 1 + i % 3, *syndromes)])
    b.silence()
    b.state(rc, "RTS")
    expect("completions", rc.completions(), [])
    b.works(rc)


@case("a storm of sequence NAKs: the request is repeated once")
def sequence(b):
    rc = b.rc()
    rc.send()
    b.outgoing("RC_SEND_ONLY")
    with b.counts("packet_seq_err"):
        storm(b, answers(rc, PSN, *[roce.NAK_SEQUENCE] * PACKETS))
        expect("PSN", b.outgoing("RC_SEND_ONLY")[0].psn, PSN)
    b.raw(answers(rc, PSN, roce.ACK)[0])
    expect("status", rc.completion().status, 0)
    b.works(rc)


@case("a storm of sequence NAKs for ever later requests: each repeats the rest at most once")
def sequences(b):
    rc, n = b.rc(), 8
    for _ in range(n):
        rc.send()
    seen = set()
    while len(seen) < n:  # they leave in their own time
        seen.add(b.wait_outgoing("RC_SEND_ONLY").psn)
    storm(b, [body for i in range(n) for body in answers(rc, PSN + i, *[roce.NAK_SEQUENCE] * (PACKETS // n))])
    found = b.answers()
    expect(f"{len(found)} packets are at most {n * (n + 1) // 2}", 0 < len(found) <= n * (n + 1) // 2, True)
    b.raw(answers(rc, PSN + n - 1, roce.ACK)[0])
    expect("statuses", [rc.completion().status for _ in range(n)], [0] * n)
    b.works(rc)


@case("a storm of RNR NAKs: repeated at most rnr_retry times")
def rnr(b):
    rc = b.rc()
    rc.send()
    b.outgoing("RC_SEND_ONLY")
    storm(b, answers(rc, PSN, *[roce.RNR | 1] * PACKETS))
    while (wc := rc.completion(0.1)) is None:
        storm(b, answers(rc, PSN, *[roce.RNR | 1] * PACKETS))
    expect("status", wc.status, e.IBV_WC_RNR_RETRY_EXC_ERR)
    found = b.answers()
    expect("requests", {packet.name for packet in found} <= {"RC_SEND_ONLY"}, True)
    expect(f"{len(found)} packets are at most 3", len(found) <= 3, True)
    b.state(rc, "ERR")
