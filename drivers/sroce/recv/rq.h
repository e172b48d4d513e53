/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RQ_H
#define SROCE_RQ_H

#include "../core/errors.h"
#include "../net/loopback.h"
#include "../queue/qp.h"
#include "../queue/wqe.h"
#include "xrc.h"

static inline bool sroce_rq_active(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

/*
 * Answers to READs that are sent under one hold of the lock: KiB, or packets if
 * these are more.  A CPU's backlog takes about as many should a device split
 * them (net.core.netdev_max_backlog, 1000).  The rest is the run_list's or the
 * work item's.
 */
#define SROCE_RESP_BUDGET	1024

static inline void sroce_rq_begin(struct sroce_qp *qp)
{
	spin_lock_bh(&qp->rq.lock);
	qp->rq.budget = SROCE_RESP_BUDGET;
}

/* Completion handlers may post, peers answer: after the lock is gone. */
static inline void sroce_rq_end(struct sroce_qp *qp)
{
	struct sroce_cq *cq = qp->rq.cq;
	struct sroce_srq *srq;

	srq = sroce_qp_target(qp) ? sroce_xrc_srq_release(qp) : NULL;
	sroce_mr_cache_drop(&qp->rq.cache);
	spin_unlock(&qp->rq.lock);
	if (cq)
		sroce_cq_notify(cq);
	if (srq)
		sroce_xrc_srq_put(srq);
	sroce_loopback_run();
	local_bh_enable();
}

/* The remote memory that a request names, as a list of one piece. */
#define SROCE_REMOTE_SGL(name, qp, address, bytes, key, rights)	\
	const struct sroce_sge name##_sge = {				\
		.addr = (address), .length = (bytes), .lkey = (key),	\
	};								\
	const struct sroce_sgl name = {				\
		.pd = (qp)->rq.pd, .qpn = (qp)->qpn,			\
		.sge = &name##_sge, .num_sge = 1,			\
		.access = (rights),					\
	}

/**
 * sroce_rq_take() - take the next receive request, of the QP or its SRQ
 * @qp: the QP, rq.lock held; the result is in @qp->rq.wqe
 *
 * Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_rq_take(struct sroce_qp *qp);

/**
 * sroce_rq_page_in() - something is not present: nobody is to blame if it
 *	will be
 * @qp: connected; rq.lock held
 * @memory: of the request in hand
 * @at: what is wanted of it
 * @len: bytes
 * @refused: the reason, if it cannot be paged in
 *
 * Return: @refused, or SROCE_PAGED_OUT.
 */
enum sroce_resp_error sroce_rq_page_in(struct sroce_qp *qp,
				       const struct sroce_sgl *memory,
				       u32 at, u32 len,
				       enum sroce_resp_error refused);

/* The memory that the request in rq.wqe names. */
struct sroce_sgl sroce_rq_buffer(const struct sroce_qp *qp);

/**
 * sroce_rq_complete() - complete the receive request in rq.wqe
 * @qp: the QP, rq.lock held
 * @cqe: wr_id, QP number and opcode are filled in here if zero
 */
void sroce_rq_complete(struct sroce_qp *qp, struct sroce_cqe *cqe);

/**
 * sroce_rq_fail() - the receive request in rq.wqe fails, and the QP
 * @qp: the QP, rq.lock held
 * @status: enum sroce_status
 */
void sroce_rq_fail(struct sroce_qp *qp, u8 status);

/**
 * sroce_rq_refuse() - the request in hand is wrong
 * @qp: connected; rq.lock held
 * @reason: enum sroce_resp_error
 *
 * Does all that core/errors.c says follows from it.
 */
void sroce_rq_refuse(struct sroce_qp *qp, enum sroce_resp_error reason);

/**
 * sroce_rq_refuse_response() - the memory of a READ has gone
 * @qp: reliable; rq.lock held
 * @psn: of the first packet that the peer will miss
 *
 * The request was accepted some time ago: what is being received now has
 * nothing to do with it.
 */
void sroce_rq_refuse_response(struct sroce_qp *qp, u32 psn);

/**
 * sroce_rq_flush_begin() - settle what is to be flushed
 * @qp: the QP, rq.lock held; nothing happens if it is not in error
 *
 * As sroce_sq_flush_begin().
 */
void sroce_rq_flush_begin(struct sroce_qp *qp);

/**
 * sroce_rq_flush() - complete receive requests of a QP in error, in order
 * @qp: the QP, rq.lock held
 *
 * Those that sroce_rq_flush_begin() has found, up to SROCE_FLUSH_BUDGET.
 *
 * Return: true if there are more.
 */
bool sroce_rq_flush(struct sroce_qp *qp);

/* Forget everything that was posted (RESET); rq.lock held. */
void sroce_rq_reset(struct sroce_qp *qp);

/**
 * sroce_rq_nak() - have a NAK sent
 * @qp: reliable; rq.lock held; sroce_resp_send() follows
 * @syndrome: of the NAK, which is about the expected PSN
 */
void sroce_rq_nak(struct sroce_qp *qp, u8 syndrome);

/* Can the request in rq.wqe be completed, or is its SRQ gone? */
static inline bool sroce_rq_srq_valid(struct sroce_qp *qp)
{
	return !sroce_qp_target(qp) || sroce_xrc_srq_valid(qp);
}

#endif /* SROCE_RQ_H */
