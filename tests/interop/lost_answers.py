#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A WRITE followed by a READ or an atomic from D1 to D2. All responses are lost once; the second request must not complete without
its data. D2 is on host h2, eth0, of tests/suites/lib.sh."""

import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "../wire"))
import constants as e  # noqa: E402  pylint: disable=wrong-import-position
from pyverbs.device import Context  # noqa: E402  pylint: disable=wrong-import-position
from target import Victim  # noqa: E402  pylint: disable=wrong-import-position

DATA = b"the data"


def queue(verb, *what):
    subprocess.run(["ip", "netns", "exec", "h2", "tc", "qdisc", verb, "dev", "eth0", "root", *what], check=True)


def pair():
    asks = Victim(Context(name=os.environ["D1"]), psn=50, sq_psn=100)
    answers = Victim(Context(name=os.environ["D2"]), psn=100, sq_psn=50)
    asks.connect(int(os.environ["G1"]), os.environ["IP2"], answers.qpn, timeout=17)
    answers.connect(int(os.environ["G2"]), os.environ["IP1"], asks.qpn, timeout=17)
    answers.memory.write(DATA, 64)
    return asks, answers


def repeated():
    """Requests that D2 has received again: their answers were lost."""
    time.sleep(0.05)  # the core remembers values for 10 ms
    with open(f"/sys/class/infiniband/{os.environ['D2']}/ports/1/hw_counters/duplicate_request", encoding="ascii") as file:
        return int(file.read())


def lose(what):
    asks, answers = pair()
    before = repeated()
    place = {"va": answers.memory.va + 64, "rkey": answers.memory.rkey}
    asks.write(va=answers.memory.va, rkey=answers.memory.rkey)
    first = asks.completion(60)
    queue("replace", "netem", "loss", "100%")
    asks.write(va=answers.memory.va, rkey=answers.memory.rkey)
    if what == "READ":
        asks.read(8, offset=128, **place)
    else:
        asks.fetch_add(offset=128, **place)
    time.sleep(0.2)
    queue("delete")
    done = [first] + [asks.completion(60) for _ in range(2)]
    good = all(wc and wc.status == 0 for wc in done) and asks.memory.read(8, 128) == DATA
    print("ok" if good else "not ok", f"a WRITE and {what} whose answers are lost", flush=True)
    print("ok" if repeated() > before else "not ok", f"the answers to a WRITE and {what} were lost", flush=True)
    asks.close()
    answers.close()


lose("READ")
lose("atomic")
