# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: measures all cases of one lane, sroce, rxe and TCP in turn, and leaves the figures in /out/NAME.json.

  python3 lane.py --lane smp --topology veth --mtu 1500 --rounds 5 --name smp-veth-1500 [--quick] [--only REGEX]"""

import argparse
import json
import os
import re
import statistics
import sys
import time

import agent
import cases
import hosts

SCALE = os.path.join(os.environ["SROCE_TOP"], "build/bench/scale")
UNSUPPORTED = 77
CRC_WAY = "/sys/module/sroce/parameters/crc"
LANES = ("smp", "icount", "uml")
# A measurement should take so long: enough for steady figures, short enough for many.
SECONDS = {False: 0.5, True: 0.25}
PAIR_SECONDS = 2  # shorter runs of two guests differ by a factor of two
CALIBRATIONS = 4  # at most
# Counts repeat only if there is the same to count.
COUNTS = {"latency": 1000, "rate": 9600, "bandwidth": 512, "cpu": 512}
# Emulated guests that share the host's processors can stop for longer than the default timeout of a QP, 67 ms. For all competitors
# it is a second here, so that such a stop ends no connection. rxe with 8 QPs takes a minute or two.
PAIR_OPTIONS, PAIR_TIMEOUT = " -u 18", 150


class Unsupported(Exception):
    """The competitor cannot do this."""


def busy_seconds():
    """CPU time of all processors that was not idle."""
    fields = [int(word) for word in hosts.read("/proc/stat").split("\n", 1)[0].split()[1:]]
    user, nice, system, _idle, _iowait, irq, softirq = fields[:7]
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


class Perftest:
    """A program of perftest."""

    def __init__(self, case, ends, options):
        self.case, self.ends, self.lane = case, ends, options.lane
        self.pair = options.topology == "pair"
        self.seconds = PAIR_SECONDS if self.pair else SECONDS[options.quick]
        self.count = self.rounded({"latency": 200, "rate": 512, "bandwidth": 8 if case.size > cases.MIB else 64,
                                   "cpu": 64}[case.kind])

    def fixed_count(self):
        return self.rounded(min(COUNTS[self.case.kind], max(16, 32 * cases.MIB // self.case.size)) / self.case.qps)

    def rounded(self, count):
        return max(1, round(count / self.case.multiple)) * self.case.multiple

    def run(self, count):
        words = f"{self.case.options}{PAIR_OPTIONS if self.pair else ''} -n {count}"
        return hosts.figures(hosts.perftest(self.ends, self.case.program, words, PAIR_TIMEOUT if self.pair else 45))

    def calibrate(self):
        """Finds the number of messages for the wanted time; also brings everything into memory. The first runs are slow: the emulator
        translates new code, and short runs are mostly set-up."""
        for _ in range(CALIBRATIONS):
            columns = self.run(self.count)
            if self.lane == "icount":
                self.count = self.fixed_count()
                return
            before, self.count = self.count, self.count_for(self.seconds_each(columns))
            if self.count <= 2 * before:
                return

    def seconds_each(self, columns):
        """Seconds for a message of each QP."""
        if self.case.kind == "latency":
            return columns["typical"] * 1e-6
        if columns["average"] > 1:
            return self.case.size / cases.MIB / columns["average"] * self.case.qps
        return 1e-6 / max(columns["rate"], 1e-6) * self.case.qps

    def count_for(self, once):
        most = {"latency": 10000}.get(self.case.kind, 200000)
        return self.rounded(min(max(self.seconds / once, self.count / 4, 8), most))

    def warm_up(self):
        self.run(self.rounded(max(self.count / 4, 8)))

    def measure(self):
        if self.case.kind == "cpu":
            return self.measure_cpu()
        columns = self.run(self.count)
        if self.case.kind == "latency":
            return {"typical": columns["typical"], "p99": columns["p99"]}
        return {"mib_s": columns["average"], "mpps": columns["rate"]}

    def measure_cpu(self):
        """From the difference of a long and a short run: setting up cancels out."""
        times = []
        for count in (self.count, 4 * self.count):
            before = busy_seconds()
            self.run(count)
            times.append(busy_seconds() - before)
        return {"s_gib": (times[1] - times[0]) / (3 * self.count * self.case.size) * (1 << 30)}


class Iperf:
    """TCP between the same ends. Whether sendfile (-Z) helps is tried out first."""

    def __init__(self, case, ends, options):
        self.case, self.ends, self.lane = case, ends, options.lane
        self.seconds = PAIR_SECONDS if options.topology == "pair" else 1
        self.zero_copy = ""

    def run(self, options):
        return hosts.iperf(self.ends, f"{self.zero_copy} {self.case.tcp} {options}")

    def amount(self):
        """Some time; where that is virtual, an amount."""
        return "-n 64M" if self.lane == "icount" else f"-t {self.seconds}"

    def bandwidth(self):
        end = self.run(self.amount())
        sums = [end["sum_received"]] + ([end["sum_received_bidir_reverse"]] if "sum_received_bidir_reverse" in end else [])
        return sum(one["bits_per_second"] for one in sums) / 8 / cases.MIB

    def calibrate(self):
        plain = self.bandwidth()
        self.zero_copy = "-Z"
        if self.bandwidth() < plain:
            self.zero_copy = ""

    def measure(self):
        if self.case.kind != "cpu":
            return {"mib_s": self.bandwidth()}
        times = []
        for gib in (1, 3):
            before = busy_seconds()
            self.run(f"-n {gib}G")
            times.append(busy_seconds() - before)
        return {"s_gib": (times[1] - times[0]) / 2}


class Scale:
    """Our own program, which has both ends in one process. A case's first run is for warming up."""

    def __init__(self, case, ends, options):
        self.case, self.ends, self.lane, self.seconds = case, ends, options.lane, SECONDS[options.quick]
        self.messages = {"round": 2000, "size": 3 if case.size > cases.MIB else 64, "memory": 0}[case.kind]

    def run(self):
        client, server = self.ends
        environment = dict(os.environ, D1=client.device, G1=str(client.gid), D2=server.device, G2=str(server.gid),
                           MESSAGES=str(self.messages))
        process = client.start([SCALE, self.case.options, str(self.case.number)], env=environment)
        try:
            output = hosts.output_of(process, 150, "scale")
        except hosts.Trouble as error:
            if process.returncode == UNSUPPORTED:
                raise Unsupported(str(error)) from error
            raise
        return {name: float(value) for name, value in (line.split() for line in output.splitlines())}

    def calibrate(self):
        if self.case.kind != "memory" and self.lane != "icount":
            once = self.run()["ns"] * 1e-9
            self.messages = int(min(max(self.seconds / once, 1), 20000))

    def measure(self):
        found = self.run()
        if self.case.kind == "size":
            found["mib_s"] = self.case.size / cases.MIB / found["ns"] * 1e9
        return found


def competitors(case, topology, options):
    kind = Scale if case.program == "scale" else Perftest
    result = {stack: kind(case, topology.ends[stack], options) for stack in hosts.STACKS}
    if case.tcp:
        result.update((name, Iperf(case, topology.ends[name], options)) for name in ("tcp", "single") if name in topology.ends)
    return result


class Bench:
    """All cases; results are {case: {competitor: {metric: [a value per round]}}}."""

    def __init__(self, options):
        self.options = options
        self.topology = hosts.TOPOLOGIES[options.topology](options.mtu)
        self.topology.uso = options.uso
        self.results, self.troubles, self.crc = self.earlier(), [], ""

    def earlier(self):
        """Some cases measured again join what there is of the others."""
        path = f"/out/{self.options.name}.json"
        return json.loads(hosts.read(path))["cases"] if self.options.only and os.path.exists(path) else {}

    def attempt(self, case, name, competitor, function):
        """The function's result; None if there was trouble, which is written down. A competitor whose module was just loaded warms up."""
        try:
            if self.topology.choose(name):
                competitor.warm_up()
            return function() or {}
        except Unsupported:
            self.troubles.append(f"{case.title}, {name}: not supported")
        except (hosts.Trouble, ValueError, KeyError) as error:
            self.troubles.append(f"{case.title}, {name}: {error}")
            print(f"  trouble: {self.troubles[-1]}", flush=True)
        return None

    def case(self, case):
        started = time.monotonic()
        running = competitors(case, self.topology, self.options)
        for name in list(running):
            if self.attempt(case, name, running[name], running[name].calibrate) is None:
                del running[name]
        values = {name: {} for name in running}
        for _ in range(self.rounds(case)):
            for name, competitor in running.items():
                for metric, value in (self.attempt(case, name, competitor, competitor.measure) or {}).items():
                    values[name].setdefault(metric, []).append(value)
        self.results[case.key] = values
        self.show(case, values, time.monotonic() - started)

    def rounds(self, case):
        """Setting up 100,000 regions takes long, and what is counted repeats."""
        return 1 if case.kind == "round" and self.options.lane == "icount" else self.options.rounds

    def show(self, case, values, seconds):
        metric, unit, _ = case.primary()
        medians = "  ".join(f"{name} {statistics.median(found[metric]):.6g}"
                            for name, found in values.items() if found.get(metric))
        print(f"  {case.title}: {medians} {unit}   ({seconds:.0f} s)", flush=True)

    def run(self):
        self.topology.up()
        o = self.options
        for case in cases.cases(o.lane, o.topology, o.mtu, o.quick):
            if re.search(o.only, case.key):
                self.case(case)
                self.save()
        self.topology.down()
        hosts.write(f"/out/{o.name}.done", "")

    def save(self):
        o = self.options
        # With two guests the module is loaded only while it is measured.
        if os.path.exists(CRC_WAY):
            self.crc = hosts.read(CRC_WAY).strip()
        everything = {"lane": o.lane, "topology": o.topology, "mtu": o.mtu, "rounds": o.rounds, "quick": o.quick,
                      "kernel": os.uname().release, "cpus": os.cpu_count(), "troubles": self.troubles,
                      "crc": self.crc, "cases": self.results}
        hosts.write(f"/out/{o.name}.json", json.dumps(everything, indent=1))


def serve(options):
    """The second guest waits for what the first wants, until that has its results."""
    child = os.fork()
    if child == 0:
        agent.serve(hosts.Pair.FUNCTIONS)
    while not os.path.exists(f"/out/{options.name}.done"):
        time.sleep(1)
    os.kill(child, 9)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lane", choices=LANES, default="smp")
    parser.add_argument("--topology", choices=hosts.TOPOLOGIES, default="veth")
    parser.add_argument("--mtu", type=int, default=1500)
    parser.add_argument("--uso", action="store_true", help="of two guests: virtio-net segments UDP")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--name", default="lane")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    # 20,000 QPs map more than a process may by default.
    hosts.write("/proc/sys/vm/max_map_count", 1000000)
    options = parser.parse_args()
    if os.environ.get("ROLE") == "2":
        return serve(options)
    Bench(options).run()
    return 0


sys.exit(main())
