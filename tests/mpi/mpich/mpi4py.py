# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What exchange.py uses of mpi4py, on MPICH's library: Debian's mpi4py is built for Open MPI. Constants are those of MPICH's ABI."""

import ctypes
import json
import sys

LIBRARY = ctypes.CDLL("libmpich.so.12", ctypes.RTLD_GLOBAL)
COMM, BYTE, LONG = 0x44000000, 0x4C00010D, 0x4C000807
SUM, LAND, INFO_NULL, STATUSES_IGNORE = 0x58000003, 0x58000005, 0x1C000000, ctypes.c_void_p(1)
LARGEST_OBJECT = 8192


def call(name, *arguments):
    """An error ends the program."""
    status = getattr(LIBRARY, "MPI_" + name)(*arguments)
    if status:
        raise RuntimeError(f"MPI_{name}: {status}")


def place(data):
    """The address of bytes or of a buffer, its elements and their type"""
    view = memoryview(data)
    kind = LONG if view.format == "q" else BYTE
    if isinstance(data, bytes):
        return ctypes.c_char_p(data), len(data), kind
    # A buffer of no bytes has no address.
    address = ctypes.addressof(ctypes.c_char.from_buffer(data)) if view.nbytes else None
    return ctypes.c_void_p(address), view.nbytes // view.itemsize, kind


class Request:
    def __init__(self, data):
        self.handle = ctypes.c_int()
        self.data = data

    @staticmethod
    def Waitall(requests):
        handles = (ctypes.c_int * len(requests))(*(request.handle.value for request in requests))
        call("Waitall", len(requests), handles, STATUSES_IGNORE)


class Window:
    @staticmethod
    def Allocate(size, unit=1, comm=None):  # pylint: disable=unused-argument
        window = Window()
        window.handle, window.base, window.size = ctypes.c_int(), ctypes.c_void_p(), size
        call("Win_allocate", ctypes.c_long(size), unit, INFO_NULL, COMM, ctypes.byref(window.base), ctypes.byref(window.handle))
        return window

    def tomemory(self):
        return memoryview((ctypes.c_char * self.size).from_address(self.base.value)).cast("B")

    def Fence(self):
        call("Win_fence", 0, self.handle)

    def Put(self, data, rank):
        call("Put", *place(data), rank, ctypes.c_long(0), *place(data)[1:], self.handle)

    def Get(self, data, rank):
        call("Get", *place(data), rank, ctypes.c_long(0), *place(data)[1:], self.handle)

    def Lock_all(self):
        call("Win_lock_all", 0, self.handle)

    def Unlock_all(self):
        call("Win_unlock_all", self.handle)

    def Fetch_and_op(self, value, result, rank, where, operation):
        call("Fetch_and_op", place(value)[0], place(result)[0], LONG, rank, ctypes.c_long(where), operation, self.handle)

    def Flush(self, rank):
        call("Win_flush", rank, self.handle)

    def Free(self):
        call("Win_free", ctypes.byref(self.handle))


class World:
    @staticmethod
    def number(name):
        value = ctypes.c_int()
        call(name, COMM, ctypes.byref(value))
        return value.value

    def Get_rank(self):
        return self.number("Comm_rank")

    def Get_size(self):
        return self.number("Comm_size")

    def Barrier(self):
        call("Barrier", COMM)

    def Isend(self, data, rank, tag):
        request = Request(data)
        call("Isend", *place(data), rank, tag, COMM, ctypes.byref(request.handle))
        return request

    def Irecv(self, data, rank, tag):
        request = Request(data)
        call("Irecv", *place(data), rank, tag, COMM, ctypes.byref(request.handle))
        return request

    def Allreduce(self, data, result, operation):
        call("Allreduce", place(data)[0], *place(result), operation, COMM)

    def Bcast(self, data, root):
        call("Bcast", *place(data), root, COMM)

    def Alltoall(self, data, result):
        address, count, kind = place(data)
        count //= self.Get_size()
        call("Alltoall", address, count, kind, place(result)[0], count, kind, COMM)

    def allreduce(self, value, operation):
        number, result = ctypes.c_long(value), ctypes.c_long()
        call("Allreduce", ctypes.byref(number), ctypes.byref(result), 1, LONG, operation, COMM)
        return bool(result.value)

    def allgather(self, value):
        everything = bytearray(LARGEST_OBJECT * self.Get_size())
        call("Allgather", json.dumps(value).encode().ljust(LARGEST_OBJECT), LARGEST_OBJECT, BYTE, place(everything)[0],
             LARGEST_OBJECT, BYTE, COMM)
        return [json.loads(everything[i:i + LARGEST_OBJECT]) for i in range(0, len(everything), LARGEST_OBJECT)]


def init():
    """As mpi4py does when it is imported; the end of the program ends MPI."""
    import atexit  # pylint: disable=import-outside-toplevel
    call("Init", None, None)
    atexit.register(call, "Finalize")


COMM_WORLD, Win = World(), Window
MPI = sys.modules[__name__]
init()
