// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Driver of the core's requester and completer. */
#include <assert.h>
#include <stdlib.h>
#include "aeth.h"
#include "endpoint.h"
#include "invariants.h"

bool send_post(struct endpoint *ep, const struct sroce_wr *wr, u32 local)
{
	struct sroce_inflight *in = &ep->req.in;

	if (in->tail - in->head > in->mask)
		return false;
	ep->local[in->tail & in->mask] = local;
	*sroce_inflight_wr(in, in->tail++) = *wr;
	return true;
}

static u8 *buffer(const struct endpoint *ep, u32 index)
{
	return ep->memory + ep->local[index & ep->req.in.mask];
}

static void complete_finished(struct endpoint *ep)
{
	struct sroce_requester *r = &ep->req;

	while (sroce_requester_finished(r)) {
		struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

		if (wr->flags & SROCE_SIGNALED)
			complete(&ep->sends, (struct completion) {
				.id = wr->wr_id,
				.opcode = wr->opcode,
				.length = wr->length,
			});
		sroce_requester_retire(r);
	}
}

/* As the driver's run_connected() does after it has sent. */
static void set_timers(struct endpoint *ep, u64 now, u32 from)
{
	if (ep->progress)
		sroce_rtx_restart(&ep->rtx);
	if (ep->req.rnr_wait)
		return;
	ep->rnr_timer = NEVER;
	if (ep->progress || !ep->rtx.armed)
		sroce_rtx_progress(&ep->rtx, &ep->req, from, now);
	ep->progress = false;
}

static void transmit(struct endpoint *ep, u64 now, struct sroce_outgoing *out,
		     bool ack_req)
{
	out->pkt.ack_req = ack_req;
	out->pkt.pkey = SROCE_PKEY_DEFAULT;
	out->pkt.qpn = 17;
	endpoint_transmit(ep, now, &out->pkt,
			  buffer(ep, out->index) + out->offset);
}

/* A request that cannot be sent fails when all before it are complete. */
static void check_fault(struct endpoint *ep)
{
	struct sroce_inflight *in = &ep->req.in;

	if (in->next == in->head)
		endpoint_fail(ep, sroce_inflight_wr(in, in->head)->status);
}

/* As sroce_requester_more() promises: the same packet except for the PSN. */
static bool follows(const struct sroce_outgoing *last,
		    const struct sroce_outgoing *out, enum sroce_next next)
{
	return next == SROCE_NEXT_PACKET && out->wr == last->wr &&
	       out->offset == last->offset + last->pkt.payload &&
	       out->pkt.opcode == last->pkt.opcode &&
	       out->pkt.payload == last->pkt.payload &&
	       out->pkt.psn == sroce_psn_add(last->pkt.psn, 1) &&
	       !out->pkt.solicited && !out->pkt.pad;
}

/* A probe: the packet asks for an acknowledgment, and is sent as a duplicate. */
static void repeat_packet(struct endpoint *ep, u64 now)
{
	struct sroce_requester *r = &ep->req;
	struct sroce_outgoing out;
	u32 end = r->psn;

	if (end == r->una)
		return;
	sroce_requester_resume(r, r->una);
	if (sroce_requester_next(r, &out) == SROCE_NEXT_PACKET &&
	    !sroce_wr_reads(out.wr)) {
		transmit(ep, now, &out, true);
		sroce_requester_sent(r, &out);
	}
	sroce_requester_resume(r, end);
}

/* Packets to a peer that is not near are paced, and so are the responses to its READs. */
static bool waits_for_pace(struct endpoint *ep, u64 now)
{
	if (ep->free_at <= now)
		return false;
	sroce_rtx_paced(&ep->rtx, &ep->req, ep->req.psn, now);
	ep->work_timer = min(ep->work_timer, ep->free_at);
	return true;
}

static void charge_pace(struct endpoint *ep, u64 now, u32 packets)
{
	u64 oldest = now - min(now, (u64)SROCE_PACE_SLACK_NS);

	ep->free_at = max(ep->free_at, oldest) + sroce_cc_pace(&ep->req.cc, &ep->rtx.rtt, packets);
}

/*
 * A burst; its last packet asks for the acknowledgment.  That is known only
 * when there is no next one, so each packet goes out when the next is decided.
 */
void send_requests(struct endpoint *ep, u64 now)
{
	struct sroce_requester *r = &ep->req;
	struct sroce_outgoing out, last;
	enum sroce_next next = SROCE_NEXT_NOTHING;
	u32 n = 0, more = 0, psns = 0, from = r->psn;

	if (ep->failed || waits_for_pace(ep, now))
		return;
	while (n < ep->burst && !(r->cc.paced && psns >= sroce_cc_burst(&r->cc))) {
		next = sroce_requester_next(r, &out);
		assert(!more || follows(&last, &out, next));
		if (next != SROCE_NEXT_PACKET)
			break;
		assert(!r->drain || out.wr->started);
		if (n++)
			transmit(ep, now, &last,
				 n % sroce_cc_burst(&r->cc) == 0);
		more = sroce_requester_more(r, &out);
		ep->resent += sroce_requester_again(r, &out);
		sroce_requester_sent(r, &out);
		psns += out.count;
		last = out;
	}
	if (n && r->transport != SROCE_UC &&
	    rng_permille(ep->rng, ep->refuse)) {
		sroce_requester_resume(r, last.pkt.psn);
		ep->work_timer = now + 1000;
	} else if (n) {
		transmit(ep, now, &last, true);
		if (next == SROCE_NEXT_PACKET)
			ep->work_timer = now;
	}
	if (r->transport == SROCE_UC)
		complete_finished(ep);
	else if (ep->rtx.probe.due)
		repeat_packet(ep, now);
	ep->rtx.probe.due = false;
	if (next == SROCE_NEXT_FAULT)
		check_fault(ep);
	charge_pace(ep, now, psns);
	set_timers(ep, now, from);
}

void send_retry(struct endpoint *ep, u64 now)
{
	sroce_rtx_resent(&ep->rtx, &ep->req, now);
	sroce_rtx_restart(&ep->rtx);
	if (!ep->req.rnr_wait)
		ep->rtx.armed = false;
	if (!sroce_completer_retry(&ep->req)) {
		endpoint_fail(ep, SROCE_RETRY_EXC_ERR);
		return;
	}
	send_requests(ep, now);
}

void send_expired(struct endpoint *ep, u64 now)
{
	ep->rtx.armed = false;
	switch (sroce_rtx_expired(&ep->rtx, &ep->req)) {
	case SROCE_RTX_PROBE:
		ep->probes++;
		sroce_rtx_probe(&ep->rtx, &ep->req, now);
		send_requests(ep, now);
		break;
	case SROCE_RTX_RETRY:
		ep->timeouts++;
		send_retry(ep, now);
		break;
	case SROCE_RTX_REFUSED:
		endpoint_fail(ep, ep->req.refusal);
		break;
	case SROCE_RTX_NOTHING:
		break;
	}
}

static void wait_for_receiver(struct endpoint *ep, u64 now, u8 code)
{
	if (!sroce_completer_rnr(&ep->req))
		endpoint_fail(ep, SROCE_RNR_RETRY_EXC_ERR);
	else
		ep->rnr_timer = now + 1000ull * sroce_rnr_delay(code);
	sroce_rtx_rnr(&ep->rtx);
	ep->rtx.armed = false;
}

static void acknowledge(struct endpoint *ep, u32 psn)
{
	ep->progress |= psn != ep->req.una;
	sroce_requester_acknowledge(&ep->req, psn);
	complete_finished(ep);
}

/* A peer that has refused something answers nothing more. */
static void settle(struct endpoint *ep, const struct sroce_pkt *pkt, u8 status)
{
	struct sroce_ack_result a;

	if (status) {
		ep->req.refusal = status;
		ep->req.refused = pkt->psn;
	}
	if (ep->failed || !sroce_completer_refused(&ep->req, &a))
		return;
	acknowledge(ep, a.up_to);
	endpoint_fail(ep, a.status);
}

static void repair(struct endpoint *ep, u64 now)
{
	if (sroce_rtx_repair_underway(&ep->rtx, &ep->req, now))
		return;
	ep->repairs++;
	sroce_rtx_resent(&ep->rtx, &ep->req, now);
	sroce_rtx_restart(&ep->rtx);
	if (!ep->req.rnr_wait)
		ep->rtx.armed = false;
	sroce_rtx_repaired(&ep->rtx, &ep->req, now);
	if (!sroce_completer_repair(&ep->req))
		endpoint_fail(ep, SROCE_RETRY_EXC_ERR);
}

static void ask(struct endpoint *ep, u64 now, bool rest)
{
	if (!sroce_completer_ask(&ep->req, rest))
		return;
	ep->repairs++;
	sroce_rtx_resent(&ep->rtx, &ep->req, now);
	sroce_rtx_repaired(&ep->rtx, &ep->req, now);
	if (!ep->req.rnr_wait)
		ep->rtx.armed = false;
}

static void take_ahead(struct endpoint *ep, u64 now,
		       const struct sroce_pkt *pkt, const u8 *payload)
{
	struct sroce_requester *r = &ep->req;

	if (ep->holds && !ep->held_responses.places[pkt->psn % HELD]) {
		if (sroce_requester_ahead(r, pkt->psn))
			endpoint_hold(&ep->held_responses, pkt, payload);
		ask(ep, now, false);
	} else if (!sroce_requester_holds(r) && !r->rewound) {
		send_retry(ep, now);
	}
}

/* Is it a response that arrives although an earlier one is missing? */
static bool came_ahead(const struct sroce_pkt *pkt, enum sroce_ack_verdict verdict,
		       const struct sroce_ack_result *a)
{
	return verdict == SROCE_RESP_AHEAD ||
	       (pkt->op->kind != SROCE_KIND_ACK &&
		(verdict == SROCE_RESP_ACK || verdict == SROCE_RESP_ASK) &&
		!sroce_psn_before(pkt->psn, a->up_to));
}

static void take_one(struct endpoint *ep, u64 now,
		     const struct sroce_pkt *pkt, const u8 *payload)
{
	enum sroce_ack_verdict verdict;
	struct sroce_ack_result a;
	u32 offset;
	bool predicted = predicted_answer(&ep->req, pkt, &offset);
	u32 una = ep->req.una;

	verdict = sroce_completer_check(&ep->req, pkt, &a);
	assert(!predicted ||
	       (verdict == SROCE_RESP_DATA && a.offset == offset &&
		a.index == ep->req.in.head && a.up_to == una &&
		a.psn == sroce_psn_add(una, 1)));
	if (verdict == SROCE_RESP_IGNORE) {
		sroce_rtx_echo(&ep->rtx, &ep->req, pkt->psn);
		return;
	}
	ep->progress |= a.up_to != una;
	sroce_completer_acknowledge(&ep->req, verdict, &a);
	complete_finished(ep);
	switch (verdict) {
	case SROCE_RESP_DATA:
		memcpy(buffer(ep, a.index) + a.offset, payload, pkt->payload);
		acknowledge(ep, a.psn);
		break;
	case SROCE_RESP_ATOMIC:
		memcpy(buffer(ep, a.index), &pkt->original, sizeof(u64));
		acknowledge(ep, a.psn);
		break;
	case SROCE_RESP_AHEAD:
		take_ahead(ep, now, pkt, payload);
		break;
	case SROCE_RESP_ASK:
		ask(ep, now, true);
		break;
	case SROCE_RESP_REPAIR:
		repair(ep, now);
		break;
	case SROCE_RESP_RETRY:
		send_retry(ep, now);
		break;
	case SROCE_RESP_RNR:
		wait_for_receiver(ep, now, a.rnr_timer);
		break;
	case SROCE_RESP_FAIL:
		endpoint_fail(ep, a.status);
		return;
	default:
		break;
	}
	if (came_ahead(pkt, verdict, &a) && !ep->req.rnr_wait)
		sroce_rtx_ahead(&ep->rtx, &ep->req, now);
	settle(ep, pkt, a.status);
}

void send_take_answer(struct endpoint *ep, u64 now,
		      const struct sroce_pkt *pkt, const u8 *payload)
{
	u32 una = ep->req.una;
	struct held *held;

	take_one(ep, now, pkt, payload);
	while (!ep->failed && ep->req.una != una) {
		una = ep->req.una;
		held = endpoint_held(&ep->held_responses, una);
		if (!held)
			break;
		take_one(ep, now, &held->pkt, held->payload);
		free(held);
	}
	if (!sroce_requester_holds(&ep->req))
		endpoint_drop_held(&ep->held_responses);
}
