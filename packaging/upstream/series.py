# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The patches that the kernel's part is sent as: which files are in each, and what it says. Only the last one builds anything."""

import re

from resolve import Trouble

# Folders, or stems of files, of the driver's folder, and a message each. Other files name their patch by its number, in kernel.py.
ABI, BUILD = 0, 9
SERIES = [
    ("verbs/abi sroce_ring", """\
RDMA/sroce: Add the user ABI

What kernel and provider share: the layout of rings and doorbells, the
create commands' requests and responses, and the operations on shared
words, with the proof of their barriers. abi.c has all offsets and
sizes.
"""),
    ("core/env core/wire core/optable core/opcode core/packet core/icrc core/aeth core/psn core/errors core/params", """\
RDMA/sroce: Add packets and their checksums

The protocol is in core/, without kernel types, so that it can be tested
natively. This is its lower half: headers, opcodes and what may follow
what, parsing, building, ICRCs.
"""),
    ("core/inflight core/resp_res core/rtt core/cc core/gaps core/reorder core/rtx core/uso core/requester core/completer core/responder", """\
RDMA/sroce: Add the protocol

The upper half of core/: what is sent next, what a response means, what a
request may do. Its functions decide; they do not sleep, lock, allocate,
touch payload or ask for the time.
"""),
    ("base/ verbs/", """\
RDMA/sroce: Add devices, contexts and verbs

Devices over netdevs, by "rdma link add"; ports, counters, resource
details; the contexts of processes; creation, change and destruction of
queues and protection domains.
"""),
    ("mem/", """\
RDMA/sroce: Add memory

Regions of processes, of kernel users, of dma-bufs, on demand and of
device memory, windows onto them, and copying in and out of them.
"""),
    ("queue/", """\
RDMA/sroce: Add queues

Doorbells, completion queues, shared receive queues, queue pairs and what
they have to do, and checked copies of the requests in their rings.
"""),
    ("send/", """\
RDMA/sroce: Add sending

Requests become bursts of packets in the context of the caller that
posted them; retransmission, rate limit, completions.
"""),
    ("recv/", """\
RDMA/sroce: Add receiving

Requests of the peer are executed in the softirq that brought them, and
answered.
"""),
    ("net/ entry/", """\
RDMA/sroce: Add the way to the network and back

A burst goes through the stack as one skb with segments of one size, to
a UDP socket's peer or, within a device, around the stack. ICRCs of a
burst are computed together. Packets, timers, work items and kicks enter
the driver here.
"""),
    ("", """\
RDMA/sroce: Add the driver to the build

With its entries in Kconfig, Makefile and MAINTAINERS.
"""),
]


def sign(message, author):
    return f"{message}\nSigned-off-by: {author}\n"


def patches(files, home, others, author):
    """The series as a list of ({path: text}, message). Others: {path: number} of files that are not the driver's own."""
    result = [({}, sign(message, author)) for _, message in SERIES]
    stems = {stem: number for number, (names, _) in enumerate(SERIES) for stem in names.split()}
    for path, text in files.items():
        number = others.get(path)
        if number is None:
            stem = re.sub(rf"^{home}/|\.[chS]$", "", path)
            number = stems.get(stem, stems.get(stem.split("/")[0] + "/"))
        if number is None:
            raise Trouble(f"packaging/upstream/series.py does not say which patch {path} is in")
        result[number][0][path] = text
    empty = [message.split("\n")[0] for contents, message in result if not contents]
    if empty:
        raise Trouble(f"a patch without files: {empty[0]}")
    return result


def row(page, name):
    """A row of the page's tables whose first cell is that: one value, or sroce's and the other's, without the verdict."""
    match = re.search(rf"^{re.escape(name)}  +(\S.*)$", page, re.M)
    if not match:
        raise Trouble(f"Documentation/performance.rst has no row {name!r}")
    cells = [re.sub(r" insns/.*", "", cell) for cell in re.split(r"  +", match.group(1).strip())]
    return f"{name}: {cells[0]}" if len(cells) == 1 else f"{name:<44}{cells[0]:>16}{cells[1]:>17}"


def cover(text, page):
    """Subject and text of the cover letter: "@ NAME" becomes that row of the measured tables, short enough for a mail."""
    lines = [row(page, line[2:]) if line.startswith("@ ") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
