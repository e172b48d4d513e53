# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""A connection that is not under attack."""

import os

from testbed import expect
from pyverbs.device import Context
from target import Victim


class Pair:
    """A connection between the other device and the device under test, which carries data both ways."""

    def __init__(self, b):
        here, there = Context(name=os.environ["D1"]), b.context
        self.one = Victim(here, psn=99, sq_psn=77)
        self.two = Victim(there, psn=77, sq_psn=99)
        self.one.connect(int(os.environ["G1_6" if ":" in b.ours else "G1"]), b.theirs, self.two.qpn, timeout=17)
        self.two.connect(b.gid, b.ours, self.one.qpn, timeout=17)

    def check(self):
        for sender, receiver in ((self.one, self.two), (self.two, self.one)):
            data = os.urandom(3000)
            sender.memory.write(data)
            receiver.post_recv(3000)
            sender.send(3000)
            for victim in (sender, receiver):
                wc = victim.completion(30)
                expect("completion of the pair", wc and wc.status, 0)
            expect("data of the pair", receiver.memory.read(3000, 8192) == data, True)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.one.close()
        self.two.close()
