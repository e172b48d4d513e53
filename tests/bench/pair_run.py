# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In two guests, for tests/bench/pair-profile: runs a program of perftest, or iperf3, for some seconds.

Leaves in /out: begin (when data flows), kallsyms.ROLE, and figure (MiB/s)."""

import argparse
import json
import os
import sys
import time

import agent
import hosts


def leave(name, text=""):
    hosts.write(f"/out/{name}", text)


def exists(name):
    return os.path.exists(f"/out/{name}") or None


def serve():
    child = os.fork()
    if child == 0:
        agent.serve(hosts.Pair.FUNCTIONS)
    while not exists("figure"):
        time.sleep(1)
    os.kill(child, 9)


def tcp(ends, seconds):
    client, server_end = ends
    port = hosts.Ports.next()
    server = server_end.start(["iperf3", "-s", "-1", "-p", str(port)])
    hosts.wait_for_server(server_end, server, port)
    leave("begin")
    words = f"iperf3 -c {server_end.address} -p {port} -J -t {seconds}"
    output = hosts.output_of(client.start(words.split()), seconds + 60, "iperf3")
    server.kill()
    return json.loads(output)["end"]["sum_received"]["bits_per_second"] / 8 / (1 << 20)


def perftest(ends, words, seconds):
    program, *options = words
    hosts.perftest(ends, program, " ".join(options) + " -u 18 -n 200", 150)  # brings code and memory in
    leave("begin")
    output = hosts.perftest(ends, program, " ".join(options) + f" -u 18 -D {seconds}", seconds + 150)
    print("\n".join(output.splitlines()[-3:-1]), flush=True)
    return float(output.splitlines()[-2].split()[3])


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
