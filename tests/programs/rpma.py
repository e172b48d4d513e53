#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rpma.py server ADDRESS PORT: offers memory, and waits until the client has disconnected.
rpma.py client ADDRESS PORT: writes to that memory with librpma, flushes it and reads it again."""

import ctypes
import os
import sys

RPMA = ctypes.CDLL("librpma.so.0")
LENGTH = 1 << 20
# The constants of its header
CONTEXT_LOCAL, CONTEXT_REMOTE = 0, 1
READ_SRC, READ_DST, WRITE_SRC, WRITE_DST, FLUSH_VISIBILITY = (1 << bit for bit in range(5))
ALWAYS = 3
TYPE_VISIBILITY = 1
ESTABLISHED, CLOSED = 0, 1
WC_WORDS = 12


class PrivateData(ctypes.Structure):
    _fields_ = [("pointer", ctypes.c_void_p), ("length", ctypes.c_uint8)]


def call(name, *arguments):
    status = getattr(RPMA, "rpma_" + name)(*arguments)
    if status:
        RPMA.rpma_err_2str.restype = ctypes.c_char_p
        sys.exit(f"rpma_{name}: {RPMA.rpma_err_2str(status).decode()}")


def made(name, *arguments):
    """What a function makes, a pointer in its last argument"""
    result = ctypes.c_void_p()
    call(name, *arguments, ctypes.byref(result))
    return result


def peer_for(address, kind):
    return made("peer_new", made("utils_get_ibv_context", address, kind))


def region(peer, usage):
    memory = (ctypes.c_char * LENGTH)()
    return memory, made("mr_reg", peer, memory, ctypes.c_size_t(LENGTH), usage)


def await_event(connection, wanted):
    event = ctypes.c_int(-1)
    call("conn_next_event", connection, ctypes.byref(event))
    if event.value != wanted:
        sys.exit(f"event {event.value} instead of {wanted}")


def connect(request, private=None):
    connection = ctypes.c_void_p()
    call("conn_req_connect", ctypes.byref(request), private, ctypes.byref(connection))
    await_event(connection, ESTABLISHED)
    return connection


def serve(address, port):
    peer = peer_for(address, CONTEXT_LOCAL)
    memory, offered = region(peer, READ_SRC | WRITE_DST | FLUSH_VISIBILITY)
    length = ctypes.c_size_t()
    call("mr_get_descriptor_size", offered, ctypes.byref(length))
    descriptor = ctypes.create_string_buffer(length.value)
    call("mr_get_descriptor", offered, descriptor)
    request = made("ep_next_conn_req", made("ep_listen", peer, address, port), None)
    private = PrivateData(ctypes.addressof(descriptor), length.value)
    connection = connect(request, ctypes.byref(private))
    await_event(connection, CLOSED)
    # The client has written this last.
    return memory[:8] == b"finished"


class Client:
    def __init__(self, address, port):
        peer = peer_for(address, CONTEXT_REMOTE)
        self.source_memory, self.source = region(peer, WRITE_SRC)
        self.back_memory, self.back = region(peer, READ_DST)
        self.connection = connect(made("conn_req_new", peer, address, port, None))
        private = PrivateData()
        call("conn_get_private_data", self.connection, ctypes.byref(private))
        self.remote = made("mr_remote_from_descriptor", ctypes.c_void_p(private.pointer), ctypes.c_size_t(private.length))

    def wait(self):
        queue = made("conn_get_cq", self.connection)
        call("cq_wait", queue)
        entry = (ctypes.c_uint32 * WC_WORDS)()
        call("cq_get_wc", queue, 1, entry, None)
        if entry[2]:
            sys.exit(f"completion with status {entry[2]}")

    def flush(self):
        call("flush", self.connection, self.remote, ctypes.c_size_t(0), ctypes.c_size_t(LENGTH), TYPE_VISIBILITY, ALWAYS, None)
        self.wait()

    def write_and_read(self, offset, length):
        """Only the flush and the READ have a completion."""
        data = os.urandom(length)
        self.source_memory[offset:offset + length] = data
        self.back_memory[offset:offset + length] = bytes(length)
        place = ctypes.c_size_t(offset), ctypes.c_size_t(length)
        call("write", self.connection, self.remote, place[0], self.source, *place, 1, None)
        self.flush()
        call("read", self.connection, self.back, place[0], self.remote, *place, ALWAYS, None)
        self.wait()
        return self.back_memory[offset:offset + length] == data

    def finish(self):
        call("atomic_write", self.connection, self.remote, ctypes.c_size_t(0), b"finished", ALWAYS, None)
        self.wait()
        self.flush()
        call("conn_disconnect", self.connection)
        await_event(self.connection, CLOSED)


def be_client(address, port):
    client = Client(address, port)
    good = all([client.write_and_read(offset, length) for offset, length in ((0, 1), (3, 4095), (4096, 65536), (0, LENGTH))])
    client.finish()
    return good


def main():
    role, address, port = sys.argv[1:]
    return 0 if (serve if role == "server" else be_client)(address.encode(), port.encode()) else 1


sys.exit(main())
