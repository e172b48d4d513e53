// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder: checks of request packets (IBTA vol. 1, 9.7.4 for RC, 9.8.2 for
 * UC).  XRC (annex A14) is RC, except that each request contains an SRQ number.
 * Checks are in the order of figure "Inbound Request Packet Validation".
 */
#include "responder.h"

static bool continues_message(const struct sroce_responder *r,
			      const struct sroce_pkt *pkt)
{
	if (pkt->op->pos & SROCE_FIRST)
		return r->kind == SROCE_KIND_NONE;
	return r->kind == pkt->op->kind &&
	       (r->transport != SROCE_XRC || pkt->srqn == r->srqn);
}

/* Each placement type has its own right; reserved types are refused. */
static u16 flush_rights(const struct sroce_pkt *pkt)
{
	const u8 known = SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT;
	u8 type = pkt->flush_type;

	if (!type || type & ~known || pkt->flush_level > SROCE_FLUSH_REGION)
		return SROCE_MAY_NEVER;
	return (type & SROCE_FLUSH_GLOBAL ? SROCE_MAY_FLUSH : 0) |
	       (type & SROCE_FLUSH_PERSISTENT ? SROCE_MAY_PERSIST : 0);
}

/* 9.7.4.1.6: the payload of each packet but the last is one path MTU. */
static bool length_fits(const struct sroce_responder *r,
			const struct sroce_pkt *pkt)
{
	if (!(pkt->op->headers & SROCE_PAYLOAD))
		return true;
	if (!(pkt->op->pos & SROCE_LAST))
		return pkt->payload == r->mtu;
	if (pkt->op->pos == SROCE_LAST && !pkt->payload)
		return false;
	return pkt->payload <= r->mtu;
}

/* Does the payload fit the DMA length of the RETH? */
static u8 check_write(const struct sroce_responder *r,
		      const struct sroce_pkt *pkt, struct sroce_request *req)
{
	bool first = pkt->op->headers & SROCE_RETH;
	u32 left = first ? pkt->dma_len : r->left;

	req->rkey = first ? pkt->rkey : r->rkey;
	req->va = first ? pkt->va : r->va;
	req->take = (pkt->op->headers & SROCE_IMMDT) && !r->rwqe_taken;
	if (first && pkt->dma_len > SROCE_MAX_MSG)
		return SROCE_BAD_LENGTH;
	if (pkt->op->pos & SROCE_LAST)
		return pkt->payload == left ? SROCE_NO_ERROR :
					      SROCE_BAD_LENGTH;
	return pkt->payload < left ? SROCE_NO_ERROR : SROCE_BAD_LENGTH;
}

static u8 check_send(const struct sroce_responder *r,
		     const struct sroce_pkt *pkt, struct sroce_request *req)
{
	req->take = req->begins && !r->rwqe_taken;
	if ((u64)req->offset + pkt->payload > SROCE_MAX_MSG)
		return SROCE_BAD_LENGTH;
	return SROCE_NO_ERROR;
}

static u8 check_read(const struct sroce_responder *r,
		     const struct sroce_pkt *pkt)
{
	if (pkt->dma_len > SROCE_MAX_MSG ||
	    sroce_packets(pkt->dma_len, r->mtu) > SROCE_MAX_PACKETS)
		return SROCE_BAD_LENGTH;
	return SROCE_NO_ERROR;
}

static u8 check_word(const struct sroce_pkt *pkt)
{
	if (pkt->op->headers & SROCE_PAYLOAD &&
	    (pkt->dma_len != sizeof(u64) || pkt->payload != sizeof(u64)))
		return SROCE_BAD_LENGTH;
	return pkt->va & 7 ? SROCE_MISALIGNED : SROCE_NO_ERROR;
}

/* The length is not valid for a FLUSH of a whole region. */
static u8 check_flush(const struct sroce_pkt *pkt)
{
	return pkt->flush_level == SROCE_FLUSH_RANGE &&
	       pkt->dma_len > SROCE_MAX_MSG ? SROCE_BAD_LENGTH :
					      SROCE_NO_ERROR;
}

/* Requests that have their own response. */
static u8 check_answered(const struct sroce_responder *r,
			 const struct sroce_pkt *pkt,
			 struct sroce_request *req)
{
	req->rkey = pkt->rkey;
	req->va = pkt->va;
	if (!sroce_resp_res_room(&r->res))
		return SROCE_TOO_MANY_READS;
	if (sroce_pkt_row(pkt)->traits & SROCE_TRAIT_WORD)
		return check_word(pkt);
	return pkt->op->headers & SROCE_FETH ? check_flush(pkt) :
					       check_read(r, pkt);
}

static u8 check_operation(const struct sroce_responder *r,
			  const struct sroce_pkt *pkt,
			  struct sroce_request *req)
{
	const struct sroce_op_row *op = sroce_pkt_row(pkt);

	if (!continues_message(r, pkt))
		return SROCE_OUT_OF_PLACE;
	req->rights = pkt->op->headers & SROCE_FETH ? flush_rights(pkt) :
						      op->rights;
	if (req->rights & ~r->permissions)
		return SROCE_NOT_ENABLED;
	if (!length_fits(r, pkt))
		return SROCE_BAD_LENGTH;

	req->begins = pkt->op->pos & SROCE_FIRST;
	req->completes = pkt->op->pos & SROCE_LAST;
	req->offset = req->begins ? 0 : r->done;
	req->take = false;
	req->receives = req->completes && op->traits & SROCE_TRAIT_RECEIVES;
	switch (pkt->op->kind) {
	case SROCE_KIND_WRITE:
		return check_write(r, pkt, req);
	case SROCE_KIND_SEND:
		return check_send(r, pkt, req);
	default:
		return check_answered(r, pkt, req);
	}
}

static enum sroce_request_verdict check_kind(const struct sroce_responder *r,
					     const struct sroce_pkt *pkt,
					     struct sroce_request *req)
{
	req->reason = check_operation(r, pkt, req);
	return req->reason ? SROCE_REFUSE : SROCE_EXECUTE;
}

static enum sroce_request_verdict check_duplicate(struct sroce_responder *r,
						  const struct sroce_pkt *pkt)
{
	if (sroce_pkt_row(pkt)->response)
		return sroce_resp_res_repeat(&r->res, pkt) ? SROCE_RESEND_RESPONSE :
							  SROCE_IGNORE;
	return SROCE_RESEND_ACK;
}

/* RC and XRC (9.7.4.1.2). */
static enum sroce_request_verdict check_reliable(struct sroce_responder *r,
						 const struct sroce_pkt *pkt,
						 struct sroce_request *req)
{
	s32 ahead = sroce_psn_diff(pkt->psn, r->epsn);

	if (ahead < 0)
		return check_duplicate(r, pkt);
	/* After an RNR NAK the peer repeats everything from @epsn on. */
	if (ahead > 0)
		return r->nak_sent && r->rnr_sent ? SROCE_IGNORE : SROCE_AHEAD;
	return check_kind(r, pkt, req);
}

/*
 * UC (9.8.2): if a packet is lost, its message is dropped.  The next packet
 * that begins a message is accepted with any PSN, and uses the receive WQE that
 * the dropped message has taken.
 */
static enum sroce_request_verdict check_unreliable(struct sroce_responder *r,
						   const struct sroce_pkt *pkt,
						   struct sroce_request *req)
{
	enum sroce_request_verdict verdict;
	bool begins = pkt->op->pos & SROCE_FIRST;

	if (pkt->psn != r->epsn || begins)
		r->kind = SROCE_KIND_NONE;
	r->epsn = pkt->psn;
	verdict = check_kind(r, pkt, req);
	if (verdict == SROCE_REFUSE) {
		r->kind = SROCE_KIND_NONE;
		r->epsn = sroce_psn_add(pkt->psn, 1);
	}
	return verdict;
}

enum sroce_request_verdict sroce_responder_check(struct sroce_responder *r,
						 const struct sroce_pkt *pkt,
						 struct sroce_request *req)
{
	return sroce_responder_reliable(r) ? check_reliable(r, pkt, req) :
					     check_unreliable(r, pkt, req);
}

/* XRC: is the SRQ that of the message in progress? */
static bool same_srq(const struct sroce_responder *r, const u8 *bth)
{
	return r->transport != SROCE_XRC || sroce_bth_srqn(bth) == r->srqn;
}

bool sroce_responder_predicts(const struct sroce_responder *r, const u8 *bth,
			      u32 payload)
{
	u8 transport = r->transport;

	if (payload != r->mtu)
		return false;
	if (r->kind == SROCE_KIND_WRITE)
		return sroce_bth_is(bth, transport | SROCE_WRITE_MIDDLE,
				    r->epsn) &&
		       payload < r->left && r->permissions & SROCE_MAY_WRITE &&
		       same_srq(r, bth);
	return r->kind == SROCE_KIND_SEND && r->rwqe_taken &&
	       sroce_bth_is(bth, transport | SROCE_SEND_MIDDLE, r->epsn) &&
	       (u64)r->done + payload <= SROCE_MAX_MSG && same_srq(r, bth);
}

/* Bytes that the next packets of the message may have, the last one not counted. */
static u32 middle_room(const struct sroce_responder *r)
{
	switch (r->kind) {
	case SROCE_KIND_WRITE:
		return r->permissions & SROCE_MAY_WRITE && r->left ? r->left - 1 : 0;
	case SROCE_KIND_SEND:
		return r->rwqe_taken ? SROCE_MAX_MSG - r->done : 0;
	default:
		return 0;
	}
}

bool sroce_responder_predicts_more(const struct sroce_responder *r,
				   const struct sroce_pkt *pkt, u32 n)
{
	if (pkt->op->pos & (SROCE_FIRST | SROCE_LAST) || pkt->payload != r->mtu ||
	    r->kind != pkt->op->kind || r->epsn != sroce_psn_add(pkt->psn, 1) ||
	    (r->transport == SROCE_XRC && pkt->srqn != r->srqn))
		return false;
	return (u64)n * r->mtu <= middle_room(r);
}

u32 sroce_responder_predicts_alike(const struct sroce_responder *r, const u8 *bth,
				   u32 payload, u32 most)
{
	u32 psn = sroce_bth_psn(bth);

	/* In XRC an XRCETH comes between BTH and payload. */
	if (payload != r->mtu || r->epsn != sroce_psn_add(psn, 1) || r->transport == SROCE_XRC)
		return 0;
	return min(most, middle_room(r) / payload);
}

bool sroce_responder_predicts_write(const struct sroce_responder *r,
				    const u8 *headers, u32 payload)
{
	const u8 *reth = headers + SROCE_BTH_BYTES;

	/* In XRC an XRCETH comes first. */
	return headers[0] == (r->transport | SROCE_WRITE_ONLY) &&
	       r->transport != SROCE_XRC && r->kind == SROCE_KIND_NONE &&
	       !(headers[1] & SROCE_BTH_TVER_MASK) &&
	       sroce_bth_psn(headers) == r->epsn &&
	       payload && payload <= r->mtu &&
	       get_unaligned_be32(reth + 12) == payload &&
	       r->permissions & SROCE_MAY_WRITE;
}

void sroce_responder_done(struct sroce_responder *r,
			  const struct sroce_pkt *pkt,
			  const struct sroce_request *req, u64 original)
{
	r->nak_sent = false;
	if (req->completes)
		r->msn = (r->msn + 1) & SROCE_MSN_MASK;
	if (sroce_pkt_row(pkt)->response) {
		sroce_resp_res_add(&r->res, pkt, original, r->msn);
		r->epsn = sroce_psn_add(r->epsn,
					pkt->op->kind == SROCE_KIND_READ ?
					sroce_packets(pkt->dma_len, r->mtu) : 1);
		return;
	}
	r->last = r->epsn;
	r->epsn = sroce_psn_add(r->epsn, 1);
	if (r->transport == SROCE_XRC)
		r->srqn = pkt->srqn;
	r->kind = req->completes ? SROCE_KIND_NONE : pkt->op->kind;
	r->done = req->completes ? 0 : req->offset + pkt->payload;
	if (pkt->op->kind == SROCE_KIND_WRITE) {
		r->rkey = req->rkey;
		r->va = req->va + pkt->payload;
		if (req->begins)
			r->left = pkt->dma_len;
		r->left -= pkt->payload;
	} else if (req->begins) {
		r->rwqe_taken = true;
	}
	if (req->receives)
		r->rwqe_taken = false;
}
