// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Coalesced doorbells: while a process posts a stream of WQEs, a timer collects
 * them, so the process kicks less often.
 */
#include "../core/params.h"
#include "../queue/doorbell.h"
#include "doorbell_batch.h"
#include "req.h"
#include "sq.h"

/*
 * A process that waits for each response has one or two requests outstanding,
 * and has polled all completions when it kicks.  A stream leaves more than
 * SROCE_STREAM_REQUESTS requests and completions.  If its requests are not
 * signalled, it kicks SROCE_STREAM_KICKS times without polling any completion.
 * The process can write wrong values to its slots, which affects only itself.
 */
static bool posts_stream(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 polled = sroce_load(&sq->cq->slot->head);
	u32 outstanding = READ_ONCE(sq->cq->ring.tail) - polled +
			  sroce_load(&qp->slot->sq_tail) - sq->req.in.head;

	polled += sroce_load(&qp->rq.cq->slot->head);
	if (polled != sq->batch.polled) {
		sq->batch.polled = polled;
		sq->batch.unpolled = 0;
	} else if (sq->batch.unpolled < SROCE_STREAM_KICKS) {
		sq->batch.unpolled++;
	}
	return outstanding > SROCE_STREAM_REQUESTS ||
	       sq->batch.unpolled == SROCE_STREAM_KICKS;
}

/*
 * In these states no WQE is fetched.  When such a state ends, sroce_req_run() is
 * called and reads the tail, so no batch timer is needed.
 */
static bool cannot_send(const struct sroce_sendq *sq)
{
	return !sq->req.in.wrs || sq->timer.blocked || sq->paging.refetch;
}

/*
 * The AH of a datagram is looked up when the datagram is sent.  The mark lets
 * sroce_destroy_ah_after_batch() find the QPs that have to send before that.
 */
static bool needs_mark(const struct sroce_qp *qp)
{
	return qp->ctx && !sroce_qp_connected(qp);
}

static void mark_batching(const struct sroce_qp *qp)
{
	if (!needs_mark(qp))
		return;
	xa_set_mark(&qp->ctx->by_slot->qps, qp->doorbell.number,
		    SROCE_SLOT_BATCHING);
	/*
	 * Set the mark before the process sees that it need not kick; see
	 * send_batched().
	 */
	smp_mb();
}

static void unmark_batching(const struct sroce_qp *qp)
{
	if (needs_mark(qp))
		xa_clear_mark(&qp->ctx->by_slot->qps, qp->doorbell.number,
			      SROCE_SLOT_BATCHING);
}

/* Start the timer, unless nothing can be sent. */
static void batch_start(struct sroce_qp *qp)
{
	/* Not hrtimer_active(), which is true until the callback returns. */
	if (qp->sq.batch.active || !sroce_sq_active(qp) || cannot_send(&qp->sq))
		return;
	qp->sq.batch.active = true;
	mark_batching(qp);
	qp->sq.batch.start = qp->sq.req.in.tail;
	hrtimer_start(&qp->sq.batch.timer, ns_to_ktime(SROCE_BATCH_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/*
 * A process that polls memory for the peer's WRITE, or the completions of many QPs, also
 * looks like a stream.  Then the timer collects nothing and delays requests.  So each time
 * in a row that it was started in vain doubles the number of kicks that have to look so
 * before it is started again.
 */
static void collect_posts(struct sroce_qp *qp)
{
	struct sroce_batch *batch = &qp->sq.batch;

	if (batch->active ||
	    (batch->vain && ++batch->kicks < SROCE_STREAM_KICKS << batch->vain))
		return;
	batch_start(qp);
	if (!batch->active)
		return;
	batch->kicks = 0;
	batch->idle = 0;
	batch->vain = min(batch->vain + 1, SROCE_STREAM_VAIN);
}

void sroce_doorbell_rung(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	/* A kernel user rings the doorbell for each call: there is nothing to collect. */
	if (qp->user) {
		if (posts_stream(qp))
			collect_posts(qp);
		else
			qp->sq.batch.kicks = 0;
	}
	sroce_req_run(qp);
}

void sroce_batch_ended(struct sroce_qp *qp, bool restart)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 posts = sroce_load(&qp->slot->sq_tail) - sq->batch.start;

	lockdep_assert_held(&sq->lock);
	sq->batch.active = false;
	if (posts < SROCE_BATCH_WORTH) {
		sq->batch.idle++;
	} else {
		sq->batch.idle = 0;
		sq->batch.vain = 0;
	}
	/*
	 * Re-armed until SROCE_BATCH_IDLE intervals in a row each collected
	 * fewer than SROCE_BATCH_WORTH WQEs.  The process rarely kicks
	 * meanwhile.
	 */
	if (restart && sq->batch.idle < SROCE_BATCH_IDLE)
		batch_start(qp);
}

void sroce_batch_run(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_req_run(qp);
	/* Clear the mark only after the WQEs are sent. */
	if (!qp->sq.batch.active)
		unmark_batching(qp);
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
	unmark_batching(qp);
	sroce_sq_end(qp);
}
