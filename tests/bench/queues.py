# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""In the guest: flows of sroce and TCP through queues that mark or drop packets, alone and sharing a queue.

  tests/vm/guest --icount --timeout 3600 -- python3 tests/bench/queues.py [--seconds 3] [--only REGEX]

Prints a line for each case, and writes all figures to /out/queues.json. With --only, the other cases of that file are kept.
tests/bench/run --job queues runs this, and makes tables.

Flows together are measured for ten seconds. The emulated machine can easily fill the link of 400 Mbit/s. The queue is in the
direction of the data, and the delay in the other direction."""

import json
import re
import subprocess
import sys

import backlog
import bridged
import flows
import hosts
import networks

MBITS = 400
# Bytes of a full packet on the link, of which payload: a middle packet of RoCEv2, and TCP with timestamps
FULL = {"sroce": (1082, 1024), "tcp": (1514, 1448)}
# While the processor is busy with a burst the link sends nothing, and later makes up for this many bytes.
LINK = f"tbf rate {MBITS}mbit burst 20kb limit "
NO_LIMIT = "4mb"


class Queue:
    """A queue of the link, a delay, and what they are called."""

    def __init__(self, name, delay_ms, *disciplines, ecn=True):
        self.name, self.delay_ms, self.disciplines, self.ecn = name, delay_ms, disciplines, ecn

    def bdp(self):
        """Bytes that the path holds."""
        return MBITS * 1000 // 8 * self.delay_ms

    def put(self, topology, towards):
        delay = (f"netem limit 100000 delay {self.delay_ms}ms",)
        here, there = (self.disciplines, delay) if towards == bridged.SERVER else (delay, self.disciplines)
        topology.become(here, there)
        for end in topology.ends["sroce"]:
            hosts.write(f"/sys/kernel/debug/sroce/{end.device}/ecn", int(self.ecn))
            hosts.run(f"ip netns exec {end.namespace} sysctl -q net.ipv4.tcp_ecn={1 if self.ecn else 2}")


RED = Queue("RED", 2, LINK + NO_LIMIT,
            f"red limit 2000000 min 25000 max 75000 avpkt 1082 burst 40 probability 0.1 bandwidth {MBITS}mbit ecn")
FQ_CODEL = Queue("fq_codel", 10, LINK + NO_LIMIT, "fq_codel ecn")
TAIL = Queue("drop tail", 2, LINK + "108kb", ecn=False)


class Case:
    """Flows that run at the same time, in the same direction, through a queue."""

    def __init__(self, queue, *kinds):
        self.queue, self.kinds = queue, kinds
        counts = [(kinds.count(kind), kind) for kind in dict.fromkeys(kinds)]
        self.flows = " and ".join(f"{number} {kind}" if number > 1 else kind for number, kind in counts)
        self.name = f"{queue.name}: {self.flows}"
        self.towards = bridged.CLIENT if "READ" in kinds else bridged.SERVER

    def transfers(self, topology, seconds, warm_up):
        """Those of one verb are one stream with several QPs."""
        for kind in dict.fromkeys(self.kinds):
            if kind == "TCP":
                yield flows.Tcp(topology.ends["tcp"], seconds, warm_up, self.towards == bridged.CLIENT)
            else:
                yield flows.Stream(topology.ends["sroce"], kind, seconds, warm_up, self.kinds.count(kind),
                                   tail=1 if "TCP" in self.kinds else 0)

    def share(self, kind, mib_s):
        """Of what the link can carry."""
        size, payload = FULL["tcp" if kind == "TCP" else "sroce"]
        return mib_s * (1 << 20) * 8 / 1e6 / MBITS * size / payload


CASES = (*(Case(queue, kind) for queue in (RED, FQ_CODEL, TAIL) for kind in ("WRITE", "READ", "TCP")),
         *(Case(queue, *kinds) for queue in (TAIL, RED) for kinds in (
             ("WRITE",) * 2, ("READ",) * 2, ("WRITE",) * 8, ("READ",) * 8, ("WRITE", "TCP"), ("READ", "TCP"))))
# For this long flows share a queue: in three seconds of a drop-tail queue each is reduced only about thirty times
TOGETHER_SECONDS = 10
COUNTERS = ("np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "req_cqe_error", "local_ack_timeout_err",
            "tx_retransmits")


def counted(topology, port):
    """Of the port, and of both devices together."""
    found = topology.queue(port)
    for end in topology.ends["sroce"]:
        for name, value in networks.counters(end.device, COUNTERS).items():
            found[name] = found.get(name, 0) + value
    return found


def watch_backlog(port, wait, seconds):
    program = [sys.executable, backlog.__file__, port, str(wait), str(seconds)]
    return subprocess.Popen(["ip", "netns", "exec", bridged.MIDDLE, *program], stdout=subprocess.PIPE, text=True)


def measure(topology, case, seconds):
    """The figures of a case."""
    warm_up = 1
    if len(case.kinds) > 1:
        seconds = TOGETHER_SECONDS
    case.queue.put(topology, case.towards)
    port = topology.port("sroce", case.towards)
    before = counted(topology, port)
    watcher = watch_backlog(port, warm_up, seconds)
    try:
        rates = flows.together(list(case.transfers(topology, seconds, warm_up)))
        waiting = json.loads(hosts.output_of(watcher, flows.PATIENCE, "backlog.py"))
    finally:
        watcher.kill()
        watcher.wait()
    after = counted(topology, port)
    return {"kinds": case.kinds, "queue": case.queue.name, "flows": case.flows, "bdp": case.queue.bdp(), "backlog": waiting,
            "shares": [case.share(kind, rate) for kind, rate in zip(case.kinds, rates)],
            **{name: after[name] - before[name] for name in after}}


def line(name, found):
    shares = " ".join(f"{share:.1%}" for share in found["shares"])
    waiting = found["backlog"]
    return (f"{name}: {shares} of the link; {found['drops']} dropped, {found['marks']} marked, {found['rp_cnp_handled']} CNPs; "
            f"backlog {waiting['mean']:.0f}, at most {waiting['peak']}, of a BDP of {found['bdp']}")


def main():
    options = networks.parser_for(__doc__, 3).parse_args()
    results = networks.Results("queues", options.only)
    topology = bridged.ready()
    for case in CASES:
        if not re.search(options.only, case.name):
            continue
        try:
            found = measure(topology, case, options.seconds)
        except hosts.Trouble as error:
            print(f"{case.name}: {error}", flush=True)
            results.add(case.name, commit=options.commit, kinds=case.kinds, queue=case.queue.name, flows=case.flows,
                        trouble=str(error)[:200])
            continue
        print(line(case.name, found), flush=True)
        results.add(case.name, commit=options.commit, **found)


if __name__ == "__main__":
    sys.exit(main())
