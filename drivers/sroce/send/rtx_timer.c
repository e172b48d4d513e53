// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The timer of the sending half: when silence means that something was lost,
 * and what is done about it.
 */
#include "../core/completer.h"
#include "../queue/trace.h"
#include "rtx_timer.h"
#include "sq.h"
#include "sq_complete.h"

/* Flights to who is near of which the time is not taken, after one that is. */
#define UNTIMED		15
/* Each waits twice as long as the one before. */
#define MOST_PROBES	8
/* For several READs a probe waits so many times twice as long. */
#define SHY		3

/*
 * As long as there is progress the timer fires in vain, each round trip or two.
 * Each time it becomes later, up to this, ns; what is lost then is noticed so
 * much later.
 */
#define LAZY		(64 * NSEC_PER_USEC)
#define MOST_LAZY	NSEC_PER_MSEC

static void timer_start(struct sroce_sendq *sq)
{
	sq->timer_runs = true;
	/* One interrupt serves the timers of many QPs. */
	hrtimer_start_range_ns(&sq->timer, sq->deadline, sq->lazy,
			       HRTIMER_MODE_ABS_PINNED_SOFT);
}

/*
 * The timer is left running when its deadline moves away, and looks at the
 * deadline when it fires: progress costs a store, not a timer operation.
 */
static void arm(struct sroce_qp *qp, ktime_t deadline)
{
	struct sroce_sendq *sq = &qp->sq;

	sq->deadline = deadline;
	sq->armed = true;
	if (!sq->timer_runs ||
	    ktime_after(hrtimer_get_expires(&sq->timer),
			ktime_add_ns(deadline, sq->lazy)))
		timer_start(sq);
}

void sroce_rtx_arm(struct sroce_qp *qp, u64 ns)
{
	lockdep_assert_held(&qp->sq.lock);
	qp->sq.lazy = 0;
	arm(qp, ktime_add_ns(ktime_get(), ns));
}

/* All that was sent again before this was known was not lost, but on its way. */
static void forgive(struct sroce_sendq *sq, u64 ns)
{
	if (sq->timeout && ns >= sq->timeout)
		sq->req.window = sq->req.max_window;
}

/*
 * The first time may be doubtful: the most that it takes.  The second one
 * replaces it.
 */
static void take_time(struct sroce_sendq *sq, ktime_t now)
{
	s64 ns = ktime_to_ns(ktime_sub(now, sq->timed_at));
	bool doubtful = sq->doubtful && !sq->rtt.smooth;

	if (sq->doubtful && !doubtful) {
		sq->rtt = (struct sroce_rtt) {};
		sq->doubtful = false;
		forgive(sq, ns);
	}
	sroce_rtt_add(&sq->rtt, ns);
	if (!sq->again)
		sq->far = sroce_requester_stretch(&sq->req, &sq->rtt,
						  sq->timed_flight);
	sq->timing = false;
	sq->again = false;
	sq->untimed = doubtful || sq->far ? 0 : UNTIMED;
}

/* Has what is timed been answered? */
static void look(struct sroce_sendq *sq, ktime_t now)
{
	if ((sq->timing || sq->again) &&
	    !sroce_psn_before(sq->req.una, sq->timed))
		take_time(sq, now);
}

/*
 * One flight in so many is timed, and none of which a part was sent again.  Of
 * READs and atomics the first answer, and only if nothing was ahead of it; but
 * from far away all of them, as the window depends on that.
 */
static void time_flight(struct sroce_sendq *sq, bool waits, bool idle,
			ktime_t now)
{
	const struct sroce_requester *req = &sq->req;
	bool first = req->reads && idle;

	look(sq, now);
	if (sq->resent && !sroce_psn_before(req->una, sq->resent_to))
		sq->resent = false;
	if (sq->timing || !waits || sq->resent ||
	    (req->reads && !idle && !sq->far))
		return;
	if (sq->rtt.smooth && sq->untimed) {
		sq->untimed--;
		return;
	}
	sq->timing = true;
	sq->timed = first ? sroce_psn_add(req->una, 1) : req->psn;
	sq->timed_flight = sroce_psn_diff(sq->timed, req->una);
	sq->timed_at = now;
}

/*
 * If what was sent before has been silent for longer than an answer can take,
 * the next one is to what is sent now.  Where losses are many that is the only
 * flight that can be timed.
 */
static bool gone(const struct sroce_sendq *sq, ktime_t now)
{
	return ktime_to_ns(ktime_sub(now, sq->silent)) >= sq->rtt.smooth;
}

void sroce_rtx_resend(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	ktime_t now = ktime_get();

	lockdep_assert_held(&sq->lock);
	/* What tells of a gap is an answer, too, to what was before it. */
	look(sq, now);
	sq->resent = true;
	sq->resent_to = sq->req.sent;
	if (!sq->rtt.smooth) {
		/* A peer far away must not look like losses. */
		sq->doubtful = true;
	} else {
		sq->timing = false;
		sq->again = sq->doubtful && gone(sq, now);
	}
	if (sq->again) {
		sq->timed = sroce_psn_add(sq->req.una, 1);
		sq->timed_at = now;
	}
	sq->silent = now;
}

/*
 * Between one and four times what the QP's attribute says (IBTA vol. 1,
 * 9.7.6.1.3): a peer may be further away than who has set it thought.
 */
static u64 timeout(const struct sroce_sendq *sq)
{
	if (!sq->rtt.smooth)
		return sq->timeout;
	return clamp(sroce_rtt_probe(&sq->rtt), sq->timeout, 4 * sq->timeout);
}

/*
 * An answer that is on its way and that to the second question come in an order
 * that is hard to make sense of if the peer refuses the latter.  With several
 * READs or atomics under way that is likelier, and their answers are many: they
 * are given more time, and are not asked for again before it is known how far
 * away the peer is.
 */
static u64 probe_after(const struct sroce_sendq *sq)
{
	const struct sroce_requester *req = &sq->req;
	bool alone = req->in.next + !!req->packet - req->in.head == 1;

	if (!req->reads || alone)
		return sroce_rtt_probe(&sq->rtt);
	return sq->rtt.smooth ? sroce_rtt_probe(&sq->rtt) << SHY : timeout(sq);
}

/* What is done here has no packet, and may wait for an answer itself. */
static bool packets_follow(const struct sroce_requester *req)
{
	return req->in.next != req->in.tail &&
	       !sroce_wr_local(sroce_inflight_wr(&req->in, req->in.next));
}

/*
 * In a stream the packets that follow tell of a loss.  Where none may follow,
 * at its end, when the window has become small, the peer was not ready, or the
 * rest of a READ waits for its first part, a probe asks (see RFC 8985 for the
 * same of TCP).
 */
static u64 patience(const struct sroce_sendq *sq)
{
	const struct sroce_requester *req = &sq->req;

	if (packets_follow(req) && req->window == req->max_window &&
	    !req->rnr_waits && !req->reads)
		return timeout(sq);
	return min(probe_after(sq), timeout(sq));
}

static void expect(struct sroce_qp *qp, ktime_t now)
{
	struct sroce_sendq *sq = &qp->sq;
	ktime_t next = ktime_add_ns(now, patience(sq));

	sq->silent = now;
	if (!sq->expires_set) {
		sq->probes = 0;
		sq->expires = ktime_add_ns(now, timeout(sq));
		sq->expires_set = true;
	}
	if (sq->probes == MOST_PROBES || ktime_after(next, sq->expires))
		next = sq->expires;
	arm(qp, next);
}

void sroce_rtx_progress(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	bool waits = sq->timeout && sroce_requester_waits(&sq->req);
	bool idle = !sq->armed;
	ktime_t now;

	lockdep_assert_held(&sq->lock);
	sq->armed = false;
	if (!waits)
		sq->expires_set = false;
	if (!waits && !sq->timing && !sq->again)
		return;
	now = ktime_get();
	time_flight(sq, waits, idle, now);
	if (waits)
		expect(qp, now);
}

/* Has a part of the oldest answer come, and then nothing more? */
static bool broke_off(const struct sroce_requester *req)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.head);

	return wr->started && sroce_psn_before(wr->psn, req->una);
}

/*
 * Is the last packet or its answer lost?  If not it is a duplicate, which does
 * no harm.  A READ or an atomic is asked for again.  It is no retry: the peer
 * has the time that the QP's attribute gives it.
 */
void sroce_rtx_probe(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	u64 after = probe_after(sq) << ++sq->probes;
	ktime_t next = ktime_add_ns(ktime_get(), after);

	sroce_count(qp, SROCE_TX_PROBES);
	sroce_rtx_resend(qp);
	if (sq->req.reads) {
		sq->req.rewound = true;
		if (broke_off(&sq->req))
			sroce_requester_slow(&sq->req);
		sroce_requester_rewind(&sq->req);
	} else {
		sq->probe = true;
	}
	if (sq->probes == MOST_PROBES || ktime_after(next, sq->expires))
		next = sq->expires;
	arm(qp, next);
}

void sroce_rtx_retry(struct sroce_qp *qp, enum sroce_counter why)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_rtx_resend(qp);
	qp->sq.expires_set = false;
	/* What is sent now has the whole time (vol. 1, 9.7.6.1.3). */
	if (!qp->sq.paused && !qp->sq.req.rnr_wait)
		qp->sq.armed = false;
	if (!sroce_completer_retry(&qp->sq.req)) {
		sroce_count(qp, SROCE_REQ_TRANSPORT_RETRIES_EXCEEDED);
		sroce_sq_fail(qp, SROCE_RETRY_EXC_ERR);
		return;
	}
	sroce_count(qp, why);
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	trace_sroce_retransmit(qp, qp->sq.req.una, qp->sq.req.retry_left);
}

/* A timeout is at most twice as long for that. */
static u32 lazier(const struct sroce_sendq *sq)
{
	u64 most = sq->timeout ? min_t(u64, MOST_LAZY, sq->timeout) : MOST_LAZY;

	return min_t(u64, most, sq->lazy ? 2 * sq->lazy : LAZY);
}

bool sroce_rtx_due(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	lockdep_assert_held(&sq->lock);
	sq->timer_runs = false;
	if (sq->armed && ktime_compare(ktime_get(), sq->deadline) >= 0) {
		sq->armed = false;
		sq->lazy = 0;
		return true;
	}
	sq->lazy = lazier(sq);
	if (sq->armed)
		timer_start(sq);
	return false;
}
