/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RATE_LIMIT_H
#define SROCE_RATE_LIMIT_H

#include "../net/burst.h"
#include "../queue/qp.h"

/* Has the QP a limit, or are its packets paced because the peer is not near? */
static inline bool sroce_rate_limited(const struct sroce_qp *qp)
{
	return qp->sq.rate.kbps || qp->sq.req.cc.paced;
}

/* Slow path of sroce_rate_held(): the QP has a limit. */
bool sroce_rate_wait(struct sroce_qp *qp);
/* Slow path of sroce_rate_charge(): the QP has a limit. */
void sroce_rate_add(struct sroce_qp *qp, const struct sroce_burst *burst);

/**
 * sroce_rate_held() - test whether the rate limit delays the QP
 * @qp: the QP, sq.lock held
 *
 * Return: true if the QP must wait; the timer resumes it.
 */
static inline bool sroce_rate_held(struct sroce_qp *qp)
{
	return unlikely(sroce_rate_limited(qp)) && sroce_rate_wait(qp);
}

/**
 * sroce_rate_charge() - charge a burst to the rate limit
 * @qp: the QP, sq.lock held
 * @burst: the burst, before sroce_burst_send(); may be empty
 */
static inline void sroce_rate_charge(struct sroce_qp *qp,
				     const struct sroce_burst *burst)
{
	if (unlikely(sroce_rate_limited(qp)))
		sroce_rate_add(qp, burst);
	qp->sq.rate.psns = 0;
}

/*
 * Set the limit, effective at once.  @qp: the QP, sq.lock held.  @rate: kbit/s,
 * or 0 for none.
 */
void sroce_rate_set(struct sroce_qp *qp, u32 rate);

#endif /* SROCE_RATE_LIMIT_H */
