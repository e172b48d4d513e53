// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CQs that are destroyed while events for them are pending.  On many kernels
 * ib_free_cq() assumes that there are none once the last QP is destroyed, and calls
 * the driver later.  An event in between would make the RDMA core access freed
 * memory.  With pre_destroy_cq() events may come until ib_free_cq() has called the
 * driver, and none may come after it has returned.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/bottom_half.h>
#include <linux/completion.h>
#include <linux/cpumask.h>
#include <linux/delay.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "fabric.h"

#define ROUNDS		30
#define MESSAGES	4
#define HELD_BACK_MS	2

static struct memory *near_memory, *far_memory;
static struct ib_mr *region;

/* This handler notes the time, then calls the RDMA core's handler. */
static ib_comp_handler handler;
static bool gone;
static atomic_t early, late;

static void watch(struct ib_cq *cq, void *context)
{
	if (READ_ONCE(gone)) {
		atomic_inc(&late);
	} else {
		atomic_inc(&early);
		handler(cq, context);
	}
}

static void ignore(struct ib_cq *cq, struct ib_wc *wc)
{
}

static struct ib_cqe ignored = { .done = ignore };

static void destroy_qp(void)
{
	if (!IS_ERR_OR_NULL(near.qp))
		ib_destroy_qp(near.qp);
#ifndef HAVE_PRE_DESTROY_CQ
	WRITE_ONCE(gone, true);
#endif
}

static void free_cq(void)
{
	ib_free_cq(near.cq);
	WRITE_ONCE(gone, true);
}

static bool open_user(enum ib_poll_context context)
{
	near.qp = NULL;
	near.cq = ib_alloc_cq(near.device, NULL, 2 * DEPTH, 0, context);
	if (!CHECK(!IS_ERR(near.cq)))
		return false;
	handler = near.cq->comp_handler;
	near.cq->comp_handler = watch;
	WRITE_ONCE(gone, false);
	if (EQUAL(side_qp(&near), 0) && EQUAL(connect_sides(), 0))
		return true;
	destroy_qp();
	free_cq();
	return false;
}

/* Completes at once, in the context that posts it. */
static int post_local(void)
{
	struct ib_send_wr wr = {
		.wr_cqe = &ignored,
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = region->rkey,
	};

	return ib_post_send(near.qp, &wr, NULL);
}

/**
 * struct poster - posts on another processor
 * @work: posts
 * @posted: it has posted
 * @err: the result
 */
struct poster {
	struct work_struct work;
	struct completion posted;
	int err;
};

/* Events come in softirqs, which are off on that processor for a while. */
static void post_and_hold_back(struct work_struct *work)
{
	struct poster *p = container_of(work, struct poster, work);

	local_bh_disable();
	p->err = post_local();
	complete(&p->posted);
	mdelay(HELD_BACK_MS);
	local_bh_enable();
}

static void hold_back(u32 round)
{
	u32 cpu = cpumask_any_but(cpu_online_mask, raw_smp_processor_id());
	struct poster p;

	INIT_WORK_ONSTACK(&p.work, post_and_hold_back);
	init_completion(&p.posted);
	/* If there is such a processor; otherwise the event comes in time. */
	if (cpu < nr_cpu_ids)
		schedule_work_on(cpu, &p.work);
	else
		schedule_work(&p.work);
	wait_for_completion(&p.posted);
	destroy_qp();
	free_cq();
	flush_work(&p.work);
	destroy_work_on_stack(&p.work);
	EQUAL(p.err, 0);
}

/* The event waits for more completions, or for 200 us. */
static void wait_for_more(u32 round)
{
	EQUAL(rdma_set_cq_moderation(near.cq, 100, 200), 0);
	EQUAL(post_local(), 0);
	/* Sometimes the event comes, and sometimes the QP is destroyed before. */
	if (round % 2)
		usleep_range(2000, 3000);
	destroy_qp();
	/* For late events; sometimes without a pause, so that the CQ is freed by then. */
	if (round % 3)
		usleep_range(2000, 3000);
	free_cq();
}

static int send_one(void)
{
	struct ib_sge sge = sge_of(&near, near_memory, PAGE_SIZE);
	struct ib_send_wr wr = {
		.wr_cqe = &ignored,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_send(near.qp, &wr, NULL);
}

static void send_some(u32 round)
{
	u32 i;

	for (i = 0; i < MESSAGES; i++) {
		EQUAL(post_receive(&far, i, far_memory), 0);
		EQUAL(send_one(), 0);
	}
	/* At different times */
	udelay(round * 10);
	destroy_qp();
	free_cq();
}

static void many_times(enum ib_poll_context context, void (*once)(u32 round))
{
	struct side near_before = near;
	u32 round;

	for (round = 0; round < ROUNDS && open_user(context); round++) {
		once(round);
		near = near_before;
	}
	near = near_before;
	EQUAL(round, ROUNDS);
}

static void in_all_contexts(void (*once)(u32 round))
{
	atomic_set(&early, 0);
	atomic_set(&late, 0);
	many_times(IB_POLL_SOFTIRQ, once);
	many_times(IB_POLL_WORKQUEUE, once);
	many_times(IB_POLL_UNBOUND_WORKQUEUE, once);
	EQUAL(connect_sides(), 0);
	if (atomic_read(&late))
		pr_info("# %d events in time, %d late\n", atomic_read(&early),
			atomic_read(&late));
#ifdef HAVE_PRE_DESTROY_CQ
	EQUAL(atomic_read(&late), 0);
#else
	/*
	 * The driver does not wait forever, and a virtual processor may
	 * stand still for long: some may be late, but most are not.
	 */
	CHECK(atomic_read(&late) <= ROUNDS);
#endif
}

static void cq_destroyed_before_its_handler_runs(void)
{
	in_all_contexts(hold_back);
	CHECK(atomic_read(&early));
}

static void cq_destroyed_before_moderation_timer(void)
{
	in_all_contexts(wait_for_more);
	CHECK(atomic_read(&early));
}

static void cq_destroyed_under_traffic(void)
{
	in_all_contexts(send_some);
}

void test_events(void)
{
	near_memory = memory_get(near.device, 1, 0);
	far_memory = memory_get(far.device, 1, 0);
	region = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, 1);
	test_begin();
	if (CHECK(near_memory && far_memory && !IS_ERR(region))) {
		RUN(cq_destroyed_before_its_handler_runs);
		RUN(cq_destroyed_before_moderation_timer);
		RUN(cq_destroyed_under_traffic);
	} else {
		test_end("memory for the tests of events");
	}
	if (!IS_ERR(region))
		ib_dereg_mr(region);
	memory_put(near_memory);
	memory_put(far_memory);
}
