# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Completion counters, in the style of rdma-core's tests. rdma-core 65 has the verbs, but no tests of them."""

import errno
import unittest

from pyverbs.comp_cntr import CompCntr, CompCntrInitAttr
from pyverbs.libibverbs_enums import ibv_access_flags, ibv_qp_attach_comp_cntr_op as op, ibv_qp_state, ibv_wr_opcode
from pyverbs.pyverbs_error import PyverbsRDMAError
from pyverbs.qp import QPAttachCompCntrAttr, QPAttr, QPCap
from tests.base import PyverbsAPITestCase, RCResources, RDMATestCase
import tests.utils as u

SEND = op.IBV_QP_ATTACH_COMP_CNTR_OP_SEND
RECV = op.IBV_QP_ATTACH_COMP_CNTR_OP_RECV
READ = op.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ
REMOTE_READ = op.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ
WRITE = op.IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE
REMOTE_WRITE = op.IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE
EACH = SEND, RECV, READ, REMOTE_READ, WRITE, REMOTE_WRITE
BYTES = 1  # IBV_COMP_CNTR_TYPE_BYTES
ACCESS = (ibv_access_flags.IBV_ACCESS_LOCAL_WRITE | ibv_access_flags.IBV_ACCESS_REMOTE_READ |
          ibv_access_flags.IBV_ACCESS_REMOTE_WRITE)


def create(ctx, **attr):
    try:
        return CompCntr(ctx, CompCntrInitAttr(**attr))
    except PyverbsRDMAError as ex:
        if ex.error_code in (errno.EOPNOTSUPP, errno.EPROTONOSUPPORT) and not attr:
            raise unittest.SkipTest("Completion counters are not supported") from ex
        raise


class CountedRC(RCResources):
    """A counter for each operation of the QP."""

    def create_mr(self):
        self.mr = u.create_custom_mr(self, ACCESS)

    def create_qp_attr(self):
        attr = QPAttr(port_num=self.ib_port)
        attr.qp_access_flags = ACCESS
        return attr

    def create_qp_cap(self):
        return QPCap(max_send_wr=16, max_recv_wr=self.num_msgs)

    def create_qps(self):
        super().create_qps()
        self.cntrs = {each: create(self.ctx) for each in EACH}
        for each, cntr in self.cntrs.items():
            self.qp.attach_comp_cntr(cntr, QPAttachCompCntrAttr(op_mask=each))

    def counted(self):
        """The counters that are not 0: {operation: (completions, errors)}."""
        values = {each: (cntr.read(), cntr.read_err()) for each, cntr in self.cntrs.items()}
        return {each: pair for each, pair in values.items() if pair != (0, 0)}


class CompCntrAPITest(PyverbsAPITestCase):
    def test_comp_cntr_values(self):
        cntr = create(self.ctx)
        self.assertEqual((cntr.read(), cntr.read_err()), (0, 0))
        cntr.set(5)
        cntr.inc(3)
        cntr.inc_err(1)
        self.assertEqual((cntr.read(), cntr.read_err()), (8, 1))
        cntr.set_err(2)
        self.assertEqual((cntr.read(), cntr.read_err()), (8, 2))

    def test_comp_cntr_wraps(self):
        cntr = create(self.ctx)
        cntr.set(self.ctx.query_comp_cntr_caps().max_value)
        cntr.inc(2)
        self.assertEqual(cntr.read(), 1)

    def test_comp_cntr_caps(self):
        create(self.ctx)
        caps = self.ctx.query_comp_cntr_caps()
        self.assertGreater(caps.max_counters, 0)
        self.assertEqual(caps.supported_qp_attach_ops, sum(EACH))

    def test_comp_cntr_of_bytes(self):
        create(self.ctx)
        with self.assertRaises(PyverbsRDMAError) as refused:
            create(self.ctx, cntr_type=BYTES)
        self.assertEqual(refused.exception.error_code, errno.EOPNOTSUPP)


class CompCntrTest(RDMATestCase):
    def both(self):
        self.iters = 10
        self.create_players(CountedRC)
        return self.client, self.server

    def test_comp_cntr_send(self):
        for player in self.both():
            self.assertEqual(player.counted(), {})
        u.traffic(**self.traffic_args)
        for player in self.client, self.server:
            self.assertEqual(player.counted(), {SEND: (self.iters, 0), RECV: (self.iters, 0)})

    def test_comp_cntr_write(self):
        self.both()
        u.rdma_traffic(**self.traffic_args, send_op=ibv_wr_opcode.IBV_WR_RDMA_WRITE)
        for player in self.client, self.server:
            self.assertEqual(player.counted(), {WRITE: (self.iters, 0), REMOTE_WRITE: (self.iters, 0)})

    def test_comp_cntr_writes_of_a_list(self):
        """The receiver handles the packets of a burst one after another, and knows what follows the first one."""
        self.both()
        wrs = [u.get_send_elements(self.client, False, ibv_wr_opcode.IBV_WR_RDMA_WRITE)[0] for _ in range(self.iters)]
        for wr, following in zip(wrs, wrs[1:]):
            wr.next_wr = following
        for wr in wrs:
            self.aimed(wr, self.client)
        self.client.qp.post_send(wrs[0])
        u.poll_cq(self.client.cq, self.iters)
        self.assertEqual(self.client.counted(), {WRITE: (self.iters, 0)})
        self.assertEqual(self.server.counted(), {REMOTE_WRITE: (self.iters, 0)})

    def test_comp_cntr_write_with_imm(self):
        self.both()
        u.traffic(**self.traffic_args, send_op=ibv_wr_opcode.IBV_WR_RDMA_WRITE_WITH_IMM)
        for player in self.client, self.server:
            self.assertEqual(player.counted(), {each: (self.iters, 0) for each in (RECV, WRITE, REMOTE_WRITE)})

    def test_comp_cntr_read(self):
        self.both()
        u.rdma_traffic(**self.traffic_args, send_op=ibv_wr_opcode.IBV_WR_RDMA_READ)
        for player in self.client, self.server:
            self.assertEqual(player.counted(), {READ: (self.iters, 0), REMOTE_READ: (self.iters, 0)})

    def test_comp_cntr_refused_write(self):
        client, server = self.both()
        client.rkey ^= 0x5a00
        wr, _ = u.get_send_elements(client, False, ibv_wr_opcode.IBV_WR_RDMA_WRITE)
        client.qp.post_send(self.aimed(wr, client))
        with self.assertRaises(PyverbsRDMAError):
            u.poll_cq(client.cq)
        self.assertEqual(client.counted(), {WRITE: (0, 1)})
        self.assertEqual(server.counted(), {REMOTE_WRITE: (0, 1)})

    @staticmethod
    def aimed(wr, player):
        wr.set_wr_rdma(int(player.rkey), int(player.raddr))
        return wr

    def test_comp_cntr_flushed(self):
        client, _ = self.both()
        client.qp.post_recv(u.get_recv_wr(client))
        client.qp.modify(QPAttr(qp_state=ibv_qp_state.IBV_QPS_ERR), 1)
        with self.assertRaises(PyverbsRDMAError):
            u.poll_cq(client.cq)
        self.assertEqual(client.counted(), {RECV: (0, 1)})

    def test_comp_cntr_in_use(self):
        client, _ = self.both()
        with self.assertRaises(PyverbsRDMAError) as refused:
            client.cntrs[SEND].close()
        self.assertEqual(refused.exception.error_code, errno.EBUSY)

    def test_comp_cntr_attached_twice(self):
        client, _ = self.both()
        with self.assertRaises(PyverbsRDMAError) as refused:
            client.qp.attach_comp_cntr(create(client.ctx), QPAttachCompCntrAttr(op_mask=SEND))
        self.assertEqual(refused.exception.error_code, errno.EBUSY)

    def test_comp_cntr_attached_late(self):
        self.iters = 1
        self.create_players(RCResources)
        with self.assertRaises(PyverbsRDMAError) as refused:
            self.client.qp.attach_comp_cntr(create(self.client.ctx), QPAttachCompCntrAttr(op_mask=SEND))
        self.assertEqual(refused.exception.error_code, errno.EINVAL)
