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

static struct ibv_send_wr a_send(void)
{
	return (struct ibv_send_wr){ .opcode = IBV_WR_SEND };
}

static void full_ring(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = a_send();

	ok(post(qp, 6, &wr) == ENOMEM && wr.wr_id == 4,
	   "six into a ring of four: the fifth is bad");
	ok(slot->sq_tail == 4, "the four before it are posted");
	ok(post(qp, 1, &wr) == ENOMEM && wr.wr_id == 0 && slot->sq_tail == 4,
	   "no place");
	slot->sq_head = 3;
	ok(!post(qp, 3, &wr) && slot->sq_tail == 7, "three places free again");
	ok(post(qp, 1, &wr) == ENOMEM, "no place again");
	ibv_destroy_qp(qp);
}

static void indices_wrap(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = a_send();

	to_sroce_qp(qp)->sq.tail = slot->sq_tail = 0xfffffffe;
	to_sroce_qp(qp)->sq.head = slot->sq_head = 0xfffffffe;
	ok(post(qp, 5, &wr) == ENOMEM && wr.wr_id == 4 && slot->sq_tail == 2,
	   "tail wraps at 32 bits");
	slot->sq_head = 1;
	ok(!post(qp, 3, &wr) && slot->sq_tail == 5, "head too");
	ibv_destroy_qp(qp);
}

static void kicks(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = a_send();
	unsigned int calls;

	fake.kicks = 0;
	slot->kick = 0;
	calls = fake.calls;
	ok(!post(qp, 2, &wr) && fake.calls == calls,
	   "no system call while the kernel looks by itself");
	slot->kick = SROCE_KICK_SEND;
	ok(!post(qp, 2, &wr) && fake.kicks == 1 && fake.calls == calls + 1,
	   "one kick for a list");
	ok(fake.kicked_slot == fake_queue(qp->handle)->slot_number,
	   "it names the slot");
	ok(post(qp, 1, &wr) == ENOMEM && fake.kicks == 1,
	   "nothing posted, no kick");
	ibv_destroy_qp(qp);
}

static void states(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_send_wr wr = a_send();

	set_state(qp, IBV_QPS_ERR);
	ok(!post(qp, 1, &wr), "ERR takes sends, to flush them");
	set_state(qp, IBV_QPS_RESET);
	ok(post(qp, 1, &wr) == EINVAL && wr.wr_id == 0, "RESET does not");
	set_state(qp, IBV_QPS_INIT);
	ok(post(qp, 1, &wr) == EINVAL, "INIT does not");
	set_state(qp, IBV_QPS_RTR);
	ok(post(qp, 1, &wr) == EINVAL, "RTR does not");
	set_state(qp, IBV_QPS_RTS);
	/* As if another thread's query had just found this */
	qp->state = IBV_QPS_INIT;
	ok(!post(qp, 1, &wr), "RTS takes sends, whatever libibverbs notes");
	ibv_destroy_qp(qp);
}

static void reset_begins_anew(const struct fixture *fx)
{
	struct ibv_qp *qp = fixture_qp(fx, IBV_QPT_RC, false);
	struct sroce_qp_slot *slot = slot_of(qp);
	struct ibv_send_wr wr = a_send();

	post(qp, 3, &wr);
	slot->rq_tail = 2;
	set_state(qp, IBV_QPS_RESET);
	ok(fake.tail_at_reset == 3, "a running kernel never sees the tail jump");
	ok(!slot->sq_tail && !slot->rq_tail, "after RESET the tails are zero");
	set_state(qp, IBV_QPS_RTS);
	ok(!post(qp, 4, &wr) && slot->sq_tail == 4, "and all places are free");
	ibv_destroy_qp(qp);
}

static void bad_requests(const struct fixture *fx)
{
	struct ibv_qp *rc = fixture_qp(fx, IBV_QPT_RC, false);
	struct ibv_qp *uc = fixture_qp(fx, IBV_QPT_UC, false);
	struct ibv_mw type1 = { .type = IBV_MW_TYPE_1 };
	struct ibv_sge sge[4] = { { .length = 81 } };
	struct ibv_send_wr wr = a_send();

	wr.sg_list = sge;
	wr.num_sge = 4;
	ok(post(rc, 1, &wr) == EINVAL, "too many pieces");
	wr.num_sge = -1;
	ok(post(rc, 1, &wr) == EINVAL, "a negative number of them");
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	ok(post(rc, 1, &wr) == EINVAL, "too long inline");
	wr.send_flags = IBV_SEND_IP_CSUM;
	ok(post(rc, 1, &wr) == EINVAL, "unknown flags");
	wr.send_flags = 0;
	wr.opcode = IBV_WR_BIND_MW;
	wr.bind_mw.mw = &type1;
	ok(post(rc, 1, &wr) == EINVAL, "binding a window of type 1");
	wr.opcode = IBV_WR_TSO;
	ok(post(rc, 1, &wr) == EOPNOTSUPP, "segmentation");
	wr.opcode = IBV_WR_SEND_WITH_INV;
	ok(post(uc, 1, &wr) == EINVAL, "remote invalidation on UC");
	wr.opcode = 31;
	ok(post(rc, 1, &wr) == EINVAL, "an unknown operation");
	wr.opcode = IBV_WR_RDMA_READ;
	ok(post(uc, 1, &wr) == EINVAL, "READ on UC");
	ok(!slot_of(rc)->sq_tail && !slot_of(uc)->sq_tail, "nothing is posted");
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
	struct ibv_send_wr wr = a_send();
	struct sroce_sqe *sqe = fake_sqe(fake_queue(qp->handle), 0);

	wr.sg_list = sge;
	wr.num_sge = 3;
	wr.send_flags = IBV_SEND_INLINE;
	ok(!post(qp, 1, &wr) && sqe->num_sge == 80 &&
	   sqe->flags == SROCE_WR_INLINE && !memcmp(sqe + 1, a, 50) &&
	   !memcmp((char *)(sqe + 1) + 50, b, 30), "pieces are joined");
	wr.num_sge = 4;
	ok(post(qp, 1, &wr) == EINVAL, "their sum counts");
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
	struct ibv_send_wr wr = a_send();
	struct sroce_sqe *sqe = fake_sqe(fake_queue(qp->handle), 0);

	set_state(qp, IBV_QPS_RTS);
	ok(!post(qp, 1, &wr) && sqe->flags == SROCE_WR_SIGNALED,
	   "sq_sig_all signals everything");
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
	reset_begins_anew(&fx);
	bad_requests(&fx);
	inline_lists(&fx);
	signal_all(&fx);
	fixture_close(&fx);
}
