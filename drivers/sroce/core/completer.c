// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Checks of response packets (IBTA vol. 1, 9.7.5.1 and 9.7.6).  ACKs are
 * cumulative, except for READs and atomics: an ACK for a later PSN implies that
 * the response was lost.
 */
#include "aeth.h"
#include "completer.h"
#include "recovery.h"

/*
 * All packets before @psn are acknowledged, up to the first request whose own
 * response (sroce_wr_reads()) is missing.  Returns false if one is missing.
 */
static bool implied_nak(const struct sroce_requester *r, u32 psn,
			struct sroce_ack_result *a)
{
	u32 i;

	a->up_to = psn;
	if (!r->reads)
		return true;
	for (i = r->in.head; i != r->in.tail; i++) {
		const struct sroce_wr *wr = sroce_inflight_wr(&r->in, i);

		if (!wr->started || sroce_psn_diff(wr->psn, psn) >= 0)
			break;
		if (!sroce_wr_reads(wr) ||
		    sroce_psn_diff(r->una, wr->psn) >= (s32)wr->packets)
			continue;
		a->up_to = sroce_psn_before(wr->psn, r->una) ? r->una : wr->psn;
		return a->up_to == psn;
	}
	return true;
}

/* After a rewind without progress the report may be about the same loss. */
static bool is_known(const struct sroce_requester *r,
		     const struct sroce_ack_result *a)
{
	return r->rewound && a->up_to == r->una;
}

/* The response to a READ or atomic was lost, or the end of it. */
static enum sroce_ack_verdict is_gap(const struct sroce_requester *r,
				     const struct sroce_ack_result *a)
{
	if (sroce_requester_holds(r))
		return SROCE_RESP_ASK;
	return is_known(r, a) ? SROCE_RESP_ACK : SROCE_RESP_RETRY;
}

static enum sroce_ack_verdict bad_response(struct sroce_ack_result *a)
{
	a->status = SROCE_BAD_RESP_ERR;
	return SROCE_RESP_FAIL;
}

/* The response to an atomic WRITE or FLUSH: it only acknowledges. */
static enum sroce_ack_verdict check_empty(const struct sroce_pkt *pkt,
					  struct sroce_ack_result *a)
{
	if (pkt->payload || pkt->op->pos != SROCE_ONLY)
		return bad_response(a);
	a->up_to = a->psn;
	return SROCE_RESP_ACK;
}

static enum sroce_ack_verdict check_data(const struct sroce_requester *r,
					 const struct sroce_pkt *pkt,
					 struct sroce_ack_result *a)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, a->index);
	u32 at = sroce_psn_diff(pkt->psn, wr->psn);
	bool last = at + 1 == wr->packets;
	bool ends = pkt->op->pos & SROCE_LAST;
	u32 expected;

	if (!sroce_wr_fetches(wr))
		return check_empty(pkt, a);
	a->offset = at * r->mtu;
	expected = last ? wr->length - a->offset : r->mtu;
	/* A partial READ may end (LAST/ONLY) before the message does. */
	if (pkt->payload != expected || (ends != last && (last || !wr->parts)))
		return bad_response(a);
	return SROCE_RESP_DATA;
}

/*
 * Is the response of the kind that the request expects?  This check comes
 * before implied_nak(): a peer may repeat a meaningless response forever, and
 * each one must not cost a walk over all requests in flight.
 */
static bool response_fits(const struct sroce_wr *wr, const struct sroce_pkt *pkt)
{
	return sroce_wr_row(wr)->response == pkt->op->kind;
}

/*
 * True if the gap lies in the response to the same READ.  Only then the packet may be
 * held: the data of a later READ would be older than the data that fills the gap.
 */
static bool is_ahead(const struct sroce_requester *r,
		     const struct sroce_pkt *pkt, const struct sroce_ack_result *a)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, a->index);
	struct sroce_ack_result data = *a;

	return !sroce_psn_before(a->up_to, wr->psn) &&
	       check_data(r, pkt, &data) == SROCE_RESP_DATA;
}

static enum sroce_ack_verdict check_response(const struct sroce_requester *r,
					     const struct sroce_pkt *pkt,
					     struct sroce_ack_result *a)
{
	if ((pkt->op->headers & SROCE_AETH) &&
	    sroce_aeth_class(pkt->syndrome) != SROCE_AETH_ACK)
		return SROCE_RESP_IGNORE;
	a->index = sroce_inflight_find(&r->in, pkt->psn);
	a->psn = sroce_psn_add(pkt->psn, 1);
	if (!response_fits(sroce_inflight_wr(&r->in, a->index), pkt))
		return SROCE_RESP_IGNORE;
	if (!implied_nak(r, pkt->psn, a))
		return is_ahead(r, pkt, a) ? SROCE_RESP_AHEAD : is_gap(r, a);
	return pkt->op->kind == SROCE_KIND_READ_RESPONSE ?
	       check_data(r, pkt, a) : SROCE_RESP_ATOMIC;
}

/*
 * Status (enum sroce_status) of a fatal NAK, after which the peer's QP is in
 * the error state; 0 for all other syndromes.
 */
static u8 refusal_status(u8 syndrome)
{
	switch (syndrome) {
	case SROCE_NAK_INVALID_REQ:
		return SROCE_REM_INV_REQ_ERR;
	case SROCE_NAK_REM_ACCESS:
		return SROCE_REM_ACCESS_ERR;
	case SROCE_NAK_REM_OP:
		return SROCE_REM_OP_ERR;
	default:
		return 0;
	}
}

static enum sroce_ack_verdict check_nak(const struct sroce_requester *r,
					const struct sroce_pkt *pkt,
					struct sroce_ack_result *a)
{
	if (pkt->syndrome == SROCE_NAK_SEQUENCE)
		return is_known(r, a) ? SROCE_RESP_ACK : SROCE_RESP_REPAIR;
	a->status = refusal_status(pkt->syndrome);
	return a->status ? SROCE_RESP_FAIL : SROCE_RESP_IGNORE;
}

static enum sroce_ack_verdict check_ack(const struct sroce_requester *r,
					const struct sroce_pkt *pkt,
					struct sroce_ack_result *a)
{
	switch (sroce_aeth_class(pkt->syndrome)) {
	case SROCE_AETH_ACK:
		return implied_nak(r, sroce_psn_add(pkt->psn, 1), a) ?
		       SROCE_RESP_ACK : is_gap(r, a);
	case SROCE_AETH_RNR:
		if (!implied_nak(r, pkt->psn, a))
			return is_gap(r, a);
		if (r->rnr_wait)
			return SROCE_RESP_ACK;
		a->rnr_timer = sroce_aeth_value(pkt->syndrome);
		return SROCE_RESP_RNR;
	case SROCE_AETH_NAK:
		/* Reserved code.  Check it first, as in response_fits(). */
		if (pkt->syndrome != SROCE_NAK_SEQUENCE &&
		    !refusal_status(pkt->syndrome))
			return SROCE_RESP_IGNORE;
		if (implied_nak(r, pkt->psn, a))
			return check_nak(r, pkt, a);
		a->status = refusal_status(pkt->syndrome);
		return is_gap(r, a);
	default:
		return SROCE_RESP_IGNORE;
	}
}

/*
 * If a READ was repeated too early, the peer may refuse the duplicate at a PSN
 * whose response has arrived in the meantime.  It sends this NAK only once.
 */
static bool late_refusal(const struct sroce_requester *r,
			 const struct sroce_pkt *pkt)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return pkt->op->kind == SROCE_KIND_ACK &&
	       sroce_aeth_class(pkt->syndrome) == SROCE_AETH_NAK &&
	       pkt->syndrome != SROCE_NAK_SEQUENCE && r->reads &&
	       wr->started && sroce_wr_reads(wr) &&
	       sroce_psn_diff(pkt->psn, wr->psn) >= 0 &&
	       sroce_psn_before(pkt->psn, r->una);
}

enum sroce_ack_verdict sroce_completer_check(const struct sroce_requester *r,
					     const struct sroce_pkt *pkt,
					     struct sroce_ack_result *a)
{
	a->status = 0;
	if (late_refusal(r, pkt)) {
		a->up_to = r->una;
		return check_nak(r, pkt, a);
	}
	if (sroce_psn_before(pkt->psn, r->una) ||
	    !sroce_psn_before(pkt->psn, r->sent))
		return SROCE_RESP_IGNORE;
	if (pkt->op->kind == SROCE_KIND_ACK)
		return check_ack(r, pkt, a);
	return check_response(r, pkt, a);
}

void sroce_completer_acknowledge(struct sroce_requester *r, enum sroce_ack_verdict verdict,
				 const struct sroce_ack_result *a)
{
	/* The peer has packets behind the gap, so those behind a probe are not all lost. */
	if (verdict == SROCE_RESP_REPAIR)
		r->repair.probed = false;
	sroce_requester_acknowledge(r, a->up_to);
}

bool sroce_completer_refused(const struct sroce_requester *r,
			     struct sroce_ack_result *a)
{
	if (!r->refusal || !implied_nak(r, r->refused, a))
		return false;
	if (sroce_psn_before(a->up_to, r->una))
		a->up_to = r->una;
	a->status = r->refusal;
	return true;
}

bool sroce_completer_predicts(const struct sroce_requester *r, const u8 *bth,
			      u32 payload, u32 *offset)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);
	s32 at = sroce_psn_diff(r->una, wr->psn);

	if (!r->reads || wr->opcode != SROCE_OP_READ || !wr->started ||
	    r->in.head == r->in.tail)
		return false;
	*offset = at * r->mtu;
	return payload == r->mtu && at > 0 && at + 1 < (s32)wr->packets &&
	       sroce_psn_before(r->una, r->sent) &&
	       sroce_bth_is(bth, r->transport | SROCE_READ_RESPONSE_MIDDLE,
			    r->una);
}

u32 sroce_completer_predicts_alike(const struct sroce_requester *r, const u8 *bth,
				   u32 payload, u32 most, u32 *offset)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);
	u32 psn = sroce_bth_psn(bth);
	u8 next[SROCE_BTH_BYTES];
	s32 in_message, sent;

	if (r->una != sroce_psn_add(psn, 1))
		return 0;
	memcpy(next, bth, 8);
	put_unaligned_be32(r->una, next + 8);
	if (!sroce_completer_predicts(r, next, payload, offset))
		return 0;
	in_message = (s32)wr->packets - 1 - sroce_psn_diff(r->una, wr->psn);
	sent = sroce_psn_diff(r->sent, r->una);
	return min_t(u32, most, min(in_message, sent));
}

static bool use_retry(struct sroce_requester *r)
{
	if (!r->retry_left)
		return false;
	r->retry_left--;
	r->rewound = true;
	sroce_requester_lost(r, 1);
	return true;
}

bool sroce_completer_retry(struct sroce_requester *r)
{
	if (!use_retry(r))
		return false;
	sroce_requester_rewind(r);
	return true;
}

bool sroce_completer_repair(struct sroce_requester *r)
{
	sroce_requester_nak(r);
	if (!use_retry(r))
		return false;
	sroce_requester_repair(r);
	return true;
}

bool sroce_completer_ask(struct sroce_requester *r, bool rest)
{
	struct sroce_gaps *gaps = &r->repair.gaps;

	if (rest && gaps->count)
		sroce_gaps_extend(gaps, sroce_requester_gaps_end(r));
	if (!sroce_gaps_unasked(gaps))
		return false;
	r->rewound = true;
	sroce_requester_lost(r, sroce_gaps_missing(gaps));
	return sroce_requester_ask(r);
}

bool sroce_completer_rnr(struct sroce_requester *r)
{
	if (!r->rnr_left)
		return false;
	if (r->rnr_left != 7)
		r->rnr_left--;
	if (r->rnr_waits < 0xff)
		r->rnr_waits++;
	r->rnr_wait = true;
	sroce_requester_rewind(r);
	return true;
}
