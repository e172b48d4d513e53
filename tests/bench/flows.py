# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: transfers from host to host that run for some time, one or several at once.

Goodput is measured for "seconds" after "warm_up" seconds. A transfer continues for "tail" seconds, because others may still
be measured."""

import json
import math
import os

import hosts

STREAM = os.path.join(os.path.dirname(__file__), "../../build/bench/stream")
# Seconds after which a transfer that should have ended does not any more
PATIENCE = 40
# As in perftest: messages outstanding, and the QP's timeout as verbs have it
DEPTH, TIMEOUT = 128, 14


class Stream:
    """Messages of 64 KiB on some QPs, which one process has both ends of; it sleeps when there is nothing to do."""

    def __init__(self, ends, verb, seconds, warm_up, number=1, **more):
        self.ends, self.verb, self.number, self.seconds, self.warm_up = ends, verb, number, seconds, warm_up
        self.tail, self.depth = more.get("tail", 0), more.get("depth", DEPTH)
        self.timeout = more.get("timeout", TIMEOUT)
        self.process = None

    def listen(self):
        """There is no server."""

    def begin(self):
        here, there = self.ends
        environment = dict(os.environ, D1=here.device, G1=str(here.gid), D2=there.device, G2=str(there.gid))
        words = (self.number, self.warm_up, self.seconds, self.tail, self.depth, self.timeout)
        self.process = here.start([STREAM, self.verb.lower(), *map(str, words)], env=environment)

    def goodput(self):
        """A list of MiB/s; waits for the end."""
        output = hosts.output_of(self.process, self.seconds + self.warm_up + self.tail + PATIENCE, "stream")
        return [float(line) for line in output.split()]

    def stop(self):
        stop(self.process)


class Tcp:
    """From client to server, or "back"."""

    def __init__(self, ends, seconds, warm_up, back=False):
        self.ends, self.back = ends, back
        self.seconds, self.warm_up = math.ceil(seconds), math.ceil(warm_up)  # iperf3 takes no parts of a second
        self.port = hosts.Ports.next()
        self.server = self.client = None

    def listen(self):
        end = self.ends[1]
        self.server = end.start(["iperf3", "-s", "-1", "-p", str(self.port)])
        hosts.wait_for_server(end, self.server, self.port)

    def begin(self):
        words = f"iperf3 -c {self.ends[1].address} -p {self.port} -J -t {self.seconds} -O {self.warm_up}"
        self.client = self.ends[0].start(words.split() + (["-R"] if self.back else []))

    def goodput(self):
        """MiB/s, in a list; waits for the end."""
        output = hosts.output_of(self.client, self.seconds + self.warm_up + PATIENCE, "iperf3")
        return [json.loads(output)["end"]["sum_received"]["bits_per_second"] / 8 / (1 << 20)]

    def stop(self):
        stop(self.client)
        stop(self.server)


def stop(process):
    if process:
        process.kill()
        process.wait()


def together(transfers):
    """The goodput of each, all running at the same time."""
    try:
        for transfer in transfers:
            transfer.listen()
        for transfer in transfers:
            transfer.begin()
        return [rate for transfer in transfers for rate in transfer.goodput()]
    finally:
        for transfer in transfers:
            transfer.stop()
