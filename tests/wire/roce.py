# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""RoCEv2 packets as bytes and back, written from the specification (IBTA vol. 1, chapter 9; annexes A16, A17) and not
from the driver, so that they are independent of it."""

import ipaddress
import struct
import zlib

UDP_PORT = 4791

# Extended headers in their order on the wire, and their fields
HEADERS = {
    "deth": (">II", ("qkey", "src_qpn")),
    "feth": (">I", ("feth",)),
    "reth": (">QII", ("va", "rkey", "dma_len")),
    "xrceth": (">I", ("srqn",)),
    "atomiceth": (">QIQQ", ("va", "rkey", "swap_add", "compare")),
    "aeth": (">I", ("aeth",)),
    "atomicack": (">Q", ("original",)),
    "immdt": (">I", ("imm",)),
    "ieth": (">I", ("rkey",)),
    "cnprsv": (">QQ", ("reserved1", "reserved2")),
}

OPERATIONS = {
    0x00: ("SEND_FIRST", ()),
    0x01: ("SEND_MIDDLE", ()),
    0x02: ("SEND_LAST", ()),
    0x03: ("SEND_LAST_IMM", ("immdt",)),
    0x04: ("SEND_ONLY", ()),
    0x05: ("SEND_ONLY_IMM", ("immdt",)),
    0x06: ("WRITE_FIRST", ("reth",)),
    0x07: ("WRITE_MIDDLE", ()),
    0x08: ("WRITE_LAST", ()),
    0x09: ("WRITE_LAST_IMM", ("immdt",)),
    0x0A: ("WRITE_ONLY", ("reth",)),
    0x0B: ("WRITE_ONLY_IMM", ("reth", "immdt")),
    0x0C: ("READ_REQUEST", ("reth",)),
    0x0D: ("READ_RESPONSE_FIRST", ("aeth",)),
    0x0E: ("READ_RESPONSE_MIDDLE", ()),
    0x0F: ("READ_RESPONSE_LAST", ("aeth",)),
    0x10: ("READ_RESPONSE_ONLY", ("aeth",)),
    0x11: ("ACKNOWLEDGE", ("aeth",)),
    0x12: ("ATOMIC_ACKNOWLEDGE", ("aeth", "atomicack")),
    0x13: ("COMPARE_SWAP", ("atomiceth",)),
    0x14: ("FETCH_ADD", ("atomiceth",)),
    0x16: ("SEND_LAST_INV", ("ieth",)),
    0x17: ("SEND_ONLY_INV", ("ieth",)),
    0x1C: ("FLUSH", ("feth", "reth")),
    0x1D: ("ATOMIC_WRITE", ("reth",)),
}

UC_OPERATIONS = range(0x00, 0x0C)
UD_OPERATIONS = (0x04, 0x05)
ANSWERS = range(0x0D, 0x13)


def _opcodes():
    table = {}
    for operation, (name, headers) in OPERATIONS.items():
        table[operation] = ("RC_" + name, headers)
        if operation in UC_OPERATIONS:
            table[0x20 | operation] = ("UC_" + name, headers)
        if operation in UD_OPERATIONS:
            table[0x60 | operation] = ("UD_" + name, ("deth",) + headers)
        table[0xA0 | operation] = ("XRC_" + name, headers if operation in ANSWERS else ("xrceth",) + headers)
    return table


OPCODES = _opcodes() | {0x81: ("CNP", ("cnprsv",))}
CODE = {name: code for code, (name, _) in OPCODES.items()}
# Opcodes of RC and XRC without an operation, which a responder refuses
RESERVED = [code for code in (*range(0x20), *range(0xA0, 0xC0)) if code not in OPCODES]

# AETH syndromes
ACK = 0x1F
RNR = 0x20
NAK_SEQUENCE, NAK_INVALID, NAK_ACCESS, NAK_OPERATION = 0x60, 0x61, 0x62, 0x63


def headers_length(opcode):
    """The number of bytes of BTH and extended headers."""
    return 12 + sum(struct.calcsize(HEADERS[name][0]) for name in OPCODES[opcode][1])


def icrc(packet):
    """The trailer of a packet that begins with its IP header and ends before the trailer. Fields that routers
    may change count as ones, and so does the local route header that RoCE does not have."""
    masked = bytearray(packet)
    if packet[0] >> 4 == 4:
        ones, udp = (1, 8, 10, 11), 20
    else:
        masked[0] |= 0x0F
        ones, udp = (1, 2, 3, 7), 40
    for at in (*ones, udp + 6, udp + 7, udp + 8 + 4):
        if at < len(masked):
            masked[at] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def bth(opcode, qpn, psn, pad=0, pkey=0xFFFF, ack_req=False, solicited=False, tver=0, migreq=False, becn=0):
    flags = solicited << 7 | migreq << 6 | pad << 4 | tver
    return struct.pack(">BBHII", opcode, flags, pkey, becn << 24 | qpn, ack_req << 31 | psn)


def transport(opcode, qpn, psn, payload=b"", **fields):
    """From BTH to pad. Fields of headers are given by name, those of the BTH, too."""
    if isinstance(opcode, str):
        opcode = CODE[opcode]
    fields.setdefault("pad", -len(payload) & 3)
    extended = b""
    for header in OPCODES[opcode][1]:
        form, names = HEADERS[header]
        extended += struct.pack(form, *(fields.pop(name, 0) for name in names))
    filler = bytes(-len(payload) & 3)
    return bth(opcode, qpn, psn, **fields) + extended + payload + filler


def checksum(data):
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


DF = 0x4000


# The lower two bits of the traffic class (RFC 3168)
NOT_ECT, ECT1, ECT0, CE = range(4)


def ip_header(source, target, length, ident=0, fragment=DF, protocol=17, tclass=0):
    """The IP header in front of a UDP datagram of this length; ident, fragment and protocol are for IPv4."""
    if source.version == 4:
        head = struct.pack(">BBHHHBBH", 0x45, tclass, 20 + length, ident, fragment, 64, protocol, 0)
        head += source.packed + target.packed
        return head[:10] + struct.pack(">H", checksum(head)) + head[12:]
    return struct.pack(">IHBB", 6 << 28 | tclass << 20, length, 17, 64) + source.packed + target.packed


def too_big(router, sender, destination, mtu):
    """The ICMP message of a router with the MTU towards a destination; quotes an echo reply."""
    router, sender, destination = (ipaddress.IPv4Address(address) for address in (router, sender, destination))
    quoted = ip_header(sender, destination, 8, protocol=1) + bytes(8)
    message = struct.pack(">BBHHH", 3, 4, 0, 0, mtu) + quoted
    message = message[:2] + struct.pack(">H", checksum(message)) + message[4:]
    return ip_header(router, sender, len(message), protocol=1) + message


def datagram(source, target, body, sport=0xC123, **ip):
    """Adds the IP and UDP headers in front, and the ICRC behind."""
    source, target = ipaddress.ip_address(source), ipaddress.ip_address(target)
    length = 8 + len(body) + 4
    packet = ip_header(source, target, length, **ip) + struct.pack(">HHHH", sport, UDP_PORT, length, 0) + body
    return packet + icrc(packet)


class Packet:
    """A parsed packet: its opcode by the name in OPCODES, and each field of its headers as an attribute."""

    def __init__(self, data):
        ipv4 = data[0] >> 4 == 4
        if ipv4:
            end, protocol, udp = struct.unpack(">H", data[2:4])[0], data[9], 20
            self.traffic_class, self.hop_limit, self.flow_label = data[1], data[8], 0
            self.source, self.target = (ipaddress.ip_address(data[at:at + 4]) for at in (12, 16))
        else:
            end, protocol, udp = 40 + struct.unpack(">H", data[4:6])[0], data[6], 40
            word = struct.unpack(">I", data[:4])[0]
            self.traffic_class, self.hop_limit, self.flow_label = word >> 20 & 0xFF, data[7], word & 0xFFFFF
            self.source, self.target = (ipaddress.ip_address(data[at:at + 16]) for at in (8, 24))
        self.raw = data[:end]
        ports = struct.unpack(">HH", data[udp:udp + 4])
        if protocol != 17 or ports[1] != UDP_PORT or len(self.raw) < udp + 8 + 16:
            raise ValueError("not RoCEv2")
        self.sport = ports[0]
        self.udp_length = struct.unpack(">H", data[udp + 4:udp + 6])[0]
        self.length_right = self.udp_length == end - udp and len(data) >= end
        self._transport(self.raw[udp + 8:-4])

    def _transport(self, data):
        self.opcode, flags, self.pkey, qpn, psn = struct.unpack(">BBHII", data[:12])
        self.solicited, self.pad, self.tver = flags >> 7, flags >> 4 & 3, flags & 15
        self.reserved = qpn >> 24 | psn >> 24 & 0x7F
        self.qpn, self.ack_req, self.psn = qpn & 0xFFFFFF, psn >> 31, psn & 0xFFFFFF
        self.name, headers = OPCODES.get(self.opcode, (f"opcode {self.opcode:#x}", ()))
        at = 12
        for header in headers:
            form, names = HEADERS[header]
            self.__dict__.update(zip(names, struct.unpack_from(form, data, at)))
            at += struct.calcsize(form)
        if "aeth" in headers:
            self.syndrome, self.msn = self.aeth >> 24, self.aeth & 0xFFFFFF
        rest = data[at:]
        self.payload, self.padding = rest[:len(rest) - self.pad], rest[len(rest) - self.pad:]

    @property
    def is_request(self):
        return any(word in self.name for word in ("_SEND", "_WRITE", "_READ_REQUEST", "_COMPARE_SWAP", "_FETCH_ADD", "_FLUSH"))

    @property
    def ecn(self):
        return self.traffic_class & 3

    @property
    def transport(self):
        """From BTH to pad."""
        return self.raw[(20 if self.raw[0] >> 4 == 4 else 40) + 8:-4]

    @property
    def icrc_right(self):
        return icrc(self.raw[:-4]) == self.raw[-4:]

    def __str__(self):
        text = f"{self.name} psn {self.psn:#x}"
        if hasattr(self, "syndrome"):
            text += f" syndrome {self.syndrome:#x}"
        return text + (f" {len(self.payload)} bytes" if self.payload else "")
