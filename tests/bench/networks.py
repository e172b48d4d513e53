# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: how much gets through bad networks: sroce, rxe and TCP, side by side. Prints a table for performance.rst.

  tests/vm/guest --timeout 3600 -- python3 tests/bench/networks.py [--seconds 3] [--only REGEX]

Each pair of hosts has a bridge between them, whose ports delay, lose and so on, in both directions, packet by packet: what a
competitor sends in one piece is split before it gets there, and what arrives is gathered by GRO, as from a network card."""

import argparse
import json
import re
import subprocess
import sys

import hosts

QUEUE = "tbf rate 200mbit burst 3kb limit 11kb"
NETWORKS = (  # (what it is called, queueing discipline of each port of the bridge, or only of those to the servers or clients)
    ("good", None),
    ("0.1 % lost", "netem limit 10000 loss 0.1%"),
    ("1 % lost", "netem limit 10000 loss 1%"),
    ("1 % lost, to the server only", "netem limit 10000 loss 1%", "server"),
    ("1 % lost, to the client only", "netem limit 10000 loss 1%", "client"),
    ("5 % lost", "netem limit 10000 loss 5%"),
    ("20 % lost", "netem limit 10000 loss 20%"),
    ("1 % lost, in bursts", "netem limit 10000 loss gemodel 0.5% 40% 80% 0.1%"),
    ("5 % in the wrong order", "netem limit 10000 delay 2ms reorder 95% 50%"),
    ("20 % twice", "netem limit 10000 duplicate 20%"),
    ("1 % damaged", "netem limit 10000 corrupt 1%"),
    ("10 ms away", "netem limit 10000 delay 10ms"),
    ("100 ms away", "netem limit 10000 delay 100ms"),
    ("10 ms away, 0.1 % lost", "netem limit 10000 delay 10ms loss 0.1%"),
    ("100 Mbit/s", "netem limit 1000 rate 100mbit"),
    ("200 Mbit/s, a queue of ten packets", QUEUE),
    ("cable out for 300 ms", None, "cut"),
)
MIDDLE = "middle"
PATIENCE = 40


class Bridged(hosts.Veth):
    """A bridge between the two ends of each pair."""

    def __init__(self, mtu):
        super().__init__(mtu)
        self.ports = []
        self.cut = False

    def up(self):
        hosts.run(f"ip netns add {MIDDLE}")
        super().up()

    def _join(self, one, two):
        bridge = f"b{len(self.ports)}"
        hosts.run(f"ip -n {MIDDLE} link add {bridge} type bridge")
        hosts.run(f"ip -n {MIDDLE} link set {bridge} up")
        for name, namespace in (one, two):
            port = f"p{len(self.ports)}"
            hosts.run(f"ip link add {hosts.named(name, namespace)} type veth peer {hosts.named(port, MIDDLE)}")
            hosts.run(f"ip -n {MIDDLE} link set {port} mtu {self.mtu} master {bridge} up")
            inside = f"ip netns exec {namespace} " if namespace else ""
            hosts.run(f"{inside}ethtool -K {name} tso off gso off tx-udp-segmentation off tx-gso-list off gro on")
            self.ports.append(port)

    def become(self, discipline, where=None):
        """In both directions, or only in that to "client" or "server"; "cut": the cables are out once in each measurement."""
        self.cut = where == "cut"
        for index, port in enumerate(self.ports):
            hosts.attempt(f"tc -n {MIDDLE} qdisc del dev {port} root")
            if discipline and where in (None, "client" if index % 2 == 0 else "server"):
                hosts.run(f"tc -n {MIDDLE} qdisc replace dev {port} root {discipline}")

    def while_cut(self, measure, *arguments):
        """What measure(*arguments) returns; soon after traffic has begun the cables are out, if they are to be."""
        traffic = f"ip netns exec {MIDDLE} cat /proc/net/dev | awk '{{ sum += $2 }} END {{ print int(sum / 1000000) }}'"
        command = [f"ip -n {MIDDLE} link set {port} down" for port in self.ports] + ["sleep 0.3"]
        command += [f"ip -n {MIDDLE} link set {port} up" for port in self.ports]
        wait = f"before=$({traffic}); while [ $({traffic}) -lt $((before + 3)) ]; do sleep 0.1; done; sleep 1.2; "
        cutter = subprocess.Popen(["sh", "-c", wait + "; ".join(command)] if self.cut else ["true"])
        try:
            return measure(*arguments)
        finally:
            cutter.kill()
            cutter.wait()
            for port in self.ports:
                hosts.run(f"ip -n {MIDDLE} link set {port} up")

    def remember_neighbours(self):
        """A lost question of ARP costs a second, which is nobody's fault here."""
        ends = self.ends["tcp"]
        for here, there in (ends, ends[::-1]):
            address = hosts.run(f"ip netns exec {there.namespace} cat /sys/class/net/eth0/address").strip()
            hosts.run(f"ip -n {here.namespace} neighbour replace {there.address} lladdr {address} dev eth0 nud permanent")
        for here, there in (("r1", "r2"), ("r2", "r1")):
            address = hosts.read(f"/sys/class/net/{there}/address").strip()
            hosts.run(f"ip neighbour replace 10.9.0.{there[1]} lladdr {address} dev {here} nud permanent")


def goodput(ends, program, seconds, words):
    """MiB/s, or why there is no figure."""
    try:
        output = hosts.perftest(ends, program, f"-s 65536 -D {seconds + 2} -f 1 {words}", PATIENCE)
    except hosts.Trouble as error:
        return "no end" if "no end" in str(error) else "fails"
    values = [line.split() for line in output.splitlines() if re.match(r" *65536 ", line)]
    return float(values[-1][3]) if values else "fails"


def tcp(ends, seconds):
    client_end, server_end = ends
    port = hosts.Ports.next()
    server = server_end.start(["iperf3", "-s", "-1", "-p", str(port)])
    try:
        hosts.wait_for_server(server_end, server, port)
        words = f"iperf3 -c {server_end.address} -p {port} -J -t {seconds}"
        output = hosts.output_of(client_end.start(words.split()), PATIENCE, "iperf3")
    except hosts.Trouble:
        return "fails"
    finally:
        server.kill()
        server.wait()
    return json.loads(output)["end"]["sum_received"]["bits_per_second"] / 8 / (1 << 20)


def shown(value):
    return value if isinstance(value, str) else f"{value:.3g}"


def row(topology, seconds):
    def measured(measure, kind, *arguments):
        return topology.while_cut(measure, topology.ends[kind], *arguments)
    # The kernel notices the carrier up to a second late; eight times perftest's own timeout is half of that.
    words = "-u 16" if topology.cut else ""
    return [measured(goodput, "sroce", "ib_write_bw", seconds, words), measured(goodput, "rxe", "ib_write_bw", seconds, words),
            measured(tcp, "tcp", seconds),
            measured(goodput, "sroce", "ib_read_bw", seconds, words), measured(goodput, "rxe", "ib_read_bw", seconds, words)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=int, default=3, help="for each figure")
    parser.add_argument("--only", default="", metavar="REGEX", help="networks whose name has it")
    options = parser.parse_args()
    subprocess.run(["modprobe", "-a", "sch_netem", "sch_tbf", "bridge"], check=True)
    topology = Bridged(1500)
    topology.up()
    topology.remember_neighbours()
    rule = "=" * 36 + ("  " + "=" * 11) * 5
    head = f"{'network':36}" + "".join(f"  {name:11}" for name in ("sroce WRITE", "rxe WRITE", "TCP", "sroce READ", "rxe READ"))
    print(f"{rule}\n{head.rstrip()}\n{rule}", flush=True)
    for name, *how in NETWORKS:
        if re.search(options.only, name):
            topology.become(*how)
            print((f"{name:36}" + "".join(f"  {shown(value):11}" for value in row(topology, options.seconds))).rstrip(), flush=True)
    print(rule)


sys.exit(main())
