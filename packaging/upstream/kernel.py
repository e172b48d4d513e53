# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The module for the kernel's tree: with the choices of compat.h resolved, a Kconfig, a Makefile and an entry in MAINTAINERS."""

import re

import series
from resolve import Trouble, definitions, expand, replaced, unifdef

HOME = "drivers/infiniband/sw/sroce"
ABI = "include/uapi/rdma/sroce-abi.h"
IDS = "include/uapi/rdma/ib_user_ioctl_verbs.h"
IOCTLS = "include/uapi/rdma/rdma_user_ioctl.h"
TOUCHED = ["MAINTAINERS", "drivers/infiniband/Kconfig", "drivers/infiniband/sw/Makefile", IDS, IOCTLS]
FIRST_ABI_VERSION = 3
KICK = "0xD0"  # a block of its own; the number of out-of-tree versions is in the one of hfi1
DRIVER_ID = re.compile(r"/\* \"sroc\":.*?\*/\n#define SROCE_DRIVER_ID.*?\n\n", re.S)

KCONFIG = """\
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
config RDMA_SROCE
	tristate "Software RoCEv2 in bursts (sroce)"
	depends on INET && IPV6 && INFINIBAND && INFINIBAND_USER_ACCESS
	# Atomics of the peer and shared counters are 64 bit words.
	depends on 64BIT
	# Never tried.
	depends on !CPU_BIG_ENDIAN
	# CPUs copy payload by addresses of the direct map.
	depends on INFINIBAND_VIRT_DMA
	# local_bh_disable() protects per-CPU data.
	depends on !PREEMPT_RT || PREEMPT_RT_NEEDS_BH_LOCK
	# Unloading waits for skb destructors that were preempted.
	select NEED_TASKS_RCU
	select NET_UDP_TUNNEL
	select CRC32
	help
	  RDMA over Converged Ethernet, version 2, on any Ethernet device:
	  packets go to UDP port 4791 over IPv4 and IPv6, through the stack
	  in bursts as UDP segmentation offload has them. Peers are other
	  hosts with this driver or with rxe. It has not been tried with
	  RoCEv2 NICs.

	  User space needs libsroce of rdma-core. A device is made by

	    rdma link add sroce0 type sroce netdev eth0

	  To compile this driver as a module, choose M here: the module will
	  be called sroce.
"""


def is_source(path):
    """Of the files of drivers/sroce: compat.h, the probes and CRCs of our own stay behind."""
    return path.suffix in {".c", ".h"} and path.name != "compat.h" and path.parent.name != "fast_crc"


def chosen(top, probes):
    """What compat.h says for the kernel that the probes are of: unifdef's options, its macros and includes."""
    compat = (top / "drivers/sroce/compat.h").read_text()
    known = {"SROCE_HAVE_" + name for name in re.findall(r"^probe (\w+)", (top / "drivers/sroce/probes.sh").read_text(), re.M)}
    have = set(re.findall(r"#define (SROCE_HAVE_\w+)", probes))
    options = ["-D" + name if name in have else "-U" + name for name in sorted(known)] + ["-D__KERNEL__", "-USROCE_OUT_OF_TREE"]
    # Upstream, Kconfig has the requirements on the configuration.
    text = unifdef(compat, options + ["-UCONFIG_PREEMPT_RT"])
    macros = definitions(text)
    macros.pop("SROCE_COMPAT_H")
    macros.pop("SROCE_OUT_OF_TREE")
    left = re.sub(r"^#(define|include) (?:.*\\\n)*.*\n", "", text, flags=re.M)
    if re.search(r"^#(?!ifndef SROCE_COMPAT_H|endif)", left, re.M):
        raise Trouble(f"compat.h has more than definitions and includes:\n{left}")
    return options, macros, re.findall(r"^#include <.*>$", text, re.M)


def described(text):
    """The text whose kernel-doc of structures describes only members that are there."""
    def present(match):
        comment, members = match.group(1), match.group(2)
        return re.sub(r"^ \* @(\w+):.*\n(?: \*\t.*\n)*", lambda line: line.group(0) if re.search(rf"\b{line.group(1)}\b", members) else "",
                      comment, flags=re.M)

    return re.sub(r"^(/\*\*\n \* struct (?:[^*]|\*(?!/))*\*/\n)(?=struct \w+ \{\n(.*?)^\})", present, text, flags=re.M | re.S)


def source(text, options, macros):
    text = described(expand(unifdef(text, options), macros))
    # Removed conditions leave blank lines behind.
    text = re.sub(r"\n{3,}", "\n\n", text).rstrip("\n") + "\n"
    text = text.replace("(enum rdma_driver_id)SROCE_DRIVER_ID", "RDMA_DRIVER_SROCE")
    return text.replace("#include <sroce_ring.h>", '#include "../sroce_ring.h"').replace("include/sroce_ring.h", HOME + "/sroce_ring.h")


def abi(text, ring):
    """The header of both sides: the driver's number is in the kernel's list, and the versions of the tree begin with the first free one."""
    text, found = DRIVER_ID.subn("", text)
    if not found:
        raise Trouble("sroce-abi.h has no SROCE_DRIVER_ID")
    text, found = re.subn(r"^(#define SROCE_ABI_VERSION\t)\d+$", rf"\g<1>{FIRST_ABI_VERSION}", text, flags=re.M)
    if not found:
        raise Trouble("sroce-abi.h has no SROCE_ABI_VERSION")
    return replaced(text, ("include/sroce_ring.h", ring), ("drivers/sroce/", HOME + "/"), ("RDMA_IOCTL_MAGIC, 0xf0,", f"RDMA_IOCTL_MAGIC, {KICK},"))


def with_includes(text, includes):
    """env.h, with the headers that compat.h includes everywhere, in their place of the alphabet."""
    lines = re.findall(r"^#include <linux/.*>$", text, re.M)
    return replaced(text, ("\n".join(lines), "\n".join(sorted({*lines, *includes}))))


def without_older(ucontext):
    """No provider of the kernel's ABI is older than its first version: requests and responses are whole."""
    return replaced(ucontext, ("ib_copy_validate_udata_in(udata, *req, flags)", "ib_copy_validate_udata_in(udata, *req, features)"),
                    ("offsetofend(typeof(resp), max_sge)", "sizeof(resp)"),
                    ("UVERBS_ATTR_STRUCT(struct sroce_alloc_ucontext_resp, max_sge)",
                     "UVERBS_ATTR_STRUCT(struct sroce_alloc_ucontext_resp, reserved)"))


def without_version(device):
    """A driver of the kernel has no version of its own."""
    for pattern in (r"\tattr->fw_ver = .*\n", r"\t\.get_dev_fw_str = .*\n", r"/\* Programs show the version.*?\n}\n\n"):
        device, found = re.subn(pattern, "", device, count=1, flags=re.S if "Programs" in pattern else 0)
        if not found:
            raise Trouble(f"not found: {pattern!r}")
    return device


def ordered(device):
    """device.c with the table of operations in the order of the alphabet: those that compat.h names are in a block of their own."""
    start = "static const struct ib_device_ops ops = {\n"
    before, table = device.split(start)
    table, after = table.split("\n};\n", 1)
    about, operations = table.split("\n\n", 1)
    lines = [line for line in operations.split("\n") if line.strip()]
    sizes = sorted(line for line in lines if line.startswith("\tINIT_RDMA_OBJ_SIZE("))
    lines = sorted(line for line in lines if line not in sizes)
    if not all(re.fullmatch(r"\t\.\w+ = .*,", line) for line in lines):
        raise Trouble("the table of operations has more than one line for an operation")
    return before + start + "\n\n".join([about, "\n".join(lines), "\n".join(sizes)]) + "\n};\n" + after


def without(text, *patterns):
    """The text without what each pattern finds; (pattern, times)."""
    for pattern, count in patterns:
        text, found = re.subn(pattern, "", text)
        if found != count:
            raise Trouble(f"not found: {pattern!r}")
    return text


def without_preparation(result):
    """The kernel's CRC library needs no begin and end of a burst, and does not copy: no empty functions for that, nor for a call."""
    result[f"{HOME}/net/icrc.c"] = without(
        result[f"{HOME}/net/icrc.c"].replace("crc_more(icrc, ", "sroce_crc32("),
        (r"/\* Continue a CRC .*\nstatic u32 crc_more\((?:.*\n)*?}\n\n", 1),
        (r"/\* Only net/fast_crc prepares .*\n(?:static void crc_(?:begin|end)\(.*\n{\n}\n\n?){2}\n*", 1),
        (r"/\* Only net/fast_crc copies .*\nstatic bool crc_store\(.*\n{\n.*\n}\n\n", 1),
        (r"(?:void sroce_icrc_store_(?:begin|end)\(.*\n{\n.*\n}\n\n){2}", 1),
        (r"\tu32 state;\n\n(?=\tsroce_icrc_head\(icrc, index, bth,\n)", 1),
        (r"\tif \(!r->left\)\n\t\tsroce_reader_refill\(r\);\n\tif \(likely\(r->left >= len && crc_store(?:.*\n)*?\t}\n", 1),
        (r"\tcrc_(?:begin|end)\(.*\n", 4))
    result[f"{HOME}/net/icrc.h"] = without(
        result[f"{HOME}/net/icrc.h"],
        (r"\n/\* @bytes: of all packets that may follow\..*\n(?:void sroce_icrc_store_.*\n){2}", 1),
        (r"; between sroce_icrc_store_begin\(\) and sroce_icrc_store_end\(\)", 1),
        (r" \* One pass is faster(?:.*\n)*?(?= \* Context)", 1))
    result[f"{HOME}/net/rx_alike.c"] = without(
        result[f"{HOME}/net/rx_alike.c"],
        (r"/\* Finding the next piece .*\n", 1),
        (r"\t\tif \(alike->icrc\)\n\t\t\tsroce_icrc_store_.*\n", 2))


def conditions(kbuild):
    """Of objects that not every configuration has: {stem: name of the option}."""
    return {stem: option for option, stem in re.findall(r"^sroce-\$\((\w+)\) \+= drivers/sroce/(\S+)\.o$", kbuild, re.M)}


def blocks(text):
    """The list of blocks of ioctl numbers with ours."""
    line = " * #define HFI1_CMD_BAS\t\t0xE0\n"
    return replaced(text, (line, f" * #define SROCE_CMD_BASE\t{KICK}\n" + line))


def driver_id(text):
    """The list of drivers with ours at its end."""
    return re.sub(r"((\tRDMA_DRIVER_\w+,\n)+)(};)", r"\1\tRDMA_DRIVER_SROCE,\n\3", text, count=1)


def maintainers(text, author):
    """With our section before the first one that the alphabet puts behind it."""
    entry = (f"SROCE SOFTWARE ROCEV2 DRIVER\nM:\t{author}\nL:\tlinux-rdma@vger.kernel.org\nS:\tMaintained\n"
             f"F:\t{HOME}/\nF:\t{ABI}\n\n")
    titles = re.finditer(r"(?<=\n\n)S.*(?=\n[A-Z]:\t)", text)
    start = next(match.start() for match in titles if match.group(0) > entry)
    return text[:start] + entry + text[start:]


def files(top, base, probes, author):
    """All files that the patches add or change, as {path: text}."""
    options, macros, includes = chosen(top, probes)
    result = {}
    for path in sorted((top / "drivers/sroce").rglob("*")):
        if is_source(path):
            result[f"{HOME}/{path.relative_to(top / 'drivers/sroce')}"] = source(path.read_text(), options, macros)
    result[f"{HOME}/sroce_ring.h"] = source((top / "include/sroce_ring.h").read_text(), options, macros)
    result[f"{HOME}/core/env.h"] = with_includes(result[f"{HOME}/core/env.h"], includes)
    result[f"{HOME}/verbs/main.c"] = replaced(result[f"{HOME}/verbs/main.c"], ("MODULE_VERSION(SROCE_VERSION);\n", ""))
    result[f"{HOME}/verbs/device.c"] = ordered(without_version(result[f"{HOME}/verbs/device.c"]))
    result[f"{HOME}/verbs/ucontext.c"] = without_older(result[f"{HOME}/verbs/ucontext.c"])
    without_preparation(result)
    result[f"{HOME}/Kconfig"] = KCONFIG
    result[ABI] = abi((top / ABI).read_text(), HOME + "/sroce_ring.h")
    old = {path: (base / path).read_text() for path in TOUCHED}
    result[IDS] = driver_id(old[IDS])
    result[IOCTLS] = blocks(old[IOCTLS])
    result["MAINTAINERS"] = maintainers(old["MAINTAINERS"], author)
    line = 'source "drivers/infiniband/sw/siw/Kconfig"\n'
    result["drivers/infiniband/Kconfig"] = replaced(old["drivers/infiniband/Kconfig"],
                                                    (line, line + f'source "{HOME}/Kconfig"\n'))
    line = "obj-$(CONFIG_RDMA_SIW)\t\t\t+= siw/\n"
    result["drivers/infiniband/sw/Makefile"] = replaced(old["drivers/infiniband/sw/Makefile"],
                                                        (line, line + "obj-$(CONFIG_RDMA_SROCE)\t\t+= sroce/\n"))
    return result


def patches(top, base, probes, author):
    """The series: ({path: text}, message) for each patch."""
    options = conditions((top / "Kbuild").read_text())
    return series.patches(files(top, base, probes, author), HOME, ABI, options, author)


def cover(top):
    """The cover letter."""
    text = (top / "packaging/upstream/cover.txt").read_text()
    return series.cover(text, (top / "Documentation/performance.rst").read_text())
