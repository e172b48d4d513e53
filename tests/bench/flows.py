# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: transfers from host to host that run for some time, one or several at once."""

import json
import re

import hosts

SIZE = 65536
# Seconds after which a transfer that should have ended does not any more
PATIENCE = 40


class Flow:
    """A transfer: goodput is measured for "seconds" after "warm_up" seconds."""
    name = "?"

    def __init__(self, ends, seconds, warm_up, words=""):
        self.ends, self.seconds, self.warm_up, self.words = ends, seconds, warm_up, words.split()
        self.port = hosts.Ports.next()
        self.server = self.client = None

    def listen(self):
        end = self.ends[1]
        self.server = end.start(self.server_words())
        hosts.wait_for_server(end, self.server, self.port)

    def begin(self):
        self.client = self.ends[0].start(self.client_words())

    def goodput(self):
        """MiB/s; waits for the end."""
        output = hosts.output_of(self.client, self.seconds + 2 * self.warm_up + PATIENCE, self.name)
        hosts.end_of(self.server, False)
        return self.figure(output)

    def stop(self):
        for process in filter(None, (self.client, self.server)):
            process.kill()
            process.wait()

    def server_words(self):
        raise NotImplementedError

    def client_words(self):
        raise NotImplementedError

    def figure(self, output):
        raise NotImplementedError


class Perftest(Flow):
    """One of perftest's programs, asleep when there is nothing to do. It leaves out as much at the end as at the beginning."""

    def both_words(self, end):
        duration = str(self.seconds + 2 * self.warm_up)
        return [self.name, "-F", "-d", end.device, "-x", str(end.gid), "-p", str(self.port), "-s", str(SIZE), "-D", duration,
                "-f", str(self.warm_up), "-e", *self.words]

    def server_words(self):
        return self.both_words(self.ends[1])

    def client_words(self):
        return self.both_words(self.ends[0]) + [self.ends[1].address]

    def figure(self, output):
        values = [line.split() for line in output.splitlines() if re.match(rf" *{SIZE} ", line)]
        if not values:
            raise hosts.Trouble("no figure: " + output.strip()[-200:])
        return float(values[-1][3])


class Write(Perftest):
    name = "ib_write_bw"


class Read(Perftest):
    name = "ib_read_bw"


class Tcp(Flow):
    """From client to server; with the words "-R" the other way."""
    name = "iperf3"

    def server_words(self):
        return [self.name, "-s", "-1", "-p", str(self.port)]

    def client_words(self):
        return [self.name, "-c", self.ends[1].address, "-p", str(self.port), "-J", "-t", str(self.seconds),
                "-O", str(self.warm_up), *self.words]

    def figure(self, output):
        return json.loads(output)["end"]["sum_received"]["bits_per_second"] / 8 / (1 << 20)


def together(flows):
    """The goodput of each, all running at the same time."""
    try:
        for flow in flows:
            flow.listen()
        for flow in flows:
            flow.begin()
        return [flow.goodput() for flow in flows]
    finally:
        for flow in flows:
            flow.stop()
