#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run by mpirun as three or more ranks: OpenSHMEM's one-sided operations on symmetric memory, of Open MPI's library. Each rank compares
the data that it gets. Rank 0 prints TAP once all have reported; the plan comes last."""

import ctypes
import socket
import sys

LIBRARY = ctypes.CDLL("liboshmem.so.40", ctypes.RTLD_GLOBAL)
LIBRARY.shmem_malloc.restype = ctypes.c_void_p
for function in ("fetch_add", "compare_swap", "swap"):
    getattr(LIBRARY, "shmem_long_atomic_" + function).restype = ctypes.c_long
LIBRARY.shmem_init()
RANK, SIZE = LIBRARY.shmem_my_pe(), LIBRARY.shmem_n_pes()
TO, SOURCE = (RANK + 1) % SIZE, (RANK - 1) % SIZE
LENGTHS = [1, 7, 64, 976, 4095, 8193, 65536, (2 << 20) + 3]
COUNT = 0


class Symmetric:
    """Memory that every rank has."""
    def __init__(self, length):
        self.address = ctypes.c_void_p(LIBRARY.shmem_malloc(ctypes.c_size_t(length)))
        self.memory = (ctypes.c_char * length).from_address(self.address.value)
        self.memory[:] = bytes(length)
        barrier()


def barrier():
    LIBRARY.shmem_barrier_all()


def data(rank, length):
    """The data of that rank; a period that is no power of two."""
    pattern = bytes((rank * 17 + i * 7 + length) & 0xFF for i in range(251))
    return (pattern * (length // 251 + 1))[:length]


def report(what, good):
    """A line for what all ranks saw."""
    global COUNT  # pylint: disable=global-statement
    if not good:
        print(f"# rank {RANK}: {what}", flush=True)
    failures = Symmetric(8)
    LIBRARY.shmem_long_atomic_add(failures.address, ctypes.c_long(not good), 0)
    barrier()
    COUNT += 1
    if RANK == 0:
        print(("not " if any(failures.memory[:]) else "") + f"ok {what}", flush=True)


def copies():
    place, back = Symmetric(LENGTHS[-1]), Symmetric(LENGTHS[-1])
    for length in LENGTHS:
        LIBRARY.shmem_putmem(place.address, data(RANK, length), ctypes.c_size_t(length), TO)
        barrier()
        report(f"put of {length} bytes", place.memory[:length] == data(SOURCE, length))
        LIBRARY.shmem_getmem(back.address, place.address, ctypes.c_size_t(length), TO)
        report(f"get of {length} bytes", back.memory[:length] == data(RANK, length))
    flag = Symmetric(8)
    LIBRARY.shmem_putmem_nbi(place.address, data(RANK, 100000), ctypes.c_size_t(100000), TO)
    LIBRARY.shmem_fence()
    LIBRARY.shmem_long_p(flag.address, ctypes.c_long(1), TO)
    LIBRARY.shmem_long_wait_until(flag.address, 0, ctypes.c_long(1))
    report("a put that does not block, and a flag behind it", place.memory[:100000] == data(SOURCE, 100000))


def atomics():
    word = Symmetric(8)
    tickets = Symmetric(8 * 100 * SIZE)
    for _ in range(100):
        ticket = LIBRARY.shmem_long_atomic_fetch_add(word.address, ctypes.c_long(1), 0)
        LIBRARY.shmem_long_atomic_add(ctypes.c_void_p(tickets.address.value + 8 * ticket), ctypes.c_long(RANK + 1), 0)
    barrier()
    counts = [int.from_bytes(tickets.memory[i:i + 8], "little") for i in range(0, 800 * SIZE, 8)]
    report("fetch_add: no number twice, none missing",
           RANK or all(counts.count(rank + 1) == 100 for rank in range(SIZE)))
    lock, total = Symmetric(8), Symmetric(8)
    # Not rank 0: it would not serve the others' operations while it waits, for its own on its own memory end at once.
    for _ in range(20 if RANK else 0):
        while LIBRARY.shmem_long_atomic_compare_swap(lock.address, ctypes.c_long(0), ctypes.c_long(RANK + 1), 0):
            pass
        value = ctypes.c_long()
        LIBRARY.shmem_getmem(ctypes.byref(value), total.address, ctypes.c_size_t(8), 0)
        LIBRARY.shmem_long_p(total.address, ctypes.c_long(value.value + 1), 0)
        LIBRARY.shmem_quiet()
        LIBRARY.shmem_long_atomic_swap(lock.address, ctypes.c_long(0), 0)
    barrier()
    report("compare_swap: a lock that only one has", RANK or int.from_bytes(total.memory[:], "little") == 20 * (SIZE - 1))


hosts = Symmetric(64 * SIZE)
name = socket.gethostname().encode().ljust(64, b"\0")
for pe in range(SIZE):
    LIBRARY.shmem_putmem(ctypes.c_void_p(hosts.address.value + 64 * RANK), name, ctypes.c_size_t(64), pe)
barrier()
report("ranks on both hosts", len({hosts.memory[64 * pe:64 * pe + 64] for pe in range(SIZE)}) == 2)
copies()
atomics()
if RANK == 0:
    print(f"1..{COUNT}", flush=True)
barrier()
LIBRARY.shmem_finalize()
sys.exit(0)
