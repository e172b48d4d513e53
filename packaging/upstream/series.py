# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The series of patches for the kernel. First a driver with few capabilities, layer by layer: the files and the message of each patch.
Then one capability a patch: the files of capabilities/, in the order of their names. Each patch builds: a file comes after the files
that it uses, and the Makefile and the tables of functions refer only to what exists by then.

A file of capabilities/ names the files of a capability (their stems), and has the message of its patch. Then it says how the rest of the
driver differs without the capability. "--- FILE: NAMES" has functions, structures, enumerations and macros that are not there yet.
Behind "--- FILE", lines that begin with - are not there yet, those with + are there instead, and those with a space are there in any
case. Includes of the capability's headers, and lines of TABLES with its names, need not be listed."""

import pathlib
import re
import textwrap

from resolve import Trouble

CAPABILITIES = pathlib.Path(__file__).parent / "capabilities"
# Files with one function of the driver per line
TABLES = {"net/nf_hooks.c", "verbs/device.c", "verbs/ucontext.c"}

# The name of the ABI's header here and in capabilities/, where it is one of the driver's files. Its layout does not change from patch to
# patch: what is not there yet is reserved.
ABI = "uapi/sroce-abi.h"

# Folders, or stems of files, in the driver's folder, and the message of the patch. All other files are in the first patch (see kernel.py).
SERIES = [
    ("verbs/abi sroce_ring core/env uapi/sroce-abi", """\
RDMA/sroce: Add the user ABI and an empty module

Add the interface between kernel and provider: the layout of rings and
doorbells, requests and responses of the create commands, and the
operations on shared words, with the proof of their barriers. abi.c
asserts all offsets and sizes. Constants and structures of a capability
come with it. The layout of queue entries has the place of all their
members. The module is empty. The following patches add its layers; each
layer uses only earlier ones.

The ABI version is 3. librxe takes devices of versions 1 and 2 whose name
is rxe*, where rdma-core does not have libsroce.

Kconfig has the requirements: IPv6, because the default GID of a port is
link-local; 64 bit, because payload is accessed by addresses of the direct
map, and shared counters and atomics of later patches are 64 bit words;
little endian, because nobody has tried the other one; and on PREEMPT_RT a
local_bh_disable() that takes a lock, because that protects per-CPU data.
Netfilter, debugfs, tracing and on-demand paging may be off.
"""),
    ("core/params core/wire core/optable core/opcode core/packet core/icrc core/icrc_known core/aeth core/psn core/errors", """\
RDMA/sroce: Add packets and their checksums

The protocol is in core/, which uses nothing of the kernel but types,
unaligned accesses and bit operations, so that it can be tested natively.
Add its lower half: opcodes, headers, parsing, building, ICRCs, and the
table of errors.
"""),
    ("core/inflight core/rtt", """\
RDMA/sroce: Add protocol state

Add the state that the protocol keeps: outstanding send requests by PSN,
and round trips.
"""),
    ("core/rtx core/requester core/recovery core/completer core/responder", """\
RDMA/sroce: Add requester, completer and responder

Add the upper half of core/. It selects the next packet to send, checks
responses and requests, and decides when to retransmit. Its functions
only decide: they do not sleep, take locks, allocate memory, access
payload or read the clock.
"""),
    ("base/ mem/wmem", """\
RDMA/sroce: Limit the memory that packets of a user hold

Add the structures that all layers share, with counters and references,
and the first user of them: accounts of the memory of packets.

A datagram socket has sk_sndbuf. QPs have nothing like that: their packets
leave by a socket of the kernel, and may wait for long in a qdisc, a ring
of the netdev, or a socket of another namespace. RLIMIT_MEMLOCK covers
pinned pages only, and the rdma cgroup counts objects. So an unprivileged
process with many QPs could take all memory of the host by posting while a
queue does not move, and again after it was killed, because packets
outlive it. Therefore each burst is charged to the context and to the user
of the process. QPs wait while either holds too much; nothing is dropped.
"""),
    ("mem/mr", """\
RDMA/sroce: Add memory regions

Add regions of processes and kernel users, and the table of their keys.
Each message needs a lookup, so the table is an rhashtable that is read
under RCU. A user of a region holds a lock of the region for reading.
Whoever revokes a key takes it for writing, so that nobody accesses the
memory after deregistration has returned.
"""),
    ("mem/", """\
RDMA/sroce: Copy between packets and regions

Add the walk over lists of SGEs, and a reader of skbs in any layout. A
burst, or a section under the lock of a queue, keeps the region of its
last access, because most messages of a QP use one region. The last word
of a WRITE is stored alone and last, because programs poll for it.
"""),
    ("mem/mmap queue/queue_mem queue/doorbell queue/cq", """\
RDMA/sroce: Add doorbells and completion queues

Add the memory that the kernel shares with a process: rings, and doorbell
pages with a slot for each queue. It is ordinary memory, which a process
may keep when the device goes away.

Add completion queues on top of it. A process polls and arms a CQ without
a system call. The kernel keeps its own indices, and believes a word of
the process only within bounds.
"""),
    ("queue/", """\
RDMA/sroce: Add queue pairs

Add the table by which packets find QPs, and references. A lookup does not
take a lock. The skbs in flight keep the structure, so destroying a QP
need not wait for them.

WQEs are copied before they are checked, because a process can write to
its rings at any time. Work that cannot be done in the context of a caller
is scheduled per CPU, in turns between QPs, so that one QP with much work
does not delay the others.
"""),
    ("net/ah net/route net/pkey net/rx_gid net/rx_headers net/rx_packet", """\
RDMA/sroce: Add addresses and routes

Add address vectors and routes. A QP keeps the route to its peer, because
a lookup for each burst would cost more than the rest of its headers. A
route is used as long as it is valid and its namespace exists.

The P_Key table has the default partition only, because RoCE has no subnet
manager that could fill it.
"""),
    ("net/icrc net/rx_alike", """\
RDMA/sroce: Compute the ICRCs of bursts

RoCEv2 requires a CRC-32 of each packet, in which header fields that
change on the way count as ones. The headers of the packets of a burst
differ in a few fields only. So mask them once, and fill in these fields
for each packet. The CRC is that of the kernel's library.
"""),
    ("net/udp_sock", """\
RDMA/sroce: Add sockets

Open the UDP port of RoCEv2 in each namespace and VRF in which a device
has an address, as an encapsulation socket for each address family. The
netdevs keep them open: a socket does not keep its namespace.
"""),
    ("net/", """\
RDMA/sroce: Add transmission

The unit of work is a burst: up to 64 packets of one size, which pass the
stack as one GSO skb. Routing, netfilter, qdisc and driver then have one
packet to handle instead of 64, and a device with UDP segmentation offload
makes packets of it. This is what makes the driver faster than one that
handles packets.

Payload is attached to the skb, and copied if it is short, or if packets
are repeated, because its owner may reuse the memory before they leave.
Bursts of a QP that wait in queues of this host are counted,
so that a QP stops before a queue overflows.

Bursts from a device to itself do not pass the stack: they wait on a queue
of the CPU for the receive softirq.
"""),
    ("send/", """\
RDMA/sroce: Add the send queue

Build bursts of packets in the context of the caller that posted the
requests: this saves a switch to a thread, and the sender pays for its
packets. A caller does a limited number of bursts in a row; a work item
does the rest. Add retransmission and send completions.
"""),
    ("recv/", """\
RDMA/sroce: Add the receive queue

Execute requests of the peer in the receive softirq, and send responses.
No packet is queued for a thread: the data is in place when the softirq
ends. Packets are checked before the first byte reaches memory.
"""),
    ("entry/", """\
RDMA/sroce: Add the entry points of the data path

Add the handlers of received packets, timers and work items. Consecutive
packets for a QP are handled in one section under its lock.

SROCE_IOC_KICK is the ioctl by which a process rings the doorbell. It is
made only when the ring says that the kernel is not reading it. A call
took 654 instructions on x86-64, including the system call and finding the
QP. It is not a method of uverbs: that would copy and look up attributes
for an argument of one number. The cost of such a method has not been
measured. Its number is in a block of its own.
"""),
    ("verbs/device verbs/main verbs/listener verbs/port verbs/numbers", """\
RDMA/sroce: Add devices

Add "rdma link add", and devices on netdevs with ports, GIDs and sockets,
until the netdev goes away. The device offers the verbs of the layers
below. The RDMA core does not let anybody use it until the next patches
add the mandatory verbs.
"""),
    ("verbs/ucontext verbs/pd", """\
RDMA/sroce: Add contexts and protection domains

Let processes open devices. The request to open one has the provider's
ABI version, and the features that it knows; the response has those that
both know, the opcodes that the kernel accepts, and the sizes of the
entries of rings. So either side may be newer.

An importer of a context (ibv_import_device()) has not sent that request.
It gets the same response by an attribute of UVERBS_METHOD_QUERY_CONTEXT.
And it gets handles of PDs from the other process (ibv_import_pd()). The
core has no method that takes the handle of a PD and changes nothing, so
SROCE_METHOD_PD_QUERY is one: it says whether the handle is that of a PD.
"""),
    ("verbs/", """\
RDMA/sroce: Create, modify and destroy QPs

Add the QP state machine. With this, the driver is one that processes can
use: devices, contexts, PDs, regions, CQs, and RC QPs with SEND and WRITE.
Its window is fixed, and after a loss it repeats everything from the lost
packet on. The following patches add one capability each.
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
LAYERS = ["base", "core", "mem", "queue", "net", "send", "recv", "entry", "verbs"]


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


def with_names(text, names):
    """The lines of a table that use the names, which must be whole statements or entries."""
    found = [line for line in text.split("\n") if names & set(re.findall(r"\bsroce_\w+", line))]
    for line in found:
        if not re.fullmatch(r"\t+\S.*[,;]", line):
            raise Trouble(f"this line is needed before the patch that declares its names: {line}")
    return found


def so_far(files, absent):
    """The files without includes of absent headers, and without lines of TABLES that use their names. Both: {name: text}."""
    missing = declared(absent) - declared(files)
    result = {}
    for name, text in files.items():
        folder = name.split("/")[0]
        drop = {line for line in re.findall(r'^#include ".*"$', text, re.M)
                if {header := line[10:-1].removeprefix("../"), f"{folder}/{header}"} & absent.keys()}
        if name in TABLES:
            drop |= set(with_names(text, missing))
        if drop:
            text = "\n".join(line for line in text.split("\n") if line not in drop)
            text = re.sub(r"\n\n(?=\n|})", "\n", text)
        result[name] = text
    return result


COMMENT = r"(?:^/\*(?:[^*]|\*(?!/))*\*/\n)?"


def without_name(text, name):
    """Without a macro of one line, a function (definition or prototype), or a "struct NAME" or "enum NAME", and the comment directly
    above. The comment of several macros goes with the last of them."""
    if name.isupper():
        define = rf"^#define {name}\b.*\n"
        pattern = f"{COMMENT}{define}(?!#define)|{define}"
    elif " " in name:
        pattern = rf"{COMMENT}^{name} \{{\n(?:.*\n)*?}};\n\n?"
    else:
        pattern = rf"{COMMENT}(?:^\w[^\n;{{}}()=]*\n)?^\w[^\n;{{}}()=]*\b{name}\([^;{{}}]*(?:;\n|\n{{\n(?:.*\n)*?}}\n)\n?"
    text, found = re.subn(pattern, "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n", found


def read_capability(text):
    """A file of capabilities/: stems of its files, the message, (path of a file, names it does not have without it), and (path of a
    file, text with it, text without it) of each change."""
    head, *sections = re.split(r"^--- ([^\s:]+)(?:: (.*))?\n", text, flags=re.M)
    names, message = head.split("\n\n", 1)
    gone, cuts = [], []
    for path, gone_here, lines in zip(sections[::3], sections[1::3], sections[2::3]):
        if gone_here:
            gone.append((path, re.findall(r"(?:struct |enum )?\w+", gone_here)))
        lines = [line or " " for line in lines.rstrip("\n").split("\n")]
        if {line[0] for line in lines} - set(" -+"):
            raise Trouble(f"a line for {path} begins with neither a space nor - nor +")
        if lines != [" "]:
            cuts.append((path, *("".join(line[1:] + "\n" for line in lines if line[0] in which) for which in (" -", " +"))))
    return set(names.removeprefix("files:").split()), message.rstrip("\n") + "\n", gone, cuts


def cut(files, capability):
    """The files that stay, without the names and texts that belong to the capability."""
    stems, message, gone, cuts = capability
    subject = message.splitlines()[0]
    kept = {name: text for name, text in files.items() if name[:-2] not in stems}
    for path, names in gone:
        for name in names:
            kept[path], found = without_name(kept.get(path, ""), name)
            if found != 1:
                raise Trouble(f"{subject}: {path} has {found} times {name}")
    for path, old, new in cuts:
        kept[path], found = re.subn("^" + re.escape(old), lambda _, new=new: new, kept.get(path, ""), flags=re.M)
        if found != 1:
            raise Trouble(f"{subject}: {path} has {found} times:\n{old}")
    return kept


def without(files, capability):
    """The driver's files as they are before the capability."""
    stems, message, *_ = capability
    subject = message.splitlines()[0]
    absent = {name: text for name, text in files.items() if name[:-2] in stems}
    if {name[:-2] for name in absent} != stems:
        raise Trouble(f"{subject}: these files do not exist: {' '.join(stems)}")
    kept = so_far(cut(files, capability), absent)
    missing = declared(absent) - declared(kept)
    for name, text in kept.items():
        used = missing & set(re.findall(r"\bsroce_\w+", re.sub(r"/\*.*?\*/|\"[^\"\n]*\"", "", text, flags=re.S)))
        if used:
            raise Trouble(f"{subject}: {name} uses {' '.join(sorted(used))}")
    return kept


def number_of(stem):
    """The number of the patch that has a file of the driver."""
    numbers = {name: number for number, (names, _) in enumerate(SERIES) for name in names.split()}
    number = numbers.get(stem, numbers.get(stem.split("/")[0] + "/"))
    if number is None:
        raise Trouble(f"packaging/upstream/series.py does not say which patch {stem} is in")
    return number


def grown(files, number):
    """The driver's files as of the patch of that number, of those that add layers."""
    there = {name: text for name, text in files.items() if number_of(re.sub(r"\.[ch]$", "", name)) <= number}
    others = {name: text for name, text in files.items() if name not in there}
    if "verbs/main.c" not in there:
        return {**there, "verbs/main.c": bare(files["verbs/main.c"])}
    return so_far(there, others)


# What needs the value of a constant of core/params.h, at the end of its comment: the tests are not upstream.
NEEDS = re.compile(r"(?:^|(?<=[.:]))\s*(?:Rows? \"|Suite |Unit tests of ).*$")
COLUMNS = 90


def without_needs(match):
    """A comment of core/params.h without the tests that need the value."""
    lines = [line.strip().removeprefix("*").strip() for line in match.group(1).split("\n")]
    whole = re.sub(r"\. (?! )", ".  ", " ".join(line for line in lines if line))
    text = NEEDS.sub("", whole)
    if text == whole:
        return match.group(0)
    if not text:
        return ""
    if len(text) <= COLUMNS - len("/*  */"):
        return f"/* {text} */\n"
    text = textwrap.fill(text.replace("1 / ", "1\u00a0/\u00a0"), COLUMNS - len(" * ")).replace("\u00a0", " ")
    return "/*\n" + textwrap.indent(text, " * ") + "\n */\n"


def with_return(match):
    """A line of kernel-doc with its section "Return:" on lines of its own."""
    before = match.group(1) + match.group(2)
    words = " ".join(line.removeprefix(" * ") for line in match.group(3).rstrip("\n").split("\n"))
    space = "" if "Context: " in match.group(1) else " *\n"
    return f"{before}\n{space}" + textwrap.indent(textwrap.fill(words, 77), " * ") + "\n"


def tidied(name, text):
    """The text without what removed lines leave behind: blank lines between includes, or none after them or before the last #endif.
    And with sections of kernel-doc on lines of their own."""
    if name == "core/params.h":
        text = text.replace(", the reason for the value, and the test\n * suite, unit tests or benchmark row that needs it.",
                            " and the reason for the value.")
        text = re.sub(r"^/\*((?:[^*]|\*(?!/))*)\*/\n(?=#define)", without_needs, text, flags=re.M)
    text = re.sub(r"^( \* (?:Context: )?)(\S.*\S)  (Return: .*\n(?: \* (?!Context:|@)\S.*\n)*)", with_return, text, flags=re.M)
    text = re.sub(r"^(#include .*\n)\n+(?=#include)", r"\1", text, flags=re.M)
    text = re.sub(r"^(#include .*\n)(?=[^\n#])", r"\1\n", text, flags=re.M)
    return re.sub(r"^(?!#endif)(.+\n)(?=#endif /\* SROCE_\w+_H \*/\n\Z)", r"\1\n", text, flags=re.M)


def stages(files):
    """The driver's files, and the message, of each patch."""
    return [({name: tidied(name, text) for name, text in now.items()}, message) for now, message in untidied(files)]


def untidied(files):
    """The same, before tidying: the text that the files of capabilities/ quote."""
    capabilities = [read_capability(path.read_text()) for path in sorted(CAPABILITIES.iterdir())]
    result = []
    for capability in reversed(capabilities):
        result.insert(0, (files, capability[1]))
        files = without(files, capability)
    return [(grown(files, number), message) for number, (_, message) in enumerate(SERIES)] + result


def own_files(files, home, abi):
    """Those that grow with the series, by their names here: {name: text}."""
    own = {path[len(home) + 1:]: text for path, text in files.items() if re.match(rf"{home}/.*\.[ch]$", path)}
    return own | {ABI: files[abi]}


def patches(files, home, abi, conditions, author):
    """The series as a list of ({path: text}, message). Files that are not the driver's own are in the first patch."""
    own = own_files(files, home, abi)
    paths = {name: abi if name == ABI else f"{home}/{name}" for name in own}
    result, before = [], {}
    first = {path: text for path, text in files.items() if path not in paths.values()}
    for now, message in stages(own):
        tree = {paths[name]: text for name, text in now.items()}
        tree |= first | {f"{home}/Makefile": makefile(now, conditions)}
        changed = {path: text for path, text in tree.items() if before.get(path) != text}
        if len(changed) < 2:
            raise Trouble(f"a patch without files: {message.splitlines()[0]}")
        result.append((changed, sign(message, author)))
        before = tree
    return result


def row(page, name):
    """A row of the page's tables whose first cell is that: one value, or sroce's and the other's, without the verdict. With
    "TABLE: " in front it is one of the table with that heading, whose second cell is the unit."""
    table, _, case = name.rpartition(": ")
    match = re.search(rf"^{re.escape(case)}  +(\S.*)$", section(page, table) if table else page, re.M)
    if not match:
        raise Trouble(f"Documentation/performance.rst has no row {name!r}")
    cells = [re.sub(r" insns/.*", "", cell) for cell in re.split(r"  +", match.group(1).strip())]
    if table:
        cells = [re.sub(r" \(.*", "", cell) for cell in cells[1:]]
    return f"{case}: {cells[0]}" if len(cells) == 1 else f"{case:<44}{cells[0]:>16}{cells[1]:>17}"


def section(page, heading):
    """The page from that heading to the next one."""
    match = re.search(rf"^{re.escape(heading)}\n-+\n((?:.*\n)*?)(?:.+\n[-=]{{3,}}\n|\Z)", page, re.M)
    if not match:
        raise Trouble(f"Documentation/performance.rst has no table {heading!r}")
    return match.group(1)


def numbered(text):
    """The text with {SUBJECT}, the subject of a patch without its prefix, replaced by the number of the patch."""
    messages = [message for _, message in SERIES] + [read_capability(path.read_text())[1] for path in sorted(CAPABILITIES.iterdir())]
    numbers = {message.splitlines()[0].removeprefix("RDMA/sroce: "): str(number) for number, message in enumerate(messages, 1)}
    unknown = set(re.findall(r"{(.+?)}", text)) - numbers.keys()
    if unknown:
        raise Trouble(f"the cover letter names patches that do not exist: {', '.join(unknown)}")
    return re.sub(r"{(.+?)}", lambda match: numbers[match.group(1)], text)


def worst_tail(page):
    """The largest ratio of the 99th percentiles of sroce and rxe over veth, with two processors and a clock."""
    tables = re.findall(r"^Two hosts, veth,.*two processors\n-+\n((?:.*\n)*?)(?=.*\n-{3,}\n)", page, re.M)
    rows = [re.split(r"  +", row) for table in tables for row in re.findall(r"^.*latency.*, 99 %  +us .*$", table, re.M)]
    if not rows:
        raise Trouble("Documentation/performance.rst has no rows of the 99th percentile over veth")
    return max((cells[4] for cells in rows), key=float)


def cover(text, page):
    """Subject and text of the cover letter: "@ NAME" becomes that row of the measured tables, short enough for a mail, and
    "{{worst tail}}" what worst_tail() finds there."""
    text = numbered(text.replace("{{worst tail}}", worst_tail(page)))
    lines = [row(page, line[2:]) if line.startswith("@ ") else line for line in text.splitlines()]
    return "\n".join(lines) + "\n"
