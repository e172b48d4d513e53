# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The patches that the kernel's part is sent as: which files are in each, and what it says. Only the last one builds anything."""

import re

from resolve import Trouble

# Stems of files of the driver's folder, and a message each. Other files name their patch by its number, in kernel.py.
ABI, DEVICE, BUILD = 0, 3, 9
SERIES = [
    ("abi sroce_ring", """\
RDMA/sroce: Add the user ABI

What kernel and provider share: the layout of rings and doorbells, the
create commands' requests and responses, and the operations on shared
words, with the proof of their barriers. abi.c has all offsets and
sizes.
"""),
    ("core/env core/wire core/opcode core/parse core/build core/icrc core/chorba core/aeth core/psn core/errors", """\
RDMA/sroce: Add packets and their checksums

The protocol is in core/, without kernel types, so that it can be tested
natively. This is its lower half: headers, opcodes and what may follow
what, parsing, building, ICRCs.
"""),
    ("core/inflight core/rdlog core/rtt core/requester core/completer core/responder", """\
RDMA/sroce: Add the protocol

The upper half of core/: what is sent next, what an answer means, what a
request may do. Its functions decide; they do not sleep, lock, allocate,
touch payload or ask for the time.
"""),
    ("main device context counters statistics pma restrack trace pkey pd ah udata", """\
RDMA/sroce: Add devices and contexts

Devices over netdevs, by "rdma link add"; ports, GIDs, counters, resource
details, tracepoints; the contexts of processes with their doorbell pages
and the kick file; protection domains, partitions and address handles.
"""),
    ("mapping ring reader copy place bulk move mr mw dm null fastreg odp dmabuf fault pager", """\
RDMA/sroce: Add memory

Regions of processes, of kernel users, of dma-bufs, on demand and of
device memory, windows onto them, and copying in and out of them.
"""),
    ("cq srq xrc qp modify mcast", """\
RDMA/sroce: Add queues

Completion queues, shared receive queues, queue pairs and their states,
XRC domains, multicast groups.
"""),
    ("fetch post gather send pace finish timer worker datagram", """\
RDMA/sroce: Add sending

Requests are copied out of the shared ring, checked, and become bursts of
packets in the context of who posted them.
"""),
    ("receive execute answer", """\
RDMA/sroce: Add receiving

What requests of the peer do here, in the softirq that brought them, and
what they are answered.
"""),
    ("burst crc fold route tx wmem loop gro headers rx socket", """\
RDMA/sroce: Add the way to the network and back

A burst goes through the stack as one skb with segments of one size, to
a UDP socket's peer or, within a device, around the stack. ICRCs of a
burst are computed together.
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
            number = stems.get(re.sub(rf"^{home}/|\.[chS]$", "", path))
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
