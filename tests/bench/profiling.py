# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest, for tests/bench/profile: runs a program of perftest with two numbers of messages between marks."""

import argparse
import os
import subprocess

import bridged
import hosts
import networks

TOP = os.environ["SROCE_TOP"]


def mark(what):
    subprocess.run([os.path.join(TOP, "build/bench/mark"), what], check=True)


def begin(server):
    """The server's map of libraries is the client's too, for addresses are not random here."""
    hosts.write("/out/profile.maps", hosts.read(f"/proc/{server.pid}/maps"))
    mark("begin")


def bad_network(name, mtu):
    network = next(network for network in networks.NETWORKS if network.name == name)
    topology = bridged.ready(mtu)
    topology.become(network.to_server, network.to_client)
    return topology


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--stack")
    parser.add_argument("--mtu", type=int)
    parser.add_argument("--topology")
    parser.add_argument("--network")
    parser.add_argument("--counts")
    parser.add_argument("words", nargs="+")
    o = parser.parse_args()
    hosts.write("/proc/sys/kernel/randomize_va_space", 0)
    if o.network:
        topology = bad_network(o.network, o.mtu)
    else:
        topology = hosts.TOPOLOGIES[o.topology](o.mtu)
        topology.up()
    program, *options = o.words
    first, *counts = o.counts.split(",")
    # The first run is for warming up: its window is not looked at.
    for count in (first, *counts):
        output = hosts.perftest(topology.ends[o.stack], program, " ".join(options) + f" -n {count}", seconds=300,
                                before=begin, after=lambda: mark("end"))
        print("\n".join(output.splitlines()[-3:-1]), flush=True)
    hosts.write("/out/profile.kallsyms", hosts.read("/proc/kallsyms"))


main()
