#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rds.py ADDRESS ADDRESS: two sockets of RDS, with both hosts in one namespace: messages of many lengths both ways, in order and
compared; then one maps its memory and sends the key, and the other writes and reads that memory by RDMA."""

import ctypes
import mmap
import os
import select
import socket
import struct
import sys

AF_RDS, SOL_RDS = 21, 276
SO_SNDBUFFORCE, SO_RCVBUFFORCE = 32, 33
# <linux/rds.h>
RDMA_ARGS, RDMA_DEST, RDMA_MAP, RDMA_STATUS = 1, 2, 3, 4
READWRITE, USE_ONCE, NOTIFY_ME = 0x1, 0x8, 0x20
LENGTHS = [1, 7, 64, 4095, 4096, 4097, 65536, 100001, 1 << 20]
REGION = 256 << 10
SECONDS = int(os.environ.get("RDS_SECONDS", "120"))


def rds_socket(address):
    result = socket.socket(AF_RDS, socket.SOCK_SEQPACKET)
    for buffer in SO_SNDBUFFORCE, SO_RCVBUFFORCE:
        result.setsockopt(socket.SOL_SOCKET, buffer, 8 << 20)
    result.bind((address, 4000))
    return result


def receive(side):
    """Data, the key of the peer's memory, the status of an operation of ours."""
    if not select.select([side], [], [], SECONDS)[0]:
        raise TimeoutError("nothing came")
    data, ancillary, _, _ = side.recvmsg(2 << 20, 4096)
    words = {kind: value for level, kind, value in ancillary if level == SOL_RDS}
    return data, words.get(RDMA_DEST), words.get(RDMA_STATUS)


def messages(sender, receiver, where):
    sent = [os.urandom(length) for length in LENGTHS + LENGTHS[::-1]]
    for data in sent:
        sender.sendto(data, where)
    for data in sent:
        if receive(receiver)[0] != data:
            raise ValueError(f"the message of {len(data)} bytes is not what was sent")


class Region:
    """Memory whose pages are there."""

    def __init__(self, data):
        self.memory = mmap.mmap(-1, REGION)
        self.memory[:] = data
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))

    def vector(self):
        return struct.pack("=QQ", self.address, REGION)


def map_for(owner, region, where):
    """Maps it, and sends the key."""
    cookie = ctypes.c_uint64()
    request = region.vector() + struct.pack("=QQ", ctypes.addressof(cookie), READWRITE | USE_ONCE)
    owner.sendmsg([b"key"], [(SOL_RDS, RDMA_MAP, request)], 0, where)


def one_sided(owner, user, owner_at, user_at, flags):
    """WRITE with READWRITE in flags, else READ; of the region's whole length"""
    exposed, local = Region(os.urandom(REGION)), Region(os.urandom(REGION))
    source, target = (local, exposed) if flags else (exposed, local)
    wanted = source.memory[:]
    map_for(owner, exposed, user_at)
    key = receive(user)[1]
    vectors = ctypes.create_string_buffer(local.vector())
    user.sendmsg([b"done"], [(SOL_RDS, RDMA_ARGS, key + struct.pack(
        "=QQQQQQ", 0, REGION, ctypes.addressof(vectors), 1, flags | NOTIFY_ME, 1))], 0, owner_at)
    status = receive(user)[2]
    if status is None or struct.unpack("=Qi", status[:12]) != (1, 0):
        raise ValueError(f"status {status}")
    if receive(owner)[0] != b"done":
        raise ValueError("the message with the operation is not there")
    if target.memory[:] != wanted:
        raise ValueError("the memory is not what it should be")


def main():
    first_at, second_at = ((address, 4000) for address in sys.argv[1:3])
    with rds_socket(first_at[0]) as first, rds_socket(second_at[0]) as second:
        messages(first, second, second_at)
        messages(second, first, first_at)
        for flags in READWRITE, 0:
            one_sided(second, first, second_at, first_at, flags)
            one_sided(first, second, first_at, second_at, flags)
        messages(first, second, second_at)


main()
