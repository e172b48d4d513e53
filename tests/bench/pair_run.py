# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In two guests, for tests/bench/pair-profile: runs a program of perftest, or iperf3, for some seconds.

Leaves in /out: begin (when data flows), kallsyms.ROLE, and figure (MiB/s)."""

import argparse
import os
import sys
import time

import agent
import cases
import hosts


def leave(name, text=""):
    hosts.write(f"/out/{name}", text)


def serve():
    child = os.fork()
    if child == 0:
        agent.serve(hosts.Pair.FUNCTIONS)
    while not os.path.exists("/out/figure"):
        time.sleep(1)
    os.kill(child, 9)


def tcp(ends, seconds):
    end = hosts.iperf(ends, f"-t {seconds}", seconds + 60, before=lambda: leave("begin"))
    return end["sum_received"]["bits_per_second"] / 8 / cases.MIB


def perftest(ends, words, seconds):
    program, *options = words
    hosts.perftest(ends, program, " ".join(options) + " -u 18 -n 200", 150)  # brings code and memory in
    leave("begin")
    output = hosts.perftest(ends, program, " ".join(options) + f" -u 18 -D {seconds}", seconds + 150)
    return hosts.figures(output)["average"]


def measure(options):
    topology = hosts.Pair(options.mtu)
    topology.uso = not options.no_uso
    topology.up()
    topology.choose(options.stack)
    ends = topology.ends[options.stack]
    return tcp(ends, options.seconds) if options.stack == "tcp" else perftest(ends, options.words, options.seconds)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stack")
    parser.add_argument("--mtu", type=int)
    parser.add_argument("--no-uso", action="store_true")
    parser.add_argument("--seconds", type=int)
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if os.environ["ROLE"] == "2":
        serve()
    else:
        leave("figure", str(measure(options)))
    # The modules are where they were while the data flowed.
    leave(f"kallsyms.{os.environ['ROLE']}", hosts.read("/proc/kallsyms"))
    return 0


sys.exit(main())
