# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""QPs of the device under test, through stock libibverbs."""

import ipaddress
import os
import time

import constants as e
from pyverbs.addr import GID, AHAttr, GlobalRoute
from pyverbs.cq import CQ
from pyverbs.mr import MR
from pyverbs.pd import PD
from pyverbs.qp import QP, QPAttr, QPCap, QPInitAttr, QPInitAttrEx
from pyverbs.srq import SRQ, SrqInitAttrEx
from pyverbs.wr import SGE, RecvWR, SendWR
from pyverbs.xrcd import XRCD, XRCDInitAttr

ALL = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE | e.IBV_ACCESS_REMOTE_READ | e.IBV_ACCESS_REMOTE_ATOMIC
UC_ACCESS = e.IBV_ACCESS_LOCAL_WRITE | e.IBV_ACCESS_REMOTE_WRITE
QKEY = 0x11111111
MTU = 1024
READS = 4
STATES = {e.IBV_QPS_RESET: "RESET", e.IBV_QPS_INIT: "INIT", e.IBV_QPS_RTR: "RTR", e.IBV_QPS_RTS: "RTS",
          e.IBV_QPS_SQD: "SQD", e.IBV_QPS_SQE: "SQE", e.IBV_QPS_ERR: "ERR"}
TYPES = {"RC": e.IBV_QPT_RC, "UC": e.IBV_QPT_UC, "UD": e.IBV_QPT_UD}


def gid_text(address):
    """The GID of an IP address."""
    if ipaddress.ip_address(address).version == 4:
        address = "::ffff:" + address
    return ipaddress.IPv6Address(address).packed.hex(":", 2)


def address_vector(gid_index, address, sl=0, **route):
    route.setdefault("hop_limit", 64)
    return AHAttr(gr=GlobalRoute(dgid=GID(gid_text(address)), sgid_index=gid_index, **route), is_global=1, port_num=1, sl=sl)


class Memory:
    """A memory region, initially zero."""

    def __init__(self, pd, size=16384, access=ALL):
        self.mr = MR(pd, size, access)
        self.size = size
        self.write(bytes(size))

    @property
    def va(self):
        return self.mr.buf

    @property
    def rkey(self):
        return self.mr.rkey

    def write(self, data, offset=0):
        self.mr.write(data, len(data), offset)

    def read(self, length, offset=0):
        return bytes(self.mr.read(length, offset))

    def sge(self, length, offset=0):
        return SGE(self.va + offset, length, self.mr.lkey)


class Victim:
    """A QP and memory for it; connect() sets the address and the QPN of its peer. depth is the size of its send queue."""

    def __init__(self, context, transport="RC", psn=100, sq_psn=500, depth=16):
        self.transport = transport
        self.depth = depth
        self.pd = PD(context)
        self.cq = CQ(context, 48 + depth)
        self.memory = Memory(self.pd)
        self.qp = self.make_qp(context)
        self.qpn = self.qp.qp_num
        self.psn = psn
        self.sq_psn = sq_psn

    def make_qp(self, context):
        cap = QPCap(max_send_wr=self.depth, max_recv_wr=16, max_send_sge=2, max_recv_sge=2)
        return QP(self.pd, QPInitAttr(qp_type=TYPES[self.transport], scq=self.cq, rcq=self.cq, cap=cap, sq_sig_all=0))

    def connect(self, gid_index, address, qpn, access=None, timeout=0, pkey_index=0, **path):
        """path contains attributes of the route, and "sl"."""
        attr = QPAttr(port_num=1)
        attr.qp_state = e.IBV_QPS_INIT
        attr.pkey_index = pkey_index
        attr.qp_access_flags = access if access is not None else ALL if self.transport in ("RC", "XRC") else UC_ACCESS
        attr.qkey = QKEY
        first = e.IBV_QP_STATE | e.IBV_QP_PKEY_INDEX | e.IBV_QP_PORT
        self.qp.modify(attr, first | (e.IBV_QP_QKEY if self.transport == "UD" else e.IBV_QP_ACCESS_FLAGS))
        attr.qp_state = e.IBV_QPS_RTR
        attr.path_mtu = e.IBV_MTU_1024
        attr.dest_qp_num = qpn
        attr.rq_psn = self.psn
        attr.max_dest_rd_atomic = READS
        attr.min_rnr_timer = 12
        attr.ah_attr = address_vector(gid_index, address, **path)
        connected = e.IBV_QP_AV | e.IBV_QP_PATH_MTU | e.IBV_QP_DEST_QPN | e.IBV_QP_RQ_PSN
        reliable = e.IBV_QP_MAX_DEST_RD_ATOMIC | e.IBV_QP_MIN_RNR_TIMER
        self.qp.modify(attr, e.IBV_QP_STATE | {"RC": connected | reliable, "XRC": connected | reliable, "UC": connected, "UD": 0}[self.transport])
        attr.qp_state = e.IBV_QPS_RTS
        attr.sq_psn = self.sq_psn
        attr.timeout = timeout
        attr.retry_cnt = 3
        attr.rnr_retry = 3
        attr.max_rd_atomic = READS
        reliable = e.IBV_QP_TIMEOUT | e.IBV_QP_RETRY_CNT | e.IBV_QP_RNR_RETRY | e.IBV_QP_MAX_QP_RD_ATOMIC
        asking = {"RC": reliable, "XRC": e.IBV_QP_TIMEOUT}.get(self.transport, 0)
        self.qp.modify(attr, e.IBV_QP_STATE | e.IBV_QP_SQ_PSN | asking)

    def close(self):
        for thing in (self.qp, self.cq, self.memory.mr, self.pd):
            thing.close()

    @property
    def state(self):
        attr, _ = self.qp.query(e.IBV_QP_STATE)
        return STATES[attr.qp_state]

    def to_error(self):
        attr = QPAttr(port_num=1)
        attr.qp_state = e.IBV_QPS_ERR
        self.qp.modify(attr, e.IBV_QP_STATE)

    def post_recv(self, length=4096, offset=8192, wr_id=1, sge=None):
        self.qp.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[sge or self.memory.sge(length, offset)]))

    def _post(self, opcode, length, offset, wr_id, sge=None):
        return SendWR(wr_id=wr_id, num_sge=1, sg=[sge or self.memory.sge(length, offset)], opcode=opcode,
                      send_flags=e.IBV_SEND_SIGNALED)

    def send(self, length=16, offset=0, wr_id=7, sge=None):
        self.qp.post_send(self._post(e.IBV_WR_SEND, length, offset, wr_id, sge))

    def send_to(self, ah, qpn, length=16, wr_id=6):
        """Posts a datagram."""
        wr = self._post(e.IBV_WR_SEND, length, 0, wr_id)
        wr.set_wr_ud(ah, qpn, QKEY)
        self.qp.post_send(wr)

    def send_list(self, ah, qpn, lengths, solicited):
        """Posts datagrams in one call; the payload of each begins where that of the one before it ends. Those whose indices are in
        solicited have this flag."""
        offset, wrs = sum(lengths), [None]  # pyverbs does not keep the objects of a list
        for i, length in reversed(list(enumerate(lengths))):
            offset -= length
            wr = SendWR(wr_id=6, num_sge=1, sg=[self.memory.sge(length, offset)], opcode=e.IBV_WR_SEND,
                        send_flags=e.IBV_SEND_SIGNALED | (e.IBV_SEND_SOLICITED if i in solicited else 0), next_wr=wrs[-1])
            wr.set_wr_ud(ah, qpn, QKEY)
            wrs.append(wr)
        self.qp.post_send(wrs[-1])

    def read(self, length, offset=0, va=0x1000, rkey=0x77, wr_id=8):
        wr = self._post(e.IBV_WR_RDMA_READ, length, offset, wr_id)
        wr.set_wr_rdma(rkey, va)
        self.qp.post_send(wr)

    def write(self, length=8, offset=0, va=0x1000, rkey=0x77, wr_id=11):
        wr = self._post(e.IBV_WR_RDMA_WRITE, length, offset, wr_id)
        wr.set_wr_rdma(rkey, va)
        self.qp.post_send(wr)

    def atomic_write(self, offset=0, va=0x1000, rkey=0x77, wr_id=10):
        wr = self._post(e.IBV_WR_ATOMIC_WRITE, 8, offset, wr_id)
        wr.set_wr_rdma(rkey, va)
        self.qp.post_send(wr)

    def fetch_add(self, offset=0, va=0x1000, rkey=0x77, add=1, wr_id=9):
        wr = self._post(e.IBV_WR_ATOMIC_FETCH_AND_ADD, 8, offset, wr_id)
        wr.set_wr_atomic(rkey, va, add)
        self.qp.post_send(wr)

    def completion(self, seconds=5):
        """Returns the next completion, or None."""
        end = time.monotonic() + seconds
        while True:
            count, wcs = self.cq.poll()
            if count:
                return wcs[0]
            if time.monotonic() > end:
                return None

    def completions(self, least=0):
        """Waits for some completions, and returns all that are there."""
        found = []
        while (wc := self.completion(5 if len(found) < least else 0)) is not None:
            found.append(wc)
        return found


class Queue:
    """An XRC SRQ in the domain of a target, with the CQ of the target."""

    def __init__(self, target):
        self.memory = target.memory
        attr = SrqInitAttrEx(max_wr=16, max_sge=2)
        attr.srq_type = e.IBV_SRQT_XRC
        attr.pd, attr.xrcd, attr.cq = target.pd, target.xrcd, target.cq
        attr.comp_mask = (e.IBV_SRQ_INIT_ATTR_TYPE | e.IBV_SRQ_INIT_ATTR_PD | e.IBV_SRQ_INIT_ATTR_CQ |
                          e.IBV_SRQ_INIT_ATTR_XRCD)
        self.srq = SRQ(target.context, attr)
        self.number = self.srq.get_srq_num()

    def post_recv(self, length=4096, offset=8192, wr_id=1):
        self.srq.post_recv(RecvWR(wr_id=wr_id, num_sge=1, sg=[self.memory.sge(length, offset)]))

    def close(self):
        self.srq.close()


class Target(Victim):
    """The target end of an XRC connection, in a domain of its own with one SRQ."""

    def make_qp(self, context):
        self.context = context
        self.xrcd = XRCD(context, XRCDInitAttr(e.IBV_XRCD_INIT_ATTR_FD | e.IBV_XRCD_INIT_ATTR_OFLAGS, os.O_CREAT, -1))
        self.queue = Queue(self)
        return QP(context, QPInitAttrEx(qp_type=e.IBV_QPT_XRC_RECV, comp_mask=e.IBV_QP_INIT_ATTR_XRCD, xrcd=self.xrcd))

    @property
    def srqn(self):
        return self.queue.number

    def post_recv(self, length=4096, offset=8192, wr_id=1, sge=None):
        self.queue.post_recv(length, offset, wr_id)

    def close(self):
        for thing in (self.qp, self.queue, self.xrcd, self.cq, self.memory.mr, self.pd):
            thing.close()
