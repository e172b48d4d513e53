/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SQ_H
#define SROCE_SQ_H

#include "../net/loopback.h"
#include "../queue/qp.h"
#include "../queue/wqe.h"

static inline bool sroce_sq_active(const struct sroce_qp *qp)
{
	u8 state = sroce_qp_state(qp);

	return state == IB_QPS_RTS || state == IB_QPS_SQD;
}

static inline void sroce_sq_begin(struct sroce_qp *qp)
{
	spin_lock_bh(&qp->sq.lock);
}

/*
 * Completion handlers and loopback delivery run without the lock: a handler may
 * post, and a peer on this device may respond.
 */
static inline void sroce_sq_end(struct sroce_qp *qp)
{
	sroce_mr_cache_drop(&qp->sq.cache);
	spin_unlock(&qp->sq.lock);
	if (qp->sq.cq)
		sroce_cq_notify(qp->sq.cq);
	sroce_loopback_run();
	local_bh_enable();
}

/* The memory that the response to a READ or an atomic is stored to. */
static inline struct sroce_sgl sroce_sq_local_sgl(struct sroce_qp *qp, u32 index)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&qp->sq.req.in, index);

	return (struct sroce_sgl) {
		.pd = qp->pd,
		.sge = sroce_wqe_list(qp, index),
		.num_sge = wr->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
}

#endif /* SROCE_SQ_H */
