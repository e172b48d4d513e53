# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Malformed packets (IBTA vol. 1, 9.6): dropped in silence and counted, whatever their destination."""

import ipaddress
import struct

import roce
from testbed import case, expect


def rebuild(body, at, value):
    """The packet with one changed byte in the BTH or behind it."""
    return body[:at] + bytes([value]) + body[at + 1:]


def dropped(b, victim, bodies, counter="rx_malformed"):
    """All of them are dropped without a response; the QP goes on."""
    with b.counts(counter, len(bodies)):
        for body in bodies:
            b.raw(body)
        b.silence()
    b.works(victim)


@case("truncated at every length")
def truncated(b):
    for transport in ("RC", "UC", "UD"):
        victim = b.qp(transport)
        bodies = []
        for code, (name, _) in roce.OPCODES.items():
            if name.startswith(transport):
                whole = b.body(victim, name)
                bodies += [whole[:n] for n in range(0, roce.headers_length(code))]
        with b.counts("rx_malformed", len(bodies)):
            for body in bodies:
                b.raw(body)
            b.silence()
        if transport != "UD":
            b.works(victim)


@case("shorter than an ICRC", ipv4_only=True)
def no_icrc(b):
    rc = b.rc()
    whole = roce.datagram(b.ours, b.theirs, b"")
    for n in range(5):
        data = roce.ip_header(*map(ipaddress.ip_address, (b.ours, b.theirs)), 8 + n)
        b.peer.send(data + struct.pack(">HHHH", 50000, 4791, 8 + n, 0) + whole[28:28 + n])
    b.silence()
    b.works(rc)


@case("all opcodes that do not exist, short and long, except the reserved ones of RC and XRC")
def unknown_opcodes(b):
    rc = b.rc()
    unknown = [code for code in range(256) if code not in roce.OPCODES and code not in roce.RESERVED]
    bodies = [roce.bth(code, rc.qpn, rc.psn, ack_req=True) + bytes(n) for code in unknown for n in (0, 1, 4, 16, 28, 36, 60)]
    dropped(b, rc, bodies)


@case("all opcodes with 0 to 9 bytes behind the BTH")
def all_opcodes(b):
    for transport in ("RC", "UC", "UD"):
        victim = b.qp(transport)
        for code in range(256):
            for n in (0, 1, 3, 4, 5, 8, 9):
                b.raw(roce.bth(code, victim.qpn, victim.psn, pad=n & 3) + bytes(n))
            if victim.state == "ERR":
                victim.close()
                b.victims.remove(victim)
                victim = b.qp(transport)
        b.answers()


@case("a transport header version other than 0")
def version(b):
    rc = b.rc()
    dropped(b, rc, [b.body(rc, "RC_WRITE_ONLY", b"data", tver=n) for n in range(1, 16)])


@case("a pad count larger than the payload")
def long_pad(b):
    rc = b.rc()
    bodies = [b.body(rc, "RC_WRITE_ONLY", b"", pad=n) for n in (1, 2, 3)]
    bodies += [b.body(rc, "RC_SEND_ONLY", b"", pad=n) for n in (1, 2, 3)]
    dropped(b, rc, bodies)


@case("payload and pad that are not a multiple of four bytes")
def odd_payload(b):
    rc = b.rc()
    bodies = [b.body(rc, "RC_WRITE_ONLY", b"", dma_len=n, pad=pad) + bytes(n) for n in (1, 2, 3, 5) for pad in (0, 1)]
    dropped(b, rc, bodies)


@case("payload behind an opcode that has none")
def payload_too_much(b):
    rc = b.rc()
    bodies = [b.body(rc, name) + bytes(4) for name in ("RC_READ_REQUEST", "RC_COMPARE_SWAP", "RC_FETCH_ADD", "RC_ACKNOWLEDGE",
                                                       "RC_ATOMIC_ACKNOWLEDGE")]
    dropped(b, rc, bodies)


@case("a wrong ICRC")
def bad_icrc(b):
    rc = b.rc()
    packet = roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", b"bad data"))
    with b.counts("rx_icrc_encapsulated", 8):
        for bit in range(8):
            b.peer.send(packet[:-4] + bytes([packet[-4] ^ 1 << bit]) + packet[-3:])
        b.silence()
    expect("memory", rc.memory.read(8), bytes(8))
    b.works(rc)


@case("a payload that was changed after its ICRC")
def flipped(b):
    rc = b.rc()
    packet = roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", bytes(64)))
    with b.counts("rx_icrc_encapsulated", 64):
        for at in range(64):
            b.peer.send(rebuild(packet, len(packet) - 5 - at, 0x20))
        b.silence()
    expect("memory", rc.memory.read(64), bytes(64))
    b.works(rc)


@case("fields that routers change are not covered by the ICRC", ipv4_only=True)
def variant_fields(b):
    rc = b.rc()
    packet = bytearray(roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", b"hop")))
    packet[1], packet[8] = 0x2A, 3
    packet[10:12] = bytes(2)
    packet[10:12] = struct.pack(">H", roce.checksum(bytes(packet[:20])))
    packet[28 + 4] = 0xC0  # FECN and BECN
    b.peer.send(bytes(packet))
    b.advance(rc)
    b.acked(rc)
    expect("memory", rc.memory.read(3), b"hop")
    b.works(rc)


@case("an IPv4 header with options", ipv4_only=True)
def ip_options(b):
    rc = b.rc()
    body = b.body(rc, "RC_WRITE_ONLY", b"options")
    udp = struct.pack(">HHHH", 50000, 4791, 12 + len(body), 0)
    head = struct.pack(">BBHHHBBH", 0x46, 0, 24 + 12 + len(body), 0, 0, 64, 17, 0)
    head += ipaddress.ip_address(b.ours).packed + ipaddress.ip_address(b.theirs).packed + b"\1\1\1\1"
    head = head[:10] + struct.pack(">H", roce.checksum(head)) + head[12:]
    packet = head + udp + body
    b.peer.send(packet + roce.icrc(packet))
    b.silence()
    expect("memory", rc.memory.read(7), bytes(7))
    b.works(rc)


@case("bytes behind the UDP datagram are ignored")
def trailing(b):
    rc = b.rc()
    b.peer.send(roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", b"trailer")) + b"\xff" * 30)
    b.advance(rc)
    b.acked(rc)
    b.works(rc)


@case("what looks like a packet inside an IP fragment is not executed", ipv4_only=True)
def fragments(b):
    rc = b.rc()
    inner = roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", b"smuggled"), ident=7, fragment=0)[28:]
    before = 20 + 8 + 28 + 4  # headers, and filler up to a border of fragments
    payload = bytes(-(before - 20) % 8 + 4) + inner + bytes(40)
    at = 20 + 8 + 28 + len(payload) - 40 - len(inner)
    whole = roce.datagram(b.ours, b.theirs, b.body(rc, "RC_WRITE_ONLY", payload, va=rc.memory.va + 512), ident=7, fragment=0)
    ends = [ipaddress.ip_address(address) for address in (b.ours, b.theirs)]
    parts = whole[20:at], whole[at:at + len(inner) // 8 * 8], whole[at + len(inner) // 8 * 8:]
    offset = 0
    for i, part in enumerate(parts):
        more = 0x2000 if i + 1 < len(parts) else 0
        b.peer.send(roce.ip_header(*ends, len(part), ident=7, fragment=more | offset // 8) + part)
        offset += len(part)
    found = b.answers()
    expect("memory", rc.memory.read(8), bytes(8))
    if found:
        expect("answers", [packet.name for packet in found], ["RC_ACKNOWLEDGE"])
        b.advance(rc)
    b.works(rc)
