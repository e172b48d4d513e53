# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Invalid responses (IBTA vol. 1, 9.7.5.1.2, 9.7.6): they are ignored or fail the request, and do no other harm."""

import struct
import time

import constants as e
import roce
from testbed import case, expect

MTU = 1024
PSN = 500


def acknowledge(b, rc, psn, syndrome=roce.ACK, msn=0):
    b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, psn & 0xFFFFFF, aeth=syndrome << 24 | msn))


def respond(b, rc, place, psn, payload=b"", syndrome=roce.ACK):
    fields = {} if place == "MIDDLE" else {"aeth": syndrome << 24 | 1}
    b.raw(roce.transport("RC_READ_RESPONSE_" + place, rc.qpn, psn & 0xFFFFFF, payload, **fields))


def atomic_answer(b, rc, psn, value, syndrome=roce.ACK):
    b.raw(roce.transport("RC_ATOMIC_ACKNOWLEDGE", rc.qpn, psn & 0xFFFFFF, aeth=syndrome << 24 | 1, original=value))


def no_completion(b, rc):
    b.silence()
    expect("completions", rc.completions(), [])
    b.state(rc, "RTS")


def succeeds(b, rc):
    wc = rc.completion()
    expect("completion", wc and wc.status, 0)
    b.works(rc)


def fails(b, rc, status):
    wc = rc.completion()
    expect("status", wc and wc.status, status)
    b.silence()
    b.state(rc, "ERR")


def sent(b, name="RC_SEND_ONLY", **options):
    rc = b.rc(**options)
    rc.send()
    b.outgoing(name)
    return rc


def asked(b, length=3 * MTU):
    rc = b.rc()
    rc.read(length)
    b.outgoing("RC_READ_REQUEST")
    return rc


@case("an ACK for a PSN that was never sent")
def never_sent(b):
    rc = sent(b)
    with b.counts("rx_ignored", 6):
        for psn in (PSN + 1, PSN + 2, PSN + 1000, PSN - 1, PSN - 1000, PSN + 2**23):
            acknowledge(b, rc, psn)
        no_completion(b, rc)
    acknowledge(b, rc, PSN)
    succeeds(b, rc)


@case("an ACK when nothing is outstanding")
def unsolicited(b):
    rc = b.rc()
    for psn in (PSN, PSN - 1, 0, 0xFFFFFF):
        acknowledge(b, rc, psn)
        acknowledge(b, rc, psn, roce.NAK_INVALID)
        respond(b, rc, "ONLY", psn, b"data")
        atomic_answer(b, rc, psn, 1)
    no_completion(b, rc)
    b.works(rc)


@case("reserved syndromes are ignored")
def reserved(b):
    rc = sent(b)
    for syndrome in (0x40, 0x5F, 0x64, 0x65, 0x7F):
        acknowledge(b, rc, PSN, syndrome)
    no_completion(b, rc)
    acknowledge(b, rc, PSN)
    succeeds(b, rc)


@case("each NAK code has its completion status")
def naks(b):
    for syndrome, status, counter in ((roce.NAK_INVALID, e.IBV_WC_REM_INV_REQ_ERR, "req_remote_invalid_request"),
                                      (roce.NAK_ACCESS, e.IBV_WC_REM_ACCESS_ERR, "req_remote_access_errors"),
                                      (roce.NAK_OPERATION, e.IBV_WC_REM_OP_ERR, "req_remote_operation_errors")):
        rc = sent(b)
        with b.counts(counter):
            acknowledge(b, rc, PSN, syndrome)
            fails(b, rc, status)


@case("a NAK of a later request completes those before it")
def nak_later(b):
    rc = b.rc()
    for wr_id in (1, 2, 3):
        rc.send(wr_id=wr_id)
    b.answers()
    with b.counts("req_cqe_error", 2), b.counts("req_cqe_flush_error"):
        acknowledge(b, rc, PSN + 1, roce.NAK_ACCESS)
        got = [rc.completion() for _ in range(3)]
    expect("completions", [(wc.wr_id, wc.status) for wc in got],
           [(1, 0), (2, e.IBV_WC_REM_ACCESS_ERR), (3, e.IBV_WC_WR_FLUSH_ERR)])


@case("sequence NAK: repeated at once; the same NAK again has no effect")
def sequence(b):
    rc = sent(b)
    with b.counts("packet_seq_err"), b.counts("implied_nak_seq_err", 0):
        acknowledge(b, rc, PSN, roce.NAK_SEQUENCE)
        again = b.outgoing("RC_SEND_ONLY")[0]
        expect("PSN", again.psn, PSN)
        for _ in range(5):
            acknowledge(b, rc, PSN, roce.NAK_SEQUENCE)
        no_completion(b, rc)
    acknowledge(b, rc, PSN)
    succeeds(b, rc)


@case("RNR NAK: repeated after its delay, at most rnr_retry times")
def rnr(b):
    rc = sent(b)
    with b.counts("rnr_nak_retry_err", 3), b.counts("req_rnr_retries_exceeded"):
        for _ in range(3):
            acknowledge(b, rc, PSN, roce.RNR | 1)
            expect("PSN", b.wait_outgoing("RC_SEND_ONLY").psn, PSN)
        acknowledge(b, rc, PSN, roce.RNR | 1)
        fails(b, rc, e.IBV_WC_RNR_RETRY_EXC_ERR)


@case("no response: repeated retry_cnt times, then RETRY_EXC_ERR")
def timeout(b):
    with b.counts("local_ack_timeout_err", 3), b.counts("req_transport_retries_exceeded"):
        rc = sent(b, timeout=14)
        wc = rc.completion()
    expect("status", wc and wc.status, e.IBV_WC_RETRY_EXC_ERR)
    again = b.answers()
    expect("what was sent again", {(packet.name, packet.psn) for packet in again}, {("RC_SEND_ONLY", PSN)})
    # Probes come between the retries, up to eight for each.
    expect("as often as that", 3 <= len(again) <= 3 + 8 * 4, True)
    b.silence()
    b.state(rc, "ERR")


@case("a probe repeats the oldest packet, also if new ones wait")
def probes(b):
    rc = b.rc(timeout=23, depth=64)
    before = b.counter("tx_probes")
    # After 32 packets the process need not kick, so the last ones may wait until the timer has fired.
    for _ in range(64):
        rc.send()
    while b.counter("tx_probes") == before:
        time.sleep(0.01)
    acknowledge(b, rc, PSN + 63)
    expect("completions", [wc.status for wc in rc.completions(64)], [e.IBV_WC_SUCCESS] * 64)
    repeats = [packet.psn for packet in b.answers()].count(PSN) - 1
    expect("repeats", repeats, b.counter("tx_probes") - before)


@case("a sequence NAK restarts the timeout")
def time_again(b):
    timeout = 4.096e-6 * 2 ** 20
    with b.counts("local_ack_timeout_err", 0):
        rc = sent(b, timeout=20)
        time.sleep(0.6 * timeout)
        b.answers()
        acknowledge(b, rc, PSN, roce.NAK_SEQUENCE)
        expect("PSN", b.wait_outgoing("RC_SEND_ONLY").psn, PSN)
        time.sleep(0.55 * timeout)
        b.answers()
    acknowledge(b, rc, PSN)
    succeeds(b, rc)


@case("a READ response with a NAK syndrome (what made rxe warn)")
def response_nak(b):
    rc = asked(b, 8)
    for syndrome in (roce.RNR, 0x40, roce.NAK_SEQUENCE, roce.NAK_ACCESS, 0xFF):
        respond(b, rc, "ONLY", PSN, b"bad data", syndrome)
    no_completion(b, rc)
    expect("memory", rc.memory.read(8), bytes(8))
    respond(b, rc, "ONLY", PSN, b"the data")
    succeeds(b, rc)
    expect("memory", rc.memory.read(8), b"the data")


@case("an atomic ACK with a NAK syndrome (what made rxe warn)")
def atomic_nak(b):
    rc = b.rc()
    rc.fetch_add()
    b.outgoing("RC_FETCH_ADD")
    for syndrome in (roce.RNR, 0x40, roce.NAK_SEQUENCE, roce.NAK_ACCESS, 0xFF):
        atomic_answer(b, rc, PSN, 99, syndrome)
    no_completion(b, rc)
    atomic_answer(b, rc, PSN, 0x123456789)
    succeeds(b, rc)
    expect("memory", struct.unpack("=Q", rc.memory.read(8))[0], 0x123456789)


@case("READ responses that are too short, too long, or end too soon or too late")
def response_length(b):
    for length, place, payload in ((8, "ONLY", 4), (8, "ONLY", 12), (8, "ONLY", 0), (3 * MTU, "FIRST", 8), (3 * MTU, "FIRST", 0),
                                   (3 * MTU, "ONLY", MTU), (3 * MTU, "LAST", MTU), (8, "FIRST", 8), (MTU, "FIRST", MTU)):
        rc = asked(b, length)
        respond(b, rc, place, PSN, b"x" * payload)
        fails(b, rc, e.IBV_WC_BAD_RESP_ERR)
        expect("memory", rc.memory.read(rc.memory.size).strip(b"\0"), b"")


@case("more READ responses than requested")
def response_beyond(b):
    rc = asked(b, MTU)
    respond(b, rc, "MIDDLE", PSN + 1, b"x" * MTU)
    respond(b, rc, "LAST", PSN + 1, b"x" * 8)
    no_completion(b, rc)
    respond(b, rc, "ONLY", PSN, b"y" * MTU)
    wc = rc.completion()
    expect("completion", wc and wc.status, 0)
    expect("memory", rc.memory.read(2 * MTU) == b"y" * MTU + bytes(MTU), True)


@case("responses of another kind than the request")
def wrong_kind(b):
    rc = sent(b)
    respond(b, rc, "ONLY", PSN, b"0123456789abcdef")
    atomic_answer(b, rc, PSN, 5)
    no_completion(b, rc)
    acknowledge(b, rc, PSN)
    succeeds(b, rc)
    rc = asked(b, 8)
    atomic_answer(b, rc, PSN, 5)
    no_completion(b, rc)
    respond(b, rc, "ONLY", PSN, b"the data")
    succeeds(b, rc)


@case("an ACK does not replace the data of a READ: it is requested again")
def acked_read(b):
    rc = asked(b, 2 * MTU)
    with b.counts("implied_nak_seq_err"), b.counts("packet_seq_err", 0):
        acknowledge(b, rc, PSN + 1)
        again = b.outgoing("RC_READ_REQUEST")[0]
    expect("PSN and length", (again.psn, again.dma_len), (PSN, 2 * MTU))
    respond(b, rc, "FIRST", PSN, b"1" * MTU)
    respond(b, rc, "LAST", PSN + 1, b"2" * MTU)
    succeeds(b, rc)


@case("the response to a later READ behind a gap is dropped and requested again")
def later_read(b):
    rc = b.rc()
    rc.read(2 * MTU, wr_id=1)
    rc.read(MTU, wr_id=2)
    b.outgoing("RC_READ_REQUEST", "RC_READ_REQUEST")
    with b.counts("out_of_sequence"), b.counts("rx_held", 0):
        respond(b, rc, "ONLY", PSN + 2, b"x" * MTU)
        again = b.answers()[0]
    expect("PSN and length", (again.psn, again.dma_len), (PSN, 2 * MTU))
    with b.counts("out_of_sequence", 0):
        respond(b, rc, "FIRST", PSN, b"1" * MTU)
        respond(b, rc, "LAST", PSN + 1, b"2" * MTU)
        b.answers()
        respond(b, rc, "ONLY", PSN + 2, b"3" * MTU)
    expect("completions", [(wc.wr_id, wc.status) for wc in rc.completions(2)], [(1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_SUCCESS)])
    expect("memory", rc.memory.read(2 * MTU) == b"3" * MTU + b"2" * MTU, True)


def read_and_send(b, **options):
    rc = b.rc(**options)
    rc.read(2 * MTU, wr_id=1)
    rc.send(wr_id=2)
    return rc


@case("a NAK that overtakes a READ's data: the READ completes, then the refused request fails")
def refusal_overtakes(b):
    with b.counts("req_remote_operation_errors"):
        rc = read_and_send(b)
        b.outgoing("RC_READ_REQUEST", "RC_SEND_ONLY")
        acknowledge(b, rc, PSN + 2, roce.NAK_OPERATION)
        expect("asked for again", b.answers()[0].name, "RC_READ_REQUEST")
        respond(b, rc, "FIRST", PSN, b"1" * MTU)
        respond(b, rc, "LAST", PSN + 1, b"2" * MTU)
        b.answers()
        expect("completions", [(wc.wr_id, wc.status) for wc in rc.completions(2)], [(1, e.IBV_WC_SUCCESS), (2, e.IBV_WC_REM_OP_ERR)])
    b.state(rc, "ERR")


@case("a NAK behind a READ whose data is lost for good: the status is that of the NAK")
def refusal_behind_lost(b):
    for timeout in (16, 0):
        with b.counts("req_remote_operation_errors"), b.counts("req_transport_retries_exceeded", 0):
            rc = read_and_send(b, timeout=timeout)
            acknowledge(b, rc, PSN + 2, roce.NAK_OPERATION)
            wc = rc.completion()
            expect("completion", wc and (wc.wr_id, wc.status), (1, e.IBV_WC_REM_OP_ERR))
            wc = rc.completion()
            expect("the one behind it", wc and (wc.wr_id, wc.status), (2, e.IBV_WC_WR_FLUSH_ERR))
        b.state(rc, "ERR")


@case("an ACK for several requests after the PSN wrapped")
def cumulative(b):
    rc = b.rc(sq_psn=0xFFFFFE)
    for wr_id in (1, 2, 3, 4):
        rc.send(wr_id=wr_id)
    expect("PSNs", [p.psn for p in b.answers()], [0xFFFFFE, 0xFFFFFF, 0, 1])
    acknowledge(b, rc, 0)
    b.silence()
    expect("completions", [wc.wr_id for wc in rc.completions(3)], [1, 2, 3])
    acknowledge(b, rc, 1)
    succeeds(b, rc)
