// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder: core/responder.c checks requests, recv/resp_exec.c executes them, and
 * recv/resp_tx.c sends the responses.
 */
#include "../core/aeth.h"
#include "../core/errors.h"
#include "../core/params.h"
#include "../net/uso.h"
#include "../queue/comp_cntr.h"
#include "../queue/qp_run.h"
#include "resp.h"
#include "resp_exec.h"
#include "resp_tx.h"
#include "rq.h"
#include "ud_recv.h"
#include "write_back.h"
#include "xrc.h"

static bool complete_message(struct sroce_qp *qp, const struct sroce_rx *rx,
			     const struct sroce_request *req)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	struct sroce_cqe cqe __uninitialized;

	sroce_cqe_begin(&cqe);
	cqe.opcode = sroce_pkt_row(pkt)->recv_wc;
	cqe.byte_len = req->offset + pkt->payload;
	cqe.src_qp = qp->dest_qpn;
	if (pkt->op->headers & SROCE_IMMDT) {
		cqe.imm_data = pkt->imm;
		cqe.flags |= SROCE_CQE_WITH_IMM;
	}
	if (pkt->op->headers & SROCE_IETH) {
		cqe.invalidated_rkey = pkt->rkey;
		cqe.flags |= SROCE_CQE_WITH_INV;
	}
	if (pkt->solicited)
		cqe.flags |= SROCE_CQE_SOLICITED;
	return sroce_rq_complete(qp, &cqe);
}

/* Let the peer retry later (RC), or drop the message (UC). */
static void defer_request(struct sroce_qp *qp, enum sroce_counter why)
{
	struct sroce_responder *r = &qp->rq.resp;

	sroce_count(qp, why);
	if (sroce_responder_reliable(r)) {
		/* The peer repeats everything from this packet on. */
		sroce_ooo_drop(&qp->rq.ooo, qp->dev);
		sroce_rq_nak(qp, SROCE_RNR_NAK | qp->rq.min_rnr_timer);
		sroce_responder_rnr(r);
	} else {
		r->kind = SROCE_KIND_NONE;
	}
}

/*
 * Treat the packet as lost: the peer retransmits it (RC), or the message is
 * lost.
 */
static void drop_short(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;

	sroce_count(qp, SROCE_RX_MALFORMED);
	if (!sroce_responder_reliable(r))
		r->kind = SROCE_KIND_NONE;
}

/* Returns false if there is no usable receive WQE. */
static bool take_recv(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;

	switch (sroce_rq_take(qp)) {
	case SROCE_FETCHED:
		return true;
	case SROCE_FETCHED_BAD:
		r->rwqe_taken = true;
		fallthrough;
	case SROCE_FETCHED_BROKEN:
		sroce_rq_refuse(qp, SROCE_BAD_RQE);
		return false;
	default:
		break;
	}
	defer_request(qp, SROCE_OUT_OF_BUFFER);
	return false;
}

/*
 * XRC: every request names an SRQ, even if it takes no WQE.  All packets of a
 * message must name the SRQ whose WQE the message has taken.
 */
static bool find_srq(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	const struct sroce_responder *r = &qp->rq.resp;

	if (!r->rwqe_taken)
		return sroce_xrc_srq_get(qp, pkt->srqn);
	return pkt->srqn == r->srqn && sroce_xrc_srq_valid(qp);
}

/* A READ of the peer is complete when its response is sent (recv/resp_tx.c). */
static void count_remote(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			 bool failed)
{
	if (pkt->op->kind == SROCE_KIND_WRITE)
		sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE,
				    failed);
	else if (pkt->op->kind == SROCE_KIND_READ && failed)
		sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
				    true);
}

static void refuse_request(struct sroce_qp *qp, const struct sroce_pkt *pkt,
			   enum sroce_resp_error reason)
{
	sroce_rq_refuse(qp, reason);
	count_remote(qp, pkt, true);
}

static void execute_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			    const struct sroce_request *req)
{
	struct sroce_responder *r = &qp->rq.resp;
	enum sroce_resp_error reason;
	u64 original = 0;

	if (sroce_qp_target(qp) && !find_srq(qp, &rx->pkt)) {
		sroce_rq_refuse(qp, SROCE_NO_SRQ);
		return;
	}
	if (req->take) {
		/* Recorded even if the WQE or this packet is refused. */
		r->srqn = rx->pkt.srqn;
		if (!take_recv(qp))
			return;
		r->rwqe_taken = true;
	}
	if (req->begins) {
		/*
		 * A program that sees a byte of this message in memory must see
		 * all earlier messages (vol. 1, 9.5): some programs poll a
		 * flag that is written after the data.
		 */
		smp_wmb();
	}
	reason = sroce_resp_execute(qp, rx, req, &original);
	if (unlikely(reason)) {
		if (reason == SROCE_PAGED_OUT)
			defer_request(qp, SROCE_RX_PAGED_OUT);
		else if (reason == SROCE_PACKET_TOO_SHORT)
			drop_short(qp);
		else
			refuse_request(qp, &rx->pkt, reason);
		return;
	}
	if (req->completes)
		count_remote(qp, &rx->pkt, false);
	if (req->receives && !complete_message(qp, rx, req)) {
		/* The completion is lost: no ACK, and no second one by the flush. */
		r->rwqe_taken = false;
		return;
	}
	sroce_responder_done(r, &rx->pkt, req, original);
	if (rx->pkt.ack_req && !sroce_pkt_row(&rx->pkt)->response)
		qp->rq.pending.ack = true;
}

/*
 * Report that a packet is missing, unless it may only be late.  Returns false if it has
 * arrived, and only the budget of the lock section keeps it from being executed.
 */
static bool report_gap(struct sroce_qp *qp)
{
	const struct sroce_ooo_packet *first = sroce_ooo_first(&qp->rq.ooo);
	u64 now = ktime_get_ns();
	/* If nothing is held, the peer has to send everything again: do not wait. */
	u64 since = first ? first->arrived : now - 2 * SROCE_MAX_REORDER_NS;

	if (first && first->pkt.psn == qp->rq.resp.epsn)
		return false;
	if (sroce_responder_gap(&qp->rq.resp, since, now))
		sroce_rq_nak(qp, SROCE_NAK_SEQUENCE);
	return true;
}

/* Keep a packet behind a gap until the gap is filled, or drop it. */
static void hold_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_ooo_queue *ooo = &qp->rq.ooo;

	sroce_count(qp, SROCE_OUT_OF_SEQUENCE);
	if (sroce_responder_may_hold(&qp->rq.resp, rx->pkt.psn) &&
	    sroce_ooo_add(ooo, qp->dev, &rx->pkt, rx->payload))
		sroce_count(qp, SROCE_RX_HELD);
	report_gap(qp);
}

/* Handle a packet that is not executed. */
static void reject_request(struct sroce_qp *qp, const struct sroce_rx *rx,
			   enum sroce_request_verdict verdict,
			   const struct sroce_request *req)
{
	struct sroce_responder *r = &qp->rq.resp;

	switch (verdict) {
	case SROCE_RESEND_ACK:
		if (sroce_reorder_suspects(&r->reorder, rx->pkt.psn))
			sroce_reorder_duplicate(&r->reorder, ktime_get_ns());
		sroce_count(qp, SROCE_DUPLICATE_REQUEST);
		qp->rq.pending.ack_again = true;
		if (sroce_responder_answers(r, &rx->pkt))
			qp->rq.pending.ack = true;
		break;
	case SROCE_RESEND_RESPONSE:
		if (unlikely(sroce_resp_res_spoiled(&r->res)))
			sroce_uso_found(&qp->rq.path, qp->av);
		if (rx->pkt.op->kind == SROCE_KIND_READ)
			sroce_path_repeats(&qp->rq.path, rx->pkt.dma_len);
		sroce_count(qp, SROCE_DUPLICATE_REQUEST);
		break;
	case SROCE_AHEAD:
		hold_request(qp, rx);
		break;
	case SROCE_REFUSE:
		refuse_request(qp, &rx->pkt, req->reason);
		break;
	default:
		sroce_count(qp, SROCE_RX_IGNORED);
	}
}

/* Returns false if the QP fails. */
static bool send_pending(struct sroce_qp *qp)
{
	sroce_resp_send(qp);
	if (sroce_rq_active(qp))
		return true;
	sroce_count(qp, SROCE_RX_BAD_STATE);
	return false;
}

static void handle_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_responder *r = &qp->rq.resp;
	enum sroce_request_verdict verdict;
	struct sroce_request req;

	/*
	 * A peer may request two parts of one READ again in one burst.  The second duplicate
	 * takes the place of the first one in the resource.
	 */
	if (unlikely(r->res.waiting && sroce_psn_before(rx->pkt.psn, r->epsn)) &&
	    !send_pending(qp))
		return;
	verdict = sroce_responder_check(r, &rx->pkt, &req);
	if (unlikely(verdict == SROCE_REFUSE &&
		     req.reason == SROCE_TOO_MANY_READS)) {
		/*
		 * Send pending responses and check again.  Peers may rely on
		 * each request being answered before the next one arrives, and
		 * rxe does not count its FLUSHes.
		 */
		if (!send_pending(qp))
			return;
		verdict = sroce_responder_check(r, &rx->pkt, &req);
	}
	if (likely(verdict == SROCE_EXECUTE))
		execute_request(qp, rx, &req);
	else
		reject_request(qp, rx, verdict, &req);
}

/* A packet behind a gap that continues the last one. */
static bool hold_next(struct sroce_qp *qp, const u8 *bth,
		      struct sroce_reader *payload, u32 len)
{
	if (!sroce_ooo_append(&qp->rq.ooo, bth, payload, len))
		return false;
	sroce_count(qp, SROCE_OUT_OF_SEQUENCE);
	sroce_count(qp, SROCE_RX_HELD);
	if (!qp->rq.resp.nak_sent)
		report_gap(qp);
	return true;
}

static int store_predicted(struct sroce_qp *qp, struct sroce_reader *payload,
			   u32 len)
{
	const struct sroce_responder *r = &qp->rq.resp;
	struct sroce_mr_cache *cache = &qp->rq.cache;
	struct sroce_sgl buffer;
	void *p;

	SROCE_REMOTE_SGL(to, qp, r->va, len, r->rkey,
			 IB_ACCESS_REMOTE_WRITE);

	if (r->kind == SROCE_KIND_SEND) {
		buffer = sroce_rq_buffer(qp);
		return sroce_sgl_store_packet(cache, &buffer, r->done, payload, len);
	}
	p = sroce_mr_cache_peek(cache, r->rkey, to.access, r->va, len);
	if (p)
		return sroce_reader_store(payload, p, len) ? 0 : -ENODATA;
	return sroce_sgl_store_packet(cache, &to, 0, payload, len);
}

static void note_filled(struct sroce_qp *qp)
{
	sroce_reorder_filled(&qp->rq.resp.reorder, ktime_get_ns());
	sroce_count(qp, SROCE_RX_GAPS_FILLED);
}

/*
 * Store the payload of all packets of @held except the first, if they are expected.
 * Returns their number.
 */
static u32 execute_at_once(struct sroce_qp *qp, const struct sroce_ooo_packet *held,
			   struct sroce_reader *payload)
{
	struct sroce_responder *r = &qp->rq.resp;
	u32 n = held->count - 1, mtu = held->pkt.payload;
	struct sroce_reader reader = *payload;

	if (!n || !sroce_responder_predicts_more(r, &held->pkt, n) ||
	    !sroce_rq_srq_valid(qp) || store_predicted(qp, &reader, n * mtu))
		return 0;
	*payload = reader;
	sroce_responder_advance(r, mtu, n);
	return n;
}

static void execute_packets(struct sroce_qp *qp, const struct sroce_ooo_packet *held)
{
	struct sroce_reader reader = sroce_ooo_reader(held);
	struct sroce_rx rx = {
		.pkt = held->pkt,
		.payload = &reader,
	};
	u32 done = 0;

	do {
		rx.pkt.psn = sroce_psn_add(held->pkt.psn, done);
		handle_request(qp, &rx);
		if (++done == 1)
			done += execute_at_once(qp, held, &reader);
	} while (done < held->count && sroce_rq_active(qp) &&
		 qp->rq.resp.epsn == sroce_psn_add(held->pkt.psn, done));
}

/*
 * Execute the packets that were kept behind a gap, in order.  @filled: a packet has just
 * filled it.  @asked: the peer has requested an ACK, so it repeats no more packets for
 * now.  If no ACK is due either, the next gap is likely to be filled, too, and is reported
 * with the next packet that does not fill it.
 */
static void execute_held(struct sroce_qp *qp, bool filled, bool asked)
{
	struct sroce_ooo_queue *ooo = &qp->rq.ooo;
	u32 budget = SROCE_OOO_BUDGET;
	struct sroce_ooo_packet *held;

	while (budget && sroce_rq_active(qp) &&
	       (held = sroce_ooo_take(ooo, qp->dev, qp->rq.resp.epsn))) {
		if (filled)
			note_filled(qp);
		filled = false;
		budget -= min_t(u32, budget, held->count);
		execute_packets(qp, held);
		kfree(held);
	}
	if (!sroce_rq_active(qp) ||
	    (!ooo->packets && !sroce_responder_deadline(&qp->rq.resp)))
		return;
	if (budget && !asked && !qp->rq.pending.ack)
		return;
	if (!report_gap(qp))
		sroce_qp_wake(qp, BIT(SROCE_TODO_RESPOND));
}

void sroce_resp_run(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->rq.lock);
	sroce_write_back_more(qp);
	if (qp->rq.ooo.packets || sroce_responder_deadline(&qp->rq.resp))
		execute_held(qp, false, true);
	sroce_resp_send(qp);
}

void sroce_resp_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	u32 epsn = qp->rq.resp.epsn;

	lockdep_assert_held(&qp->rq.lock);
	if (!sroce_rq_active(qp)) {
		sroce_count(qp, SROCE_RX_BAD_STATE);
		return;
	}
	if (!qp->seen) {
		qp->seen = true;
		if (sroce_qp_state(qp) == IB_QPS_RTR && sroce_qp_connected(qp))
			sroce_qp_wake(qp, BIT(SROCE_TODO_ESTABLISHED));
	}
	if (!sroce_qp_connected(qp)) {
		sroce_ud_recv(qp, rx);
		return;
	}
	handle_request(qp, rx);
	if (unlikely(qp->rq.ooo.packets) &&
	    (qp->rq.resp.epsn != epsn || rx->pkt.ack_req))
		execute_held(qp, qp->rq.resp.epsn != epsn, rx->pkt.ack_req);
}

static bool continue_message(struct sroce_qp *qp, const u8 *bth,
			     struct sroce_reader *payload, u32 len)
{
	struct sroce_responder *r = &qp->rq.resp;

	if (!sroce_responder_predicts(r, bth, len) ||
	    !sroce_rq_srq_valid(qp) || store_predicted(qp, payload, len))
		return false;
	sroce_responder_advance(r, len, 1);
	return true;
}

/* A WRITE of one packet to the memory that the last one has used. */
static bool write_again(struct sroce_qp *qp, u8 *headers,
			struct sroce_reader *reader, u32 len)
{
	u8 *reth = headers + SROCE_BTH_BYTES;
	u32 pad = headers[1] >> SROCE_BTH_PAD_SHIFT & SROCE_BTH_PAD_MASK;
	u32 payload = len - SROCE_RETH_BYTES - pad;
	void *p;

	if ((headers[0] & ~SROCE_TRANSPORT_MASK) != SROCE_WRITE_ONLY ||
	    !qp->seen || len & 3 || len < SROCE_RETH_BYTES + pad ||
	    !sroce_reader_copy(reader, reth, SROCE_RETH_BYTES))
		return false;
	barrier_data(headers);
	if (!sroce_responder_predicts_write(&qp->rq.resp, headers, payload))
		return false;
	p = sroce_mr_cache_peek(&qp->rq.cache, get_unaligned_be32(reth + 8),
				IB_ACCESS_REMOTE_WRITE, get_unaligned_be64(reth),
				payload);
	if (!p)
		return false;
	smp_wmb();	/* see execute_request() */
	if (!sroce_reader_store(reader, p, payload) ||
	    !sroce_reader_copy(reader, NULL, pad))
		return false;
	sroce_count(qp, SROCE_RX_WRITE_REQUESTS);
	sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE, false);
	sroce_responder_wrote(&qp->rq.resp);
	return true;
}

bool sroce_resp_predicted(struct sroce_qp *qp, u8 *headers,
			  struct sroce_reader *reader, u32 len)
{
	lockdep_assert_held(&qp->rq.lock);
	if (!sroce_rq_active(qp))
		return false;
	if (!(qp->rq.resp.kind == SROCE_KIND_NONE ?
	      write_again(qp, headers, reader, len) :
	      continue_message(qp, headers, reader, len)))
		return unlikely(qp->rq.ooo.packets) &&
		       hold_next(qp, headers, reader, len);
	if (headers[8] & SROCE_BTH_ACKREQ)
		qp->rq.pending.ack = true;
	if (unlikely(qp->rq.ooo.packets))
		execute_held(qp, true, headers[8] & SROCE_BTH_ACKREQ);
	return true;
}

u32 sroce_resp_alike(struct sroce_qp *qp, struct sroce_rx_alike *alike)
{
	struct sroce_responder *r = &qp->rq.resp;
	u32 len = alike->payload;
	u32 n = sroce_responder_predicts_alike(r, alike->bth, len, alike->most);
	struct sroce_sgl_iter walk;
	struct sroce_sgl buffer;
	u32 at = 0;

	SROCE_REMOTE_SGL(to, qp, r->va, n * len, r->rkey, IB_ACCESS_REMOTE_WRITE);

	lockdep_assert_held(&qp->rq.lock);
	if (!n || qp->rq.ooo.packets || !sroce_rq_active(qp))
		return 0;
	/* Nobody would repeat a packet that was stored with a wrong ICRC. */
	if (alike->icrc && !sroce_responder_reliable(r))
		return 0;
	buffer = to;
	if (r->kind == SROCE_KIND_SEND) {
		buffer = sroce_rq_buffer(qp);
		at = r->done;
	}
	if (!sroce_sgl_iter_init(&walk, &qp->rq.cache, &buffer, at, n * len))
		return 0;
	n = sroce_rx_store_alike(alike, n, &walk);
	if (n)
		sroce_responder_advance(r, len, n);
	return n;
}
