/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RQ_H
#define SROCE_RQ_H

#include "../core/errors.h"
#include "../core/params.h"
#include "../net/loopback.h"
#include "../queue/qp.h"
#include "../queue/wqe.h"
#include "xrc.h"

static inline bool sroce_rq_active(const struct sroce_qp *qp)
{
	u8 state = sroce_qp_state(qp);

	return state >= IB_QPS_RTR && state != IB_QPS_ERR;
}

static inline void sroce_rq_begin(struct sroce_qp *qp)
{
	spin_lock_bh(&qp->rq.lock);
	qp->rq.budget = SROCE_RESP_BUDGET;
}

/*
 * Completion handlers may post, and loopback packets may cause responses, so both
 * run after the lock is released.
 */
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

/* SGL with one entry: the remote memory that a request names. */
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
 * sroce_rq_take() - take the next receive WQE of the QP or its SRQ
 * @qp: the QP, rq.lock held; the WQE is stored in @qp->rq.wqe
 *
 * Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_rq_take(struct sroce_qp *qp);

/**
 * sroce_rq_page_in() - page in memory of the current request
 * @qp: connected QP, rq.lock held
 * @memory: SGL of the current request
 * @at: offset in @memory, bytes
 * @len: bytes
 * @ahead: further bytes, if they are mapped
 * @refused: error to return if it cannot be paged in
 *
 * Return: @refused, or SROCE_PAGED_OUT.
 */
enum sroce_resp_error sroce_rq_page_in(struct sroce_qp *qp,
				       const struct sroce_sgl *memory,
				       u32 at, u32 len, u32 ahead,
				       enum sroce_resp_error refused);

/* SGL of the receive WQE in rq.wqe. */
struct sroce_sgl sroce_rq_buffer(const struct sroce_qp *qp);

/**
 * sroce_rq_complete() - complete the receive WQE in rq.wqe
 * @qp: the QP, rq.lock held
 * @cqe: completion; wr_id and QP number are set here, and the opcode if it is 0
 *
 * Return: false if the CQ is full.  Then the completion is lost, and the QP is in the error
 * state.
 */
bool sroce_rq_complete(struct sroce_qp *qp, struct sroce_cqe *cqe);

/**
 * sroce_rq_fail() - complete the receive WQE in rq.wqe with an error, and move
 *   the QP to the error state
 * @qp: the QP, rq.lock held
 * @status: enum sroce_status
 */
void sroce_rq_fail(struct sroce_qp *qp, u8 status);

/**
 * sroce_rq_refuse() - refuse the current request
 * @qp: connected QP, rq.lock held
 * @reason: enum sroce_resp_error
 *
 * Sends the NAK, completes the WQE and changes the state as core/errors.c
 * defines.
 */
void sroce_rq_refuse(struct sroce_qp *qp, enum sroce_resp_error reason);

/**
 * sroce_rq_refuse_response() - refuse a READ whose memory is no longer
 *   accessible
 * @qp: reliable QP, rq.lock held
 * @psn: PSN of the first response packet that cannot be sent
 *
 * The READ was accepted earlier, so it is unrelated to the packet that is being
 * received.
 */
void sroce_rq_refuse_response(struct sroce_qp *qp, u32 psn);

/**
 * sroce_rq_flush_begin() - determine which WQEs to flush
 * @qp: the QP, rq.lock held; no effect outside the error state
 *
 * Like sroce_sq_flush_begin().
 */
void sroce_rq_flush_begin(struct sroce_qp *qp);

/**
 * sroce_rq_flush() - flush receive WQEs of a QP in the error state, in order
 * @qp: the QP, rq.lock held
 *
 * Flushes up to SROCE_FLUSH_BUDGET of the WQEs that sroce_rq_flush_begin()
 * found.
 *
 * Return: true if some are left.
 */
bool sroce_rq_flush(struct sroce_qp *qp);

/* Drop all posted WQEs (RESET).  rq.lock held. */
void sroce_rq_reset(struct sroce_qp *qp);

/**
 * sroce_rq_nak() - schedule a NAK
 * @qp: reliable QP, rq.lock held; sroce_resp_send() must follow
 * @syndrome: syndrome of the NAK, which carries the expected PSN
 */
void sroce_rq_nak(struct sroce_qp *qp, u8 syndrome);

/* True if the WQE in rq.wqe can be completed; false if its SRQ is gone. */
static inline bool sroce_rq_srq_valid(struct sroce_qp *qp)
{
	return !sroce_qp_target(qp) || sroce_xrc_srq_valid(qp);
}

#endif /* SROCE_RQ_H */
