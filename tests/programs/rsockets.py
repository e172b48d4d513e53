#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""rsockets.py server ADDRESS PORT FILE: writes its process ID, listens, and stops itself. After SIGCONT it sends received data back.
rsockets.py client ADDRESS PORT FILE BYTES: connects without blocking, to a port where nothing listens and to the server, which
does not respond until it is continued. Then data goes both ways and is compared. Uses rpoll() and rselect() everywhere."""

import ctypes
import errno
import os
import select
import signal
import socket
import struct
import sys

RDMACM = ctypes.CDLL("librdmacm.so.1", use_errno=True)
RDMACM.rsend.restype = RDMACM.rrecv.restype = ctypes.c_ssize_t
F_SETFL = 4
PIECE = 65536
# After the port to which one can connect: where nobody listens, and where nobody accepts
NOBODY, SILENT = 1, 2


class PollFd(ctypes.Structure):
    _fields_ = [("fd", ctypes.c_int), ("events", ctypes.c_short), ("revents", ctypes.c_short)]


class TimeValue(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long)]


def call(name, *arguments, may=()):
    """The result; minus an error that is among those that may be."""
    result = getattr(RDMACM, name)(*arguments)
    if result >= 0:
        return result
    error = ctypes.get_errno()
    if error in may:
        return -error
    raise OSError(error, f"{name}: {os.strerror(error)}")


def address(text, port):
    return struct.pack("=H", socket.AF_INET) + struct.pack("!H4s8x", port, socket.inet_aton(text))


def rsocket(flags=0):
    fd = call("rsocket", socket.AF_INET, socket.SOCK_STREAM, 0)
    call("rfcntl", fd, F_SETFL, ctypes.c_int(flags))
    return fd


def rpoll(fd, events, milliseconds):
    """The bytes that are there, or 0 when the time is over."""
    entry = PollFd(fd, events, 0)
    return entry.revents if call("rpoll", ctypes.byref(entry), 1, milliseconds) else 0


def rselect(fd, milliseconds):
    """Is it writable in time?"""
    writable = (ctypes.c_ulong * 16)()
    writable[fd // 64] = 1 << fd % 64
    limit = TimeValue(milliseconds // 1000, milliseconds % 1000 * 1000)
    return call("rselect", fd + 1, None, writable, None, ctypes.byref(limit)) == 1 and bool(writable[fd // 64])


def pending_error(fd):
    error, length = ctypes.c_int(), ctypes.c_uint(4)
    call("rgetsockopt", fd, socket.SOL_SOCKET, socket.SO_ERROR, ctypes.byref(error), ctypes.byref(length))
    return error.value


def send_some(fd, data):
    return max(0, call("rsend", fd, data, len(data), 0, may=(errno.EAGAIN,)))


def receive_some(fd):
    """None if nothing is there yet"""
    buffer = ctypes.create_string_buffer(PIECE)
    length = call("rrecv", fd, buffer, PIECE, 0, may=(errno.EAGAIN,))
    return None if length < 0 else buffer.raw[:length]


def listen(where):
    listener = rsocket()
    call("rbind", listener, where, len(where))
    call("rlisten", listener, 8)
    return listener


def serve(where, silent, file):
    listener = listen(where)
    listen(silent)
    with open(file, "w", encoding="ascii") as number:
        number.write(str(os.getpid()))
    os.kill(os.getpid(), signal.SIGSTOP)
    fd = call("raccept", listener, None, None)
    call("rfcntl", fd, F_SETFL, ctypes.c_int(os.O_NONBLOCK))
    waiting, ended = b"", False
    while not ended or waiting:
        rpoll(fd, (0 if ended else select.POLLIN) | (select.POLLOUT if waiting else 0), 60000)
        data = None if ended else receive_some(fd)
        ended = ended or data == b""
        waiting += data or b""
        waiting = waiting[send_some(fd, waiting[:PIECE]) if waiting else 0:]


def begin_connect(where):
    fd = rsocket(os.O_NONBLOCK)
    result = call("rconnect", fd, where, len(where), may=(errno.EINPROGRESS, errno.ECONNREFUSED))
    return fd, result


def refused(where):
    fd, result = begin_connect(where)
    if result == -errno.EINPROGRESS:
        if not rpoll(fd, select.POLLOUT, 60000):
            raise TimeoutError("nobody says that nobody listens")
        result = -pending_error(fd)
    if result != -errno.ECONNREFUSED:
        raise OSError(-result, "not refused")
    call("rclose", fd)


def limited(where, wait, milliseconds):
    """Nobody answers, so it returns when the time is over. In a process of its own: after two time limits poll of librdmacm 60 and
    before never returns."""
    process = os.fork()
    if process:
        if os.waitpid(process, 0)[1]:
            raise ValueError("ready, though the server is silent")
        return
    fd, result = begin_connect(where)
    os._exit(1 if result != -errno.EINPROGRESS or wait(fd, milliseconds) else 0)


def exchange(fd, length):
    sent, back, done = os.urandom(length), b"", 0
    while len(back) < length:
        if not rpoll(fd, select.POLLIN | (select.POLLOUT if done < length else 0), 60000):
            raise TimeoutError("no data")
        done += send_some(fd, sent[done:done + PIECE]) if done < length else 0
        back += receive_some(fd) or b""
    if back != sent:
        raise ValueError("other data")


def stopped_process(file):
    """Of the server, once it has stopped"""
    while True:
        try:
            with open(file, encoding="ascii") as number:
                process = int(number.read())
            with open(f"/proc/{process}/stat", encoding="ascii") as status:
                if status.read().rsplit(")", 1)[1].split()[0] == "T":
                    return process
        except (FileNotFoundError, ValueError):
            pass
        os.sched_yield()


def connect(where, file, length):
    host, port = where
    server = stopped_process(file)
    for wait in (lambda fd, limit: rpoll(fd, select.POLLOUT, limit)), rselect:
        for milliseconds in 1, 50, 200:
            limited(address(host, port + SILENT), wait, milliseconds)
    refused(address(host, port + NOBODY))
    fd, result = begin_connect(address(host, port))
    if result != -errno.EINPROGRESS:
        raise OSError(-result, "connected to a server that is silent")
    os.kill(server, signal.SIGCONT)
    if not rselect(fd, 60000) or pending_error(fd):
        raise OSError(pending_error(fd), "not connected")
    exchange(fd, length)
    call("rshutdown", fd, socket.SHUT_RDWR)
    call("rclose", fd)


def main():
    command, host, port, *rest = sys.argv[1:]
    if command == "server":
        serve(address(host, int(port)), address(host, int(port) + SILENT), *rest)
    else:
        connect((host, int(port)), rest[0], int(rest[1]))


main()
