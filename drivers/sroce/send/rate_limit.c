// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rate limit of a QP, and the pace of packets to a peer that is not near: each burst is
 * followed by a pause, as long as its packets take at that rate.
 */
#include "../core/params.h"
#include "rate_limit.h"
#include "rtx_timer.h"

void sroce_rate_set(struct sroce_qp *qp, u32 rate)
{
	lockdep_assert_held(&qp->sq.lock);
	qp->sq.rate.kbps = rate;
	qp->sq.rate.free_at = ktime_get();
	/*
	 * End the wait for the old limit, which may be long.  If an RNR NAK
	 * arrived meanwhile, the deadline is that of the RNR wait and stays.
	 */
	if (qp->sq.timer.blocked && !qp->sq.req.rnr_wait)
		qp->sq.rtx.armed = false;
	qp->sq.timer.blocked = SROCE_SQ_OPEN;
}

bool sroce_rate_wait(struct sroce_qp *qp)
{
	s64 left;

	lockdep_assert_held(&qp->sq.lock);
	left = ktime_to_ns(ktime_sub(qp->sq.rate.free_at, ktime_get()));
	if (left <= 0)
		return false;
	qp->sq.timer.blocked = SROCE_SQ_RATE;
	sroce_rtx_timer_arm(qp, left);
	return true;
}

/* ns that the burst takes at the rate of the user's limit. */
static u64 limit_ns(const struct sroce_rate *rate, const struct sroce_burst *burst)
{
	size_t headers = sroce_ip_bytes(burst->av->ipv4) + SROCE_UDP_BYTES;
	u64 bits = 8ull * (burst->bytes + burst->packets * headers);

	/* Bits divided by kbit/s are milliseconds. */
	return rate->kbps ? div_u64(bits * NSEC_PER_MSEC, rate->kbps) : 0;
}

/*
 * The QP makes up for timer delay, up to a limit, so that the rate holds on
 * average.  It does not make up for longer times without requests.
 */
void sroce_rate_add(struct sroce_qp *qp, const struct sroce_burst *burst)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 slack = sq->rate.kbps ? SROCE_RATE_SLACK_NS : SROCE_PACE_SLACK_NS;
	ktime_t oldest;
	u64 pace;

	lockdep_assert_held(&sq->lock);
	if (!burst->packets)
		return;
	pace = sroce_cc_pace(&sq->req.cc, &sq->rtx.rtt, sq->rate.psns);
	oldest = ktime_sub_ns(ktime_get(), slack);
	if (ktime_before(sq->rate.free_at, oldest))
		sq->rate.free_at = oldest;
	sq->rate.free_at = ktime_add_ns(sq->rate.free_at,
					max(pace, limit_ns(&sq->rate, burst)));
}
