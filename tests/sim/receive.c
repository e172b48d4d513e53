// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Driver of the core's responder. */
#include <assert.h>
#include <stdlib.h>
#include "aeth.h"
#include "endpoint.h"
#include "invariants.h"

bool receive_post(struct endpoint *ep, struct receive receive)
{
	if (ep->receive_tail - ep->receive_head > ep->receive_mask)
		return false;
	ep->receives[ep->receive_tail++ & ep->receive_mask] = receive;
	return true;
}

static void note_ack(struct endpoint *ep, const struct sroce_pkt *pkt)
{
	if (pkt->ack_req || ++ep->unacked >= ep->ack_every)
		ep->ack_due = true;
}

/* The connection ends, but what was executed is still answered first. */
static void refuse(struct endpoint *ep, u8 reason)
{
	const struct sroce_failure *failure = &sroce_failures[reason];

	if (!sroce_responder_reliable(&ep->resp) && !failure->local)
		return;
	if (ep->resp.rwqe_taken || reason == SROCE_RECV_TOO_SMALL)
		complete(&ep->recvs, (struct completion) {
			.id = ep->taken.id,
			.status = failure->status,
		});
	ep->nak = failure->syndrome;
	ep->refused = true;
	if (!sroce_responder_reliable(&ep->resp))
		endpoint_fail(ep, SROCE_WR_FLUSH_ERR);
}

/* Key and bounds; a request for no bytes needs no key (9.7.4.1.5). */
static bool permitted(const struct endpoint *ep, const struct sroce_pkt *pkt,
		      const struct sroce_request *req)
{
	u64 length = pkt->op->kind == SROCE_KIND_ATOMIC ? 8 : pkt->dma_len;

	if (pkt->op->kind == SROCE_KIND_FLUSH)
		return req->rkey == RKEY;
	if (pkt->op->kind == SROCE_KIND_SEND || !req->begins || !length)
		return true;
	return req->rkey == RKEY && req->va <= ep->size &&
	       length <= ep->size - req->va;
}

static bool take_receive(struct endpoint *ep)
{
	if (ep->receive_head == ep->receive_tail) {
		if (sroce_responder_reliable(&ep->resp)) {
			sroce_responder_rnr(&ep->resp);
			ep->nak = SROCE_RNR_NAK | ep->rnr_code;
		}
		return false;
	}
	ep->taken = ep->receives[ep->receive_head++ & ep->receive_mask];
	return true;
}

static u64 run_atomic(struct endpoint *ep, const struct sroce_pkt *pkt)
{
	u64 original, value;

	memcpy(&original, ep->memory + pkt->va, sizeof(original));
	if (pkt->opcode == (ep->resp.transport | SROCE_FETCH_ADD))
		value = original + pkt->swap_add;
	else
		value = original == pkt->compare ? pkt->swap_add : original;
	memcpy(ep->memory + pkt->va, &value, sizeof(value));
	return original;
}

static void complete_receive(struct endpoint *ep, const struct sroce_pkt *pkt,
			     u32 length)
{
	bool write = pkt->op->kind == SROCE_KIND_WRITE;
	struct completion c = {
		.id = ep->taken.id,
		.length = length,
		.opcode = write ? SROCE_OP_WRITE_IMM : SROCE_OP_SEND,
	};

	if (pkt->op->headers & SROCE_IMMDT) {
		c.opcode = write ? SROCE_OP_WRITE_IMM : SROCE_OP_SEND_IMM;
		c.imm = pkt->imm;
	} else if (pkt->op->headers & SROCE_IETH) {
		c.opcode = SROCE_OP_SEND_INV;
		c.imm = pkt->rkey;
	}
	complete(&ep->recvs, c);
}

/*
 * Would a new READ or atomic take the resource of one whose response the peer still waits
 * for?  Then the peer has more than max_rd_atomic outstanding.
 */
static bool evicts_needed(const struct endpoint *ep)
{
	const struct sroce_resp_res *res = &ep->resp.res;
	const struct sroce_resource *oldest = &res->reads[res->first];

	return res->count == res->size &&
	       sroce_psn_before(ep->peer->una, sroce_psn_add(oldest->psn, oldest->packets));
}

static void execute(struct endpoint *ep, const struct sroce_pkt *pkt,
		    const struct sroce_request *req, const u8 *payload)
{
	u64 original = 0;
	u32 length = req->offset + pkt->payload;

	if (!permitted(ep, pkt, req)) {
		refuse(ep, SROCE_RKEY_REFUSED);
		return;
	}
	if (req->take && !take_receive(ep)) {
		endpoint_drop_held(&ep->held_requests);
		return;
	}
	if (pkt->op->kind == SROCE_KIND_SEND) {
		if (length > ep->taken.length) {
			refuse(ep, SROCE_RECV_TOO_SMALL);
			return;
		}
		memcpy(ep->memory + ep->taken.offset + req->offset, payload,
		       pkt->payload);
	} else if ((pkt->op->kind == SROCE_KIND_WRITE && pkt->payload) ||
		   pkt->op->kind == SROCE_KIND_ATOMIC_WRITE) {
		memcpy(ep->memory + req->va, payload, pkt->payload);
	} else if (pkt->op->kind == SROCE_KIND_ATOMIC) {
		original = run_atomic(ep, pkt);
	}
	if (sroce_pkt_row(pkt)->response)
		assert(!evicts_needed(ep));
	sroce_responder_done(&ep->resp, pkt, req, original);
	if (req->receives)
		complete_receive(ep, pkt, length);
	if (pkt->op->kind == SROCE_KIND_SEND ||
	    pkt->op->kind == SROCE_KIND_WRITE)
		note_ack(ep, pkt);
}

static void report_gap(struct endpoint *ep, u64 now)
{
	if (sroce_responder_gap(&ep->resp, now, now))
		ep->nak = SROCE_NAK_SEQUENCE;
}

static void hold(struct endpoint *ep, u64 now, const struct sroce_pkt *pkt,
		 const u8 *payload)
{
	if (ep->holds && sroce_responder_may_hold(&ep->resp, pkt->psn))
		endpoint_hold(&ep->held_requests, pkt, payload);
	report_gap(ep, now);
}

static void take_one(struct endpoint *ep, u64 now,
		     const struct sroce_pkt *pkt, const u8 *payload)
{
	bool predicted = predicted_request(&ep->resp, pkt);
	struct sroce_responder before = ep->resp;
	enum sroce_request_verdict verdict;
	struct sroce_request req;

	if (ep->refused)
		return;
	verdict = sroce_responder_check(&ep->resp, pkt, &req);
	assert(!predicted || verdict == SROCE_EXECUTE);
	switch (verdict) {
	case SROCE_EXECUTE:
		execute(ep, pkt, &req, payload);
		if (predicted && !ep->refused)
			check_advance(&ep->resp, before, pkt->payload);
		break;
	case SROCE_RESEND_ACK:
		if (sroce_reorder_suspects(&ep->resp.reorder, pkt->psn))
			sroce_reorder_duplicate(&ep->resp.reorder, now);
		if (sroce_responder_answers(&ep->resp, pkt))
			ep->ack_due = true;
		break;
	case SROCE_AHEAD:
		hold(ep, now, pkt, payload);
		break;
	case SROCE_REFUSE:
		refuse(ep, req.reason);
		break;
	default:
		break;
	}
}

/* Packets whose PSNs an executed READ has skipped are of no use. */
static void drop_passed(struct endpoint *ep)
{
	u32 i;

	for (i = 0; ep->held_requests.count && i < HELD; i++) {
		struct held *held = ep->held_requests.places[i];

		if (held && sroce_psn_before(held->pkt.psn, ep->resp.epsn))
			free(endpoint_held(&ep->held_requests, held->pkt.psn));
	}
}

void receive_gap_lasts(struct endpoint *ep, u64 now)
{
	report_gap(ep, now);
	receive_answer(ep, now);
}

void receive_take_request(struct endpoint *ep, u64 now,
			  const struct sroce_pkt *pkt, const u8 *payload)
{
	u32 epsn = ep->resp.epsn;
	struct held *held;

	take_one(ep, now, pkt, payload);
	if (!ep->held_requests.count || (ep->resp.epsn == epsn && !pkt->ack_req))
		return;
	while ((held = endpoint_held(&ep->held_requests, ep->resp.epsn))) {
		sroce_reorder_filled(&ep->resp.reorder, now);
		take_one(ep, now, &held->pkt, held->payload);
		free(held);
	}
	drop_passed(ep);
	if (ep->held_requests.count && (pkt->ack_req || ep->ack_due))
		report_gap(ep, now);
}

static void answer_read(struct endpoint *ep, u64 now, struct sroce_resource *read)
{
	struct sroce_pkt pkt = { .pkey = SROCE_PKEY_DEFAULT, .qpn = 17 };
	u32 offset = sroce_resp_res_next(&ep->resp.res, read, &pkt);

	assert(!sroce_resp_res_more(read) ||
	       (pkt.opcode == (ep->resp.transport |
			       SROCE_READ_RESPONSE_MIDDLE) &&
		read->next + 1 + sroce_resp_res_more(read) < read->end));
	endpoint_transmit(ep, now, &pkt,
			  pkt.payload ? ep->memory + read->va + offset : NULL);
	sroce_resp_res_sent(&ep->resp.res, read, 1);
}

static void acknowledge(struct endpoint *ep, u64 now, u32 psn, u8 syndrome)
{
	struct sroce_pkt pkt = {
		.opcode = ep->resp.transport | SROCE_ACKNOWLEDGE,
		.pkey = SROCE_PKEY_DEFAULT,
		.qpn = 17,
		.psn = psn,
		.syndrome = syndrome,
		.msn = ep->resp.msn,
	};

	endpoint_transmit(ep, now, &pkt, NULL);
	ep->unacked = 0;
	ep->ack_due = false;
	ep->nak = 0;
}

/*
 * Answers leave in the order of their requests: while any of a READ waits, no
 * ACK or NAK of a later request may overtake it.
 */
void receive_answer(struct endpoint *ep, u64 now)
{
	struct sroce_responder *r = &ep->resp;
	struct sroce_resource *read;
	u32 n;

	if (!sroce_responder_reliable(r) || ep->failed)
		return;
	for (n = 0; n < ep->answers; n++) {
		read = sroce_resp_res_pending(&r->res);
		if (!read)
			break;
		answer_read(ep, now, read);
	}
	if (sroce_resp_res_pending(&r->res)) {
		ep->work_timer = now + 100;
		return;
	}
	/* A gap or shortage that is over is not worth a word. */
	if (ep->nak && (r->nak_sent || ep->refused))
		acknowledge(ep, now, r->epsn, ep->nak);
	else if (ep->ack_due)
		acknowledge(ep, now, sroce_responder_acked(r),
			    SROCE_ACK_CREDITS_INVALID);
	ep->nak = 0;
	if (ep->refused)
		endpoint_fail(ep, SROCE_WR_FLUSH_ERR);
}
