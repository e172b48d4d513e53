# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The fields of an address vector in the headers below the BTH (IBTA vol. 1, annexes A16 and A17): traffic class, hop
limit, flow label, UDP source port, priority of a VLAN; in requests and responses alike. The RDMA core decides on the hop
limit: it is that of the route."""

import contextlib
import os
import subprocess

import roce
from testbed import case, expect
from pyverbs.addr import AH
from pyverbs.base import PyverbsRDMAError
from target import address_vector, gid_text

ROUTE = {"traffic_class": 0xB8 | 3, "flow_label": 0x9ABCD}
DEFAULT_HOP_LIMIT = 64
LOWEST_PORT = 0xC000


def port_of(flow_label):
    """The UDP source port (A17.9.2) as Linux computes it: from both halves of the label, in the range of dynamic ports."""
    return (flow_label & 0x3FFF ^ flow_label >> 14) | LOWEST_PORT


def check(packets, ipv6, route=None):
    """The DSCP is the one asked for; the ECN bits are set by the transport: not capable."""
    route = route or ROUTE
    for packet in packets:
        expect(f"traffic class of {packet}", f"{packet.traffic_class:#x}", f"{route['traffic_class'] & 0xFC:#x}")
        expect(f"hop limit of {packet}", packet.hop_limit, DEFAULT_HOP_LIMIT)
        expect(f"flow label of {packet}", packet.flow_label, route["flow_label"] if ipv6 else 0)
        expect(f"source port of {packet}", packet.sport, port_of(route["flow_label"]))


def requests_of(b, victim):
    """A SEND of three packets and, if it can, a READ."""
    victim.send(2500)
    names = ["SEND_FIRST", "SEND_MIDDLE", "SEND_LAST"]
    if victim.transport == "RC":
        victim.read(10)
        names.append("READ_REQUEST")
    return b.outgoing(*(f"{victim.transport}_{name}" for name in names))


@case("traffic class and flow label of requests")
def requests(b):
    for transport in ("RC", "UC"):
        check(requests_of(b, b.qp(transport, **ROUTE)), b.ipv6)


@case("traffic class and flow label of responses")
def answers(b):
    rc = b.rc(**ROUTE)
    b.send_next(rc, "RC_WRITE_ONLY", b"data")
    check([b.acked(rc)], b.ipv6)
    b.send(rc, "RC_READ_REQUEST", dma_len=2500)
    found = b.answers()
    expect("answers", [packet.name[17:] for packet in found], ["FIRST", "MIDDLE", "LAST"])
    check(found, b.ipv6)
    b.advance(rc, 3)
    b.send(rc, "RC_WRITE_ONLY", b"data", rkey=rc.memory.rkey ^ 0x100)
    check([b.nak(rc, 0x62)], b.ipv6)


@case("traffic class and flow label of datagrams are those of the address handle")
def datagrams(b):
    ud = b.qp("UD")
    for route in (ROUTE, {"traffic_class": 0x20, "flow_label": 1}):
        handle = AH(ud.pd, attr=address_vector(b.gid, b.ours, **route))
        for _ in range(2):
            ud.send_to(handle, b.peer.qpn)
        check(b.outgoing("UD_SEND_ONLY", "UD_SEND_ONLY"), b.ipv6, route)
        handle.close()


@case("a path without traffic class and flow label")
def no_values(b):
    for packet in requests_of(b, b.rc()):
        expect("traffic class, flow label", (packet.traffic_class, packet.flow_label), (0, 0))


@case("the hop limit is that of the route when the path was set up")
def hop_limit(b):
    route = (b.ours, "dev", "eth0", "hoplimit", "17")
    before = b.rc()
    on_h2("route", "add", *route)
    try:
        for victim, wanted in ((before, DEFAULT_HOP_LIMIT), (b.rc(hop_limit=200), 17), (b.rc(hop_limit=0), 17)):
            for packet in requests_of(b, victim):
                expect(f"hop limit of {packet}", packet.hop_limit, wanted)
        ud = b.qp("UD")
        handle = AH(ud.pd, attr=address_vector(b.gid, b.ours, hop_limit=3))
        ud.send_to(handle, b.peer.qpn)
        expect("hop limit of a datagram", b.outgoing("UD_SEND_ONLY")[0].hop_limit, 17)
        handle.close()
    finally:
        on_h2("route", "delete", *route)


@case("without a flow label QPs use different source ports, and each keeps its own")
def spread(b):
    ports = set()
    for _ in range(12):
        rc = b.rc()
        found = {packet.sport for packet in requests_of(b, rc)}
        b.send_next(rc, "RC_WRITE_ONLY", b"data")
        found.add(b.acked(rc).sport)
        expect("source ports of a QP", len(found), 1)
        expect("in the dynamic range", min(found) >= LOWEST_PORT, True)
        ports |= found
    expect("many ports", len(ports) > 8, True)


@case("a service level above 15 is refused")
def no_such_level(b):
    for sl in (16, 128, 255):
        try:
            b.rc(sl=sl)
        except PyverbsRDMAError as error:
            expect("errno", error.error_code, 22)
        else:
            expect("service level", sl, "refused")


# --- a VLAN ---

VLAN = 5
# Service levels and their priorities; those not listed have priority 0.
PRIORITIES = {0: 1, 3: 5, 7: 7, 12: 2}


def on_h2(*words):
    subprocess.run(["ip", "-n", "h2", *words], check=True)


@contextlib.contextmanager
def vlan(b, ours, theirs):
    """A VLAN on the device's netdev, whose address is one of its GIDs; yields the index."""
    name = f"eth0.{VLAN}"
    priorities = [f"{sl}:{priority}" for sl, priority in PRIORITIES.items()]
    on_h2("link", "add", "link", "eth0", "name", name, "type", "vlan", "id", str(VLAN), "egress-qos-map", *priorities)
    try:
        on_h2("link", "set", name, "addrgenmode", "none", "up")
        on_h2("addr", "add", theirs + "/" + ("64" if ":" in theirs else "24"), "dev", name, *(["nodad"] if ":" in theirs else []))
        on_h2("neigh", "add", ours, "lladdr", os.environ["MAC1"], "dev", name)
        yield b.find_gid(gid_text(theirs))
    finally:
        on_h2("link", "delete", name)


@case("the service level is the priority in the VLAN tag of requests and responses")
def priorities(b):
    ours, theirs = ("fd05::1", "fd05::2") if b.ipv6 else ("10.5.0.1", "10.5.0.2")
    with vlan(b, ours, theirs) as gid:
        for sl in (*PRIORITIES, 1, 15):
            rc = b.unconnected()
            rc.connect(gid, ours, b.peer.qpn, sl=sl)
            wanted = PRIORITIES.get(sl, 0) << 13 | VLAN
            rc.send(2500)
            for packet in b.outgoing("RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_LAST"):
                expect(f"tag of requests, service level {sl}", packet.vlan, wanted)
            b.raw(b.body(rc, "RC_WRITE_ONLY", b"data"), source=ours, target=theirs, vlan=VLAN)
            b.advance(rc)
            expect(f"tag of an ACK, service level {sl}", b.acked(rc).vlan, wanted)
            ud = b.qp("UD")
            handle = AH(ud.pd, attr=address_vector(gid, ours, sl=sl))
            ud.send_to(handle, b.peer.qpn)
            expect(f"tag of a datagram, service level {sl}", b.outgoing("UD_SEND_ONLY")[0].vlan, wanted)
            handle.close()
            b.clean()


@case("packets from the peer's link-local address on another link are not accepted")
def twins(b):
    ours, theirs = "fe80::51", "fe80::52"
    on_h2("addr", "add", theirs + "/64", "dev", "eth0", "nodad")
    try:
        on_h2("neigh", "replace", ours, "lladdr", os.environ["MAC1"], "dev", "eth0")
        rc = b.unconnected()
        rc.connect(b.find_gid(gid_text(theirs)), ours, b.peer.qpn)
        with vlan(b, ours, theirs):
            packet = b.body(rc, "RC_WRITE_ONLY", b"data")
            with b.counts("rx_bad_address"):
                b.raw(packet, source=ours, target=theirs, vlan=VLAN)
                b.silence()
            b.raw(packet, source=ours, target=theirs)
            b.advance(rc)
            b.acked(rc)
    finally:
        on_h2("addr", "del", theirs + "/64", "dev", "eth0")


@case("a forged ICMP message with a tiny path MTU does not stop traffic",
      ipv4_only=True)
def too_big(b):
    rc = b.rc()
    b.works(rc)
    b.peer.send(roce.too_big(b.stranger, b.theirs, b.ours, 552))
    route = ["ip", "netns", "exec", "h2", "ip", "route", "get", b.ours]
    try:
        b.wait_for("a small MTU of the route", lambda: "mtu 552" in subprocess.check_output(route, text=True))
        b.send(rc, "RC_READ_REQUEST", dma_len=2500)
        expect("answers", [packet.name[17:] for packet in b.answers()], ["FIRST", "MIDDLE", "LAST"])
        b.advance(rc, 3)
        rc.send(2500)
        b.outgoing("RC_SEND_FIRST", "RC_SEND_MIDDLE", "RC_SEND_LAST")
    finally:
        subprocess.run(["ip", "netns", "exec", "h2", "ip", "route", "flush", "cache"], check=True)


@case("an ACK without a route is not counted as sent")
def no_route(b):
    """Only IPv6 has no route then: with the netdev given, IPv4 takes any address for a neighbour's."""
    rc = b.rc()
    with b.counts("tx_acks", 1 if b.ipv6 else 2):
        on_h2("route", "add", "unreachable", b.ours)
        try:
            b.send_next(rc, "RC_WRITE_ONLY", b"data")
            b.wait_for("the WRITE", lambda: rc.memory.read(4) == b"data")
            b.counter("tx_acks")  # waits until what is under way is done
        finally:
            on_h2("route", "del", "unreachable", b.ours)
        expect("answers", len(b.answers()), 0 if b.ipv6 else 1)
    b.works(rc)
