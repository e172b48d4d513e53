#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""smc.py eid NAME: adds an enterprise ID, which version 2 of SMC-R (over UDP) requires.
smc.py server ADDRESS PORT: sends received data back, on one connection.
smc.py client ADDRESS PORT BYTES: sends and compares, and prints the transport of each connection of this namespace."""

import ctypes
import os
import socket
import struct
import sys
import threading

AF_SMC = 43
MODES = {0: "SMC-R", 1: "TCP", 2: "SMC-D"}
LIBC = ctypes.CDLL(None, use_errno=True)

# <linux/netlink.h>, <linux/genetlink.h>, <linux/sock_diag.h>, <linux/smc.h>, <linux/smc_diag.h>
REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
ERROR, DONE, MULTI = 2, 3, 2
NETLINK_SOCK_DIAG, NETLINK_GENERIC = 4, 16
GENL_CONTROL, CTRL_GETFAMILY, CTRL_FAMILY_ID, CTRL_FAMILY_NAME = 16, 3, 1, 2
SOCK_DIAG_BY_FAMILY = 20
SMC_ADD_UEID, SMC_EID_ENTRY, EID_LENGTH = 10, 1, 32


def call(name, *arguments):
    """Python's own sockets do not know the family's addresses."""
    result = getattr(LIBC, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")
    return result


def address(text, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(text))


def messages(data):
    while data:
        length, kind, flags = struct.unpack_from("=IHH", data)
        yield kind, flags, data[16:length]
        data = data[(length + 3) & ~3:]


def request(protocol, kind, flags, body):
    """The answers to a request by netlink."""
    answers = []
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, protocol) as netlink:
        netlink.bind((0, 0))
        netlink.send(struct.pack("=IHHII", 16 + len(body), kind, flags | REQUEST, 1, 0) + body)
        while True:
            for answer, answer_flags, data in messages(netlink.recv(65536)):
                if answer == ERROR and struct.unpack_from("=i", data)[0]:
                    error = -struct.unpack_from("=i", data)[0]
                    raise OSError(error, os.strerror(error))
                if answer in (ERROR, DONE):
                    return answers
                answers.append(data)
                if not answer_flags & MULTI and not flags & ACK:
                    return answers


def attribute(kind, value):
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def find_attribute(data, wanted):
    while data:
        length, kind = struct.unpack_from("=HH", data)
        if kind == wanted:
            return data[4:length]
        data = data[(length + 3) & ~3:]
    raise KeyError(wanted)


def allow_eid(name):
    answer = request(NETLINK_GENERIC, GENL_CONTROL, 0,
                     struct.pack("=BBxx", CTRL_GETFAMILY, 1) + attribute(CTRL_FAMILY_NAME, b"SMC_GEN_NETLINK\0"))
    family, = struct.unpack("=H", find_attribute(answer[0][4:], CTRL_FAMILY_ID))
    request(NETLINK_GENERIC, family, ACK,
            struct.pack("=BBxx", SMC_ADD_UEID, 1) + attribute(SMC_EID_ENTRY, name.ljust(EID_LENGTH).encode() + b"\0"))


def modes():
    """A word for each connection."""
    answers = request(NETLINK_SOCK_DIAG, SOCK_DIAG_BY_FAMILY, DUMP, struct.pack("=BBBB48x", AF_SMC, 0, 0, 0))
    return [MODES[answer[2]] for answer in answers]


def serve(where):
    listener = call("socket", AF_SMC, socket.SOCK_STREAM, 0)
    call("bind", listener, where, len(where))
    call("listen", listener, 1)
    peer = call("accept", listener, None, None)
    while data := os.read(peer, 65536):
        send(peer, data)


def send(peer, data):
    while data:
        data = data[os.write(peer, data[:50000]):]


def compare(where, length):
    peer = call("socket", AF_SMC, socket.SOCK_STREAM, 0)
    call("connect", peer, where, len(where))
    sent, back = os.urandom(length), b""
    sender = threading.Thread(target=send, args=(peer, sent))
    sender.start()
    while len(back) < length and (data := os.read(peer, 65536)):
        back += data
    sender.join()
    print("connections:", *modes())
    return back == sent


def main():
    command, *arguments = sys.argv[1:]
    if command == "eid":
        allow_eid(*arguments)
        return 0
    where = address(arguments[0], int(arguments[1]))
    if command == "server":
        serve(where)
        return 0
    return 0 if compare(where, int(arguments[2])) else 1


sys.exit(main())
