# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The series of patches for the kernel: the files and the message of each patch. Each patch builds: a file comes after the files that
it uses, and main.c, device.c and the Makefile refer only to files that exist by then."""

import re

from resolve import Trouble

# Folders, or stems of files, in the driver's folder, and the message of the patch. All other files are in the first patch (see kernel.py).
SERIES = [
    ("verbs/abi sroce_ring core/env", """\
RDMA/sroce: Add the user ABI and an empty module

Add the interface between kernel and provider: the layout of rings and
doorbells, requests and responses of the create commands, and the
operations on shared words, with the proof of their barriers. abi.c
asserts all offsets and sizes. The module is empty. The following patches
add its layers; each layer uses only earlier ones.
"""),
    ("core/params core/wire core/optable core/opcode core/packet core/icrc core/aeth core/psn core/errors", """\
RDMA/sroce: Add packets and their checksums

The protocol is in core/, without kernel types, so that it can be tested
natively. Add its lower half: opcodes, headers, parsing, building, ICRCs,
and the table of errors.
"""),
    ("core/inflight core/resp_res core/rtt core/cc core/gaps core/reorder", """\
RDMA/sroce: Add protocol state

Add the state that the protocol keeps: outstanding send requests by PSN,
executed READs and atomics, gaps in READ responses, reordering, round
trips, and the congestion window.
"""),
    ("core/rtx core/uso core/requester core/completer core/responder", """\
RDMA/sroce: Add requester, completer and responder

Add the upper half of core/. It selects the next packet to send, checks
responses and requests, and decides when to retransmit. Its functions
only decide: they do not sleep, take locks, allocate memory, access
payload or read the clock.
"""),
    ("base/ mem/odp_wq mem/odp mem/wmem mem/mr mem/sgl mem/skb_reader mem/last_word", """\
RDMA/sroce: Add memory regions

Add regions of processes and kernel users, the key table, and copies
between packets and regions. An on-demand region has a table of the pages
that are present. The memory that packets of a user hold is limited.
"""),
    ("mem/odp_fault", """\
RDMA/sroce: Page in on-demand memory

The data path cannot wait for pages. Add work items that page memory in,
for QPs and for ibv_advise_mr().
"""),
    ("mem/mr_fast mem/mw", """\
RDMA/sroce: Add fast registration and memory windows

Add regions that work requests register and invalidate, and windows that
work requests bind.
"""),
    ("mem/mmap mem/mr_dm mem/mr_dmabuf", """\
RDMA/sroce: Add device memory, dma-bufs and mmap

Add device memory, regions on dma-bufs, and mmap() of rings, doorbell
pages and device memory.
"""),
    ("queue/queue_mem queue/doorbell queue/cq", """\
RDMA/sroce: Add doorbells and completion queues

Add doorbell pages and their slots, the memory of rings, and completion
queues with their events.
"""),
    ("queue/", """\
RDMA/sroce: Add queue pairs and shared receive queues

Add the QP table, references to QPs, the scheduling of their deferred
work, validated private copies of WQEs, and tracepoints.
"""),
    ("net/ah net/route net/pkey net/mcast net/rx_headers net/rx_packet", """\
RDMA/sroce: Add addresses and routes

Add address handles, routes, P_Keys and multicast groups.
"""),
    ("net/", """\
RDMA/sroce: Add transmission and sockets

A burst passes the stack as one GSO skb with packets of one size. Bursts
from a device to itself bypass the stack. The ICRCs of a burst are
computed together. Add GRO, so that packets that a NIC delivers are joined
to bursts.
"""),
    ("send/", """\
RDMA/sroce: Add the send queue

Build bursts of packets in the context of the caller that posted the
requests. Add retransmission, rate limits and send completions.
"""),
    ("recv/", """\
RDMA/sroce: Add the receive queue

Execute requests of the peer in the receive softirq, and send responses.
"""),
    ("entry/", """\
RDMA/sroce: Add the entry points of the data path

Add the handlers of received packets, timers and work items, and the ioctl
by which a process rings the doorbell.
"""),
    ("verbs/device verbs/main verbs/listener verbs/port verbs/settings verbs/hw_stats verbs/qp_counter verbs/numbers", """\
RDMA/sroce: Add devices

Add "rdma link add", and devices on netdevs with ports, GIDs, sockets and
counters, until the netdev goes away. The device offers the verbs of the
layers below. The RDMA core does not let anybody use it until the next
patches add the mandatory verbs.
"""),
    ("verbs/ucontext verbs/pd", """\
RDMA/sroce: Add contexts and protection domains

Let processes open devices.
"""),
    ("verbs/qp_verbs verbs/qp_modify verbs/srq_verbs", """\
RDMA/sroce: Create, modify and destroy queues

Add the QP state machine, and SRQs.
"""),
    ("verbs/post", """\
RDMA/sroce: Let kernel users post

Add ib_post_send() and ib_post_recv(). With these, kernel users have all
mandatory verbs.
"""),
    ("verbs/", """\
RDMA/sroce: Add statistics and completion counters

Add performance management MADs, details for "rdma resource show", and
completion counters.
"""),
]

MAKEFILE = """\
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
obj-$(CONFIG_RDMA_SROCE) += sroce.o

"""
TRACE = """\
# where define_trace.h finds trace.h again
CFLAGS_queue/trace.o := -I$(src)/queue

"""
LAYERS = ["core", "mem", "queue", "net", "send", "recv", "entry", "verbs"]


def sign(message, author):
    return f"{message}\nSigned-off-by: {author}\n"


def makefile(sources, conditions):
    """The Makefile for these sources. Conditions: {stem: name of a configuration option}."""
    stems = sorted((name[:-2] for name in sources if name.endswith(".c")), key=lambda stem: (LAYERS.index(stem.split("/")[0]), stem))
    always = [stem + ".o" for stem in stems if stem not in conditions]
    text = MAKEFILE + (TRACE if "queue/trace" in stems else "") + "sroce-y := " + " \\\n\t".join(always) + "\n"
    return text + "".join(f"sroce-$({conditions[stem]}) += {stem}.o\n" for stem in stems if stem in conditions)


def bare(main):
    """main.c of a module that does nothing."""
    about = re.findall(r"^MODULE_(?:AUTHOR|DESCRIPTION|LICENSE)\(.*\);\n", main, re.M)
    return main.split("\n")[0] + "\n/* The module */\n#include <linux/module.h>\n\n" + "".join(about)


def declared(files):
    """Names that headers declare: structures, functions, variables."""
    text = "\n".join(text for name, text in files.items() if name.endswith(".h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return {a or b or c for a, b, c in re.findall(r"^struct (sroce_\w+) {|\b(sroce_\w+)\(|^extern [^;]*?(sroce_\w+)[\[;]", text, re.M)}


def so_far(text, present, absent):
    """The text without lines that use names of absent files. Both: {name: text}."""
    missing = declared(absent) - declared(present)
    kept = []
    for line in text.split("\n"):
        header = re.match(r'#include "(?:\.\./)?(.*)"', line)
        if header and ("verbs/" + header.group(1) in absent or header.group(1) in absent):
            continue
        if missing & set(re.findall(r"\bsroce_\w+", line)):
            if not re.fullmatch(r"\t+\S.*[,;]", line):
                raise Trouble(f"this line is needed before the patch that declares its names: {line}")
            continue
        kept.append(line)
    return re.sub(r"\n\n(?=\n|})", "\n", "\n".join(kept))


def number_of(stem):
    """The number of the patch that has a file of the driver."""
    numbers = {name: number for number, (names, _) in enumerate(SERIES) for name in names.split()}
    number = numbers.get(stem, numbers.get(stem.split("/")[0] + "/"))
    if number is None:
        raise Trouble(f"packaging/upstream/series.py does not say which patch {stem} is in")
    return number


def grown(files, number):
    """The driver's files as of the patch of that number."""
    there = {name: text for name, text in files.items() if number_of(re.sub(r"\.[ch]$", "", name)) <= number}
    others = {name: text for name, text in files.items() if name not in there}
    if "verbs/main.c" not in there:
        return {**there, "verbs/main.c": bare(files["verbs/main.c"])}
    rest = {name: text for name, text in there.items() if name != "verbs/device.c"}
    return {**there, "verbs/device.c": so_far(there["verbs/device.c"], rest, others)}


def patches(files, home, conditions, author):
    """The series as a list of ({path: text}, message). Files that are not the driver's own are in the first patch."""
    own = {path[len(home) + 1:]: text for path, text in files.items() if re.match(rf"{home}/.*\.[ch]$", path)}
    result, before = [], {}
    first = {path: text for path, text in files.items() if path[len(home) + 1:] not in own or not path.startswith(home)}
    for number, (_, message) in enumerate(SERIES):
        now = grown(own, number)
        tree = {f"{home}/{name}": text for name, text in now.items()}
        tree |= first | {f"{home}/Makefile": makefile(now, conditions)}
        changed = {path: text for path, text in tree.items() if before.get(path) != text}
        if len(changed) < 2:
            raise Trouble(f"a patch without files: {message.splitlines()[0]}")
        result.append((changed, sign(message, author)))
        before = tree
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
