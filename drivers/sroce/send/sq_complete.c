// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion of send requests: success, failure or flush.
 */
#include "../core/params.h"
#include "../mem/mr_fast.h"
#include "../queue/comp_cntr.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../queue/wqe.h"
#include "sq.h"
#include "sq_complete.h"

static void count_sq_error(struct sroce_qp *qp, u8 status)
{
	sroce_count(qp, SROCE_REQ_CQE_ERROR);
	if (status == SROCE_WR_FLUSH_ERR)
		sroce_count(qp, SROCE_REQ_CQE_FLUSH_ERROR);
}

/* enum ib_qp_attach_comp_cntr_op; 0 if no counter counts this request. */
static u32 counted_op(const struct sroce_wr *wr)
{
	switch (sroce_wr_row(wr)->wc) {
	case SROCE_WC_SEND:
		return IB_QP_ATTACH_COMP_CNTR_OP_SEND;
	case SROCE_WC_RDMA_WRITE:
		return IB_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE;
	case SROCE_WC_RDMA_READ:
		return IB_QP_ATTACH_COMP_CNTR_OP_RDMA_READ;
	default:
		return 0;
	}
}

static void write_cqe(struct sroce_qp *qp, const struct sroce_wr *wr, u8 status)
{
	struct sroce_cqe cqe __uninitialized;

	sroce_cqe_begin(&cqe);
	cqe.wr_id = wr->wr_id;
	cqe.byte_len = wr->length;
	cqe.qp_num = qp->qpn;
	cqe.status = status;
	cqe.opcode = sroce_wr_row(wr)->wc;
	cqe.cookie = qp->user ? 0 : (uintptr_t)qp->ib;
	if (unlikely(status))
		count_sq_error(qp, status);
	trace_sroce_complete(qp, &cqe);
	if (!sroce_cq_push(qp->sq.cq, &cqe))
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
}

void sroce_sq_complete(struct sroce_qp *qp, u8 status)
{
	struct sroce_requester *req = &qp->sq.req;
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.head);
	bool tell = status || wr->flags & SROCE_SIGNALED || qp->sq.ring.signal_all;

	lockdep_assert_held(&qp->sq.lock);
	/* Free the slot of the ring before the completion is visible. */
	sroce_store_release(&qp->slot->sq_head, req->in.head + 1);
	if (unlikely(qp->cntr_ops))
		sroce_comp_cntr_add(qp, counted_op(wr), status);
	if (tell)
		write_cqe(qp, wr, status);
	sroce_requester_retire(req);
}

/* See execute_local() in send/req.c for the reason to drop the cached MR. */
u8 sroce_sq_invalidate(struct sroce_qp *qp, const struct sroce_wr *wr)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_mr_cache_drop(&qp->sq.cache);
	return sroce_invalidate(qp->pd, qp->qpn, wr->invalidate, false);
}

static void fail_oldest(struct sroce_qp *qp, u8 status)
{
	u8 state = sroce_qp_reliable(qp) ? IB_QPS_ERR : IB_QPS_SQE;

	if (qp->sq.req.in.head != qp->sq.req.in.tail)
		sroce_sq_complete(qp, status);
	sroce_qp_error(qp, state, SROCE_TODO_FLUSH);
}

/* Returns false if the request was to invalidate an R_Key, and that failed. */
static bool complete_one(struct sroce_qp *qp)
{
	const struct sroce_inflight *in = &qp->sq.req.in;
	const struct sroce_wr *wr = sroce_inflight_wr(in, in->head);
	u8 status = 0;

	if (unlikely(wr->flags & SROCE_INVALIDATE))
		status = sroce_sq_invalidate(qp, wr);
	if (unlikely(status))
		fail_oldest(qp, status);
	else
		sroce_sq_complete(qp, SROCE_SUCCESS);
	return !status;
}

void sroce_sq_complete_done(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	while (sroce_sq_active(qp) && sroce_requester_finished(&qp->sq.req))
		complete_one(qp);
}

/* Finished requests succeed, even if the receive queue has failed since. */
void sroce_sq_fail(struct sroce_qp *qp, u8 status)
{
	lockdep_assert_held(&qp->sq.lock);
	while (sroce_requester_finished(&qp->sq.req))
		if (!complete_one(qp))
			return;
	fail_oldest(qp, status);
}

/*
 * The receive queue may fail between the end of a request and its completion.  A
 * finished request is not flushed then.  Example: after a bind of length 0, the
 * peer's next WRITE through the memory window is such a failure.
 */
static u8 flush_status(const struct sroce_requester *req)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.head);

	return sroce_requester_finished(req) &&
	       !(wr->flags & SROCE_INVALIDATE) && !wr->status ?
	       SROCE_SUCCESS : SROCE_WR_FLUSH_ERR;
}

static bool to_flush(u8 state)
{
	return state == IB_QPS_ERR || state == IB_QPS_SQE;
}

static bool more_to_flush(const struct sroce_qp *qp)
{
	return (s32)(qp->sq.ring.flush_end - qp->sq.req.in.tail) > 0;
}

void sroce_sq_flush_begin(struct sroce_qp *qp)
{
	u8 state = sroce_qp_state(qp);

	lockdep_assert_held(&qp->sq.lock);
	if (!to_flush(state)) {
		/* The QP may enter the error state before sroce_sq_flush() runs. */
		qp->sq.ring.flush_end = qp->sq.req.in.tail;
		return;
	}
	qp->sq.rtx.armed = false;
	sroce_ooo_drop(&qp->sq.ooo, qp->dev);
	if (state == IB_QPS_ERR)
		sroce_ring_error(qp->slot);
	else
		sroce_ring_idle(qp->slot);
	qp->sq.ring.flush_end = sroce_wqe_end(qp);
}

/* Flush WQEs straight from the ring: there was no memory for their records. */
static void flush_unfetched(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	struct sroce_wr wr;

	sroce_wqe_header(qp, in->tail, &wr);
	in->next = ++in->tail;
	in->head = in->tail;
	sroce_store_release(&qp->slot->sq_head, in->head);
	sroce_comp_cntr_add(qp, counted_op(&wr), true);
	write_cqe(qp, &wr, SROCE_WR_FLUSH_ERR);
}

bool sroce_sq_flush(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	u32 budget = SROCE_FLUSH_BUDGET;

	lockdep_assert_held(&qp->sq.lock);
	if (!to_flush(sroce_qp_state(qp)))
		return false;
	/* A WQE may have a kilobyte of inline data: copy only those flushed now. */
	if (in->wrs && in->tail - in->head < budget)
		sroce_wqe_fetch_until(qp, qp->sq.ring.flush_end,
				      budget - (in->tail - in->head));
	while (in->head != in->tail && budget--)
		sroce_sq_complete(qp, flush_status(&qp->sq.req));
	while (!in->wrs && more_to_flush(qp) && budget--)
		flush_unfetched(qp);
	return in->head != in->tail || more_to_flush(qp);
}
