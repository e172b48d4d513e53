# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""One response that ends very many requests (IBTA vol. 1, 9.7.5.1.2): binds of memory windows take no PSN, and a thousand of them
may wait for the ACK of one SEND. The last SEND is on the wire only when all binds before it have been done."""

import contextlib

import constants as e
import roce
from testbed import case, expect
from pyverbs.mr import MW, MWBind, MWBindInfo
from pyverbs.wr import SendWR

PSN = 500
BINDS = 500
THOUSANDS = 5000
SIGNALED_EACH = 3


def acknowledge(b, rc, psn, syndrome=roce.ACK):
    b.raw(roce.transport("RC_ACKNOWLEDGE", rc.qpn, psn, aeth=syndrome << 24))


class Crowd:
    """SENDs and binds of a QP; each has the next number for its wr_id."""

    def __init__(self, b, rc):
        self.b, self.rc = b, rc
        self.posted = 0
        self.signaled = []
        self.region = b.memory(rc, e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_MW_BIND)
        self.window = MW(rc.pd, e.IBV_MW_TYPE_1)

    def send(self):
        self.rc.send(wr_id=self.posted)
        self.signaled.append(self.posted)
        self.posted += 1

    def bind(self, signaled):
        info = MWBindInfo(self.region.mr, self.region.va + self.posted % 100, 8, e.IBV_ACCESS_REMOTE_WRITE)
        self.rc.qp.bind_mw(self.window, MWBind(info, send_flags=e.IBV_SEND_SIGNALED if signaled else 0, wr_id=self.posted))
        self.signaled += [self.posted] * signaled
        self.posted += 1

    def binds(self, n):
        for at in range(n):
            self.bind(at % SIGNALED_EACH == 0)

    def completions(self):
        """Returns completions: the number asked for, or fewer if they do not come in time."""
        found = []
        while len(found) < len(self.signaled) and (wc := self.rc.completion()) is not None:
            found.append((wc.wr_id, wc.status))
        return found + [(wc.wr_id, wc.status) for wc in self.rc.completions()]

    def close(self):
        # A region that has a window cannot be deregistered.
        self.window.close()
        self.region.mr.close()


@contextlib.contextmanager
def crowd(b, depth):
    made = Crowd(b, b.rc(depth=depth))
    try:
        yield made
    finally:
        made.close()


def sent(b, psn):
    expect("PSN", b.wait_outgoing("RC_SEND_ONLY").psn, psn)


def same(got, wanted):
    """Compares thousands of completions, and reports only the first difference."""
    for at, (one, other) in enumerate(zip(got, wanted)):
        expect(f"completion {at}", one, other)
    expect("number of completions", len(got), len(wanted))


def wait(b, made):
    """SEND, binds, SEND, binds, SEND: all outstanding, none acknowledged."""
    made.send()
    made.binds(BINDS)
    made.send()
    made.binds(BINDS)
    made.send()
    for psn in (PSN, PSN + 1, PSN + 2):
        sent(b, psn)
    expect("completions", made.rc.completions(), [])


@case("an ACK for a thousand requests completes them in order")
def acked(b):
    with crowd(b, 2 * BINDS + 8) as made:
        wait(b, made)
        acknowledge(b, made.rc, PSN + 2)
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in made.signaled])
        b.works(made.rc)


@case("an ACK for half of the requests completes only those")
def partly_acked(b):
    with crowd(b, 2 * BINDS + 8) as made:
        wait(b, made)
        behind = [wr_id for wr_id in made.signaled if wr_id > BINDS]
        made.signaled = [wr_id for wr_id in made.signaled if wr_id <= BINDS]
        acknowledge(b, made.rc, PSN)
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in made.signaled])
        b.silence()
        expect("completions", made.rc.completions(), [])
        made.signaled = behind
        acknowledge(b, made.rc, PSN + 2)
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in behind])
        b.works(made.rc)


@case("a NAK behind a thousand requests: they succeed, the refused one fails, the rest is flushed")
def refused(b):
    with crowd(b, 3 * BINDS + 16) as made:
        wait(b, made)
        refused_id = made.posted - 1
        done = made.signaled[:-1]
        made.binds(BINDS)
        made.send()
        sent(b, PSN + 3)
        behind = list(range(refused_id + 1, made.posted))  # flushed ones are told of, signalled or not
        made.signaled = done + [refused_id] + behind
        acknowledge(b, made.rc, PSN + 2, roce.NAK_ACCESS)
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in done] + [(refused_id, e.IBV_WC_REM_ACCESS_ERR)] +
             [(wr_id, e.IBV_WC_WR_FLUSH_ERR) for wr_id in behind])
        b.state(made.rc, "ERR")


@case("more binds than may wait for an ACK: later requests are sent after it")
def beyond(b):
    with crowd(b, THOUSANDS + 8) as made:
        made.send()
        made.binds(THOUSANDS)
        made.send()
        sent(b, PSN)
        b.silence()
        expect("completions", made.rc.completions(), [])
        acknowledge(b, made.rc, PSN)
        sent(b, PSN + 1)
        acknowledge(b, made.rc, PSN + 1)
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in made.signaled])
        b.works(made.rc)


def request(rc, opcode, wr_id, flags=0):
    wr = SendWR(wr_id=wr_id, num_sge=1, sg=[rc.memory.sge(8)], opcode=opcode, send_flags=e.IBV_SEND_SIGNALED | flags)
    wr.set_wr_rdma(0x77, 0x1000)
    rc.qp.post_send(wr)


@case("a fenced WRITE behind a READ and many binds is sent after the READ's data")
def fenced(b):
    with crowd(b, THOUSANDS + 8) as made:
        rc = made.rc
        request(rc, e.IBV_WR_RDMA_WRITE, made.posted)
        made.posted += 1
        made.binds(THOUSANDS)
        last = made.posted
        request(rc, e.IBV_WR_RDMA_READ, last)
        request(rc, e.IBV_WR_RDMA_WRITE, last + 1, e.IBV_SEND_FENCE)
        expect("PSN", b.wait_outgoing("RC_WRITE_ONLY").psn, PSN)
        # Its ACK is late. If the READ did not wait for it, its response would come first.
        found = [packet.name for packet in b.answers()]
        if not found:
            acknowledge(b, rc, PSN)
            found = [b.wait_outgoing("RC_READ_REQUEST").name]
        expect("the next", found, ["RC_READ_REQUEST"])
        b.raw(roce.transport("RC_READ_RESPONSE_ONLY", rc.qpn, PSN + 1, b"12345678", aeth=roce.ACK << 24))
        expect("PSN of the fenced WRITE", b.wait_outgoing("RC_WRITE_ONLY").psn, PSN + 2)
        acknowledge(b, rc, PSN + 2)
        made.signaled = [0] + made.signaled + [last, last + 1]
        same(made.completions(), [(wr_id, e.IBV_WC_SUCCESS) for wr_id in made.signaled])
        b.works(rc)
