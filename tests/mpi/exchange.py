#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run by mpirun as two or more ranks: messages of many lengths between all of them, collective operations and one-sided ones.
Each rank compares the data that it gets. Rank 0 prints TAP once all have reported; the plan comes last.

    exchange.py [--no-windows]
"""

import array
import socket
import sys

from mpi4py import MPI

WORLD = MPI.COMM_WORLD
RANK, SIZE = WORLD.Get_rank(), WORLD.Get_size()
LENGTHS = [0, 1, 7, 64, 976, 1024, 4095, 8192, 8193, 65536, 1 << 20, (4 << 20) + 3]


def data(rank, length):
    """The data of that rank; a period that is no power of two."""
    pattern = bytes((rank * 17 + i * 7 + length) & 0xFF for i in range(251))
    return (pattern * (length // 251 + 1))[:length]


class Reports:
    """How many there were"""
    count = 0


def report(what, good):
    """A line for what all ranks saw."""
    Reports.count += 1
    if not good:
        print(f"# rank {RANK}: {what}", flush=True)
    good = WORLD.allreduce(bool(good), MPI.LAND)
    if RANK == 0:
        print(("" if good else "not ") + f"ok {what}", flush=True)


def around():
    """Each to the next, all at once; the receive is posted before or after the data comes."""
    to, source = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    for length in LENGTHS:
        buffer = bytearray(length)
        receive = WORLD.Irecv(buffer, source, tag=length % 1000) if length % 2 else None
        send = WORLD.Isend(data(RANK, length), to, tag=length % 1000)
        if receive is None:
            WORLD.Barrier()
            receive = WORLD.Irecv(buffer, source, tag=length % 1000)
        MPI.Request.Waitall([send, receive])
        report(f"messages of {length} bytes", bytes(buffer) == data(source, length))


def many():
    """A thousand that are under way at once, to any receive, in order."""
    to, source = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    buffers = [bytearray(8) for _ in range(1000)]
    requests = [WORLD.Irecv(buffer, source, tag=1) for buffer in buffers]
    requests += [WORLD.Isend(number.to_bytes(8, "little"), to, tag=1) for number in range(1000)]
    MPI.Request.Waitall(requests)
    report("1,000 messages at once, in order", [int.from_bytes(buffer, "little") for buffer in buffers] == list(range(1000)))


def collective():
    mine = array.array("q", range(RANK, RANK + 50000))
    total = array.array("q", bytes(8 * 50000))
    WORLD.Allreduce(mine, total, MPI.SUM)
    base = SIZE * (SIZE - 1) // 2
    report("Allreduce of 50,000 numbers", all(value == base + SIZE * i for i, value in enumerate(total)))
    buffer = bytearray(data(0, 300000) if RANK == 0 else 300000)
    WORLD.Bcast(buffer, 0)
    report("Bcast", bytes(buffer) == data(0, 300000))
    got = bytearray(100000 * SIZE)
    WORLD.Alltoall(b"".join(data(RANK * SIZE + to, 100000) for to in range(SIZE)), got)
    report("Alltoall", bytes(got) == b"".join(data(source * SIZE + RANK, 100000) for source in range(SIZE)))


def one_sided():
    """Windows: RDMA WRITEs, READs and atomics below. What is given to them has to exist until they are done."""
    mine, one = data(RANK, 500001), array.array("q", [1])
    to, source = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    window = MPI.Win.Allocate(1 << 20, comm=WORLD)
    memory = window.tomemory()
    window.Fence()
    window.Put(mine, to)
    window.Fence()
    report("Put", bytes(memory[:500001]) == data(source, 500001))
    got = bytearray(500001)
    window.Get(got, to)
    window.Fence()
    report("Get", bytes(got) == data(RANK, 500001))
    window.Free()

    window = MPI.Win.Allocate(8 if RANK == 0 else 0, 8, comm=WORLD)
    if RANK == 0:
        window.tomemory()[:] = bytes(8)
    WORLD.Barrier()
    tickets = []
    window.Lock_all()
    for _ in range(100):
        ticket = array.array("q", [0])
        window.Fetch_and_op(one, ticket, 0, 0, MPI.SUM)
        window.Flush(0)
        tickets.append(ticket[0])
    window.Unlock_all()
    everybody = sorted(ticket for rank in WORLD.allgather(tickets) for ticket in rank)
    report("Fetch_and_op: no number twice, none missing", everybody == list(range(100 * SIZE)))
    window.Free()


report("ranks on both hosts " + str(WORLD.allgather(socket.gethostname())), len(set(WORLD.allgather(socket.gethostname()))) == 2)
around()
many()
collective()
if "--no-windows" not in sys.argv:
    one_sided()
if RANK == 0:
    print(f"1..{Reports.count}", flush=True)
