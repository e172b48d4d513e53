// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Draining, shared receive queues, resizing, and invalid requests. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/completion.h>
#include <linux/delay.h>
#include "fabric.h"

static struct memory *near_memory, *far_memory;

/* Draining requires CQs that call a function for each completion. */
struct counted {
	struct ib_cqe cqe;
	atomic_t flushed;
};

static void count_flushed(struct ib_cq *cq, struct ib_wc *wc)
{
	struct counted *c = container_of(wc->wr_cqe, struct counted, cqe);

	if (wc->status == IB_WC_WR_FLUSH_ERR)
		atomic_inc(&c->flushed);
}

static struct counted counted = { .cqe.done = count_flushed };

static int post_counted_receive(struct ib_qp *qp)
{
	struct ib_recv_wr wr = { .wr_cqe = &counted.cqe };

	return ib_post_recv(qp, &wr, NULL);
}

static int post_counted_send(struct ib_qp *qp)
{
	struct ib_send_wr wr = {
		.wr_cqe = &counted.cqe,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
	};

	return ib_post_send(qp, &wr, NULL);
}

/* When it returns, all posted requests have completed. */
static void drain(enum ib_poll_context context)
{
	struct side near_before = near;
	int i;

	near.cq = ib_alloc_cq(near.device, NULL, 4 * DEPTH, 0, context);
	near.qp = NULL;
	if (CHECK(!IS_ERR(near.cq)) && EQUAL(side_qp(&near), 0) &&
	    EQUAL(connect_sides(), 0)) {
		atomic_set(&counted.flushed, 0);
		for (i = 0; i < 10; i++) {
			EQUAL(post_counted_receive(near.qp), 0);
			/* far has no receive request: it waits, */
			EQUAL(post_counted_send(near.qp), 0);
		}
		ib_drain_qp(near.qp);
		/* and is flushed. */
		EQUAL(atomic_read(&counted.flushed), 20);
	}
	if (!IS_ERR_OR_NULL(near.qp))
		ib_destroy_qp(near.qp);
	if (!IS_ERR(near.cq))
		ib_free_cq(near.cq);
	near = near_before;
	EQUAL(connect_sides(), 0);
}

static void ib_drain_qp_waits_for_all_requests(void)
{
	drain(IB_POLL_DIRECT);
	drain(IB_POLL_SOFTIRQ);
	drain(IB_POLL_WORKQUEUE);
}

static int send_one(u64 id, u32 bytes)
{
	struct ib_sge sge = sge_of(&near, near_memory, bytes);
	struct ib_send_wr wr = {
		.wr_id = id,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return do_send(&near, &wr);
}

static void use_srq(void)
{
	struct ib_wc wc;
	u64 id;

	for (id = 0; id < 8; id++)
		EQUAL(post_receive(&far, id, far_memory), 0);
	memory_fill(near_memory, 9);
	for (id = 0; id < 8; id++) {
		EQUAL(send_one(id, 1000 + id), 0);
		if (!CHECK(next_wc(&far, &wc)))
			return;
		EQUAL(wc.status, 0);
		EQUAL(wc.wr_id, id);
		EQUAL(wc.byte_len, 1000 + id);
		CHECK(wc.qp == far.qp);
		CHECK(memory_is(far_memory, 0, 1000 + id, 9, 0));
	}
	for (id = 0; id < DEPTH; id++)
		EQUAL(post_receive(&far, id, far_memory), 0);
	EQUAL(post_receive(&far, id, far_memory), -ENOMEM);
}

/* The task that calls ib_modify_srq().  It may hold a lock that the handler takes. */
static struct task_struct *modifier;
static bool called_inside;

static void limit_event(struct ib_event *event, void *context)
{
	if (READ_ONCE(modifier) == current)
		called_inside = true;
	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		complete(context);
}

static void limit_srq(struct completion *reached)
{
	struct ib_srq_attr attr = { .srq_limit = DEPTH - 1 };

	EQUAL(ib_modify_srq(far.srq, &attr, IB_SRQ_LIMIT), 0);
	CHECK(!completion_done(reached));
	EQUAL(send_one(1, 8), 0);
	EQUAL(send_one(1, 8), 0);
	CHECK(wait_for_completion_timeout(reached, 10 * HZ));
	EQUAL(ib_query_srq(far.srq, &attr), 0);
	EQUAL(attr.srq_limit, 0);
}

/* There are fewer requests already.  The SRQ may be destroyed before the event comes. */
static void limit_too_high(struct completion *reached, bool wait)
{
	struct ib_srq_attr attr = { .srq_limit = DEPTH };

	called_inside = false;
	reinit_completion(reached);
	WRITE_ONCE(modifier, current);
	EQUAL(ib_modify_srq(far.srq, &attr, IB_SRQ_LIMIT), 0);
	WRITE_ONCE(modifier, NULL);
	CHECK(!called_inside);
	CHECK(!wait || wait_for_completion_timeout(reached, 10 * HZ));
}

static void shared_receive_queue(void)
{
	struct side far_before = far;
	struct completion reached = COMPLETION_INITIALIZER_ONSTACK(reached);
	struct ib_srq_init_attr init = {
		.event_handler = limit_event,
		.srq_context = &reached,
		.attr.max_wr = DEPTH,
		.attr.max_sge = 1,
	};

	far.srq = ib_create_srq(far.pd, &init);
	far.qp = NULL;
	if (CHECK(!IS_ERR(far.srq)) && EQUAL(side_qp(&far), 0) &&
	    EQUAL(connect_sides(), 0)) {
		use_srq();
		limit_srq(&reached);
		limit_too_high(&reached, true);
		limit_too_high(&reached, false);
	}
	if (!IS_ERR_OR_NULL(far.qp))
		ib_destroy_qp(far.qp);
	if (!IS_ERR(far.srq))
		ib_destroy_srq(far.srq);
	far = far_before;
	EQUAL(connect_sides(), 0);
}

#ifdef HAVE_RESIZE_CQ
/* Unpolled completions are kept; a CQ that is too small for them is refused. */
static void resized_cq_keeps_completions(void)
{
	struct ib_wc wc;
	u64 id;

	for (id = 0; id < 20; id++) {
		EQUAL(post_receive(&far, id, far_memory), 0);
		EQUAL(send_one(id, 8), 0);
	}
	EQUAL(ib_resize_cq(far.cq, 1000), 0);
	CHECK(far.cq->cqe >= 1000);
	EQUAL(ib_resize_cq(far.cq, 16), -EINVAL);
	EQUAL(ib_resize_cq(far.cq, 4 * DEPTH), 0);
	for (id = 0; id < 20; id++) {
		if (!CHECK(next_wc(&far, &wc)))
			return;
		EQUAL(wc.wr_id, id);
	}
	EQUAL(ib_poll_cq(far.cq, 1, &wc), 0);
}
#endif

static bool has_completions(struct ib_cq *cq)
{
	return ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				    IB_CQ_REPORT_MISSED_EVENTS) > 0;
}

/* Flushed completions of a QP that shares the far CQ */
static void flush_another(struct side *other)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_INIT,
		.port_num = 1,
	};
	u64 id;
	int i;

	EQUAL(ib_modify_qp(other->qp, &attr, IB_QP_STATE | IB_QP_PORT |
			   IB_QP_PKEY_INDEX | IB_QP_ACCESS_FLAGS), 0);
	for (id = 100; id < 103; id++)
		EQUAL(post_receive(other, id, far_memory), 0);
	attr.qp_state = IB_QPS_ERR;
	EQUAL(ib_modify_qp(other->qp, &attr, IB_QP_STATE), 0);
	for (i = 0; i < 500 && !has_completions(other->cq); i++)
		msleep(20);
	CHECK(has_completions(other->cq));
}

/* A completion would have a pointer to a QP that is freed. */
static void destroyed_qp_leaves_no_completions(void)
{
	struct side other = far;
	struct ib_wc wc;

	EQUAL(post_receive(&far, 1, far_memory), 0);
	EQUAL(post_receive(&far, 2, far_memory), 0);
	EQUAL(send_one(1, 8), 0);
	if (CHECK(next_wc(&far, &wc)) && EQUAL(side_qp(&other), 0)) {
		flush_another(&other);
		EQUAL(send_one(2, 16), 0);
		EQUAL(ib_destroy_qp(other.qp), 0);
		if (CHECK(next_wc(&far, &wc))) {
			EQUAL(wc.wr_id, 2);
			EQUAL(wc.byte_len, 16);
			CHECK(wc.qp == far.qp);
		}
	}
	EQUAL(ib_poll_cq(far.cq, 1, &wc), 0);
}

static void reset_qp_leaves_no_completions(void)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct ib_wc wc;

	EQUAL(post_receive(&far, 1, far_memory), 0);
	EQUAL(send_one(1, 8), 0);
	CHECK(has_completions(far.cq));
	EQUAL(ib_modify_qp(far.qp, &attr, IB_QP_STATE), 0);
	EQUAL(ib_poll_cq(far.cq, 1, &wc), 0);
	EQUAL(connect_sides(), 0);
}

static void invalid_posts_are_refused(void)
{
	struct ib_sge list[3] = {};
	struct ib_send_wr none = { .opcode = IB_WR_SEND };
	struct ib_send_wr many = { .opcode = IB_WR_SEND, .sg_list = list };
	struct ib_send_wr tso = { .opcode = IB_WR_LSO };
	const struct ib_send_wr *bad;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RESET };
	struct ib_wc wc;
	int i;

	many.num_sge = 32 + 1;
	none.next = &many;
	EQUAL(ib_post_send(near.qp, &none, &bad), -EINVAL);
	CHECK(bad == &many);
	EQUAL(ib_post_send(near.qp, &tso, &bad), -EOPNOTSUPP);
	EQUAL(connect_sides(), 0);
	/* Unsignalled, and without a receiver: they stay in the queue. */
	none.next = NULL;
	for (i = 0; i < DEPTH; i++)
		EQUAL(ib_post_send(near.qp, &none, &bad), 0);
	EQUAL(ib_post_send(near.qp, &none, &bad), -ENOMEM);
	EQUAL(ib_modify_qp(near.qp, &attr, IB_QP_STATE), 0);
	EQUAL(ib_post_send(near.qp, &none, &bad), -EINVAL);
	EQUAL(ib_poll_cq(near.cq, 1, &wc), 0);
	EQUAL(connect_sides(), 0);
}

void test_queues(void)
{
	near_memory = memory_get(near.device, 1, 0);
	far_memory = memory_get(far.device, 1, 0);
	test_begin();
	if (CHECK(near_memory && far_memory)) {
		RUN(ib_drain_qp_waits_for_all_requests);
		RUN(shared_receive_queue);
#ifdef HAVE_RESIZE_CQ
		RUN(resized_cq_keeps_completions);
#endif
		RUN(destroyed_qp_leaves_no_completions);
		RUN(reset_qp_leaves_no_completions);
		RUN(invalid_posts_are_refused);
	} else {
		test_end("memory for the tests of queues");
	}
	memory_put(near_memory);
	memory_put(far_memory);
}
