# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The cases, and the lane and topology of each."""

import math

KIB, MIB = 1 << 10, 1 << 20
NAMES = {KIB: "KiB", MIB: "MiB", 1 << 30: "GiB"}

# Figures of a kind of case, the one that counts first: (name, unit, whether more is better)
METRICS = {
    "bandwidth": (("mib_s", "MiB/s", True),),
    "rate": (("mpps", "million/s", True),),
    "latency": (("typical", "us", False), ("p99", "us", False)),
    "cpu": (("s_gib", "CPU s/GiB", False),),
    "round": (("ns", "ns", False),),
    "size": (("ns", "ns", False), ("mib_s", "MiB/s", True)),
    "memory": (("kernel_bytes", "bytes", False), ("user_bytes", "bytes", False)),
}


def size_name(size):
    for unit in sorted(NAMES, reverse=True):
        if size >= unit and size % unit == 0:
            return f"{size // unit} {NAMES[unit]}"
    return f"{size} B"


class Case:
    """One program with its options; kind says how its output is read."""

    def __init__(self, key, title, kind, program, options="", **more):
        self.key, self.title, self.kind, self.program, self.options = key, title, kind, program, options
        self.size = more.get("size", 0)
        self.number = more.get("number", 0)
        self.multiple = more.get("multiple", 1)  # of which the number of messages has to be one
        self.qps = more.get("qps", 1)
        self.tcp = more.get("tcp")  # iperf3's options, if it takes part
        self.level = more.get("level", "full")

    def primary(self):
        return METRICS[self.kind][0]


def program_of(verb, what):
    return f"ib_{verb.lower()}_{what}"


def bandwidth(verb, size, **more):
    if verb == "WRITE":
        more.setdefault("tcp", f"-l {min(size, MIB)}")  # its limit
    return Case(f"bw-{verb}-{size}".lower(), f"{verb} {size_name(size)} bandwidth", "bandwidth", program_of(verb, "bw"),
                f"-s {size}", size=size, **more)


def latency(verb, size, **more):
    options = "" if verb == "atomic" else f"-s {size}"
    title = f"{verb} latency" if verb == "atomic" else f"{verb} {size_name(size)} latency"
    return Case(f"lat-{verb}-{size}".lower(), title, "latency", program_of(verb, "lat"), options, size=size, **more)


def rate(qps, post_list, **more):
    title = "WRITE 2 B rate" + (f", {qps} QPs" if qps > 1 else "") + (f", post list {post_list}" if post_list > 1 else "")
    options = "-s 2" + (f" -q {qps}" if qps > 1 else "") + (f" -l {post_list}" if post_list > 1 else "")
    # perftest stops polling once it has counted 100 per completion up to the total: with several QPs and a last completion
    # that stands for fewer, it may do so before the slowest QP is done, and never end.
    multiple = math.lcm(post_list, 100) if qps > 1 else post_list
    return Case(f"rate-{qps}-{post_list}", title, "rate", "ib_write_bw", options, size=2, multiple=multiple, qps=qps, **more)


def with_events(case, **more):
    """The same, waiting for completions asleep."""
    result = Case(case.key + "-e", case.title + ", events", case.kind, case.program, case.options + " -e", size=case.size,
                  multiple=case.multiple, qps=case.qps, **more)
    return result


def level_of(wanted, quick):
    return "quick" if wanted in quick else "full"


def main_cases():
    quick = (("WRITE", 64 * KIB), ("READ", 64 * KIB), ("READ", MIB))
    for verb in ("SEND", "WRITE", "READ"):
        for size in (4 * KIB, 64 * KIB, MIB, 8 * MIB) + ((16 * KIB, 256 * KIB) if verb == "WRITE" else ()):
            yield bandwidth(verb, size, level=level_of((verb, size), quick))
    for verb in ("SEND", "WRITE", "READ"):
        for size in (2, 64, KIB, 4 * KIB):
            yield latency(verb, size, level=level_of((verb, size), (("SEND", 2), ("READ", 2))))
    yield latency("atomic", 8)
    for qps in (1, 16, 128):
        for post_list in (1, 32):
            yield rate(qps, post_list, level=level_of((qps, post_list), ((1, 1), (1, 32), (16, 1))))
    yield Case("rate-send", "SEND 2 B rate", "rate", "ib_send_bw", "-s 2", size=2)
    yield Case("rate-ud", "UD 1 KiB rate", "rate", "ib_send_bw", f"-c UD -s {KIB}", size=KIB, level="quick")
    for verb in ("WRITE", "READ"):
        yield Case(f"bidir-{verb}".lower(), f"{verb} 64 KiB both ways", "bandwidth", program_of(verb, "bw"), "-b -s 65536",
                   size=64 * KIB, tcp=f"--bidir -l {64 * KIB}" if verb == "WRITE" else None)
    yield with_events(bandwidth("SEND", 64 * KIB))
    yield with_events(bandwidth("READ", 64 * KIB))
    yield with_events(latency("SEND", 2))
    for verb in ("SEND", "READ"):
        yield Case(f"cpu-{verb}".lower(), f"CPU time, {verb} 64 KiB, events", "cpu", program_of(verb, "bw"), "-e -s 65536",
                   size=64 * KIB, tcp=f"-l {64 * KIB}" if verb == "SEND" else None)


def sized(size, **more):
    return Case(f"size-{size}", f"WRITE of {size_name(size)}", "size", "scale", "size", number=size, size=size, **more)


def scale_cases():
    for number in (1, 100, 10000):
        yield Case(f"qps-{number}", f"WRITE 2 B going round {number:,} QPs", "round", "scale", "qps", number=number)
    for number in (1, 1000, 100000):
        yield Case(f"mrs-{number}", f"WRITE 2 B going round {number:,} MRs", "round", "scale", "mrs", number=number)
    for number in (1, 64, KIB, 4 * KIB, 64 * KIB, MIB, 16 * MIB, 256 * MIB, 1 << 30):
        yield sized(number)


def counted_cases():
    """For the lanes with one processor: where both sides wait they sleep, for two pollers would only measure time slices."""
    yield bandwidth("WRITE", 64 * KIB, level="quick")
    yield with_events(bandwidth("SEND", 64 * KIB))
    yield bandwidth("READ", 64 * KIB, level="quick")
    yield bandwidth("READ", MIB)
    yield rate(1, 1, level="quick")
    yield rate(1, 32)
    yield rate(16, 1)
    yield with_events(latency("SEND", 2), level="quick")
    yield latency("READ", 2, level="quick")
    yield latency("atomic", 8)
    yield Case("rate-ud-e", "UD 1 KiB rate, events", "rate", "ib_send_bw", f"-e -c UD -s {KIB}", size=KIB)


def pair_cases():
    """Two guests are slow, so these are few."""
    for verb in ("SEND", "WRITE", "READ"):
        for size in (64 * KIB, MIB):
            yield bandwidth(verb, size)
    yield Case("bw-write-65536-8", "WRITE 64 KiB bandwidth, 8 QPs", "bandwidth", "ib_write_bw", f"-s {64 * KIB} -q 8", size=64 * KIB,
               multiple=100, qps=8)
    yield rate(1, 1)
    for verb in ("SEND", "READ"):
        yield latency(verb, 2)
    yield with_events(latency("SEND", 2))
    for verb in ("SEND", "READ"):  # ib_write_bw has no events
        yield with_events(bandwidth(verb, 64 * KIB))


def memory_case():
    """Where it is measured does not matter: in the lane that others cannot disturb."""
    return Case("memory", "memory of an idle RC QP of depth 64", "memory", "scale", "memory", number=2000, level="quick")


def native_cases():
    """User Mode Linux: system calls and clocks are dear there, so a program that makes few of both."""
    for size in (4 * KIB, 64 * KIB, MIB):
        yield sized(size, tcp=f"-l {size}")


def cases(lane, topology, mtu, quick):
    """Those of one lane, topology and MTU."""
    if lane == "uml":
        return list(native_cases())
    if topology == "pair":
        return list(pair_cases())
    if lane == "icount":
        result = list(counted_cases())
        if topology == "nic":
            result = [case for case in result if case.kind == "bandwidth"]
        if topology == "veth" and mtu == 1500:
            result += [memory_case()] + [case for case in scale_cases() if case.kind == "round"]
    else:
        result = list(main_cases())
        if topology == "veth" and mtu == 1500:
            result += scale_cases()
        elif not quick:
            result = [case for case in result if case.size in (2, 8, KIB, 64 * KIB, MIB)]
    return [case for case in result if case.level == "quick" or not quick]
