# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""On the host: makes tables, the verdicts on the targets, and plots from the figures of the lanes."""

import glob
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import time

import cases
import plots

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../vm"))
import rig  # noqa: E402  pylint: disable=wrong-import-position

TITLES = {
    "smp-veth-1500": "Two hosts, veth, MTU 1500 (1024-byte packets); two processors",
    "smp-veth-9000": "Two hosts, veth, MTU 9000 (4096-byte packets); two processors",
    "smp-same-1500": "Both ends on one device, TCP over loopback; two processors",
    "icount-veth-1500": "Instructions, both ends together: veth, MTU 1500",
    "icount-veth-9000": "Instructions, both ends together: veth, MTU 9000",
    "icount-same-1500": "Instructions, both ends together: one device",
    "icount-nic-1500": "Instructions, both ends together: veth that copies, MTU 1500",
    "icount-nic-9000": "Instructions, both ends together: veth that copies, MTU 9000",
    "smp-veth-uml-1500": "User Mode Linux, native speed, two processors: veth, MTU 1500",
    "uml-veth-1500": "User Mode Linux, native speed, one processor: veth, MTU 1500",
    "uml-same-1500": "User Mode Linux, native speed, one processor: one device",
    "uml-nic-1500": "User Mode Linux, native speed, one processor: veth that copies, MTU 1500",
}

# Two guests with virtio-net on taps of a bridge
GUESTS = {
    "smp-pair-1500": "Linux 6.1: virtio-net does not segment UDP; two processors each",
    "smp-pair-one-1500": "The same, one processor each",
    "smp-pair-uso-1500": "Linux 6.12: virtio-net segments UDP; two processors each",
    "smp-pair-uso-9000": "The same, MTU 9000",
    "smp-pair-uso-one-1500": "The same, one processor each, MTU 1500",
    "smp-pair-uso-queues-1500": "The same, two processors and two queues each, MTU 1500",
}

# Debian's newest kernel, for the cover letter of the upstream series
NEWEST = {
    "smp-veth-newest-1500": "Linux 7.3: veth, MTU 1500; two processors",
    "icount-veth-newest-1500": "Linux 7.3, instructions, both ends together: veth, MTU 1500",
    "icount-veth-newest-9000": "Linux 7.3, instructions, both ends together: veth, MTU 9000",
}

# Jobs whose tables have sections of their own in the document
APART = {**GUESTS, **NEWEST}

# A virtual nanosecond is an instruction: what to make of a metric where time is counted so.
COUNTED = {
    "mib_s": ("insns/KiB", lambda value: 1e9 / (value * 1024)),
    "mpps": ("insns/message", lambda value: 1e3 / value),
    "typical": ("insns", lambda value: value * 1e3),
    "p99": ("insns", lambda value: value * 1e3),
    "ns": ("insns/message", lambda value: value),
}

NONE = "n/a"
# Names of figures that are not a case's first
SUFFIXES = {"p99": ", 99 %", "user_bytes": ", in the process"}


class Figure:
    """The values of one metric for one competitor."""

    def __init__(self, values):
        self.values = values
        self.median = statistics.median(values)

    def text(self):
        if len(self.values) == 1 or min(self.values) == max(self.values):
            return number(self.median)
        return f"{number(self.median)} ({number(min(self.values))}..{number(max(self.values))})"


class Row:
    """A case's metric: a figure for each competitor."""

    def __init__(self, case, metric, found, counted):
        name, self.unit, self.more_is_better = metric
        convert = lambda value: value  # noqa: E731
        if counted and name in COUNTED:
            self.unit, convert = COUNTED[name]
            self.more_is_better = False
        self.key, self.title = case.key, case.title + SUFFIXES.get(name, "")
        self.size, self.number = case.size, case.number
        self.figures = {who: Figure([convert(value) for value in metrics[name]])
                        for who, metrics in found.items() if metrics.get(name) and all(metrics[name])}

    def median(self, who):
        return self.figures[who].median if who in self.figures else None

    def text(self, who):
        return self.figures[who].text() if who in self.figures else NONE

    def ratio(self, whom):
        ours, theirs = self.median("sroce"), self.median(whom)
        return ours / theirs if ours is not None and theirs else None


class Results:
    """All that was measured: rows by job and case."""

    def __init__(self, folder, names=None):
        self.jobs = {}
        self.rows = {}
        for name in names or (*TITLES, *APART):
            path = os.path.join(folder, name + ".json")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    self._add(name, json.load(file))

    def _add(self, name, job):
        self.jobs[name] = job
        known = {case.key: case for case in cases.cases(job["lane"], job["topology"], job["mtu"], False)}
        for key, found in job["cases"].items():
            if key not in known:
                continue
            for metric in cases.METRICS[known[key].kind]:
                row = Row(known[key], metric, found, job["lane"] == "icount")
                if row.figures:
                    self.rows.setdefault(name, {})[(key, metric[0])] = row

    def row(self, job, key):
        """The first metric of a case; "case/metric" asks for another."""
        wanted, _, metric = key.partition("/")
        found = (row for (case, name), row in self.rows.get(job, {}).items() if case == wanted and metric in ("", name))
        return next(found, None)


def commit():
    return output_of(["git", "-C", HERE, "describe", "--always", "--dirty", "--abbrev=10"]) or NONE


def driver_commit():
    """The last one that changed the driver or its provider."""
    parts = [os.path.join(HERE, "../..", name) for name in ("drivers", "include", "userspace-provider")]
    found = output_of(["git", "-C", HERE, "log", "-1", "--format=%h", "--abbrev=7", "--", *parts]) or NONE
    return found + ("-dirty" if output_of(["git", "-C", HERE, "status", "--porcelain", "--", *parts]) else "")


def remember(folder, name, **facts):
    """Adds what only the host knows to a job's results."""
    path = os.path.join(folder, name + ".json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            job = {**json.load(file), "date": time.strftime("%Y-%m-%d"), **facts}
        with open(path, "w", encoding="utf-8") as file:
            json.dump(job, file, indent=1)


def number(value):
    """Three or four digits are enough."""
    if value is None:
        return NONE
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if value >= 100 else f"{value:.3g}"


def ratio_text(value):
    return NONE if value is None else f"{value:.2f}" if value < 10 else f"{value:.1f}"


def table(header, rows):
    """A table that reads well as text and is reStructuredText."""
    rows = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in rows) for i in range(len(header))]
    rule = "  ".join("=" * width for width in widths)
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule])


# --- targets ---

WIDE = 9000


def targets():
    """(text, job, case, against whom, must, aim); a case may be a pair: the first's cost against the second's."""
    for mtu, must, aim in ((1500, 6, 10), (WIDE, 4, 7)):
        for verb in ("SEND", "WRITE", "READ"):
            for size in (64 * cases.KIB, cases.MIB):
                limits = (25, 40) if (verb, size, mtu) == ("READ", cases.MIB, 1500) else (must, aim)
                case = f"bw-{verb}-{size}".lower()
                yield f"{verb} {cases.size_name(size)}, MTU {mtu}", f"smp-veth-{mtu}", case, "rxe", *limits
    for text, case, must in (("one QP, default depth", "rate-1-1", 5), ("post list 32", "rate-1-32", 6),
                             ("16 QPs", "rate-16-1", 6)):
        yield f"2-byte rate, {text}", "smp-veth-1500", case, "rxe", must, 10
    for text, case, must, aim in (("SEND", "lat-send-2", 1 / 2, 1 / 3), ("WRITE", "lat-write-2", 1 / 2, 1 / 3),
                                  ("READ", "lat-read-2", 0.4, 0.3), ("atomic", "lat-atomic-8", 0.4, 0.3)):
        yield f"{text} latency, typical", "smp-veth-1500", case, "rxe", must, aim
    yield "UD 1 KiB rate", "smp-veth-1500", "rate-ud", "rxe", 5, 8
    yield "instructions per KiB, WRITE 64 KiB, MTU 1500", "icount-veth-1500", "bw-write-65536", "rxe", 1 / 5, 1 / 8
    yield "instructions per KiB, WRITE 64 KiB, MTU 9000", "icount-veth-9000", "bw-write-65536", "rxe", 1 / 3.5, 1 / 6
    yield "instructions per 2-byte message", "icount-veth-1500", "rate-1-1", "rxe", 1 / 5, 1 / 10
    yield "UML, WRITE 64 KiB, veth", "uml-veth-1500", "size-65536/mib_s", "rxe", 3, 5
    yield "UML, WRITE 64 KiB, one device", "uml-same-1500", "size-65536/mib_s", "rxe", 3, 5
    for mtu in (1500, WIDE):
        yield f"WRITE 64 KiB against TCP, MTU {mtu}", f"smp-veth-{mtu}", "bw-write-65536", "tcp", 0.5, 1
    yield "one device, WRITE 64 KiB, against TCP over loopback", "smp-same-1500", "bw-write-65536", "tcp", 1, 2
    for lane, text in (("smp", "time"), ("icount", "instructions")):
        yield f"{text} per message, 10,000 QPs against 1", f"{lane}-veth-1500", ("qps-10000", "qps-1"), None, 1.1, 1
        yield f"{text} per message, 100,000 MRs against 1", f"{lane}-veth-1500", ("mrs-100000", "mrs-1"), None, 1.1, 1
    yield "kernel memory of an idle RC QP of depth 64", "icount-veth-1500", "memory", "rxe", 1, 1 / 3


def guest_targets():
    """The same for two guests; each verb has to compete with the one figure that there is of TCP."""
    bandwidths = [(verb, size) for verb in ("WRITE", "READ", "SEND") for size in (64 * cases.KIB, cases.MIB)]
    for kernel, job, tcp, rxe in (("with USO", "smp-pair-uso-1500", ("tcp", 0.5, 0.8), (8, 15)),
                                  ("without USO", "smp-pair-1500", ("single", 1, 1.3), (1.5, 3)),
                                  ("with USO, MTU 9000", "smp-pair-uso-9000", ("tcp", 0.6, 0.9), None)):
        for verb, size in bandwidths:
            text, case = f"{verb} {cases.size_name(size)}, {kernel}", f"bw-{verb}-{size}".lower()
            yield f"{text}, against TCP", job, (case, f"bw-write-{size}"), *tcp
            if rxe:
                yield f"{text}, against rxe", job, case, "rxe", *rxe
            if size == 64 * cases.KIB and verb != "WRITE":
                yield f"{text}, events, against TCP", job, (case + "-e", f"bw-write-{size}"), *tcp
    for job in ("smp-pair-uso-1500", "smp-pair-uso-one-1500"):
        where = "one processor" if "one" in job else "two processors"
        yield f"2-byte WRITE rate against rxe, {where}", job, "rate-1-1", "rxe", 3, 6
        for case, text in (("lat-send-2", "SEND 2 B latency"), ("lat-read-2", "READ 2 B latency")):
            yield f"{text} against rxe, {where}", job, case, "rxe", 1, 0.7
            yield f"{text}, 99 %, against rxe, {where}", job, case + "/p99", "rxe", 1, 0.7


def verdict(ratio, more_is_better, must, aim):
    reached = (lambda limit: ratio >= limit) if more_is_better else (lambda limit: ratio <= limit * 1.005)
    return "aim" if reached(aim) else "must" if reached(must) else "short"


def limit_text(limit):
    return f"{limit:.3g}x"


def against_itself(results, job, pair):
    """Texts, ratio and direction for the cost of sroce at a scale; beside it what rxe's cost becomes."""
    large, small = (results.row(job, key) for key in pair)
    if not large or not small or not large.median("sroce") or not small.median("sroce"):
        return None
    texts = [f"{number(large.median(who))} / {number(small.median(who))}" if large.median(who) and small.median(who) else NONE
             for who in ("sroce", "rxe")]
    return texts, large.median("sroce") / small.median("sroce"), False


def against_other(results, job, case, whom):
    """A pair of cases: sroce's figure of the first against the other's of the second."""
    row, other = (results.row(job, key) for key in (case if isinstance(case, tuple) else (case, case)))
    if not row or not other or row.median("sroce") is None or other.median(whom) is None:
        return None
    ours, theirs = row.median("sroce"), other.median(whom)
    return [f"{number(value)} {row.unit}" for value in (ours, theirs)], ours / theirs, row.more_is_better


def target_rows(results, wanted):
    for text, job, case, whom, must, aim in wanted:
        found = against_other(results, job, case, whom) if whom else against_itself(results, job, case)
        if found:
            (ours, theirs), ratio, more = found
            yield [text, ours, theirs, ratio_text(ratio), limit_text(must), limit_text(aim), verdict(ratio, more, must, aim)]
        else:
            yield [text, NONE, NONE, NONE, limit_text(must), limit_text(aim), "not measured"]


def target_table(results, wanted, quick):
    rows = [row for row in target_rows(results, wanted) if not quick or row[-1] != "not measured"]
    return table(["target", "sroce", "rxe or TCP", "ratio", "must", "aim", "verdict"], rows)


# --- the text ---

OTHERS = {"rxe": "rxe", "tcp": "TCP", "single": "TCP, no TSO"}


def job_table(rows):
    others = [who for who in OTHERS if who == "rxe" or any(who in row.figures for row in rows)]
    lines = []
    for row in rows:
        lines.append([row.title, row.unit, row.text("sroce")])
        for who in others:
            lines[-1] += [row.text(who), ratio_text(row.ratio(who))]
    return table(["case", "unit", "sroce", *(cell for who in others for cell in (OTHERS[who], f"sroce/{OTHERS[who]}"))], lines)


def heading(text, line="-"):
    return f"\n{text}\n{line * len(text)}\n"


def sections(results, quick, line="-"):
    """Pieces of text: the targets, then a table for each job."""
    yield heading("Targets", line)
    yield target_table(results, (*targets(), *guest_targets()), quick)
    yield from job_sections(results, line)


def job_sections(results, line):
    for name, rows in results.rows.items():
        job = results.jobs[name]
        yield heading({**TITLES, **APART}[name], line)
        yield f"Median of {job['rounds']} (least..most).{disturbance(job)}\n"
        yield job_table(rows.values())
        if job["troubles"]:
            yield "\nNot measured:\n\n" + "\n".join(f"* {short(trouble)}" for trouble in sorted(set(job["troubles"])))


def profiles(folder):
    """The output of tests/bench/profile, as literal blocks."""
    for path in sorted(glob.glob(os.path.join(folder, "profile-*.txt"))):
        with open(path, encoding="utf-8") as file:
            yield "\n::\n\n" + "".join(f"    {line}".rstrip() + "\n" for line in file)


def disturbance(job):
    """A warning when others kept the machine busy; counted instructions do not care."""
    others = job.get("others", 0)
    if job["lane"] == "icount" or others < 0.05:
        return ""
    return f" Others took {others:.0%} of the machine meanwhile: read the ratios with care."


def short(text):
    """Of a trouble only what happened first, in a line."""
    return " ".join(text.split())[:150]


def output_of(words, **keywords):
    try:
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False, **keywords)
    except OSError:
        return ""
    return done.stdout.strip()


def qemu_version():
    qemu = rig.Qemu()
    return re.sub(r" \(.*", "", output_of([*qemu.program[:1], "--version"], env=qemu.environment).split("\n")[0])


def machine(results):
    """[(what, value)] about where the figures come from."""
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        model = re.search(r"^model name\s*: (.*)", file.read(), re.MULTILINE)
    def all_of(fact):
        return ", ".join(sorted({job.get(fact, NONE) for job in results.jobs.values()}))

    return [("date", all_of("date")), ("sroce", all_of("commit")),
            ("host", f"{os.cpu_count()} processors, {model[1] if model else platform.machine()}"),
            ("emulator", f"{qemu_version()}, {rig.accelerator(rig.Qemu()).upper()}"),
            ("guest kernel", all_of("kernel")),
            ("sroce's CRCs", ", ".join(sorted({f"{job['lane']}: {job['crc']}" for job in results.jobs.values() if job.get("crc")}))),
            ("perftest, iperf3", ", ".join(output_of(["dpkg-query", "-W", "-f", "${Version}\n", "perftest", "iperf3"]).split()))]


def machine_table(results):
    return table(["what", "which"], machine(results))


def write(folder, names, quick):
    """results.txt, results.json and the plots of these jobs (or all); the text goes to standard output too."""
    results = Results(folder, names)
    if not results.rows:
        print("nothing was measured")
        return
    parts = list(sections(results, quick))
    text = "\n".join([machine_table(results), *parts[2:], *parts[:2]]) + "\n"
    with open(os.path.join(folder, "results.txt"), "w", encoding="utf-8") as file:
        file.write(text)
    with open(os.path.join(folder, "results.json"), "w", encoding="utf-8") as file:
        json.dump({"machine": dict(machine(results)), "jobs": results.jobs}, file, indent=1)
    plots.write(folder, results)
    print(text)


BEGIN, END = ".. measured: begin", ".. measured: end"


def write_document(folder, path):
    """Puts the tables between two comments of the document."""
    results = Results(folder, TITLES)
    where = [heading("Where the instructions go", "="), *profiles(folder)]
    parts = [heading("Targets"), target_table(results, targets(), False), *job_sections(results, "-")]
    replace_block(path, BEGIN, END, "\n".join([heading("Results", "="), machine_table(results), *parts, *where]))


def write_apart(folder, path):
    """The tables of two guests and of the newest kernel, if there are any."""
    guests, newest = Results(folder, GUESTS), Results(folder, NEWEST)
    if guests.rows:
        verdicts = [heading("Targets"), target_table(guests, guest_targets(), True)]
        replace_tables(path, "guests", [machine_table(guests), *verdicts, *job_sections(guests, "-")])
    if newest.rows:
        replace_tables(path, "newest", [machine_table(newest), *job_sections(newest, "-")])


def replace_tables(path, name, parts):
    replace_block(path, f".. {name}: begin", f".. {name}: end", "\n".join(parts))


def replace_block(path, begin, end, body):
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(begin + "\n")
        _, after = rest.split(end + "\n")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"{before}{begin}\n\n{body}\n\n{end}\n{after}")
