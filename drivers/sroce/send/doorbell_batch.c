// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Coalesced doorbells: while a process posts in a stream, a timer collects its
 * posts, and it needs to kick less often.
 */
#include "../core/params.h"
#include "../queue/doorbell.h"
#include "doorbell_batch.h"
#include "req.h"
#include "sq.h"

/*
 * A process that waits for each answer has one or two requests under way and
 * has taken all completions when it kicks.  One that posts a stream leaves
 * some of either lying, or (if its requests are not signalled) kicks again and
 * again without taking any.  The words are the process's: a lie costs itself.
 */
static bool posts_stream(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 polled = sroce_load(&sq->cq->slot->head);
	u32 lying = READ_ONCE(sq->cq->tail) - polled +
		    sroce_load(&qp->slot->sq_tail) - sq->req.in.head;

	polled += sroce_load(&qp->rq.cq->slot->head);
	if (polled != sq->batch.polled) {
		sq->batch.polled = polled;
		sq->batch.unpolled = 0;
	} else if (sq->batch.unpolled < SROCE_STREAM_KICKS) {
		sq->batch.unpolled++;
	}
	return lying > SROCE_STREAM_REQUESTS || sq->batch.unpolled == SROCE_STREAM_KICKS;
}

/*
 * Nothing is fetched without a queue, nor before somebody ends those, who looks
 * at the tail, too.
 */
static bool cannot_send(const struct sroce_sendq *sq)
{
	return !sq->req.in.wrs || sq->blocked || sq->paging.refetch;
}

/* Addresses of datagrams are looked up when they are sent. */
static bool needs_mark(const struct sroce_qp *qp)
{
	return qp->ctx && !sroce_qp_connected(qp);
}

static void mark(const struct sroce_qp *qp)
{
	if (!needs_mark(qp))
		return;
	xa_set_mark(&qp->ctx->kicked->qps, qp->place.number, SROCE_SLOT_BATCHING);
	/* Before the process sees that it need not kick; see send_batched(). */
	smp_mb();
}

static void unmark(const struct sroce_qp *qp)
{
	if (needs_mark(qp))
		xa_clear_mark(&qp->ctx->kicked->qps, qp->place.number,
			      SROCE_SLOT_BATCHING);
}

static void batch_start(struct sroce_qp *qp)
{
	/* Not hrtimer_active(): that is true until the callback returns. */
	if (qp->sq.batch.active || !sroce_sq_active(qp) || cannot_send(&qp->sq))
		return;
	qp->sq.batch.active = true;
	mark(qp);
	qp->sq.batch.start = qp->sq.req.in.tail;
	hrtimer_start(&qp->sq.batch.timer, ns_to_ktime(SROCE_BATCH_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

void sroce_doorbell_rung(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	if (posts_stream(qp)) {
		qp->sq.batch.idle = 0;
		batch_start(qp);
	}
	sroce_req_run(qp);
}

void sroce_batch_ended(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 posts = sroce_load(&qp->slot->sq_tail) - sq->batch.start;

	lockdep_assert_held(&sq->lock);
	sq->batch.active = false;
	sq->batch.idle = posts < SROCE_BATCH_WORTH ? sq->batch.idle + 1 : 0;
	/* As long as it pays, it goes on, and hardly anybody kicks. */
	if (sq->batch.idle < SROCE_BATCH_IDLE)
		batch_start(qp);
}

void sroce_batch_run(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_req_run(qp);
	/* Not before it is sent. */
	if (!qp->sq.batch.active)
		unmark(qp);
}

void sroce_batch_send(struct sroce_qp *qp)
{
	sroce_sq_begin(qp);
	sroce_batch_run(qp);
	sroce_sq_end(qp);
}

void sroce_batch_cancel(struct sroce_qp *qp)
{
	hrtimer_cancel(&qp->sq.batch.timer);
	sroce_sq_begin(qp);
	qp->sq.batch.active = false;
	unmark(qp);
	sroce_sq_end(qp);
}
