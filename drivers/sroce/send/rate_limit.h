/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RATE_LIMIT_H
#define SROCE_RATE_LIMIT_H

#include "../net/burst.h"
#include "../queue/qp.h"

/* sroce_rate_held() of a QP that has a limit. */
bool sroce_rate_wait(struct sroce_qp *qp);
/* sroce_rate_charge() of a QP that has one. */
void sroce_rate_add(struct sroce_qp *qp, const struct sroce_burst *burst);

/**
 * sroce_rate_held() - does the QP's rate limit keep it from sending now?
 * @qp: the QP; its send lock is held
 *
 * Return: true if it is paused, and will go on by itself.
 */
static inline bool sroce_rate_held(struct sroce_qp *qp)
{
	return unlikely(qp->sq.rate.kbps) && sroce_rate_wait(qp);
}

/**
 * sroce_rate_charge() - a burst goes out and costs its time
 * @qp: the QP; its send lock is held
 * @burst: before sroce_burst_send(); may be empty
 */
static inline void sroce_rate_charge(struct sroce_qp *qp,
				     const struct sroce_burst *burst)
{
	if (unlikely(qp->sq.rate.kbps))
		sroce_rate_add(qp, burst);
}

/* A new limit, kilobits per second, or 0 for none; takes effect at once. */
void sroce_rate_set(struct sroce_qp *qp, u32 rate);

#endif /* SROCE_RATE_LIMIT_H */
