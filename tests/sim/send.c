// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Driver of the core's requester and completer. */
#include <assert.h>
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

/* The timer runs from the latest progress while anything is unanswered. */
static void arm(struct endpoint *ep, u64 now, bool progress)
{
	if (!sroce_requester_waits(&ep->req) || ep->req.rnr_wait ||
	    !ep->timeout)
		ep->ack_timer = NEVER;
	else if (progress || ep->ack_timer == NEVER)
		ep->ack_timer = now + ep->timeout;
	if (!ep->req.rnr_wait)
		ep->rnr_timer = NEVER;
}

static void transmit(struct endpoint *ep, u64 now, struct sroce_outgoing *out,
		     bool ack_req)
{
	out->pkt.ack_req = ack_req;
	out->pkt.pkey = SROCE_PKEY_DEFAULT;
	out->pkt.qpn = 17;
	ep->resent += sroce_requester_again(&ep->req, out);
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

/* What sroce_requester_more() promises: the same but for the PSN. */
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

/*
 * A burst; its last packet asks for the acknowledgment.  That is known only
 * when there is no next one, so each packet goes out when the next is decided.
 */
void send_requests(struct endpoint *ep, u64 now)
{
	struct sroce_requester *r = &ep->req;
	struct sroce_outgoing out, last;
	enum sroce_next next = SROCE_NEXT_NOTHING;
	u32 n = 0, more = 0;

	if (ep->failed)
		return;
	while (n < ep->burst) {
		next = sroce_requester_next(r, &out);
		assert(!more || follows(&last, &out, next));
		if (next != SROCE_NEXT_PACKET)
			break;
		assert(!r->hold || out.wr->started);
		if (n++)
			transmit(ep, now, &last, false);
		more = sroce_requester_more(r, &out);
		sroce_requester_sent(r, &out);
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
	if (next == SROCE_NEXT_FAULT)
		check_fault(ep);
	arm(ep, now, false);
}

void send_retry(struct endpoint *ep, u64 now)
{
	if (!sroce_completer_retry(&ep->req)) {
		endpoint_fail(ep, SROCE_RETRY_EXC_ERR);
		return;
	}
	send_requests(ep, now);
}

static void wait_for_receiver(struct endpoint *ep, u64 now, u8 code)
{
	if (!sroce_completer_rnr(&ep->req))
		endpoint_fail(ep, SROCE_RNR_RETRY_EXC_ERR);
	else
		ep->rnr_timer = now + 1000ull * sroce_rnr_delay(code);
}

static void acknowledge(struct endpoint *ep, u64 now, u32 psn)
{
	bool progress = psn != ep->req.una;

	sroce_requester_acknowledge(&ep->req, psn);
	complete_finished(ep);
	arm(ep, now, progress);
}

/* A peer that has refused something answers nothing more. */
static void settle(struct endpoint *ep, u64 now, const struct sroce_pkt *pkt,
		   u8 status)
{
	struct sroce_ack_result a;

	if (status) {
		ep->req.refusal = status;
		ep->req.refused = pkt->psn;
	}
	if (ep->failed || !sroce_completer_refused(&ep->req, &a))
		return;
	acknowledge(ep, now, a.up_to);
	endpoint_fail(ep, a.status);
}

void send_take_answer(struct endpoint *ep, u64 now,
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
	if (verdict == SROCE_RESP_IGNORE)
		return;
	acknowledge(ep, now, a.up_to);
	switch (verdict) {
	case SROCE_RESP_DATA:
		memcpy(buffer(ep, a.index) + a.offset, payload, pkt->payload);
		acknowledge(ep, now, a.psn);
		break;
	case SROCE_RESP_ATOMIC:
		memcpy(buffer(ep, a.index), &pkt->original, sizeof(u64));
		acknowledge(ep, now, a.psn);
		break;
	case SROCE_RESP_RETRY:
		send_retry(ep, now);
		break;
	case SROCE_RESP_RNR:
		wait_for_receiver(ep, now, a.rnr_timer);
		arm(ep, now, false);
		break;
	case SROCE_RESP_FAIL:
		endpoint_fail(ep, a.status);
		return;
	default:
		break;
	}
	settle(ep, now, pkt, a.status);
}
