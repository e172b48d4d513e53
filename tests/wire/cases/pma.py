# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The performance management agent (IBTA vol. 1, 16.1): its responses to MADs of class 4."""

import os
import struct
import time

import roce
from pyverbs.device import Context
from target import Victim
from testbed import Failure, case, expect
from mad import BAD_ATTRIBUTE, BAD_METHOD, BAD_VALUE, CLASS_PORT_INFO, GET, SET, ask

PORT_COUNTERS, PORT_COUNTERS_EXTENDED = 0x12, 0x1D


def counters(b, port=1):
    status, data = ask(b, GET, PORT_COUNTERS, bytes((0, port)))
    expect("status", status, 0)
    names = ("xmit_data", "rcv_data", "xmit_packets", "rcv_packets")
    return dict(zip(names, struct.unpack(">IIII", data[24:40])))


@case("PMA: ClassPortInfo")
def class_port_info(b):
    status, data = ask(b, GET, CLASS_PORT_INFO)
    expect("status, versions", (status, data[0], data[1]), (0, 1, 1))
    expect("all ports, extended counters", struct.unpack(">H", data[2:4])[0], 0x300)
    expect("SET", ask(b, SET, CLASS_PORT_INFO)[0], BAD_METHOD)


@case("PMA: PortCounters count packets")
def port_counters(b):
    before = counters(b)
    rc = b.rc()
    for _ in range(10):
        b.send_next(rc, "RC_WRITE_ONLY", b"x" * 1000, va=rc.memory.va, rkey=rc.memory.rkey, dma_len=1000, ack_req=True)
        b.acked(rc)
    # The kernel caches values for some milliseconds.
    for _ in range(1000):
        after = counters(b, 0xFF)
        if after["rcv_packets"] - before["rcv_packets"] >= 10:
            break
    if after["rcv_packets"] - before["rcv_packets"] < 10 or after["rcv_data"] - before["rcv_data"] < 10 * 250:
        raise Failure(f"received: {before} then {after}")
    if after["xmit_packets"] - before["xmit_packets"] < 10:
        raise Failure(f"sent: {before} then {after}")


def rcv_errors(b):
    return struct.unpack(">H", ask(b, GET, PORT_COUNTERS, bytes((0, 1)))[1][8:10])[0]


@case("PMA: PortCounters count packets with a wrong ICRC")
def errors(b):
    before = rcv_errors(b)
    packet = roce.datagram(b.ours, b.theirs, roce.transport("UC_SEND_ONLY", b.rc().qpn, 0, b"x" * 100))
    for _ in range(10):
        b.peer.send(packet[:-1] + bytes([packet[-1] ^ 1]))
    # The kernel caches values for some milliseconds.
    for _ in range(1000):
        if rcv_errors(b) == before + 10:
            return
    raise Failure(f"port_rcv_errors: {before} then {rcv_errors(b)}")


@case("PMA: counters do not tell whether a QPN exists")
def no_oracle(b):
    """The counters in the responses change in the same way for QPs that exist and for QPs that do not."""
    shown = ("rx_packets", "rx_bytes", "rx_icrc_encapsulated", "rx_malformed", "tx_packets", "tx_local_drops")
    rc = b.rc()
    qpns = [rc.qpn, rc.qpn ^ 0x800000]
    if "D3" in os.environ:  # another device of the namespace
        other = Victim(Context(name=os.environ["D3"]))
        b.victims.append(other)
        qpns.append(other.qpn)
    for damage in (0, 1):
        moved = []
        for qpn in qpns:
            before = [b.counter(name) for name in shown]
            packet = roce.datagram(b.ours, b.theirs, roce.transport("UC_SEND_ONLY", qpn, 0, b"x" * 100))
            for _ in range(10):
                b.peer.send(packet[:-1] + bytes([packet[-1] ^ damage]))
            b.silence()
            moved.append([b.counter(name) - old for name, old in zip(shown, before)])
        for others in moved[1:]:
            expect("moved by a QP that exists, and by none or one of another device", moved[0], others)
        if moved[0][0] < 10:
            raise Failure(f"{moved[0][0]} packets counted")


@case("PMA: counters are added up once in 10 ms")
def added_up(b):
    """Each question and each response is a packet, so sums that were made at different times differ."""
    start = time.monotonic()
    shown = {counters(b)["rcv_packets"] for _ in range(100)}
    most = (time.monotonic() - start) / 0.01 + 3
    if len(shown) > most:
        raise Failure(f"{len(shown)} different values, at most {most:.0f} are possible")


@case("PMA: PortCountersExtended agree with PortCounters")
def extended(b):
    status, data = ask(b, GET, PORT_COUNTERS_EXTENDED, bytes((0, 1, 0, 0)))
    expect("status", status, 0)
    long = struct.unpack(">QQQQ", data[8:40])
    expect("packets to one destination, sent and received", struct.unpack(">QQ", data[40:56]), long[2:])
    short = counters(b)
    for name, value in zip(short, long):
        if not value or not 0 <= short[name] - value < 2000:
            raise Failure(f"{name}: {value}, a moment later {short[name]}")


@case("PMA: counters cannot be cleared")
def reset(b):
    everything = struct.pack(">BBH", 0, 1, 0xFFFF)
    before = counters(b)
    for attribute in (PORT_COUNTERS, PORT_COUNTERS_EXTENDED):
        expect(f"status of attribute {attribute:#x}", ask(b, SET, attribute, everything)[0], BAD_METHOD)
    after = counters(b)
    if any(after[name] < before[name] for name in before):
        raise Failure(f"{before} then {after}")


@case("PMA: an unknown port, attribute or version is reported")
def refused(b):
    for attribute in (PORT_COUNTERS, PORT_COUNTERS_EXTENDED):
        for port in (0, 2, 254):
            expect(f"status of port {port}", ask(b, GET, attribute, bytes((0, port)))[0], BAD_VALUE)
    for attribute in (0, 0x10, 0x15, 0xFF12):
        expect(f"status of attribute {attribute:#x}", ask(b, GET, attribute)[0], BAD_ATTRIBUTE)
