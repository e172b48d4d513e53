// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Timer of the send queue: retransmissions and probes as core/rtx.c decides,
 * and the end of other waits.
 */
#include "../core/completer.h"
#include "../core/params.h"
#include "../queue/trace.h"
#include "rtx_timer.h"
#include "sq.h"
#include "sq_complete.h"

static void timer_start(struct sroce_sendq *sq)
{
	sq->timer.running = true;
	/* With slack, one interrupt serves the timers of many QPs. */
	hrtimer_start_range_ns(&sq->timer.hrtimer,
			       ns_to_ktime(sq->rtx.deadline), sq->timer.slack,
			       HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * A later deadline leaves the timer unchanged; the callback checks the deadline.
 * So progress costs a store, not a timer operation.
 */
static void timer_follow(struct sroce_sendq *sq)
{
	ktime_t latest = ns_to_ktime(sq->rtx.deadline + sq->timer.slack);

	if (!sq->timer.running ||
	    ktime_after(hrtimer_get_expires(&sq->timer.hrtimer), latest))
		timer_start(sq);
}

void sroce_rtx_timer_arm(struct sroce_qp *qp, u64 ns)
{
	lockdep_assert_held(&qp->sq.lock);
	qp->sq.timer.slack = 0;
	qp->sq.rtx.deadline = ktime_get_ns() + ns;
	qp->sq.rtx.armed = true;
	timer_follow(&qp->sq);
}

void sroce_rtx_timer_progress(struct sroce_qp *qp, u32 from)
{
	struct sroce_sendq *sq = &qp->sq;
	u64 now = 0;

	lockdep_assert_held(&sq->lock);
	if (sroce_rtx_needs_time(&sq->rtx, &sq->req))
		now = ktime_get_ns();
	sroce_rtx_progress(&sq->rtx, &sq->req, from, now);
	if (sq->rtx.armed)
		timer_follow(sq);
}

void sroce_rtx_timer_paced(struct sroce_qp *qp, u32 from)
{
	struct sroce_sendq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	sroce_rtx_paced(&sq->rtx, &sq->req, from, ktime_get_ns());
}

void sroce_rtx_timer_ahead(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	if (!sq->timer.blocked && !sq->req.rnr_wait)
		sroce_rtx_ahead(&sq->rtx, &sq->req, ktime_get_ns());
}

void sroce_rtx_timer_probe(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_count(qp, SROCE_TX_PROBES);
	sroce_rtx_probe(&qp->sq.rtx, &qp->sq.req, ktime_get_ns());
	timer_follow(&qp->sq);
}

/* Packets are about to be sent again. */
static void note_resent(struct sroce_sendq *sq)
{
	sroce_rtx_resent(&sq->rtx, &sq->req, ktime_get_ns());
	sroce_rtx_restart(&sq->rtx);
	if (!sq->timer.blocked && !sq->req.rnr_wait)
		sq->rtx.armed = false;
}

static bool has_retry(struct sroce_qp *qp, bool retried, enum sroce_counter why)
{
	if (!retried) {
		sroce_count(qp, SROCE_REQ_TRANSPORT_RETRIES_EXCEEDED);
		sroce_sq_fail(qp, SROCE_RETRY_EXC_ERR);
		return false;
	}
	sroce_count(qp, why);
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	return true;
}

void sroce_rtx_timer_retry(struct sroce_qp *qp, enum sroce_counter why)
{
	struct sroce_requester *req = &qp->sq.req;

	lockdep_assert_held(&qp->sq.lock);
	note_resent(&qp->sq);
	qp->sq.uso.lone = why == SROCE_LOCAL_ACK_TIMEOUT_ERR;
	if (has_retry(qp, sroce_completer_retry(req), why))
		trace_sroce_retransmit(qp, req->una, req->retry_left);
}

void sroce_rtx_timer_repair(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	u64 now = ktime_get_ns();

	lockdep_assert_held(&qp->sq.lock);
	if (sroce_rtx_repair_underway(&qp->sq.rtx, req, now))
		return;
	note_resent(&qp->sq);
	sroce_rtx_repaired(&qp->sq.rtx, req, now);
	if (!has_retry(qp, sroce_completer_repair(req), SROCE_PACKET_SEQ_ERR))
		return;
	if (req->repair.active) {
		sroce_count(qp, SROCE_TX_REPAIRS);
		trace_sroce_repair(qp, req->una, req->repair.end);
	} else {
		trace_sroce_retransmit(qp, req->una, req->retry_left);
	}
}

void sroce_rtx_timer_ask(struct sroce_qp *qp, bool rest)
{
	struct sroce_requester *req = &qp->sq.req;

	lockdep_assert_held(&qp->sq.lock);
	if (!sroce_completer_ask(req, rest))
		return;
	note_resent(&qp->sq);
	sroce_rtx_repaired(&qp->sq.rtx, req, ktime_get_ns());
	sroce_count(qp, SROCE_IMPLIED_NAK_SEQ_ERR);
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	sroce_count(qp, SROCE_TX_REPAIRS);
	trace_sroce_repair(qp, req->una, req->repair.gaps.top);
}

/* The slack never exceeds the timeout, so it at most doubles the wait. */
static u32 next_slack(const struct sroce_sendq *sq)
{
	u64 most = SROCE_MAX_TIMER_SLACK_NS;

	if (sq->rtx.timeout)
		most = min_t(u64, most, sq->rtx.timeout);
	return min_t(u64, most, sq->timer.slack ? 2 * sq->timer.slack :
						  SROCE_TIMER_SLACK_NS);
}

bool sroce_rtx_timer_due(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	sq->timer.running = false;
	if (sq->rtx.armed && ktime_get_ns() >= sq->rtx.deadline) {
		sq->rtx.armed = false;
		sq->timer.slack = 0;
		return true;
	}
	sq->timer.slack = next_slack(sq);
	if (sq->rtx.armed)
		timer_start(sq);
	return false;
}
