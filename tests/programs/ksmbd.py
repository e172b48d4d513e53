#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""ksmbd.py FOLDER: what the kernel's SMB server wants of user space (<linux/ksmbd_server.h>): starts it, and answers its questions
about users and shares, until it is killed. The user "root" has the password "secret", and the share "share" is FOLDER."""

import os
import socket
import struct
import sys

NETLINK_GENERIC, GENL_ID_CTRL, CTRL_CMD_GETFAMILY = 16, 16, 3
CTRL_ATTR_FAMILY_ID, CTRL_ATTR_FAMILY_NAME = 1, 2
NLMSG_ERROR, NLM_F_REQUEST, NLM_F_ACK = 2, 1, 4
STARTING_UP, LOGIN, SHARE_CONFIG, TREE_CONNECT = 2, 4, 6, 8
USER_OK = 1
AVAILABLE, WRITEABLE, OPLOCKS, PIPE = 1 << 0, 1 << 2, 1 << 7, 1 << 8
TREE_WRITABLE = 1 << 2
# MD4 of "secret" in UTF-16
NT_HASH = bytes.fromhex("878d8014606cda29677a44efa1353fc7")


def attribute(kind, data):
    return struct.pack("=HH", 4 + len(data), kind) + data + bytes(-len(data) % 4)


class Netlink:
    def __init__(self):
        self.link = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        self.link.bind((0, 0))

    def send(self, family, command, kind, data, flags=0):
        body = struct.pack("=BBH", command, 1, 0) + attribute(kind, data)
        self.link.send(struct.pack("=IHHII", 16 + len(body), family, NLM_F_REQUEST | flags, 1, 0) + body)

    def receive(self):
        """The next message that is no acknowledgement: command, attributes"""
        while True:
            message = self.link.recv(65536)
            if struct.unpack_from("=H", message, 4)[0] != NLMSG_ERROR:
                return message[16], dict(self.attributes(message[20:]))
            error = struct.unpack_from("=i", message, 16)[0]
            if error:
                raise OSError(-error, os.strerror(-error))

    @staticmethod
    def attributes(data):
        while len(data) >= 4:
            length, kind = struct.unpack_from("=HH", data)
            yield kind, data[4:length]
            data = data[(length + 3) & ~3:]


def startup():
    """Zeros are defaults, or an option that is off."""
    files = 1024
    return struct.pack("=Ii16s16s16s64s64sHHII548x", 0, 0, b"", b"", b"SROCE", b"GROUP", b"server", 445, 0, 0, files)


def text(data):
    return data.split(b"\0")[0]


def login(handle, question):
    account = text(question[4:52])
    return struct.pack("=III48sHH18s66x", handle, 0, 0, account, USER_OK, len(NT_HASH), NT_HASH)


def share_config(handle, question, folder):
    name = text(question[4:68])
    path, flags = (b"", AVAILABLE | PIPE) if name.lower() == b"ipc$" else (folder.encode() + b"\0", AVAILABLE | WRITEABLE | OPLOCKS)
    return struct.pack("=II4H2H64s444xII", handle, flags, 0o644, 0o755, 0, 0, 0, 0, name, len(path), 0) + path


def tree_connect(handle):
    return struct.pack("=IHH64x", handle, 0, TREE_WRITABLE)


def main():
    folder = sys.argv[1]
    netlink = Netlink()
    netlink.send(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME, b"SMBD_GENL\0")
    family = struct.unpack("=H", netlink.receive()[1][CTRL_ATTR_FAMILY_ID])[0]
    netlink.send(family, STARTING_UP, STARTING_UP, startup(), NLM_F_ACK)
    while True:
        command, attributes = netlink.receive()
        question = attributes.get(command, bytes(4))
        handle = struct.unpack_from("=I", question)[0]
        answers = {LOGIN: lambda: login(handle, question), SHARE_CONFIG: lambda: share_config(handle, question, folder),
                   TREE_CONNECT: lambda: tree_connect(handle)}
        if command in answers:
            netlink.send(family, command + 1, command + 1, answers[command]())


main()
