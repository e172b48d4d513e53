# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The patches that the kernel's part is sent as: which files are in each, and what it says. Each builds: files come after those that
they use, and main.c, device.c and the Makefile have as much as there is by then."""

import re

from resolve import Trouble

# Folders, or stems of files, of the driver's folder, and a message each. Other files are the first one's (see kernel.py).
SERIES = [
    ("verbs/abi sroce_ring core/env", """\
RDMA/sroce: Add the user ABI, and a module

What kernel and provider share: the layout of rings and doorbells, the
create commands' requests and responses, and the operations on shared
words, with the proof of their barriers. abi.c has all offsets and
sizes. The module has nothing else yet; the following patches add its
layers, each of which uses only those before it.
"""),
    ("core/params core/wire core/optable core/opcode core/packet core/icrc core/aeth core/psn core/errors", """\
RDMA/sroce: Add packets and their checksums

The protocol is in core/, without kernel types, so that it can be tested
natively. This is its lower half: headers, opcodes and what may follow
what, parsing, building, ICRCs.
"""),
    ("core/inflight core/resp_res core/rtt core/cc core/gaps core/reorder", """\
RDMA/sroce: Add the protocol's records

Outstanding send requests by PSN, executed READs and atomics, gaps in
READ responses, packets that come late; round trips and the congestion
window.
"""),
    ("core/rtx core/uso core/requester core/completer core/responder", """\
RDMA/sroce: Add the protocol's decisions

The upper half of core/: what is sent next, what a response means, what a
request may do, when something is sent again. Its functions decide; they
do not sleep, lock, allocate, touch payload or ask for the time.
"""),
    ("base/ mem/odp_wq mem/odp mem/wmem mem/mr mem/sgl mem/skb_reader mem/last_word", """\
RDMA/sroce: Add memory regions

Regions of processes and kernel users, the keys that find them, and
copying in and out of them, front to back of a packet. A region on demand
knows the pages that are present. What packets of a user hold has limits.
"""),
    ("mem/odp_fault", """\
RDMA/sroce: Page in memory on demand

Packets cannot wait for pages, so work items of their own get them, for
QPs and for advice of the process.
"""),
    ("mem/mr_fast mem/mw", """\
RDMA/sroce: Add fast registration and memory windows

Regions that work requests register and invalidate, and windows that they
bind.
"""),
    ("mem/mmap mem/mr_dm mem/mr_dmabuf", """\
RDMA/sroce: Add device memory, dma-bufs and mmap

Memory of a device for processes that ask for it, regions on dma-bufs,
and what a process can map.
"""),
    ("queue/queue_mem queue/doorbell queue/cq", """\
RDMA/sroce: Add doorbells and completion queues

Doorbell pages and their slots, the memory of rings, completions and
their events.
"""),
    ("queue/", """\
RDMA/sroce: Add queue pairs and shared receive queues

The table that packets find QPs in, their references, what they have to
do and who does it, checked copies of the requests in their rings, and
tracepoints.
"""),
    ("net/ah net/route net/pkey net/mcast net/rx_headers net/rx_packet", """\
RDMA/sroce: Add addresses and routes

Address handles, the route of a path, P_Keys, multicast groups.
"""),
    ("net/", """\
RDMA/sroce: Add the way to the network and back

A burst goes through the stack as one skb with segments of one size, to
a UDP socket's peer or, within a device, around the stack. ICRCs of a
burst are computed together.
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
    ("entry/", """\
RDMA/sroce: Add where the data path begins

Packets, timers, work items and kicks of a process.
"""),
    ("verbs/device verbs/main verbs/listener verbs/port verbs/settings verbs/hw_stats verbs/qp_counter verbs/numbers", """\
RDMA/sroce: Add devices

Devices over netdevs, by "rdma link add": their ports, addresses, sockets
and counters, and when they go. The module starts what the layers below
need. Verbs that these layers have are offered already; without those of
the next patches the RDMA core gives the device to nobody.
"""),
    ("verbs/ucontext verbs/pd", """\
RDMA/sroce: Add contexts and protection domains

Processes can open devices.
"""),
    ("verbs/qp_verbs verbs/qp_modify verbs/srq_verbs", """\
RDMA/sroce: Create, modify and destroy queues

The QP state machine, and SRQs.
"""),
    ("verbs/post", """\
RDMA/sroce: Let kernel users post

With this they have all mandatory verbs.
"""),
    ("verbs/", """\
RDMA/sroce: Add statistics and completion counters

Performance management MADs, details for "rdma resource show", completion
counters.
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
    """That of the objects that there are sources of. Conditions: {stem: name of a configuration option}."""
    stems = sorted((name[:-2] for name in sources if name.endswith(".c")), key=lambda stem: (LAYERS.index(stem.split("/")[0]), stem))
    always = [stem + ".o" for stem in stems if stem not in conditions]
    text = MAKEFILE + (TRACE if "queue/trace" in stems else "") + "sroce-y := " + " \\\n\t".join(always) + "\n"
    return text + "".join(f"sroce-$({conditions[stem]}) += {stem}.o\n" for stem in stems if stem in conditions)


def bare(main):
    """main.c of a module that does nothing."""
    about = re.findall(r"^MODULE_(?:AUTHOR|DESCRIPTION|LICENSE)\(.*\);\n", main, re.M)
    return main.split("\n")[0] + "\n/* The module */\n#include <linux/module.h>\n\n" + "".join(about)


def declared(files):
    """What headers have for others: structures, functions, variables."""
    text = "\n".join(text for name, text in files.items() if name.endswith(".h"))
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    return {a or b or c for a, b, c in re.findall(r"^struct (sroce_\w+) {|\b(sroce_\w+)\(|^extern [^;]*?(sroce_\w+)[\[;]", text, re.M)}


def so_far(text, present, absent):
    """The text without lines that are about what only absent files have. Both: {name: text}."""
    missing = declared(absent) - declared(present)
    kept = []
    for line in text.split("\n"):
        header = re.match(r'#include "(?:\.\./)?(.*)"', line)
        if header and ("verbs/" + header.group(1) in absent or header.group(1) in absent):
            continue
        if missing & set(re.findall(r"\bsroce_\w+", line)):
            if not re.fullmatch(r"\t+\S.*[,;]", line):
                raise Trouble(f"this line cannot be left out before the patch that has what it needs: {line}")
            continue
        kept.append(line)
    return re.sub(r"\n\n(?=\n|})", "\n", "\n".join(kept))


def number_of(stem):
    """Which patch a file of the driver is in."""
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
