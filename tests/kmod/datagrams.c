// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Datagrams of kernel users. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include "fabric.h"

#define GRH	40
#define BYTES	500
#define SEED	7

static struct memory *near_memory, *far_memory;
static struct ib_ah *ah;

static int post_datagram(u64 id, u32 qkey)
{
	struct ib_sge sge = sge_of(&near, near_memory, BYTES);
	struct ib_ud_wr wr = {
		.wr.wr_id = id,
		.wr.opcode = IB_WR_SEND,
		.wr.send_flags = IB_SEND_SIGNALED,
		.wr.sg_list = &sge,
		.wr.num_sge = 1,
		.ah = ah,
		.remote_qpn = far.qp->qp_num,
		.remote_qkey = qkey,
	};

	return ib_post_send(near.qp, &wr.wr, NULL);
}

static void one_arrives(u64 id)
{
	struct ib_wc wc;

	memory_fill(near_memory, SEED + id);
	EQUAL(post_receive(&far, id, far_memory), 0);
	EQUAL(post_datagram(id, QKEY), 0);
	if (CHECK(next_wc(&near, &wc))) {
		EQUAL(wc.status, 0);
		EQUAL(wc.wr_id, id);
	}
	if (!CHECK(next_wc(&far, &wc)))
		return;
	EQUAL(wc.status, 0);
	EQUAL(wc.wr_id, id);
	EQUAL(wc.byte_len, GRH + BYTES);
	EQUAL(wc.src_qp, near.qp->qp_num);
	CHECK(wc.wc_flags & IB_WC_GRH);
	CHECK(memory_is(far_memory, GRH, BYTES, SEED + id, 0));
}

static void datagrams_arrive(void)
{
	u64 id;

	for (id = 1; id <= 8; id++)
		one_arrives(id);
}

/* A request of another type is not read as a datagram. */
static void ud_refuses_other_opcodes(void)
{
	static const enum ib_wr_opcode opcodes[] = {
		IB_WR_RDMA_WRITE, IB_WR_RDMA_WRITE_WITH_IMM, IB_WR_RDMA_READ,
		IB_WR_LOCAL_INV, IB_WR_REG_MR,
	};
	const struct ib_send_wr *bad;
	struct ib_wc wc;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		struct ib_rdma_wr wr = {
			.wr.opcode = opcodes[i],
			.wr.send_flags = IB_SEND_SIGNALED,
		};

		EQUAL(ib_post_send(near.qp, &wr.wr, &bad), -EINVAL);
		CHECK(bad == &wr.wr);
	}
	EQUAL(ib_poll_cq(near.cq, 1, &wc), 0);
	one_arrives(20);
}

/* Draining requires CQs that call a function for each completion. */
static atomic_t sent, taken;

static void count_sent(struct ib_cq *cq, struct ib_wc *wc)
{
	atomic_inc(&sent);
}

static void count_taken(struct ib_cq *cq, struct ib_wc *wc)
{
	if (wc->status == IB_WC_WR_FLUSH_ERR)
		atomic_inc(&taken);
}

static struct ib_cqe send_cqe = { .done = count_sent };
static struct ib_cqe receive_cqe = { .done = count_taken };

static int post_counted_receive(void)
{
	struct ib_recv_wr wr = { .wr_cqe = &receive_cqe };

	return ib_post_recv(near.qp, &wr, NULL);
}

/*
 * ib_drain_sq() posts a WRITE, also on QPs that cannot send one.  When it returns, all
 * earlier requests have completed.
 */
static void drain_one(void)
{
	int i;

	atomic_set(&sent, 0);
	atomic_set(&taken, 0);
	for (i = 0; i < 10; i++) {
		EQUAL(post_counted_receive(), 0);
		/* Not for far, which may receive nothing in this test. */
		EQUAL(post_datagram((uintptr_t)&send_cqe, QKEY + 1), 0);
	}
	ib_drain_sq(near.qp);
	EQUAL(atomic_read(&sent), 10);
	ib_drain_rq(near.qp);
	EQUAL(atomic_read(&taken), 10);
	/* In the error state again, with nothing to wait for. */
	ib_drain_qp(near.qp);
	EQUAL(atomic_read(&sent), 10);
}

static void drain(enum ib_poll_context context)
{
	struct side near_before = near;

	near.cq = ib_alloc_cq(near.device, NULL, 4 * DEPTH, 0, context);
	near.qp = NULL;
	if (CHECK(!IS_ERR(near.cq)) && EQUAL(side_datagram_qp(&near), 0))
		drain_one();
	if (!IS_ERR_OR_NULL(near.qp))
		ib_destroy_qp(near.qp);
	if (!IS_ERR(near.cq))
		ib_free_cq(near.cq);
	near = near_before;
}

static void ib_drain_qp_of_ud(void)
{
	drain(IB_POLL_DIRECT);
	drain(IB_POLL_SOFTIRQ);
	drain(IB_POLL_WORKQUEUE);
	one_arrives(30);
}

static bool set_up(void)
{
	near_memory = memory_get(near.device, 1, 0);
	far_memory = memory_get(far.device, 1, 0);
	ah = side_address(&near, &far);
	near.qp = NULL;
	far.qp = NULL;
	return CHECK(near_memory && far_memory && !IS_ERR(ah)) &&
	       EQUAL(side_datagram_qp(&near), 0) &&
	       EQUAL(side_datagram_qp(&far), 0);
}

static void tear_down(void)
{
	if (!IS_ERR_OR_NULL(near.qp))
		ib_destroy_qp(near.qp);
	if (!IS_ERR_OR_NULL(far.qp))
		ib_destroy_qp(far.qp);
	if (!IS_ERR(ah))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	memory_put(near_memory);
	memory_put(far_memory);
}

void test_datagrams(void)
{
	struct side near_before = near, far_before = far;

	test_begin();
	if (set_up()) {
		RUN(datagrams_arrive);
		RUN(ud_refuses_other_opcodes);
		RUN(ib_drain_qp_of_ud);
	} else {
		test_end("QPs for the tests of datagrams");
	}
	tear_down();
	near = near_before;
	far = far_before;
}
