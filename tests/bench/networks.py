# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: measures the goodput of sroce, rxe and TCP, one after the other, on bad networks.

  tests/vm/guest --icount --timeout 5400 -- python3 tests/bench/networks.py [--seconds 2] [--only REGEX]

Prints the rows of a table, and writes all figures to /out/networks.json. With --only, the other rows of that file are kept.
tests/bench/run --job networks runs this, and makes tables."""

import argparse
import json
import os
import re
import sys

import bridged
import flows
import hosts


class Network:
    """Queueing disciplines of the ports of the bridge, in each direction."""

    def __init__(self, name, *both, to_server=(), to_client=(), **more):
        self.name = name
        self.to_server, self.to_client = to_server or both, to_client or both
        self.cut = more.get("cut", False)
        self.seconds = more.get("seconds")  # if others than the rest
        self.warm_up = more.get("warm_up", 0.5)
        self.options = more.get("options", {})  # of the stream


LOST = "netem limit 10000 loss "
# The kernel notices the carrier up to a second late; eight times perftest's own timeout is half of that.
PATIENT = {"timeout": 16}
# MiB/s below which a figure is measured again, for a time that is longer by this factor: who is slow sleeps most of the
# time, so that costs little.
SLOW, LONGER = 1, 10
# Enough messages for what the path holds
DEEP = {"depth": 512}
NETWORKS = (
    Network("good"),
    Network("good, through netem", "netem limit 10000"),
    Network("0.1 % lost", LOST + "0.1%"),
    Network("0.3 % lost", LOST + "0.3%"),
    Network("1 % lost", LOST + "1%"),
    Network("1 % lost, to the server only", to_server=(LOST + "1%",)),
    Network("1 % lost, to the client only", to_client=(LOST + "1%",)),
    Network("2 % lost", LOST + "2%"),
    Network("5 % lost", LOST + "5%"),
    Network("10 % lost", LOST + "10%"),
    Network("20 % lost", LOST + "20%"),
    Network("1 % lost, in bursts", LOST + "gemodel 0.5% 40% 80% 0.1%"),
    Network("5 % in the wrong order", "netem limit 10000 delay 2ms reorder 95% 50%"),
    Network("20 % twice", "netem limit 10000 duplicate 20%"),
    Network("1 % damaged", "netem limit 10000 corrupt 1%"),
    Network("1 ms away", "netem limit 10000 delay 1ms"),
    Network("1 ms away, 0.3 % lost", "netem limit 10000 delay 1ms loss 0.3%"),
    Network("10 ms away", "netem limit 10000 delay 10ms"),
    Network("10 ms away, 0.1 % lost", "netem limit 10000 delay 10ms loss 0.1%"),
    Network("100 ms away", "netem limit 10000 delay 100ms"),
    Network("100 ms away, after 10 s", "netem limit 100000 delay 100ms", seconds=5, warm_up=10, options=DEEP),
    Network("100 Mbit/s", "netem limit 1000 rate 100mbit"),
    Network("200 Mbit/s, a queue of ten packets", "tbf rate 200mbit burst 3kb limit 11kb"),
    Network("cable out for 300 ms", cut=True, options=PATIENT),
)
COLUMNS = (("sroce WRITE", "sroce", "WRITE"), ("rxe WRITE", "rxe", "WRITE"), ("TCP", "tcp", None),
           ("sroce READ", "sroce", "READ"), ("rxe READ", "rxe", "READ"))


def counters(device, names):
    """Those that this version of the driver does not have are 0."""
    folder = f"/sys/class/infiniband/{device}/ports/1/hw_counters"
    return {name: int(hosts.read(f"{folder}/{name}")) if os.path.exists(f"{folder}/{name}") else 0 for name in names}


def in_vain(verb, counts):
    """Data packets that arrived and were of no use: duplicates, and what was dropped because it was ahead."""
    if verb == "WRITE":
        return counts["duplicate_request"] + counts["out_of_sequence"] - counts["rx_held"]
    # The last ones find no QP any more.
    late = counts["rx_bad_qpn"] + counts["rx_bad_state"]
    return counts["rx_packets"] - counts["rx_acks"] + counts["out_of_sequence"] - late


COUNTERS = ("duplicate_request", "out_of_sequence", "rx_held", "rx_packets", "rx_acks", "rx_bad_qpn", "rx_bad_state")


# Counters of the end that posts the requests: how it continued after losses. They are only recorded.
RECOVERY = ("local_ack_timeout_err", "packet_seq_err", "implied_nak_seq_err", "tx_retransmits", "tx_repairs", "tx_probes")


class Watch:
    """Counts of the data packets of a transfer of sroce's."""

    def __init__(self, topology, verb):
        self.topology, self.verb = topology, verb
        towards = bridged.SERVER if verb == "WRITE" else bridged.CLIENT
        self.client, server = (end.device for end in topology.ends["sroce"])
        self.receiver = server if verb == "WRITE" else self.client
        self.port = topology.port("sroce", towards)
        self.before = self.now()

    def now(self):
        return {**self.topology.queue(self.port), **counters(self.receiver, COUNTERS), **counters(self.client, RECOVERY)}

    def figures(self):
        now = self.now()
        counts = {name: now[name] - self.before[name] for name in now}
        return {"lost": counts["drops"], "sent": counts["packets"], "in_vain": in_vain(self.verb, counts),
                **{name: counts[name] for name in RECOVERY}}


def goodput_once(topology, network, stack, verb, seconds):
    ends, times = topology.ends[stack], (seconds, network.warm_up)
    transfer = flows.Stream(ends, verb, *times, **network.options) if verb else flows.Tcp(ends, *times)
    return topology.while_cut(flows.together, [transfer])[0]


def goodput(topology, network, stack, verb, seconds):
    """MiB/s, or why there is no figure, and the seconds that it took."""
    ran = seconds + network.warm_up
    try:
        rate = goodput_once(topology, network, stack, verb, seconds)
        if rate < SLOW:
            rate = goodput_once(topology, network, stack, verb, LONGER * seconds)
            ran += LONGER * seconds + network.warm_up
    except hosts.Trouble as error:
        print(f"  {network.name}, {stack}: {error}", file=sys.stderr, flush=True)
        rate = "no end" if "no end" in str(error) else "fails"
    return rate, ran


def row(topology, network, options):
    """{column: goodput}, {column: what became of its packets}"""
    values, details = {}, {}
    seconds = network.seconds or options.seconds
    topology.become(network.to_server, network.to_client, network.cut)
    for column, stack, verb in COLUMNS:
        if not re.search(options.columns, column):
            continue
        watch = Watch(topology, verb) if stack == "sroce" else None
        values[column], ran = goodput(topology, network, stack, verb, seconds)
        if watch:
            details[column] = {**watch.figures(), "ran": ran}
    return values, details


def shown(value):
    return value if isinstance(value, str) else f"{value:.3g}"


class Results:
    """/out/NAME.json"""

    def __init__(self, name, join):
        self.path = f"/out/{name}.json"
        self.found = {"rows": {}}
        if join and os.path.exists(self.path):
            self.found = json.loads(hosts.read(self.path))

    def add(self, name, **facts):
        self.found["rows"][name] = facts
        self.found["kernel"] = os.uname().release
        hosts.write(self.path, json.dumps(self.found, indent=1))


def parser_for(doc, seconds):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=seconds, help="for each figure")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose name has it")
    parser.add_argument("--commit", default="", help="of the driver, to be noted")
    return parser


def main():
    parser = parser_for(__doc__, 2)
    parser.add_argument("--columns", default="", metavar="REGEX", help="only these, such as sroce; the others stay as they are")
    options = parser.parse_args()
    results = Results("networks", options.only or options.columns)
    topology = bridged.ready()
    print(f"{'network':36}" + "".join(f"  {name:11}" for name, _, _ in COLUMNS).rstrip(), flush=True)
    for network in NETWORKS:
        if not re.search(options.only, network.name):
            continue
        values, details = row(topology, network, options)
        print((f"{network.name:36}" + "".join(f"  {shown(values.get(column, '')):11}" for column, _, _ in COLUMNS)).rstrip(),
              flush=True)
        old = results.found["rows"].get(network.name, {})
        results.add(network.name, commit=options.commit, values={**old.get("values", {}), **values},
                    details={**old.get("details", {}), **details})


if __name__ == "__main__":
    sys.exit(main())
