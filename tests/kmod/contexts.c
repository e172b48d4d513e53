// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting, polling and arming in the contexts of kernel users. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/completion.h>
#include <linux/jiffies.h>
#include "fabric.h"

#define ROUNDS	500

static struct memory *near_memory, *far_memory;

/**
 * struct player - a side that does all of its work in its completion handler
 * @side: it has CQ and QP of its own
 * @peer: the other player
 * @memory: what it sends and receives
 * @lock: held while it posts, as by users whose handler takes it, too
 * @received: messages
 * @failed: completions with an error
 * @inside: its handler is running
 * @nested: it was called while it was running
 * @done: all messages have been received
 */
struct player {
	struct side side;
	struct player *peer;
	struct memory *memory;
	spinlock_t lock; /* see above */
	u32 received;
	u32 failed;
	atomic_t inside;
	bool nested;
	struct completion done;
};

static int throw(struct player *p)
{
	struct ib_sge sge = sge_of(&p->side, p->memory, 64);
	struct ib_send_wr wr = {
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	unsigned long flags;
	int err;

	spin_lock_irqsave(&p->lock, flags);
	err = ib_post_send(p->side.qp, &wr, NULL);
	spin_unlock_irqrestore(&p->lock, flags);
	return err;
}

static void catch(struct player *p, const struct ib_wc *wc)
{
	p->failed += wc->status != IB_WC_SUCCESS;
	if (wc->status || wc->opcode != IB_WC_RECV)
		return;
	p->failed += !!post_receive(&p->side, 0, p->memory);
	if (++p->received < ROUNDS)
		p->failed += !!throw(p);
	else
		complete(&p->done);
}

static void handler(struct ib_cq *cq, void *context)
{
	struct player *p = context;
	struct ib_wc wc;

	if (atomic_inc_return(&p->inside) != 1)
		p->nested = true;
	/* A handler must not be called inside the caller's post. */
	spin_lock_bh(&p->lock);
	spin_unlock_bh(&p->lock);
	do {
		while (ib_poll_cq(cq, 1, &wc) == 1)
			catch(p, &wc);
	} while (ib_req_notify_cq(cq, IB_CQ_NEXT_COMP |
				      IB_CQ_REPORT_MISSED_EVENTS) > 0);
	atomic_dec(&p->inside);
}

static int player_open(struct player *p, struct side *like,
		       struct memory *memory)
{
	struct ib_cq_init_attr attr = { .cqe = 4 * DEPTH };

	spin_lock_init(&p->lock);
	init_completion(&p->done);
	p->memory = memory;
	p->side = *like;
	p->side.qp = NULL;
	p->side.cq = ib_create_cq(like->device, handler, NULL, p, &attr);
	if (IS_ERR(p->side.cq))
		return PTR_ERR(p->side.cq);
	return side_qp(&p->side);
}

/* Objects of the other side stay. */
static void player_close(struct player *p)
{
	if (!IS_ERR_OR_NULL(p->side.qp))
		ib_destroy_qp(p->side.qp);
	if (!IS_ERR_OR_NULL(p->side.cq))
		ib_destroy_cq(p->side.cq);
}

/* connect_sides() connects near and far, so the players replace them. */
static int players_connect(struct player *a, struct player *b)
{
	struct side near_before = near, far_before = far;
	int err;

	near = a->side;
	far = b->side;
	err = connect_sides();
	near = near_before;
	far = far_before;
	return err;
}

static void play(struct player *a, struct player *b)
{
	EQUAL(ib_req_notify_cq(a->side.cq, IB_CQ_NEXT_COMP), 0);
	EQUAL(ib_req_notify_cq(b->side.cq, IB_CQ_NEXT_COMP), 0);
	EQUAL(post_receive(&a->side, 0, a->memory), 0);
	EQUAL(post_receive(&a->side, 0, a->memory), 0);
	EQUAL(post_receive(&b->side, 0, b->memory), 0);
	EQUAL(post_receive(&b->side, 0, b->memory), 0);
	EQUAL(throw(a), 0);
	/* The last message is not sent back. */
	CHECK(wait_for_completion_timeout(&b->done, 30 * HZ));
	EQUAL(a->received, ROUNDS - 1);
	EQUAL(a->failed + b->failed, 0);
	CHECK(!a->nested && !b->nested);
}

static void posts_from_completion_handler(void)
{
	static struct player a, b;

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	if (EQUAL(player_open(&a, &near, near_memory), 0) &&
	    EQUAL(player_open(&b, &far, far_memory), 0) &&
	    EQUAL(players_connect(&a, &b), 0))
		play(&a, &b);
	player_close(&a);
	player_close(&b);
}

/* Requests that complete at once must not nest their handlers. */
struct chain {
	struct ib_qp *qp;
	struct ib_mr *mr;
	u32 left;
	bool failed;
	struct completion done;
};

static int link_up(struct chain *c)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.send_flags = IB_SEND_SIGNALED,
		.ex.invalidate_rkey = c->mr->rkey,
	};

	return ib_post_send(c->qp, &wr, NULL);
}

static void chain_handler(struct ib_cq *cq, void *context)
{
	struct chain *c = context;
	struct ib_wc wc;

	ib_req_notify_cq(cq, IB_CQ_NEXT_COMP);
	while (ib_poll_cq(cq, 1, &wc) == 1) {
		c->failed |= wc.status;
		if (!--c->left)
			complete(&c->done);
		else
			c->failed |= link_up(c);
	}
}

static void run_chain(struct chain *c, struct player *p)
{
	init_completion(&c->done);
	c->qp = p->side.qp;
	c->left = 2000;
	EQUAL(ib_req_notify_cq(p->side.cq, IB_CQ_NEXT_COMP), 0);
	EQUAL(link_up(c), 0);
	CHECK(wait_for_completion_timeout(&c->done, 30 * HZ));
	CHECK(!c->failed);
}

static void handlers_do_not_nest(void)
{
	static struct player a, b;
	struct ib_cq_init_attr attr = { .cqe = DEPTH };
	struct chain c = { .mr = ib_alloc_mr(near.pd, IB_MR_TYPE_MEM_REG, 1) };

	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	if (!CHECK(!IS_ERR(c.mr)))
		return;
	a.side = near;
	a.side.qp = NULL;
	a.side.cq = ib_create_cq(near.device, chain_handler, NULL, &c, &attr);
	if (CHECK(!IS_ERR(a.side.cq)) && EQUAL(side_qp(&a.side), 0) &&
	    EQUAL(player_open(&b, &far, far_memory), 0) &&
	    EQUAL(players_connect(&a, &b), 0))
		run_chain(&c, &a);
	player_close(&a);
	player_close(&b);
	ib_dereg_mr(c.mr);
}

/* One message with interrupts off, except while it waits. */
static void send_without_interrupts(u64 id)
{
	struct ib_sge sge = sge_of(&near, near_memory, PAGE_SIZE);
	struct ib_send_wr wr = {
		.wr_id = id,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_SIGNALED,
		.sg_list = &sge,
		.num_sge = 1,
	};
	struct ib_wc wc;
	unsigned long flags;
	int err;

	memory_fill(near_memory, id);
	local_irq_save(flags);
	err = post_receive(&far, id, far_memory);
	err = err ?: ib_post_send(near.qp, &wr, NULL);
	err = err ?: ib_req_notify_cq(near.cq, IB_CQ_NEXT_COMP);
	err = err ?: ib_poll_cq(near.cq, 1, &wc);
	local_irq_restore(flags);
	EQUAL(err, 0);
	if (CHECK(next_wc(&far, &wc))) {
		EQUAL(wc.status, 0);
		EQUAL(wc.wr_id, id);
		EQUAL(wc.byte_len, PAGE_SIZE);
	}
	if (CHECK(next_wc(&near, &wc)))
		EQUAL(wc.wr_id, id);
	CHECK(memory_is(far_memory, 0, PAGE_SIZE, id, 0));
}

static void posts_and_polls_with_interrupts_off(void)
{
	u64 id;

	for (id = 1; id <= 20; id++)
		send_without_interrupts(id);
}

void test_contexts(void)
{
	near_memory = memory_get(near.device, 1, 0);
	far_memory = memory_get(far.device, 1, 0);
	test_begin();
	if (CHECK(near_memory && far_memory)) {
		RUN(posts_and_polls_with_interrupts_off);
		RUN(posts_from_completion_handler);
		RUN(handlers_do_not_nest);
	} else {
		test_end("memory for the tests of contexts");
	}
	memory_put(near_memory);
	memory_put(far_memory);
}
