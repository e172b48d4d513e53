// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester of connected QPs, transmit side: core/requester.c decides which packet
 * is next, and this file sends it.  send/response.c handles the responses.
 */
#include "../core/params.h"
#include "../core/recovery.h"
#include "../mem/mr_fast.h"
#include "../mem/mw.h"
#include "../net/burst.h"
#include "../net/tx.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../queue/wqe.h"
#include "rate_limit.h"
#include "req.h"
#include "rtx_timer.h"
#include "sq.h"
#include "sq_complete.h"
#include "ud_send.h"

void sroce_req_reset(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;

	req->in.head = 0;
	req->in.next = 0;
	req->in.tail = 0;
	req->packet = 0;
	req->reads = 0;
	req->read_packets = 0;
	req->parts = 0;
	req->rnr_wait = false;
	req->rnr_waits = 0;
	req->rewound = false;
	req->refusal = 0;
	req->drain = false;
	req->repair = (struct sroce_repair) {};
	sroce_ooo_drop(&qp->sq.ooo, qp->dev);
	sroce_rtx_reset(&qp->sq.rtx);
	sroce_uso_reset(&qp->sq.uso);
	qp->sq.timer.blocked = SROCE_SQ_OPEN;
	qp->sq.ud.held_up = false;
	qp->sq.timer.pauses = 0;
	qp->sq.since_ack_req = 0;
	qp->sq.timer.slack = 0;
	qp->sq.batch.unpolled = 0;
	qp->sq.batch.idle = 0;
	qp->sq.batch.kicks = 0;
	qp->sq.batch.vain = 0;
	qp->sq.ring.broken = false;
	qp->sq.ring.flush_end = 0;
	qp->sq.ask_drained = false;
	qp->sq.paging.refetch = false;
	qp->sq.paging.waits = 0;
	sroce_fault_reset(&qp->sq.paging.fault);
	qp->sq.rate = (struct sroce_rate) {};
	sroce_store(&qp->slot->sq_head, 0);
	sroce_store(&qp->slot->kick, SROCE_KICK_SEND);
}

/* Sending */

/*
 * Check the memory before the request is sent: an atomic must not change the
 * peer's memory if its result cannot be stored.  Returns EAGAIN for memory on
 * demand that is not present.
 */
static int may_store(struct sroce_qp *qp, const struct sroce_wr *wr,
		     const struct sroce_sge *sge)
{
	u32 left = SROCE_FAULT_BYTES;
	struct sroce_mr *mr;
	int err = 0;
	u32 i, n;

	for (i = 0; i < wr->num_sge; i++) {
		if (!sge[i].length)
			continue;
		mr = sroce_mr_get(qp->pd, 0, sge[i].lkey, sge[i].addr,
				  sge[i].length, IB_ACCESS_LOCAL_WRITE);
		if (!mr)
			return -EFAULT;
		n = min(left, sge[i].length);
		if (unlikely(mr->odp) &&
		    !sroce_odp_present(mr->odp, sroce_mr_va(mr, sge[i].addr),
				       n, true))
			err = -EAGAIN;
		left -= n;
		sroce_mr_put(mr);
	}
	return err;
}

/* @alone: add this packet only, not the rest of its message */
static int add_request(struct sroce_qp *qp, struct sroce_burst *burst,
		       struct sroce_outgoing *out, bool alone)
{
	struct sroce_wr *wr = out->wr;
	void *list = sroce_wqe_list(qp, out->index);
	const struct sroce_sgl from = {
		.pd = qp->pd,
		.sge = list,
		.num_sge = wr->num_sge,
	};
	bool again = sroce_requester_again(&qp->sq.req, out);
	bool copy = qp->type == IB_QPT_UC || again;
	int err;

	out->pkt.qpn = qp->dest_qpn;
	out->pkt.pkey = READ_ONCE(*qp->pkey);
	out->pkt.ack_req = false;
	if (!burst->packets) {
		burst->psn = out->pkt.psn;
		burst->again = again;
	}
	if (sroce_wr_fetches(wr) && !wr->started) {
		err = may_store(qp, wr, list);
		if (err == -EAGAIN && qp->sq.paging.waits == SROCE_MAX_PAGE_WAITS)
			err = 0;
		qp->sq.paging.waits = err == -EAGAIN ? qp->sq.paging.waits + 1 : 0;
		if (err)
			return err;
	}
	if (wr->flags & SROCE_INLINE || !out->pkt.payload)
		return sroce_burst_add(burst, &out->pkt, NULL, 0,
				       list + out->offset, true);
	/*
	 * UC completes at once, and its user may then reuse the buffer.
	 * Retransmissions are copied, too: if the user keeps changing the
	 * buffer, the first attempt may have failed its ICRC check.  So may
	 * that of the next messages.
	 */
	if (unlikely(again))
		sroce_path_repeats(&qp->sq.path, out->pkt.payload);
	err = sroce_burst_add(burst, &out->pkt, &from, out->offset, NULL, copy);
	if (!err && !alone && wr->packets > 2)
		out->count += sroce_burst_repeat(burst, &out->pkt,
				sroce_requester_more(&qp->sq.req, out), &from,
				out->offset + out->pkt.payload);
	return err;
}

/* Returns false after SROCE_MAX_PAUSES pauses in a row, unless an RC QP has no timeout. */
static bool pause_requests(struct sroce_qp *qp)
{
	bool many = qp->sq.timer.pauses == SROCE_MAX_PAUSES;

	if (many && (qp->sq.rtx.timeout || !sroce_qp_reliable(qp)))
		return false;
	if (!many)
		qp->sq.timer.pauses++;
	qp->sq.timer.blocked = SROCE_SQ_LOCAL_DROP;
	sroce_rtx_timer_arm(qp, many ? SROCE_LONG_PAUSE_NS : SROCE_PAUSE_NS);
	return true;
}

/* A READ request inside the burst takes a PSN for each packet of its response. */
static bool has_gaps(const struct sroce_burst *burst)
{
	return sroce_psn_add(burst->psn, burst->packets - 1) != sroce_bth_psn(burst->bth);
}

static void watch_burst(struct sroce_qp *qp, const struct sroce_burst *burst)
{
	const struct sroce_requester *req = &qp->sq.req;
	struct sroce_uso *uso = &qp->sq.uso;

	if (!burst->packets ||
	    (burst->packets == 1 && uso->state == SROCE_USO_IDLE))
		return;
	if (unlikely(has_gaps(burst)))
		uso->state = SROCE_USO_IDLE;
	else if (burst->uso)
		sroce_uso_sent(uso, burst->psn, burst->packets, req->una,
			       burst->again);
}

/* @more: another burst follows at once */
static bool flush_burst(struct sroce_qp *qp, struct sroce_burst *burst,
			u32 first, bool more)
{
	bool reliable = sroce_qp_reliable(qp);

	qp->sq.since_ack_req += burst->packets;
	sroce_rate_charge(qp, burst);
	if (reliable && burst->packets &&
	    (!more || qp->sq.rate.kbps || qp->sq.since_ack_req >= SROCE_ACK_REQ_PACKETS ||
	     sroce_cc_burst(&qp->sq.req.cc) < SROCE_BURST_PACKETS)) {
		sroce_burst_request_ack(burst);
		qp->sq.since_ack_req = 0;
	}
	if (reliable)
		watch_burst(qp, burst);
	if (burst->packets)
		qp->sq.uso.lone = false;
	/* UC has no responses to end the series of pauses. */
	if (!reliable && burst->packets)
		qp->sq.timer.pauses = 0;
	if (!sroce_burst_send(burst) || !reliable || !pause_requests(qp))
		return true;
	sroce_requester_refused(&qp->sq.req, first);
	return false;
}

/* Once the memory of the request is present, the requester resumes. */
static int page_in_request(struct sroce_qp *qp,
			   const struct sroce_outgoing *out)
{
	struct sroce_sgl memory = sroce_sq_local_sgl(qp, out->index);

	if (!sroce_wr_fetches(out->wr))
		memory.access = 0;
	return sroce_fault_start(&qp->sq.paging.fault, &memory, out->offset,
				 out->wr->length - out->offset, 0);
}

/* Returns false if the packet has to wait for memory. */
static bool send_packet(struct sroce_qp *qp, struct sroce_burst *burst,
			struct sroce_outgoing *out, bool alone)
{
	switch (add_request(qp, burst, out, alone)) {
	case -ENOMEM:
		if (pause_requests(qp))
			return false;
		break;
	case -EAGAIN:
		if (!page_in_request(qp, out))
			return false;
		fallthrough;
	case -EFAULT:
	case -EMSGSIZE:
		out->wr->status = SROCE_LOC_PROT_ERR;
		return true;
	case -ENETUNREACH:
		/* The packet is lost.  UC drops the rest of its message, too. */
		if (!sroce_qp_reliable(qp))
			out->count = out->wr->packets - qp->sq.req.packet;
		else if (!qp->sq.rtx.timeout && pause_requests(qp))
			return false;
		break;
	}
	sroce_requester_sent(&qp->sq.req, out);
	qp->sq.rate.psns += out->count;
	return true;
}

static u8 execute_local(struct sroce_qp *qp, struct sroce_burst *burst,
			const struct sroce_wr *wr)
{
	/*
	 * Invalidation waits until all references to the MR are dropped, so
	 * drop those of this QP first.
	 */
	if (burst->uncopied.packets)
		sroce_burst_copy(burst);
	sroce_mr_cache_drop(&burst->cache);
	sroce_mr_cache_drop(&qp->sq.cache);
	switch (wr->opcode) {
	case SROCE_OP_BIND_MW:
		return sroce_mw_bind(qp->pd, qp->qpn, wr);
	case SROCE_OP_REG_MR:
		return sroce_fast_register(qp->pd, wr);
	default:
		return sroce_sq_invalidate(qp, wr);
	}
}

/* If it fails, sroce_requester_next() returns it again, with its status. */
static void do_local(struct sroce_qp *qp, struct sroce_burst *burst,
		     struct sroce_wr *wr)
{
	u8 status = wr->started ? 0 : execute_local(qp, burst, wr);

	if (status)
		wr->status = status;
	else
		sroce_requester_done(&qp->sq.req);
}

/*
 * Can nothing follow the last burst before an ACK arrives?  The window may have become
 * smaller behind it, or the packets that were to follow had no route.
 */
static bool ends_here(const struct sroce_qp *qp, enum sroce_next next)
{
	if (next == SROCE_NEXT_WINDOW || next == SROCE_NEXT_NOTHING)
		return !qp->sq.timer.blocked;
	return next == SROCE_NEXT_FAULT || next == SROCE_NEXT_HOLD ||
	       next == SROCE_NEXT_KEY;
}

/*
 * Must a packet be sent to request an ACK?  Yes if the last burst did not request
 * one because more was to follow, and now nothing can.  Also for a probe.
 */
static bool must_request_ack(const struct sroce_qp *qp, enum sroce_next next)
{
	if (!sroce_qp_reliable(qp))
		return false;
	return qp->sq.rtx.probe.due ||
	       (qp->sq.since_ack_req &&
		(ends_here(qp, next) || sroce_fault_busy(&qp->sq.paging.fault)));
}

/*
 * Send the oldest packet again, to get an ACK or a NAK.  Packets of a failed request
 * are left out.
 */
static void repeat_oldest(struct sroce_qp *qp, struct sroce_burst *burst,
			  enum sroce_next next)
{
	struct sroce_requester *req = &qp->sq.req;
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.next);
	u32 end = next == SROCE_NEXT_FAULT && wr->started ? wr->psn : req->psn;
	struct sroce_outgoing out;

	if (end == req->una)
		return;
	sroce_requester_resume(req, req->una);
	if (sroce_requester_next(req, &out) == SROCE_NEXT_PACKET &&
	    !sroce_wr_reads(out.wr))
		send_packet(qp, burst, &out, true);
	sroce_requester_resume(req, end);
}

static bool may_transmit(struct sroce_qp *qp)
{
	enum sroce_order order;

	if (sroce_rate_held(qp) || !sroce_tx_room(qp, SROCE_TODO_SEND))
		return false;
	order = sroce_tx_in_order(qp, &qp->sq.path);
	if (order == SROCE_ORDER_WAITS) {
		qp->sq.timer.blocked = SROCE_SQ_CPU_ORDER;
		sroce_rtx_timer_arm(qp, SROCE_ORDER_NS);
	}
	return order == SROCE_ORDER_KEPT;
}

/*
 * The responses to READs are paced, too: then a READ request counts as the packets that
 * it asks for.
 */
static bool burst_is_full(const struct sroce_qp *qp, const struct sroce_burst *burst)
{
	const struct sroce_cc *cc = &qp->sq.req.cc;
	u32 most = sroce_cc_burst(cc);

	return burst->packets >= most ||
	       (unlikely(cc->paced) && burst->packets && qp->sq.rate.psns >= most);
}

/*
 * Make room for @pkt: send the burst if it is full.  Each burst uses one unit of
 * the budget, and so does each packet that is lost before it is in a burst.
 */
static bool make_burst_room(struct sroce_qp *qp, struct sroce_burst *burst,
			    const struct sroce_pkt *pkt, u32 *first,
			    u32 *budget)
{
	if (!sroce_burst_fits(burst, pkt) || burst_is_full(qp, burst)) {
		if (!flush_burst(qp, burst, *first, *budget > 1))
			return false;
		--*budget;
		*first = qp->sq.req.psn;
	} else if (sroce_burst_empty(burst) && qp->sq.req.psn != *first) {
		--*budget;
		*first = qp->sq.req.psn;
	}
	if (!*budget)
		sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
	return *budget && (!sroce_burst_empty(burst) || may_transmit(qp));
}

/*
 * True for the last packet of a repair: the next packet is not adjacent.  A burst
 * contains adjacent packets only, and its end requests an ACK for the repair.
 */
static bool ends_repair(const struct sroce_requester *req,
			const struct sroce_outgoing *out)
{
	return req->psn != sroce_psn_add(out->pkt.psn, out->count);
}

static enum sroce_next send_packets(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	struct sroce_outgoing out __uninitialized;
	struct sroce_burst burst __uninitialized;
	enum sroce_next next;
	u32 budget = SROCE_SEND_BUDGET;
	u32 locals = SROCE_LOCAL_BUDGET;
	u32 first = req->psn;
	bool repeated = false;

	sroce_burst_begin(&burst, qp, qp->av, &qp->sq.path);
	burst.lone = qp->sq.uso.lone;
	for (;;) {
		next = sroce_requester_next(req, &out);
		if (next == SROCE_NEXT_LOCAL) {
			if (locals--) {
				do_local(qp, &burst, out.wr);
				continue;
			}
			sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
			next = SROCE_NEXT_WINDOW;
		}
		if (next != SROCE_NEXT_PACKET)
			break;
		if (!make_burst_room(qp, &burst, &out.pkt, &first, &budget))
			return SROCE_NEXT_WINDOW;
		if (!send_packet(qp, &burst, &out, false)) {
			next = SROCE_NEXT_WINDOW;
			break;
		}
		if (unlikely(ends_repair(req, &out))) {
			if (!flush_burst(qp, &burst, first, false))
				return SROCE_NEXT_WINDOW;
			first = req->psn;
		}
	}
	/* A peer that waits for the oldest packet does not respond to new ones. */
	if (unlikely(qp->sq.rtx.probe.due) && !sroce_burst_empty(&burst)) {
		if (!flush_burst(qp, &burst, first, true))
			return SROCE_NEXT_WINDOW;
		first = req->psn;
	}
	if (sroce_burst_empty(&burst) && unlikely(must_request_ack(qp, next)) &&
	    sroce_tx_in_order(qp, &qp->sq.path) == SROCE_ORDER_KEPT) {
		qp->sq.uso.lone = qp->sq.rtx.probe.due;
		repeat_oldest(qp, &burst, next);
		qp->sq.rtx.probe.due = false;
		repeated = true;
	}
	if (!flush_burst(qp, &burst, first, false)) {
		/* Of a repeated packet, the requester does not know that it was refused. */
		qp->sq.rtx.probe.due = repeated;
		next = SROCE_NEXT_WINDOW;
	}
	return next;
}

/* SQD: raise the event once all started requests are acknowledged. */
static void check_drained(struct sroce_qp *qp)
{
	if (!qp->sq.ask_drained || !sroce_requester_drained(&qp->sq.req))
		return;
	qp->sq.ask_drained = false;
	sroce_qp_wake(qp, BIT(SROCE_TODO_DRAINED));
}

/*
 * Without a running timer, nothing would make the requester read the ring after a
 * response is lost.
 */
static bool needs_kick(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->sq.req;

	return !qp->sq.rtx.armed ||
	       sroce_psn_diff(req->psn, req->una) < SROCE_NO_KICK_PACKETS;
}

static u8 oldest_status(const struct sroce_requester *req)
{
	return sroce_inflight_wr(&req->in, req->in.head)->status;
}

static void watch_progress(struct sroce_qp *qp, u32 from)
{
	struct sroce_sendq *sq = &qp->sq;

	if (sq->timer.progress)
		sroce_rtx_restart(&sq->rtx);
	if (sq->timer.blocked == SROCE_SQ_RATE)
		sroce_rtx_timer_paced(qp, from);
	else if ((sq->timer.progress || !sq->rtx.armed) && !sq->req.rnr_wait && !sq->timer.blocked)
		sroce_rtx_timer_progress(qp, from);
	sq->timer.progress = false;
}

static enum sroce_next run_connected(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	u32 psn = req->psn;
	enum sroce_next next = send_packets(qp);

	sroce_sq_complete_done(qp);
	if (next == SROCE_NEXT_FAULT && req->in.head == req->in.next)
		sroce_sq_fail(qp, oldest_status(req));
	watch_progress(qp, psn);
	if (next == SROCE_NEXT_NOTHING && !needs_kick(qp))
		return SROCE_NEXT_WINDOW;
	return next;
}

/*
 * Responses were dropped because their memory was not present.  Once it is, send
 * the requests again.  This is not counted as a retry, as no packet was lost.
 */
static bool refetch_responses(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	if (!sroce_sq_active(qp) || sroce_fault_busy(&sq->paging.fault))
		return false;
	sq->paging.refetch = false;
	sroce_rtx_resent(&sq->rtx, &sq->req, ktime_get_ns());
	sq->req.rewound = true;
	sroce_requester_rewind(&sq->req);
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	trace_sroce_retransmit(qp, sq->req.una, sq->req.retry_left);
	return true;
}

/*
 * Nothing is left to send, and since sroce_ring_idle() the process has to kick.  So
 * no post is missed if the ring is not read again.  This is the usual end of a
 * round trip.
 */
static bool stays_idle(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->sq.req;

	return req->in.next == req->in.tail && !req->drain && !qp->sq.since_ack_req &&
	       !qp->sq.rtx.probe.due && !qp->sq.batch.active && !qp->sq.timer.blocked &&
	       sroce_qp_connected(qp) && sroce_sq_active(qp) &&
	       sroce_load(&qp->slot->kick) == SROCE_KICK_SEND &&
	       sroce_load(&qp->slot->sq_tail) == req->in.tail;
}

/*
 * On a busy CPU the timer may be late by a tenth of a second, so a pause that is over also
 * ends with the next response or doorbell.
 */
static void check_pause(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	/* The wait of the next packet must not count as part of the round trip. */
	if (sq->timer.progress)
		sroce_rtx_timer_paced(qp, sq->req.psn);
	if (!sq->rtx.armed || ktime_get_ns() < sq->rtx.deadline)
		return;
	sq->rtx.armed = false;
	sroce_rtx_timer_waited(qp);
}

void sroce_req_run(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	u32 rounds = SROCE_SEND_BUDGET;
	enum sroce_next next;
	u32 tail;

	lockdep_assert_held(&qp->sq.lock);
	if (!in->wrs || (unlikely(qp->sq.paging.refetch) && !refetch_responses(qp)))
		return;
	if (unlikely(qp->sq.timer.blocked == SROCE_SQ_RATE))
		check_pause(qp);
	if (stays_idle(qp)) {
		sroce_sq_complete_done(qp);
		watch_progress(qp, qp->sq.req.psn);
		return;
	}
	while (sroce_sq_active(qp) && !qp->sq.timer.blocked) {
		sroce_ring_busy(qp->slot);
		/* A process may post as fast as this loop sends. */
		if (!rounds--) {
			sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
			break;
		}
		tail = in->tail;
		if (!sroce_wqe_fetch_send(qp, SROCE_FETCH_BUDGET)) {
			sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
			break;
		}
		next = sroce_qp_connected(qp) ? run_connected(qp) :
						sroce_ud_send(qp);
		if (qp->sq.req.drain)
			check_drained(qp);
		if (next != SROCE_NEXT_NOTHING)
			break;
		if (qp->sq.batch.active && in->tail - tail < SROCE_FETCH_BUDGET) {
			/* A short ring would be full before. */
			sroce_ring_later(qp->slot, in->tail + min(SROCE_BATCH_POSTS,
								  in->mask / 2 + 1));
			break;
		}
		if (sroce_ring_idle(qp->slot) == in->tail)
			break;
	}
}
