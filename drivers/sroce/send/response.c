// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester, receive side: core/completer.c decides what a response means, and this
 * file carries it out.
 */
#include "../core/aeth.h"
#include "../core/completer.h"
#include "../core/recovery.h"
#include "../net/uso.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../queue/wqe.h"
#include "response.h"
#include "rtx_timer.h"
#include "sq.h"
#include "sq_complete.h"

static void store_response(struct sroce_qp *qp, const struct sroce_rx *rx,
			   const struct sroce_ack_result *a, bool atomic)
{
	struct sroce_sgl to = sroce_sq_local_sgl(qp, a->index);
	u32 length = sroce_inflight_wr(&qp->sq.req.in, a->index)->length;
	u32 at = atomic ? 0 : a->offset;
	int err;

	if (atomic)
		err = sroce_sgl_store(&qp->sq.cache, &to, at,
				      &rx->pkt.original, sizeof(u64));
	else
		err = sroce_sgl_store_packet(&qp->sq.cache, &to, at,
					     rx->payload, rx->pkt.payload);
	if (err == -EAGAIN &&
	    !sroce_fault_start(&qp->sq.paging.fault, &to, at, length - at, 0))
		qp->sq.paging.refetch = true;
	else if (err == -ENODATA)	/* the request is sent again */
		sroce_count(qp, SROCE_RX_MALFORMED);
	else if (err)
		sroce_sq_fail(qp, SROCE_LOC_PROT_ERR);
	else
		sroce_requester_acknowledge(&qp->sq.req, a->psn);
}

static void wait_rnr(struct sroce_qp *qp, const struct sroce_ack_result *a)
{
	if (!sroce_completer_rnr(&qp->sq.req)) {
		sroce_count(qp, SROCE_REQ_RNR_RETRIES_EXCEEDED);
		sroce_sq_fail(qp, SROCE_RNR_RETRY_EXC_ERR);
		return;
	}
	sroce_count(qp, SROCE_RNR_NAK_RETRY_ERR);
	sroce_uso_reset(&qp->sq.uso);
	sroce_rtx_rnr(&qp->sq.rtx);
	sroce_rtx_timer_arm(qp, sroce_rnr_wait(a->rnr_timer,
					       qp->sq.req.rnr_waits) *
				NSEC_PER_USEC);
	trace_sroce_retransmit(qp, qp->sq.req.una, qp->sq.req.rnr_left);
}

void sroce_req_refused(struct sroce_qp *qp, u8 status)
{
	lockdep_assert_held(&qp->sq.lock);
	switch (status) {
	case SROCE_REM_INV_REQ_ERR:
		sroce_count(qp, SROCE_REQ_REMOTE_INVALID_REQUEST);
		break;
	case SROCE_REM_ACCESS_ERR:
		sroce_count(qp, SROCE_REQ_REMOTE_ACCESS_ERRORS);
		break;
	case SROCE_REM_OP_ERR:
		sroce_count(qp, SROCE_REQ_REMOTE_OPERATION_ERRORS);
		break;
	}
	sroce_sq_fail(qp, status);
}

/* A NAK reports the gap, or a later response shows it. */
static enum sroce_counter gap_counter(const struct sroce_pkt *pkt)
{
	return pkt->op->kind == SROCE_KIND_ACK &&
	       pkt->syndrome == SROCE_NAK_SEQUENCE ? SROCE_PACKET_SEQ_ERR :
						     SROCE_IMPLIED_NAK_SEQ_ERR;
}

/*
 * Request the packets of a gap again.  If this host dropped one because memory was not
 * present, none was lost: refetch_responses() requests what is missing.
 * @rest: as of sroce_rtx_timer_ask()
 */
static void ask_for_gap(struct sroce_qp *qp, bool rest)
{
	if (!qp->sq.paging.refetch)
		sroce_rtx_timer_ask(qp, rest);
}

/* READ data behind a gap: keep it until the gap is filled. */
static void hold_response(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_requester *req = &qp->sq.req;

	if (sroce_ooo_add(&qp->sq.ooo, qp->dev, &rx->pkt, rx->payload) &&
	    sroce_requester_ahead(req, rx->pkt.psn)) {
		sroce_count(qp, SROCE_RX_HELD);
		ask_for_gap(qp, false);
	} else if (!sroce_requester_holds(req) && !req->rewound &&
		   !qp->sq.paging.refetch) {
		sroce_rtx_timer_retry(qp, SROCE_IMPLIED_NAK_SEQ_ERR);
	}
}

static void handle_verdict(struct sroce_qp *qp, const struct sroce_rx *rx,
			   enum sroce_ack_verdict verdict, const struct sroce_ack_result *a)
{
	switch (verdict) {
	case SROCE_RESP_DATA:
		store_response(qp, rx, a, false);
		break;
	case SROCE_RESP_AHEAD:
		hold_response(qp, rx);
		break;
	case SROCE_RESP_ASK:
		ask_for_gap(qp, true);
		break;
	case SROCE_RESP_REPAIR:
		sroce_rtx_timer_repair(qp);
		break;
	case SROCE_RESP_ATOMIC:
		store_response(qp, rx, a, true);
		break;
	case SROCE_RESP_RETRY:
		/* This host dropped the responses; see refetch_responses(). */
		if (qp->sq.paging.refetch)
			break;
		sroce_rtx_timer_retry(qp, gap_counter(&rx->pkt));
		break;
	case SROCE_RESP_RNR:
		wait_rnr(qp, a);
		break;
	case SROCE_RESP_FAIL:
		sroce_req_refused(qp, a->status);
		break;
	default:
		break;
	}
}

/* A refused request fails once all requests before it are complete. */
static void fail_refused(struct sroce_qp *qp)
{
	struct sroce_ack_result a;

	if (!sroce_sq_active(qp) || !sroce_completer_refused(&qp->sq.req, &a))
		return;
	sroce_requester_acknowledge(&qp->sq.req, a.up_to);
	sroce_sq_complete_done(qp);
	sroce_req_refused(qp, a.status);
}

/* A response that is held or dropped, because an earlier one is missing. */
static bool came_ahead(const struct sroce_pkt *pkt, enum sroce_ack_verdict verdict,
		       const struct sroce_ack_result *a)
{
	return verdict == SROCE_RESP_AHEAD ||
	       (pkt->op->kind != SROCE_KIND_ACK &&
		(verdict == SROCE_RESP_ACK || verdict == SROCE_RESP_ASK ||
		 verdict == SROCE_RESP_RETRY) &&
		!sroce_psn_before(pkt->psn, a->up_to));
}

static void note_ahead(struct sroce_qp *qp)
{
	sroce_count(qp, SROCE_OUT_OF_SEQUENCE);
	sroce_rtx_timer_ahead(qp);
}

static void take_response(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_requester *req = &qp->sq.req;
	enum sroce_ack_verdict verdict;
	struct sroce_ack_result a;
	u32 una = req->una;

	lockdep_assert_held(&qp->sq.lock);
	if (!sroce_sq_active(qp) || !req->in.wrs) {
		sroce_count(qp, SROCE_RX_BAD_STATE);
		return;
	}
	verdict = sroce_completer_check(req, &rx->pkt, &a);
	if (verdict == SROCE_RESP_IGNORE) {
		sroce_rtx_echo(&qp->sq.rtx, req, rx->pkt.psn);
		sroce_count(qp, SROCE_RX_IGNORED);
		return;
	}
	sroce_count(qp, SROCE_RX_ACKS);
	if (unlikely(came_ahead(&rx->pkt, verdict, &a)))
		note_ahead(qp);
	sroce_completer_acknowledge(req, verdict, &a);
	sroce_sq_complete_done(qp);
	handle_verdict(qp, rx, verdict, &a);
	if (unlikely(a.status) && verdict != SROCE_RESP_FAIL) {
		req->refusal = a.status;
		req->refused = rx->pkt.psn;
	}
	sroce_sq_complete_done(qp);
	if (unlikely(req->refusal))
		fail_refused(qp);
	if (req->una != una) {
		qp->sq.timer.progress = true;
		qp->sq.timer.pauses = 0;
		if (unlikely(sroce_uso_acked(&qp->sq.uso, req->una)))
			sroce_uso_found(&qp->sq.path, qp->av);
	}
}

/* A gap is filled: take the responses that it had held up, in order. */
static void take_held(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	struct sroce_ooo_packet *held;
	u32 una;

	do {
		una = req->una;
		held = sroce_ooo_take(&qp->sq.ooo, qp->dev, una);
		if (held) {
			struct sroce_reader reader = sroce_ooo_reader(held);
			const struct sroce_rx rx = {
				.pkt = held->pkt,
				.payload = &reader,
			};

			take_response(qp, &rx);
			kfree(held);
		}
	} while (held && req->una != una);
	/* After a rewind, or in an error state, no packet is held any more. */
	if (!sroce_requester_holds(req) || !sroce_sq_active(qp))
		sroce_ooo_drop(&qp->sq.ooo, qp->dev);
}

void sroce_req_response(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	lockdep_assert_held(&qp->sq.lock);
	take_response(qp, rx);
	if (unlikely(qp->sq.ooo.packets))
		take_held(qp);
}

bool sroce_req_predicted(struct sroce_qp *qp, const u8 *bth,
			 struct sroce_reader *payload, u32 len)
{
	struct sroce_requester *req = &qp->sq.req;
	struct sroce_sgl to;
	u32 offset;

	lockdep_assert_held(&qp->sq.lock);
	if (!sroce_sq_active(qp) || !req->in.wrs ||
	    !sroce_completer_predicts(req, bth, len, &offset))
		return false;
	to = sroce_sq_local_sgl(qp, req->in.head);
	if (sroce_sgl_store_packet(&qp->sq.cache, &to, offset, payload, len))
		return false;
	sroce_requester_acknowledge(req, sroce_psn_add(req->una, 1));
	sroce_count(qp, SROCE_RX_ACKS);
	qp->sq.timer.progress = true;
	qp->sq.timer.pauses = 0;
	if (unlikely(qp->sq.ooo.packets))
		take_held(qp);
	return true;
}

u32 sroce_req_alike(struct sroce_qp *qp, struct sroce_rx_alike *alike)
{
	struct sroce_requester *req = &qp->sq.req;
	u32 len = alike->payload;
	struct sroce_sgl_iter walk;
	struct sroce_sgl to;
	u32 n, offset;

	lockdep_assert_held(&qp->sq.lock);
	if (qp->sq.ooo.packets || !sroce_sq_active(qp) || !req->in.wrs)
		return 0;
	n = sroce_completer_predicts_alike(req, alike->bth, len, alike->most, &offset);
	if (!n)
		return 0;
	to = sroce_sq_local_sgl(qp, req->in.head);
	if (!sroce_sgl_iter_init(&walk, &qp->sq.cache, &to, offset, n * len))
		return 0;
	n = sroce_rx_store_alike(alike, n, &walk);
	sroce_requester_acknowledge(req, sroce_psn_add(req->una, n));
	sroce_count_add(qp, SROCE_RX_ACKS, n);
	return n;
}
