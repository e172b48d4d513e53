# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The provider for rdma-core's tree, for the private ABI of that tree."""

import re

from kernel import ABI, abi, driver_id
from resolve import Trouble, replaced, unifdef
from series import sign

HOME = "providers/sroce"
IDS = "kernel-headers/rdma/ib_user_ioctl_verbs.h"
TOUCHED = ["CMakeLists.txt", "kernel-headers/CMakeLists.txt", IDS, "libibverbs/verbs.h", "MAINTAINERS", "README.md",
           "debian/control", "debian/rdma-core.install", "debian/copyright", "redhat/rdma-core.spec", "suse/rdma-core.spec"]

HEADERS = """\
Update kernel headers

To the commit "RDMA/sroce: Add the user ABI".
"""
MESSAGE = """\
providers/sroce: Add the provider of the sroce software RoCEv2 driver

Queues and doorbells are memory that the provider shares with the
kernel: it posts and polls by loads and stores, and makes a system call
only when the kernel says there that it is not looking.
"""


def private_abi(base):
    match = re.search(r'IBVERBS_PABI_VERSION "(\d+)"', (base / "CMakeLists.txt").read_text())
    if not match:
        raise Trouble("rdma-core does not tell its private ABI")
    return int(match.group(1))


def behind(text, line, new):
    """The line that is there once, and the new one behind it."""
    return replaced(text, (line + "\n", line + "\n" + new + "\n"))


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
        "debian/rdma-core.install": behind(old["debian/rdma-core.install"], "usr/share/man/man7/rxe.7", "usr/share/man/man7/libsroce.7"),
        "debian/copyright": replaced(old["debian/copyright"], ("Files: providers/siw/*\n",
                                     f"Files: {HOME}/*\nCopyright: The sroce developers\nLicense: GPL-2 or Linux-OpenIB\n\n"
                                     "Files: providers/siw/*\n")),
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
    options = [f"-DSROCE_PABI={pabi}", "-DSROCE_HAVE_FLUSH", f"-{'D' if port_speed else 'U'}SROCE_HAVE_PORT_SPEED",
               "-USROCE_STANDALONE", "-U__KERNEL__"]
    provider = top / "userspace-provider"
    result = {}
    for path in sorted([*provider.glob("*.[ch]"), top / "include/sroce_ring.h"]):
        text = unifdef(path.read_text(), options).replace("SROCE_DRIVER_ID", "RDMA_DRIVER_SROCE")
        result[f"{HOME}/{path.name}"] = text
    comment = re.compile(r"/\*\n \* FLUSH came to rdma-core.*?\*/\n", re.S)
    result[f"{HOME}/sroce.h"] = comment.sub("", result[f"{HOME}/sroce.h"])
    # The other name is for trees without it.
    result[f"{HOME}/sroce.h"] = re.sub(r"#define SROCE_QP_EX_WITH_FLUSH.*\n+", "", result[f"{HOME}/sroce.h"])
    result[f"{HOME}/qp.c"] = result[f"{HOME}/qp.c"].replace("SROCE_QP_EX_WITH_FLUSH", "IBV_QP_EX_WITH_FLUSH")
    result[f"{HOME}/CMakeLists.txt"] = re.sub(r"^add_definitions.*\n", "", (provider / "CMakeLists.txt").read_text(), flags=re.M)
    result[f"{HOME}/man/CMakeLists.txt"] = "rdma_man_pages(\n  libsroce.7\n)\n"
    result[f"{HOME}/man/libsroce.7"] = replaced((provider / "libsroce.7").read_text(), (".BR sroce (4),\n", ""))
    result["kernel-headers/rdma/sroce-abi.h"] = abi((top / ABI).read_text(), HOME + "/sroce_ring.h")
    return result


def patches(top, base, author):
    """The patch with the kernel's headers and the patch that uses them: ({path: text}, message) each."""
    files = lists(base, author) | sources(top, private_abi(base), has_port_speed(base))
    headers = {path: text for path, text in files.items() if path.startswith("kernel-headers/")}
    rest = {path: text for path, text in files.items() if path not in headers}
    return [(headers, sign(HEADERS, author)), (rest, sign(MESSAGE, author))]
