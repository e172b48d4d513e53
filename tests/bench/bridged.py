# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Two hosts for each of the competitors, and a bridge between them whose ports delay, drop or mark packets."""

import json
import subprocess

import hosts

MIDDLE = "middle"
CLIENT, SERVER = "client", "server"


class Bridged(hosts.Veth):
    """Packets cross the bridge one by one: what a host sends in one piece is split before, and what arrives is gathered by
    GRO, as from a network card."""

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

    def port(self, stack, towards):
        """The one that packets to that end leave the bridge by."""
        return self.ports[(2 if stack == "rxe" else 0) + (1 if towards == SERVER else 0)]

    def become(self, to_server=(), to_client=(), cut=False):
        """In each direction queueing disciplines, the second within the first; "cut": the cables are out once in each run."""
        self.cut = cut
        for index, port in enumerate(self.ports):
            hosts.attempt(f"tc -n {MIDDLE} qdisc del dev {port} root")
            for depth, discipline in enumerate(to_client if index % 2 == 0 else to_server):
                parent = f"parent {depth}:1" if depth else "root"
                hosts.run(f"tc -n {MIDDLE} qdisc add dev {port} {parent} handle {depth + 1}: {discipline}")

    def queue(self, port):
        """The kernel's counts there: packets, drops, marks."""
        found = json.loads(hosts.run(f"tc -n {MIDDLE} -s -j qdisc show dev {port}"))
        marks = sum(entry.get("marked", 0) + entry.get("ecn_mark", 0) for entry in found)
        root = next((entry for entry in found if entry.get("root")), {})
        return {"packets": root.get("packets", 0), "drops": root.get("drops", 0), "marks": marks}

    def while_cut(self, measure, *arguments):
        """The result of measure(*arguments); soon after traffic has begun the cables are out, if they are to be."""
        if not self.cut:
            return measure(*arguments)
        traffic = f"ip netns exec {MIDDLE} cat /proc/net/dev | awk '{{ sum += $2 }} END {{ print int(sum / 1000000) }}'"
        command = [f"ip -n {MIDDLE} link set {port} down" for port in self.ports] + ["sleep 0.3"]
        command += [f"ip -n {MIDDLE} link set {port} up" for port in self.ports]
        wait = f"before=$({traffic}); while [ $({traffic}) -lt $((before + 3)) ]; do sleep 0.1; done; sleep 1.2; "
        cutter = subprocess.Popen(["sh", "-c", wait + "; ".join(command)])
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


def ready(mtu=1500):
    """The hosts, with everything that a measurement needs."""
    subprocess.run(["modprobe", "-a", "sch_netem", "sch_tbf", "sch_red", "sch_fq_codel", "bridge"], check=True)
    topology = Bridged(mtu)
    topology.up()
    topology.remember_neighbours()
    return topology
