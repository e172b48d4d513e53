#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Usage: traffic.py DEVICE DEVICE GID_INDEX - sends one message of every operation from the first to the second device,
with lengths that need every pad. Runs inside the guest; see capture."""

import sys
import time

from pyverbs import enums
from pyverbs.addr import AH, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.device import Context
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr
from pyverbs.wr import SGE, RecvWR, SendWR

MTU, SIZE, QKEY = 256, 4096, 0x11111111
ACCESS = (enums.IBV_ACCESS_LOCAL_WRITE | enums.IBV_ACCESS_REMOTE_WRITE | enums.IBV_ACCESS_REMOTE_READ |
          enums.IBV_ACCESS_REMOTE_ATOMIC)


class Side:
    def __init__(self, name, gid_index):
        self.context = Context(name=name)
        self.gid_index = gid_index
        self.gid = self.context.query_gid(1, gid_index)
        self.pd = PD(self.context)
        self.mr = MR(self.pd, SIZE, ACCESS)
        self.mr.write(bytes(i * 7 & 0xff for i in range(SIZE)), SIZE)
        self.cq = CQ(self.context, 64)

    def qp(self, kind):
        cap = QPCap(max_send_wr=32, max_recv_wr=32)
        return QP(self.pd, QPInitAttr(qp_type=kind, scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=1))

    def route(self, peer):
        return AHAttr(dlid=0, is_global=1, port_num=1,
                      gr=GlobalRoute(dgid=peer.gid, sgid_index=self.gid_index, hop_limit=64))

    def sge(self, offset, length):
        return SGE(self.mr.buf + offset, length, self.mr.lkey)


def attributes(side, peer, other, psn):
    attr = QPAttr(port_num=1)
    attr.path_mtu = enums.IBV_MTU_256
    attr.dest_qp_num, attr.rq_psn, attr.sq_psn = other.qp_num, psn, psn
    attr.qp_access_flags = ACCESS
    attr.max_rd_atomic = attr.max_dest_rd_atomic = 4
    attr.timeout, attr.retry_cnt, attr.rnr_retry, attr.min_rnr_timer = 14, 7, 7, 1
    attr.ah_attr = side.route(peer)
    attr.qkey = QKEY
    return attr


def pair(a, b, kind):
    one, two = a.qp(kind), b.qp(kind)
    for side, peer, qp, other in ((a, b, one, two), (b, a, two, one)):
        qp.to_rts(attributes(side, peer, other, 0xfffffd))
    for _ in range(24):
        two.post_recv(RecvWR(num_sge=1, sg=[b.sge(2048, 1024)]))
    return one, two


def send(a, b, qp, opcode, length, change=lambda wr: None):
    wr = SendWR(opcode=opcode, num_sge=1, sg=[a.sge(0, length)])
    wr.send_flags = enums.IBV_SEND_SIGNALED
    wr.set_wr_rdma(b.mr.rkey, b.mr.buf)
    change(wr)
    qp.post_send(wr)
    for _ in range(2000):
        if a.cq.poll()[0]:
            return
        time.sleep(.001)
    sys.exit(f"traffic.py: no completion of {opcode}")


def immediate(wr):
    wr.imm_data = 0x01020304


def connected(a, b, kind):
    qp, other = pair(a, b, kind)
    for length in (0, 1, 2, 3, 4, MTU, MTU + 5, 2 * MTU + 6):
        send(a, b, qp, enums.IBV_WR_SEND, length)
    for length in (7, MTU + 1):
        send(a, b, qp, enums.IBV_WR_SEND_WITH_IMM, length, immediate)
        send(a, b, qp, enums.IBV_WR_RDMA_WRITE, 2 * length)
        send(a, b, qp, enums.IBV_WR_RDMA_WRITE_WITH_IMM, length, immediate)
    if kind == enums.IBV_QPT_RC:
        for length in (0, 5, MTU + 2, 2 * MTU + 3):
            send(a, b, qp, enums.IBV_WR_RDMA_READ, length)
        for opcode in (enums.IBV_WR_ATOMIC_CMP_AND_SWP, enums.IBV_WR_ATOMIC_FETCH_AND_ADD):
            send(a, b, qp, opcode, 8, lambda wr: wr.set_wr_atomic(b.mr.rkey, b.mr.buf, 1, 2))
    return qp, other


def invalidate(a, b, length):
    """A key that cannot be invalidated: the packets are right, but the answer is a NAK and the QP is lost."""
    qp, other = pair(a, b, enums.IBV_QPT_RC)
    send(a, b, qp, enums.IBV_WR_SEND_WITH_INV, length)
    return qp, other


def datagrams(a, b):
    qp, other = pair(a, b, enums.IBV_QPT_UD)
    ah = AH(a.pd, attr=a.route(b))
    for opcode, change in ((enums.IBV_WR_SEND, lambda wr: None), (enums.IBV_WR_SEND_WITH_IMM, immediate)):
        for length in (0, 1, 18, 200):
            send(a, b, qp, opcode, length, lambda wr: (change(wr), wr.set_wr_ud(ah, other.qp_num, QKEY)))


def main():
    a, b = (Side(name, int(sys.argv[3])) for name in sys.argv[1:3])
    keep = [connected(a, b, kind) for kind in (enums.IBV_QPT_RC, enums.IBV_QPT_UC)]
    keep += [invalidate(a, b, length) for length in (9, MTU + 3)]
    datagrams(a, b)
    return keep


main()
