// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receive WQEs: taking, completing, refusing and flushing them. */
#include "../core/aeth.h"
#include "../core/params.h"
#include "../queue/comp_cntr.h"
#include "../queue/qp_run.h"
#include "../queue/srq.h"
#include "../queue/trace.h"
#include "rq.h"

static void count_rq_error(struct sroce_qp *qp, u8 status)
{
	sroce_count(qp, SROCE_RESP_CQE_ERROR);
	if (status == SROCE_WR_FLUSH_ERR)
		sroce_count(qp, SROCE_RESP_CQE_FLUSH_ERROR);
}

bool sroce_rq_complete(struct sroce_qp *qp, struct sroce_cqe *cqe)
{
	lockdep_assert_held(&qp->rq.lock);
	cqe->wr_id = qp->rq.wqe->wr_id;
	cqe->qp_num = qp->qpn;
	if (!cqe->opcode)
		cqe->opcode = IB_WC_RECV;
	cqe->cookie = qp->user ? 0 : (uintptr_t)qp->ib;
	if (unlikely(cqe->status))
		count_rq_error(qp, cqe->status);
	trace_sroce_complete(qp, cqe);
	sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_RECV, cqe->status);
	if (sroce_cq_push(qp->rq.cq, cqe))
		return true;
	sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
	return false;
}

void sroce_rq_fail(struct sroce_qp *qp, u8 status)
{
	struct sroce_cqe cqe = { .status = status };

	lockdep_assert_held(&qp->rq.lock);
	sroce_rq_complete(qp, &cqe);
	sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FLUSH);
}

enum sroce_fetched sroce_rq_take(struct sroce_qp *qp)
{
	enum sroce_fetched fetched;
	unsigned long todo = 0;

	lockdep_assert_held(&qp->rq.lock);
	if (!qp->srq)
		return sroce_wqe_fetch_recv(qp->dev, &qp->rq.ring, qp->rq.wqe);
	fetched = sroce_srq_take(qp->srq, qp->rq.wqe, &todo);
	qp->rq.taken_from = qp->srq->serial;
	if (todo && sroce_qp_target(qp))
		sroce_srq_raise_due(qp->srq, todo);
	else if (todo)
		sroce_qp_wake(qp, todo);
	return fetched;
}

/*
 * Flush the WQE that was taken, and report that the SRQ's last WQE was reached.
 */
static void flush_taken(struct sroce_qp *qp)
{
	struct sroce_cqe cqe = { .status = SROCE_WR_FLUSH_ERR };

	if ((qp->rq.resp.rwqe_taken || qp->rq.wqe_held) && sroce_rq_srq_valid(qp))
		sroce_rq_complete(qp, &cqe);
	qp->rq.resp.rwqe_taken = false;
	qp->rq.wqe_held = false;
	if (qp->srq && !sroce_qp_target(qp) && !qp->rq.last_told) {
		qp->rq.last_told = true;
		sroce_qp_wake(qp, BIT(SROCE_TODO_LAST_RECV));
	}
}

void sroce_rq_flush_begin(struct sroce_qp *qp)
{
	struct sroce_recv_ring *ring = &qp->rq.ring;
	u32 waiting;

	lockdep_assert_held(&qp->rq.lock);
	if (sroce_qp_state(qp) != IB_QPS_ERR)
		return;
	sroce_ooo_drop(&qp->rq.ooo, qp->dev);
	flush_taken(qp);
	if (!ring->entries)
		return;
	sroce_ring_error(qp->slot);
	waiting = sroce_load_acquire(&qp->slot->rq_tail) - ring->head;
	qp->rq.flushing = min(waiting, ring->entries);
}

static bool flush_one(struct sroce_qp *qp)
{
	struct sroce_cqe cqe = { .status = SROCE_WR_FLUSH_ERR };
	enum sroce_fetched fetched = sroce_rq_take(qp);

	if (fetched == SROCE_FETCHED_NONE || fetched == SROCE_FETCHED_BROKEN)
		return false;
	sroce_rq_complete(qp, &cqe);
	return true;
}

bool sroce_rq_flush(struct sroce_qp *qp)
{
	u32 budget = SROCE_FLUSH_BUDGET;

	lockdep_assert_held(&qp->rq.lock);
	if (sroce_qp_state(qp) != IB_QPS_ERR)
		return false;
	while (qp->rq.flushing && budget--)
		qp->rq.flushing = flush_one(qp) ? qp->rq.flushing - 1 : 0;
	return qp->rq.flushing;
}

void sroce_rq_reset(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;

	qp->rq.ring.head = 0;
	qp->rq.pending.ack = false;
	qp->rq.pending.ack_again = false;
	qp->rq.pending.syndrome = 0;
	qp->rq.ring.broken = false;
	qp->rq.last_told = false;
	qp->rq.wqe_held = false;
	qp->rq.flushing = 0;
	qp->rq.pauses = 0;
	r->kind = SROCE_KIND_NONE;
	r->rwqe_taken = false;
	r->nak_sent = false;
	r->reorder = (struct sroce_reorder) {};
	r->msn = 0;
	r->done = 0;
	r->res.first = 0;
	r->res.count = 0;
	r->res.waiting = 0;
	r->res.first_pending = 0;
	r->res.spoiled = 0;
	qp->rq.write_back.begun = false;
	sroce_fault_reset(&qp->rq.fault);
	sroce_ooo_drop(&qp->rq.ooo, qp->dev);
	sroce_store(&qp->slot->rq_head, 0);
}

/* Refusing requests */

static void count_nak(struct sroce_qp *qp, u8 syndrome)
{
	switch (syndrome) {
	case SROCE_NAK_SEQUENCE:
		sroce_count(qp, SROCE_TX_NAK_SEQUENCE);
		break;
	case SROCE_NAK_INVALID_REQ:
		sroce_count(qp, SROCE_TX_NAK_INVALID);
		break;
	case SROCE_NAK_REM_OP:
		sroce_count(qp, SROCE_TX_NAK_OPERATION);
		break;
	case SROCE_NAK_REM_ACCESS:
		break;
	default:
		sroce_count(qp, SROCE_TX_NAK_RNR);
	}
}

void sroce_rq_nak(struct sroce_qp *qp, u8 syndrome)
{
	lockdep_assert_held(&qp->rq.lock);
	qp->rq.pending.syndrome = syndrome;
	qp->rq.pending.nak_psn = qp->rq.resp.epsn;
	count_nak(qp, syndrome);
}

static void count_failure(struct sroce_qp *qp,
			  const struct sroce_failure *failure)
{
	if (failure->status == SROCE_REM_ACCESS_ERR)
		sroce_count(qp, SROCE_RESP_REMOTE_ACCESS_ERRORS);
	else if (failure->status == SROCE_LOC_LEN_ERR)
		sroce_count(qp, SROCE_RESP_LOCAL_LENGTH_ERROR);
}

static enum sroce_qp_todo failure_event(const struct sroce_failure *failure)
{
	switch (failure->event) {
	case SROCE_EVENT_REQ_ERR:
		return SROCE_TODO_REQ_ERR;
	case SROCE_EVENT_ACCESS_ERR:
		return SROCE_TODO_ACCESS_ERR;
	default:
		return SROCE_TODO_FATAL;
	}
}

void sroce_rq_refuse(struct sroce_qp *qp, enum sroce_resp_error reason)
{
	const struct sroce_failure *failure = &sroce_failures[reason];
	struct sroce_responder *r = &qp->rq.resp;
	struct sroce_cqe cqe = {
		.status = failure->status,
		.vendor_err = reason,
	};

	lockdep_assert_held(&qp->rq.lock);
	count_failure(qp, failure);
	if (!sroce_responder_reliable(r) && !failure->local) {
		r->kind = SROCE_KIND_NONE;
		sroce_count(qp, SROCE_RX_IGNORED);
		return;
	}
	if (sroce_responder_reliable(r))
		sroce_rq_nak(qp, failure->syndrome);
	if (!r->rwqe_taken || !sroce_rq_srq_valid(qp)) {
		r->rwqe_taken = false;
		sroce_qp_error(qp, IB_QPS_ERR, failure_event(failure));
		return;
	}
	r->rwqe_taken = false;
	sroce_rq_complete(qp, &cqe);
	sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FLUSH);
}

void sroce_rq_refuse_response(struct sroce_qp *qp, u32 psn)
{
	const struct sroce_failure *failure =
		&sroce_failures[SROCE_RKEY_REFUSED];

	lockdep_assert_held(&qp->rq.lock);
	count_failure(qp, failure);
	sroce_rq_nak(qp, failure->syndrome);
	qp->rq.pending.nak_psn = psn;
	sroce_qp_error(qp, IB_QPS_ERR, failure_event(failure));
}

struct sroce_sgl sroce_rq_buffer(const struct sroce_qp *qp)
{
	return (struct sroce_sgl) {
		/*
		 * The keys belong to the PD of the queue that the WQE was
		 * posted to.
		 */
		.pd = qp->srq ? qp->srq->ib.pd : qp->pd,
		.sge = qp->rq.wqe->sge,
		.num_sge = qp->rq.wqe->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
}

enum sroce_resp_error sroce_rq_page_in(struct sroce_qp *qp,
				       const struct sroce_sgl *memory,
				       u32 at, u32 len, u32 ahead,
				       enum sroce_resp_error refused)
{
	lockdep_assert_held(&qp->rq.lock);
	return sroce_fault_start(&qp->rq.fault, memory, at, len, ahead) ?
	       refused : SROCE_PAGED_OUT;
}
