# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The provider for rdma-core's tree, for the private ABI of that tree."""

import re
import textwrap

from kernel import ABI, abi, driver_id
from resolve import Trouble, replaced, unifdef
from series import SERIES as KERNEL, sign

HOME = "providers/sroce"
IDS = "kernel-headers/rdma/ib_user_ioctl_verbs.h"
TOUCHED = ["CMakeLists.txt", "kernel-headers/CMakeLists.txt", IDS, "libibverbs/verbs.h", "MAINTAINERS", "README.md",
           "debian/control", "debian/rdma-core.install", "debian/copyright", "redhat/rdma-core.spec", "suse/rdma-core.spec"]
# Trees of the oldest rdma-core for which the provider can be built lack them.
LATER_OPERATIONS = ("ATOMIC_WRITE", "FLUSH")

HEADERS = f"""\
Update kernel headers

To commit ?? ("{KERNEL[0][1].splitlines()[0]}").
"""
# The provider's files (stems), and the message of the patch that adds them. The first patch has all other files, except man page and
# lists of packages, which are in one at the end.
SERIES = [
    ("", """\
providers/sroce: Add devices, protection domains and memory regions

Add the provider of the sroce software RoCEv2 driver. Queues and doorbells
are memory that the provider shares with the kernel: it posts and polls by
loads and stores, and makes a system call only when the kernel says there
that it is not looking. sroce_ring.h has the operations on the shared
words, and the proof of their barriers. It is a copy of the kernel's file.

Each feature of the ABI has a bit, so that the provider works with older
and newer kernels.
"""),
    ("cq cqe poll poll_ex", """\
providers/sroce: Add completion queues

Add CQs, their resizing, and both interfaces for polling. Polling makes no
system call, and arming one only if an event is due for completions that
are there. After 256 polls that found nothing the processor is yielded,
because packets are processed by the same processors.
"""),
    ("ah qp recv send send_ex sqe", """\
providers/sroce: Add queue pairs and address handles

Add QPs, and both interfaces for posting, which share the code that writes
a WQE (sqe.h). An address handle is a number of the kernel, which the WQE
of a datagram has.
"""),
    ("srq xrc", """\
providers/sroce: Add shared receive queues and XRC

An SRQ has a ring and a doorbell slot of its own, as the receive queue of a
QP has. modify_srq of uverbs has no response, so the request for a resize
has the address for the location of the new ring.
"""),
    ("dm mw", """\
providers/sroce: Add memory windows and device memory

Windows are bound by a WQE. Device memory is memory of the kernel that the
process maps, so that programs written for it run without such a device.
"""),
    ("comp_cntr", """\
providers/sroce: Add completion counters

The kernel counts, and a read is a system call: counters are for programs
that wait for a number of completions without a CQE for each.
"""),
]
LAST = """\
providers/sroce: Add the manual page, and add sroce to the packages

libsroce(7) has what programs can rely on: features, limits, errors, and
when a call enters the kernel.
"""
# Lists of the tree that the provider's first patch does not need
PACKAGES = ["README.md", "debian/", "redhat/", "suse/"]


def private_abi(base):
    match = re.search(r'IBVERBS_PABI_VERSION "(\d+)"', (base / "CMakeLists.txt").read_text())
    if not match:
        raise Trouble("rdma-core does not tell its private ABI")
    return int(match.group(1))


def behind(text, line, new):
    """The new line behind the other one, in each list that has that: in kernel-headers/CMakeLists.txt, these are two."""
    return replaced(text, (line + "\n", line + "\n" + new + "\n"))


def in_front(text, line, new):
    return replaced(text, (line + "\n", new + "\n" + line + "\n"))


def licence(copyrights):
    """Ours, by the names that debian/copyright has for the texts: Linux-OpenIB is BSD-MIT there."""
    names = ["BSD-MIT", "GPL-2"]
    if not all(re.search(rf"^License: {name}\n ", copyrights, re.M) for name in names):
        raise Trouble("debian/copyright of rdma-core does not have the texts of our licences")
    return " or ".join(names)


def lists(base, author):
    """Where the tree names its providers one by one."""
    old = {path: (base / path).read_text() for path in TOUCHED}
    siw = "siw: A software implementation of the iWarp protocol"
    ours = "sroce: A software implementation of RoCEv2 that works in bursts"
    return {
        "CMakeLists.txt": behind(old["CMakeLists.txt"], "add_subdirectory(providers/siw)",
                                 f"add_subdirectory({HOME})\nadd_subdirectory({HOME}/man)"),
        "kernel-headers/CMakeLists.txt": behind(old["kernel-headers/CMakeLists.txt"], "  rdma/siw-abi.h", "  rdma/sroce-abi.h"),
        IDS: driver_id(old[IDS]),
        "libibverbs/verbs.h": behind(old["libibverbs/verbs.h"], "extern const struct verbs_device_ops verbs_provider_siw;",
                                     "extern const struct verbs_device_ops verbs_provider_sroce;"),
        "MAINTAINERS": replaced(old["MAINTAINERS"], ("SRP DAEMON (for ib_srp.ko)\n",
                                f"SROCE SOFTWARE ROCEV2 USERSPACE PROVIDER (for sroce.ko)\nM:\t{author}\nS:\tSupported\nF:\t{HOME}/\n\n"
                                "SRP DAEMON (for ib_srp.ko)\n")),
        "README.md": behind(old["README.md"], " - siw.ko", " - sroce.ko"),
        "debian/control": behind(old["debian/control"], "  - " + siw, "  - " + ours),
        "debian/rdma-core.install": in_front(old["debian/rdma-core.install"], "usr/share/man/man7/rxe.7", "usr/share/man/man7/libsroce.7"),
        "debian/copyright": in_front(old["debian/copyright"], "Files: providers/vmw_pvrdma/*",
                                     f"Files: {HOME}/*\nCopyright: The sroce developers\nLicense: {licence(old['debian/copyright'])}\n"),
        "redhat/rdma-core.spec": behind(behind(old["redhat/rdma-core.spec"], "- lib" + siw, "- lib" + ours),
                                        "%{_mandir}/man7/rxe*", "%{_mandir}/man7/libsroce.7*"),
        "suse/rdma-core.spec": behind(behind(old["suse/rdma-core.spec"], "- lib" + siw, "- lib" + ours),
                                      "%{_mandir}/man7/rxe*", "%{_mandir}/man7/libsroce.7*"),
    }


def has_port_speed(base):
    """Not by the version of the private ABI: rdma-core 62 has it, and kept the number."""
    return "IBV_EVENT_DEVICE_SPEED_CHANGE" in (base / "libibverbs/verbs.h").read_text()


def sources(top, pabi, port_speed):
    """Of the provider, for that version of the private ABI, and the kernel's header: {path: text}."""
    options = [f"-DSROCE_PABI={pabi}", *(f"-DSROCE_HAVE_{name}" for name in LATER_OPERATIONS),
               f"-{'D' if port_speed else 'U'}SROCE_HAVE_PORT_SPEED", "-USROCE_STANDALONE", "-U__KERNEL__"]
    provider = top / "userspace-provider"
    result = {}
    for path in sorted([*provider.glob("*.[ch]"), top / "include/sroce_ring.h"]):
        text = unifdef(path.read_text(), options).replace("SROCE_DRIVER_ID", "RDMA_DRIVER_SROCE")
        result[f"{HOME}/{path.name}"] = text
    comment = re.compile(r"/\*\n \* Atomic WRITE came to rdma-core.*?\*/\n", re.S)
    result[f"{HOME}/sroce.h"] = comment.sub("", result[f"{HOME}/sroce.h"])
    # The other names are for trees without them.
    for name in LATER_OPERATIONS:
        result[f"{HOME}/sroce.h"] = re.sub(fr"#define SROCE_QP_EX_WITH_{name}.*\n+", "", result[f"{HOME}/sroce.h"])
        result[f"{HOME}/qp.c"] = result[f"{HOME}/qp.c"].replace(f"SROCE_QP_EX_WITH_{name}", f"IBV_QP_EX_WITH_{name}")
    result[f"{HOME}/CMakeLists.txt"] = re.sub(r"^add_definitions.*\n", "", (provider / "CMakeLists.txt").read_text(), flags=re.M)
    result[f"{HOME}/man/CMakeLists.txt"] = "rdma_man_pages(\n  libsroce.7\n)\n"
    result[f"{HOME}/man/libsroce.7"] = replaced((provider / "libsroce.7").read_text(), (".BR sroce (4),\n", ""))
    result["kernel-headers/rdma/sroce-abi.h"] = abi((top / ABI).read_text(), HOME + "/sroce_ring.h")
    return result


def stage(files, later):
    """The provider without the files of later patches: without their functions in sroce.c and their commands in sroce_abi.h, and with a
    CMakeLists.txt of its own."""
    now = {name: text for name, text in files.items() if re.sub(r"\.[ch]$", "", name) not in later}
    missing = {match for name, text in files.items() if name.endswith(".c") and name not in now
               for match in re.findall(r"^(?!static)\w[\w *]*?\b(sroce_\w+)\(", text, re.M)}
    table = [line for line in now["sroce.c"].split("\n") if not missing & set(re.findall(r"\t\.\w+ = (sroce_\w+),", line))]
    now["sroce.c"] = "\n".join(table)
    used = {word for name, text in now.items() if name.endswith(".c") for word in re.findall(r"\bsroce_cmd_\w+", text)}
    now["sroce_abi.h"] = re.sub(r"^DECLARE_DRV_CMD\((\w+),[^;]*;\n",
                                lambda command: command[0] if used & {command[1], command[1] + "_resp"} else "", now["sroce_abi.h"], flags=re.M)
    sources = textwrap.fill(" ".join(sorted(name for name in now if name.endswith(".c"))), 100, initial_indent="  ",
                            subsequent_indent="  ")
    now["CMakeLists.txt"] = f"rdma_provider(sroce\n{sources}\n)\n"
    return now


def patches(top, base, author):
    """The patch with the kernel's headers and those that use them: ({path: text}, message) each."""
    files = lists(base, author) | sources(top, private_abi(base), has_port_speed(base))
    # Without code for this version of the private ABI
    files = {path: text for path, text in files.items() if not path.endswith(".c") or "{" in text}
    headers = {path: text for path, text in files.items() if path.startswith("kernel-headers/")}
    last = {path: text for path, text in files.items() if path.startswith(f"{HOME}/man/") or path.startswith(tuple(PACKAGES))}
    own = {path[len(HOME) + 1:]: text for path, text in files.items() if path.startswith(HOME) and path not in last}
    rest = {path: text for path, text in files.items() if not path.startswith(HOME) and path not in headers | last}
    last["CMakeLists.txt"] = rest["CMakeLists.txt"]
    rest["CMakeLists.txt"] = replaced(rest["CMakeLists.txt"], (f"add_subdirectory({HOME}/man)\n", ""))
    result, before = [(headers, sign(HEADERS, author))], {}
    for number, (_, message) in enumerate(SERIES):
        later = {stem for stems, _ in SERIES[number + 1:] for stem in stems.split()}
        now = {f"{HOME}/{name}": text for name, text in stage(own, later).items()} | rest
        changed = {path: text for path, text in now.items() if before.get(path) != text}
        if changed:
            result.append((changed, sign(message, author)))
        before = now
    return [*result, (last, sign(LAST, author))]
