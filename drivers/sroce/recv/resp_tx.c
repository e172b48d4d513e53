// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder, transmit side: READ and atomic responses in order, and one
 * acknowledgment per burst.
 */
#include "../core/aeth.h"
#include "../core/params.h"
#include "../net/tx.h"
#include "../queue/comp_cntr.h"
#include "../queue/qp_run.h"
#include "resp_tx.h"
#include "rq.h"
#include "xrc.h"

/* Converts packets to units of SROCE_RESP_BUDGET. */
static u32 budget_units(const struct sroce_qp *qp, u32 packets)
{
	return packets * max(qp->rq.resp.mtu / SZ_1K, 1u);
}

/*
 * Sets what responses have in common.  The other members belong to headers that no
 * response has, or are set by the caller: clearing all of them would take longer.
 */
static void begin_response(const struct sroce_qp *qp, struct sroce_pkt *pkt)
{
	pkt->solicited = false;
	pkt->ack_req = false;
	pkt->pad = 0;
	pkt->pkey = READ_ONCE(*qp->pkey);
	pkt->qpn = qp->dest_qpn;
	pkt->payload = 0;
}

/*
 * Add packets of a READ response.  The key is checked again for each burst,
 * because it may have been revoked.
 */
static int add_data(struct sroce_qp *qp, struct sroce_burst *burst,
		    const struct sroce_resource *read, struct sroce_pkt *pkt,
		    u32 offset, u32 *count)
{
	int err;

	SROCE_REMOTE_SGL(from, qp, read->va, read->length, read->rkey,
			 IB_ACCESS_REMOTE_READ);

	if (!pkt->payload)
		return sroce_burst_add(burst, pkt, NULL, 0, NULL, true);
	err = sroce_burst_add(burst, pkt, &from, offset, NULL, read->again);
	if (!err)
		*count += sroce_burst_repeat(burst, pkt, sroce_resp_res_more(read),
					     &from, offset + pkt->payload);
	return err;
}

static int fill_response(struct sroce_qp *qp, struct sroce_burst *burst,
			 struct sroce_resource *read)
{
	struct sroce_resp_res *res = &qp->rq.resp.res;
	struct sroce_pkt pkt __uninitialized;
	int err;

	begin_response(qp, &pkt);
	while (read->next != read->end) {
		u32 offset = sroce_resp_res_next(res, read, &pkt);
		u32 count = 1;

		if (!sroce_burst_fits(burst, &pkt))
			break;
		err = add_data(qp, burst, read, &pkt, offset, &count);
		/*
		 * Without a route the whole response counts as lost in the
		 * network.
		 */
		if (err == -ENETUNREACH)
			count = read->end - read->next;
		/* Send the packets built so far first. */
		else if (err)
			return sroce_burst_empty(burst) ? err : 0;
		sroce_resp_res_sent(res, read, count);
	}
	return 0;
}

/*
 * Responses of which a burst has packets.
 * @reads: oldest first; only of the first one, packets may have been sent before
 * @count: entries of @reads
 * @first: packet of the first one with which the burst begins
 * @waiting: &sroce_resp_res.waiting before
 * @first_pending: &sroce_resp_res.first_pending before
 * @packets: packets of the burst
 * @uso: the device segments the burst, which has several packets
 * @lone: the burst has the first packet alone
 */
struct batch {
	struct sroce_resource *reads[SROCE_BATCH_READS];
	u32 count;
	u32 first;
	u32 waiting;
	u32 first_pending;
	u32 packets;
	bool uso;
	bool lone;
};

static void begin_batch(struct batch *batch, const struct sroce_resp_res *res,
			struct sroce_resource *read)
{
	batch->reads[0] = read;
	batch->count = 1;
	batch->first = read->next;
	batch->waiting = res->waiting;
	batch->first_pending = res->first_pending;
}

/*
 * May the response to @next follow @read in a burst?  Data of two regions may not: the
 * reference to the first one would be dropped before the ICRC is computed.  Of READs and
 * atomics, only responses to READs are ECN capable.
 */
static bool may_follow(const struct sroce_resource *read, const struct sroce_resource *next)
{
	return next->srqn == read->srqn && next->rkey == read->rkey &&
	       (next->kind == SROCE_KIND_ATOMIC) == (read->kind == SROCE_KIND_ATOMIC);
}

/*
 * The response to the next request follows in the same burst, if it fits.  Short
 * responses, and the last packets of long ones, would otherwise be bursts of their own.
 */
static int fill_batch(struct sroce_qp *qp, struct sroce_burst *burst,
		      struct batch *batch)
{
	struct sroce_resource *read = batch->reads[0], *next;
	int err;

	for (;;) {
		err = fill_response(qp, burst, read);
		if (err || read->next != read->end || sroce_burst_empty(burst) ||
		    burst->looped || batch->count == SROCE_BATCH_READS)
			return err;
		next = sroce_resp_res_pending(&qp->rq.resp.res);
		if (!next || !may_follow(read, next))
			return 0;
		batch->reads[batch->count++] = next;
		read = next;
	}
}

/* As if the burst had not been built. */
static void undo_batch(struct sroce_resp_res *res, const struct batch *batch)
{
	u32 i;

	for (i = 1; i < batch->count; i++)
		batch->reads[i]->next = batch->reads[i]->from;
	batch->reads[0]->next = batch->first;
	res->waiting = batch->waiting;
	res->first_pending = batch->first_pending;
}

static void pause_responses(struct sroce_qp *qp)
{
	hrtimer_start(&qp->rq.pause, ns_to_ktime(SROCE_PAUSE_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Returns EAGAIN if the response continues once its memory is present. */
static int page_in_response(struct sroce_qp *qp, const struct sroce_resource *read)
{
	u32 at = read->next * qp->rq.resp.mtu;

	SROCE_REMOTE_SGL(from, qp, read->va, read->length, read->rkey,
			 IB_ACCESS_REMOTE_READ);

	return sroce_fault_start(&qp->rq.fault, &from, at, read->length - at, 0) ?:
	       -EAGAIN;
}

/*
 * The peer may have received the response to a retransmitted READ before, and
 * the owner may have revoked the key since: a SEND with invalidate does both.
 * Late duplicates must not end the connection.  A peer that goes on repeating the
 * READ has lost the response, and learns the reason.
 */
static void refuse_resource(struct sroce_qp *qp, struct sroce_resource *read, u32 first)
{
	struct sroce_resp_res *res = &qp->rq.resp.res;

	if (read->resp_done && read->ignored < SROCE_IGNORED_READS) {
		read->ignored++;
		sroce_resp_res_sent(res, read, read->end - read->next);
		sroce_count(qp, SROCE_RX_IGNORED);
		return;
	}
	res->waiting = 0;
	sroce_rq_refuse_response(qp, sroce_psn_add(read->psn, first));
	/* note_resp_done() has counted a READ that was answered once. */
	if (!read->resp_done)
		sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
				    true);
}

/* Duplicates are answered again, but their READ is complete already. */
static void note_resp_done(struct sroce_qp *qp, struct sroce_resource *read)
{
	if (read->resp_done || read->next != read->packets)
		return;
	read->resp_done = true;
	if (read->kind == SROCE_KIND_READ)
		sroce_comp_cntr_add(qp, IB_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ,
				    false);
}

/* For sroce_resp_res_spoiled(): which response has the second packet of the burst? */
static void note_second(const struct batch *batch)
{
	struct sroce_resource *read = batch->reads[0];

	if (batch->lone && read->next != read->end)
		read->second = read->next;
	if (!batch->uso)
		return;
	if (read->next == batch->first + 1)
		batch->reads[1]->second = batch->reads[1]->from;
	else if (batch->first == read->from)
		read->second = read->from + 1;
}

static void batch_sent(struct sroce_qp *qp, const struct batch *batch)
{
	u32 packets = max(batch->packets, 1u);
	u32 i;

	qp->rq.pauses = 0;
	qp->rq.budget -= min(budget_units(qp, packets), qp->rq.budget);
	note_second(batch);
	for (i = 0; i < batch->count; i++)
		note_resp_done(qp, batch->reads[i]);
}

/*
 * Send one burst, which begins with the response to @read, so that it can be built again
 * if this host's transmit queue refuses it.  Returns false if the rest has to
 * wait.
 */
static bool send_batch(struct sroce_qp *qp, struct sroce_resource *read)
{
	struct sroce_resp_res *res = &qp->rq.resp.res;
	struct sroce_burst burst __uninitialized;
	struct batch batch __uninitialized;
	int err;

	if (!sroce_tx_room(qp, SROCE_TODO_RESPOND))
		return false;
	sroce_burst_begin(&burst, qp, qp->av, &qp->rq.path);
	burst.lone = read->lone && read->next == read->from;
	begin_batch(&batch, res, read);
	err = -EFAULT;
	if (!sroce_qp_target(qp) || sroce_xrc_srq_get(qp, read->srqn)) {
		/* The region of a READ that has just been accepted. */
		sroce_mr_cache_move(&burst.cache, &qp->rq.cache);
		err = fill_batch(qp, &burst, &batch);
	}
	if (err == -EAGAIN)
		err = page_in_response(qp, read);
	batch.packets = burst.packets;
	batch.uso = burst.packets > 1 && burst.uso;
	batch.lone = burst.packets == 1 && burst.uso && read->lone && batch.first == read->from;
	switch (err) {
	case 0:
		err = sroce_burst_send(&burst);
		break;
	case -EAGAIN:
		sroce_burst_drop(&burst);
		return false;
	case -EFAULT:
	case -EMSGSIZE:
		sroce_burst_drop(&burst);
		refuse_resource(qp, read, batch.first);
		return true;
	default:
		sroce_burst_drop(&burst);
	}
	if (err && qp->rq.pauses < SROCE_MAX_PAUSES) {
		qp->rq.pauses++;
		undo_batch(res, &batch);
		pause_responses(qp);
		return false;
	}
	batch_sent(qp, &batch);
	return true;
}

/*
 * Returns false if this host's transmit queue refused the packet or there was
 * no memory for it.  It is sent again later: a NAK is sent only once and must
 * not get lost here.
 */
static bool send_ack(struct sroce_qp *qp, u8 syndrome, u32 psn, u32 msn)
{
	struct sroce_burst burst __uninitialized;
	struct sroce_pkt pkt __uninitialized;
	bool built;
	int err;

	begin_response(qp, &pkt);
	pkt.opcode = qp->rq.resp.transport | SROCE_ACKNOWLEDGE;
	pkt.syndrome = syndrome ?: SROCE_ACK_CREDITS_INVALID;
	pkt.psn = psn;
	pkt.msn = msn & SROCE_MSN_MASK;
	sroce_burst_begin(&burst, qp, qp->av, &qp->rq.path);
	err = sroce_burst_add(&burst, &pkt, NULL, 0, NULL, true);
	built = !err;
	/* Without a route the burst is empty, and the packet lost in the network. */
	if (err != -ENOMEM)
		err = sroce_burst_send(&burst);
	if (err && qp->rq.pauses < SROCE_MAX_PAUSES) {
		qp->rq.pauses++;
		pause_responses(qp);
		return false;
	}
	qp->rq.pauses = 0;
	if (!err && built)
		sroce_count(qp, SROCE_TX_ACKS);
	return true;
}

static void send_ack_or_nak(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;
	u8 syndrome = qp->rq.pending.syndrome;

	/* Skip the NAK for a gap or shortage that is over by now. */
	if (syndrome && syndrome <= SROCE_NAK_SEQUENCE && !r->nak_sent)
		syndrome = 0;
	if (!send_ack(qp, syndrome, syndrome ? qp->rq.pending.nak_psn :
					       sroce_responder_acked(r), r->msn))
		return;
	qp->rq.pending.ack = false;
	qp->rq.pending.ack_again = false;
	qp->rq.pending.syndrome = 0;
}

/*
 * READ data may be delayed.  Acknowledge the requests before the READ
 * meanwhile, or the peer retransmits them and finally gives up.  READ and
 * similar responses acknowledge for themselves; see sroce_responder_acked().
 */
static void acknowledge_before(struct sroce_qp *qp,
			       const struct sroce_resource *read)
{
	struct sroce_responder *r = &qp->rq.resp;
	u32 psn = sroce_psn_add(read->psn, -1);
	bool all = sroce_psn_before(r->last, read->psn);

	/* Response packets that were sent acknowledge it already. */
	if (qp->rq.pending.syndrome || !qp->av || read->next != read->from ||
	    !(qp->rq.pending.ack_again || (qp->rq.pending.ack && all)))
		return;
	if (!sroce_resp_res_covers(&r->res, psn) &&
	    !send_ack(qp, 0, psn, read->msn - 1))
		return;
	qp->rq.pending.ack_again = false;
	if (all)
		qp->rq.pending.ack = false;
}

/* A gap that is not reported yet becomes a loss later. */
static void watch_gap(struct sroce_qp *qp)
{
	u64 deadline = sroce_responder_deadline(&qp->rq.resp);

	if (deadline && !hrtimer_is_queued(&qp->rq.pause))
		hrtimer_start(&qp->rq.pause, ns_to_ktime(deadline),
			      HRTIMER_MODE_ABS_PINNED_SOFT);
}

void sroce_resp_send(struct sroce_qp *qp)
{
	struct sroce_resource *read;

	lockdep_assert_held(&qp->rq.lock);
	if (!sroce_qp_reliable(qp))
		return;
	/* A QP that has just failed still responds to requests that it has executed. */
	if (!sroce_rq_active(qp) && !qp->rq.pending.syndrome) {
		sroce_resp_send_last(qp);
		return;
	}
	if (unlikely(qp->rq.resp.reorder.open) && sroce_rq_active(qp))
		watch_gap(qp);
	if (!qp->rq.pending.ack && !qp->rq.pending.syndrome && !qp->rq.resp.res.waiting)
		return;
	if (sroce_tx_in_order(qp, &qp->rq.path) != SROCE_ORDER_KEPT)
		return;
	while ((read = sroce_resp_res_pending(&qp->rq.resp.res))) {
		if (!qp->rq.budget) {
			sroce_qp_wake(qp, BIT(SROCE_TODO_RESPOND));
			return;
		}
		if (!send_batch(qp, read)) {
			acknowledge_before(qp, read);
			return;
		}
	}
	if ((qp->rq.pending.ack || qp->rq.pending.syndrome) && qp->av)
		send_ack_or_nak(qp);
}

/*
 * An ACK or NAK that waits for packets of another CPU would never be sent.  The user of this
 * QP has seen completions or an error, so the peer should see the same.  An ACK may overtake an
 * earlier one.  Behind a response that was not sent it would only report a loss.
 */
void sroce_resp_send_last(struct sroce_qp *qp)
{
	const struct sroce_pending_ack *pending = &qp->rq.pending;

	lockdep_assert_held(&qp->rq.lock);
	if (unlikely(pending->syndrome || pending->ack) &&
	    sroce_qp_reliable(qp) && !qp->rq.resp.res.waiting && qp->av)
		send_ack_or_nak(qp);
}
