// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Classic posting: ring full, bad_wr, kicks, states, reset.
 */
#include "fixture.h"

static struct sroce_qp_slot *slot_of(struct ibv_qp *qp)
{
	return fake_queue(qp->handle)->slot;
}

static int post(struct ibv_qp *qp, unsigned int num, struct ibv_send_wr *first)
{
	struct ibv_send_wr wrs[16];
	struct ibv_send_wr *bad = NULL;
	unsigned int i;
	int err;

	for (i = 0; i < num; i++) {
		wrs[i] = *first;
		wrs[i].wr_id = i;
		wrs[i].next = i + 1 < num ? &wrs[i + 1] : NULL;
	}
	err = ibv_post_send(qp, wrs, &bad);
	first->wr_id = bad ? bad - wrs : num;
	return err;
}

static struct ibv_send_wr send_wr(void)
{
	return (struct ibv_send_wr){ .opcode = IBV_WR_SEND };
}

static void full_ring(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = send_wr();

	ok(post(qp, 6, &wr) == ENOMEM && wr.wr_id == 4,
	   "the fifth request in a ring of four is bad_wr");
	ok(slot->sq_tail == 4, "the requests before bad_wr are posted");
	ok(post(qp, 1, &wr) == ENOMEM && wr.wr_id == 0 && slot->sq_tail == 4,
	   "a full ring refuses a request");
	slot->sq_head = 3;
	ok(!post(qp, 3, &wr) && slot->sq_tail == 7, "consumed entries can be used again");
	ok(post(qp, 1, &wr) == ENOMEM, "a full ring refuses a request again");
	ibv_destroy_qp(qp);
}

static void indices_wrap(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = send_wr();

	to_sroce_qp(qp)->sq.tail = slot->sq_tail = 0xfffffffe;
	to_sroce_qp(qp)->sq.head = slot->sq_head = 0xfffffffe;
	ok(post(qp, 5, &wr) == ENOMEM && wr.wr_id == 4 && slot->sq_tail == 2,
	   "the tail wraps at 32 bits");
	slot->sq_head = 1;
	ok(!post(qp, 3, &wr) && slot->sq_tail == 5, "the head wraps at 32 bits");
	ibv_destroy_qp(qp);
}

static void kicks(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = send_wr();
	unsigned int calls;

	fake.kicks = 0;
	slot->kick = 0;
	calls = fake.calls;
	ok(!post(qp, 2, &wr) && fake.calls == calls,
	   "no system call while the kernel needs no kick");
	slot->kick = SROCE_KICK_SEND;
	ok(!post(qp, 2, &wr) && fake.kicks == 1 && fake.calls == calls + 1,
	   "a list of requests needs one kick");
	ok(fake.kicked_slot == fake_queue(qp->handle)->slot_number,
	   "a kick has the slot number");
	ok(post(qp, 1, &wr) == ENOMEM && fake.kicks == 1,
	   "no kick if nothing is posted");
	ibv_destroy_qp(qp);
}

static void states(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_send_wr wr = send_wr();

	set_state(qp, IBV_QPS_ERR);
	ok(!post(qp, 1, &wr), "a QP in ERR accepts requests, to flush them");
	set_state(qp, IBV_QPS_RESET);
	ok(post(qp, 1, &wr) == EINVAL && wr.wr_id == 0, "a QP in RESET refuses requests");
	set_state(qp, IBV_QPS_INIT);
	ok(post(qp, 1, &wr) == EINVAL, "a QP in INIT refuses requests");
	set_state(qp, IBV_QPS_RTR);
	ok(post(qp, 1, &wr) == EINVAL, "a QP in RTR refuses requests");
	set_state(qp, IBV_QPS_RTS);
	/* Another thread's query may have stored this state. */
	qp->state = IBV_QPS_INIT;
	ok(!post(qp, 1, &wr), "a QP in RTS accepts requests, whatever qp->state is");
	ibv_destroy_qp(qp);
}

static void reset_clears_ring(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = send_wr();

	post(qp, 3, &wr);
	slot->rq_tail = 2;
	set_state(qp, IBV_QPS_RESET);
	ok(fake.tail_at_reset == 3, "the tail is kept until the QP is in RESET");
	ok(!slot->sq_tail && !slot->rq_tail, "the tails are zero after RESET");
	set_state(qp, IBV_QPS_RTS);
	ok(!post(qp, 4, &wr) && slot->sq_tail == 4, "all entries can be used after RESET");
	ibv_destroy_qp(qp);
}

static void invalid_requests(const struct fixture *fx)
{
	struct ibv_qp *rc = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_qp *uc = fixture_qp(fx, IBV_QPT_UC, false);
	struct ibv_mw type1 = { .type = IBV_MW_TYPE_1 };
	struct ibv_sge sge[4] = { { .length = 81 } };
	struct ibv_send_wr wr = send_wr();

	wr.sg_list = sge;
	wr.num_sge = 4;
	ok(post(rc, 1, &wr) == EINVAL, "too many SGEs are refused");
	wr.num_sge = -1;
	ok(post(rc, 1, &wr) == EINVAL, "a negative number of SGEs is refused");
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	ok(post(rc, 1, &wr) == EINVAL, "too much inline data is refused");
	wr.send_flags = IBV_SEND_IP_CSUM;
	ok(post(rc, 1, &wr) == EINVAL, "unknown flags are refused");
	wr.send_flags = 0;
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = &type1;
	ok(post(rc, 1, &wr) == EINVAL, "binding a type 1 memory window is refused");
	wr.opcode = IBV_WR_TSO;
	ok(post(rc, 1, &wr) == EOPNOTSUPP, "TSO is not supported");
	wr.opcode = IBV_WR_SEND_WITH_INV;
	ok(post(uc, 1, &wr) == EINVAL, "SEND with invalidate on UC is refused");
	wr.opcode = 31;
	ok(post(rc, 1, &wr) == EINVAL, "an unknown opcode is refused");
	wr.opcode = IBV_WR_RDMA_READ;
	ok(post(uc, 1, &wr) == EINVAL, "READ on UC is refused");
	ok(!slot_of(rc)->sq_tail && !slot_of(uc)->sq_tail, "invalid requests are not posted");
	ibv_destroy_qp(rc);
	ibv_destroy_qp(uc);
}

static void inline_lists(const struct fixture *fx)
{
	char a[50] = "a", b[30] = "b";
	struct ibv_sge sge[] = {
		{ .addr = (uintptr_t)a, .length = 50 },
		{ .length = 0 },
		{ .addr = (uintptr_t)b, .length = 30 },
		{ .addr = (uintptr_t)b, .length = 1 },
	};
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_send_wr wr = send_wr();
	struct sroce_sqe *sqe = fake_sqe(fake_queue(qp->handle), 0);

	wr.sg_list = sge;
	wr.num_sge = 3;
	wr.send_flags = IBV_SEND_INLINE;
	ok(!post(qp, 1, &wr) && sqe->num_sge == 80 &&
	   sqe->flags == SROCE_WR_INLINE && !memcmp(sqe + 1, a, 50) &&
	   !memcmp((char *)(sqe + 1) + 50, b, 30), "inline data of several SGEs is joined");
	wr.num_sge = 4;
	ok(post(qp, 1, &wr) == EINVAL, "the sum of inline SGEs is limited");
	ibv_destroy_qp(qp);
}

static void signal_all(const struct fixture *fx)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = fx->cq,
		.recv_cq = fx->cq,
		.cap = { .max_send_wr = 3, .max_send_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(fx->pd, &attr);
	struct ibv_send_wr wr = send_wr();
	struct sroce_sqe *sqe = fake_sqe(fake_queue(qp->handle), 0);

	set_state(qp, IBV_QPS_RTS);
	ok(!post(qp, 1, &wr) && sqe->flags == SROCE_WR_SIGNALED,
	   "sq_sig_all makes all requests signaled");
	ibv_destroy_qp(qp);
}

static void xrc_local_inv(const struct fixture *fx)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_XRC_SEND);
	struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV, .invalidate_rkey = 1 };
	struct ibv_qp *qp;
	struct sroce_sqe *sqe;

	attr.recv_cq = NULL;
	qp = ibv_create_qp_ex(fx->context, &attr);
	set_state(qp, IBV_QPS_RTS);
	sqe = fake_sqe(fake_queue(qp->handle), 0);
	wr.qp_type.xrc.remote_srqn = 0xdeadbeef;
	ok(!post(qp, 1, &wr) && !sqe->rdma.srqn, "XRC: a local invalidation names no SRQ");
	ibv_destroy_qp(qp);
}

GROUP(send)
{
	struct fixture fx;

	fixture_open(&fx);
	full_ring(&fx);
	indices_wrap(&fx);
	kicks(&fx);
	states(&fx);
	reset_clears_ring(&fx);
	invalid_requests(&fx);
	inline_lists(&fx);
	signal_all(&fx);
	xrc_local_inv(&fx);
	fixture_close(&fx);
}
