# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Details of addresses: IPv6 extension headers, strays within a burst, groups, violations of Q_Keys, and a path that changes."""

import contextlib
import json
import os
import struct
import subprocess
import time

import constants as e
import roce
from pair import Pair
from pyverbs.qp import QPAttr
from target import MTU, QKEY, address_vector
from testbed import case, expect


# --- IPv6 extension headers ---

UDP = 17
PADDING = bytes((1, 4, 0, 0, 0, 0))  # option PadN (RFC 8200, 4.2)
EXTENSIONS = {"hop-by-hop options": (0, PADDING), "destination options": (60, PADDING), "a fragment header of the only fragment": (44, bytes(6))}


def extended(packet, number, content):
    """The IPv6 packet with an extension header of eight bytes in front of UDP."""
    length = struct.unpack(">H", packet[4:6])[0] + 8
    return packet[:4] + struct.pack(">HB", length, number) + packet[7:40] + bytes((UDP, 0)) + content + packet[40:]


@case("IPv6 packets with an extension header are counted as malformed and not executed")
def extension_headers(b):
    ours, theirs = os.environ["IP1_6"], os.environ["IP2_6"]
    for what, header in EXTENSIONS.items():
        rc = b.unconnected()
        rc.connect(int(os.environ["G2_6"]), ours, b.peer.qpn)
        plain = roce.datagram(ours, theirs, b.body(rc, "RC_WRITE_ONLY", b"data"))
        packet = extended(plain, *header)
        with b.counts("rx_malformed", 2):
            b.peer.send(packet)  # with the ICRC that it has without the header
            b.peer.send(packet[:-4] + roce.icrc(packet[:-4]))
            b.silence()
        expect(f"memory, {what}", rc.memory.read(4), bytes(4))
        b.peer.send(plain)
        b.advance(rc)
        b.acked(rc)
        expect(f"memory without {what}", rc.memory.read(4), b"data")


# --- strays ---

@case("packets for a QPN that does not exist, in the middle of a burst, are counted, and the rest of the burst is executed")
def strays(b):
    rc, packets = b.rc(), 8
    data = os.urandom(packets * MTU)
    rc.post_recv(len(data), 0)
    bodies = [b.body(rc, "RC_SEND_" + ("FIRST" if i == 0 else "LAST" if i == packets - 1 else "MIDDLE"), data[i * MTU:(i + 1) * MTU],
                     psn=rc.psn + i, ack_req=i == packets - 1) for i in range(packets)]
    stray = b.body(rc, "RC_SEND_MIDDLE", bytes(MTU), qpn=rc.qpn ^ 0x10101, psn=rc.psn + 3)
    for at in (6, 3, 3):
        bodies.insert(at, stray)
    with b.counts("rx_bad_qpn", 3), b.counts("tx_nak_sequence", 0):
        b.peer.send_burst([roce.datagram(b.ours, b.theirs, body, ident=i) for i, body in enumerate(bodies)])
        b.advance(rc, packets)
        expect("PSN of the last ACK", b.answers()[-1].psn, rc.psn - 1 & 0xFFFFFF)
    wc = rc.completion()
    expect("status, length", wc and (wc.status, wc.byte_len), (0, len(data)))
    expect("data", rc.memory.read(len(data)) == data, True)


@case("a connection between two hosts carries data while strays arrive")
def strays_beside(b):
    with Pair(b) as pair, b.counts("rx_bad_qpn", 60):
        for _ in range(3):
            for i in range(20):
                b.raw(roce.transport("RC_SEND_ONLY", pair.two.qpn ^ 0x100000 | i, pair.two.psn, b"stray", ack_req=True))
            pair.check()
        b.silence()


# --- groups ---

@contextlib.contextmanager
def member(b):
    """A QP of the device is in a group; yields the address. The kernel's rdma_cm joins groups of IPv4 only."""
    group = "239.1.2.3"
    program = subprocess.Popen(["ip", "netns", "exec", "h2", "mckey", "-m", group, "-b", b.theirs], stdout=subprocess.DEVNULL)
    shown = ["ip", "-n", "h2", "maddress", "show", "dev", "eth0"]
    try:
        # rdma_cm joins once, and sroce once.
        b.wait_for("a member", lambda: f"{group} users 2" in subprocess.check_output(shown, text=True))
        yield group
    finally:
        program.kill()
        program.wait()


@case("a CNP to a multicast group has no effect", ipv4_only=True)
def cnp_to_group(b):
    everybody = 0xFFFFFF
    with member(b) as group:
        with b.counts("rx_bad_qkey"):  # the member gets datagrams of the group
            b.raw(roce.transport("UD_SEND_ONLY", everybody, 0, b"data", qkey=QKEY + 1, src_qpn=b.peer.qpn), target=group)
            b.silence()
        with b.counts("rp_cnp_handled", 0), b.counts("rx_bad_transport"):
            b.raw(roce.transport("CNP", everybody, 0, becn=0x40), target=group)
            b.silence()


# --- violations of Q_Keys ---

def shown_by_rdma(b, name):
    text = subprocess.check_output(["rdma", "-j", "statistic", "show", "link", f"{b.device}/1"], text=True)
    return json.loads(text)[0][name]


@case("violations of Q_Keys are counted for ibv_query_port() and rdma statistic, and right Q_Keys are not")
def qkey_violations(b):
    def values():
        time.sleep(0.02)  # they may be 10 ms old
        return b.context.query_port(1).qkey_viol_cntr, shown_by_rdma(b, "rx_bad_qkey")
    ud, rc = b.qp("UD"), b.rc()
    before = values()
    for qkey, moved in ((QKEY, 0), (QKEY + 1, 3), (0, 6)):
        for _ in range(3):
            ud.post_recv()
            b.send(ud, "UD_SEND_ONLY", b"data", qkey=qkey, src_qpn=b.peer.qpn)
        b.works(rc)  # packets without a Q_Key
        expect(f"violations with Q_Key {qkey:#x}", [new - old for new, old in zip(values(), before)], [moved] * 2)
    expect("messages", len(ud.completions(3)), 3)


# --- a path that changes ---

def to_path(b, rc, address, **route):
    """Changes the path as migration does (IBTA vol. 1, 10.3.1.5): in SQD, then back to RTS."""
    attr = QPAttr(port_num=1)
    attr.qp_state = e.IBV_QPS_SQD
    rc.qp.modify(attr, e.IBV_QP_STATE)
    attr.ah_attr = address_vector(b.gid, address, **route)
    rc.qp.modify(attr, e.IBV_QP_STATE | e.IBV_QP_AV)
    attr.qp_state = e.IBV_QPS_RTS
    rc.qp.modify(attr, e.IBV_QP_STATE)


def way(packet):
    return str(packet.target), packet.traffic_class, packet.target_mac.hex(":")


def request_goes(b, rc, *wanted):
    """The next request goes this way (address, traffic class, MAC) and completes."""
    rc.send(100)
    request = b.outgoing("RC_SEND_ONLY")[0]
    expect("way of a request", way(request), wanted)
    b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, request.psn, aeth=roce.ACK << 24 | 1), source=wanted[0])
    wc = rc.completion()
    expect("completion", wc and wc.status, 0)


def ack_goes(b, rc, *wanted):
    """So does the ACK of a request of the peer."""
    b.raw(b.body(rc, "RC_WRITE_ONLY", b"data"), source=wanted[0])
    b.advance(rc)
    expect("way of an ACK", way(b.acked(rc)), wanted)


@case("a path changed in SQD is that of the next request and the next ACK")
def changed_path(b):
    rc = b.rc(traffic_class=0x20)
    for traffic_class in (0x20, 0x40, 0x60):
        to_path(b, rc, b.ours, traffic_class=traffic_class)
        for goes in (request_goes, ack_goes):
            goes(b, rc, b.ours, traffic_class, os.environ["MAC1"])


@contextlib.contextmanager
def stranger_behind_router(b):
    """Yields the MAC of the router."""
    router, mac = ("fd00::78" if b.ipv6 else "10.0.0.78"), "02:00:00:00:00:78"
    for change in (["neigh", "add", router, "lladdr", mac, "dev", "eth0"], ["route", "add", b.stranger, "via", router, "dev", "eth0"]):
        subprocess.run(["ip", "-n", "h2", *change], check=True)
    try:
        yield mac
    finally:
        subprocess.run(["ip", "-n", "h2", "route", "del", b.stranger], check=True)
        subprocess.run(["ip", "-n", "h2", "neigh", "del", router, "dev", "eth0"], check=True)


@case("a peer whose address and route are changed in SQD: packets from the new address only are accepted")
def changed_address(b):
    rc = b.rc(traffic_class=0x20)
    with stranger_behind_router(b) as router:
        for address, traffic_class, mac, wrong in ((b.ours, 0x20, os.environ["MAC1"], b.stranger), (b.stranger, 0x60, router, b.ours)):
            to_path(b, rc, address, traffic_class=traffic_class)
            for goes in (request_goes, ack_goes):
                goes(b, rc, address, traffic_class, mac)
            with b.counts("rx_bad_address"):
                b.raw(b.body(rc, "RC_WRITE_ONLY", b"evil"), source=wrong)
                b.silence()
