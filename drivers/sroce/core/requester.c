// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What to send next: IBTA vol. 1, 9.7.3 and 9.7.5.  Losing a packet rewinds
 * the requester to it (go-back-N); PSNs that a request got when it started
 * stay with it.
 */
#include "requester.h"
#include "rdlog.h"

/* The BTH operation of each place of a message. */
struct operations {
	u8 only;
	u8 first;
	u8 middle;
	u8 last;
};

static const struct operations operations[SROCE_OPS] = {
	[SROCE_OP_WRITE] = { SROCE_WRITE_ONLY, SROCE_WRITE_FIRST,
			     SROCE_WRITE_MIDDLE, SROCE_WRITE_LAST },
	[SROCE_OP_WRITE_IMM] = { SROCE_WRITE_ONLY_IMM, SROCE_WRITE_FIRST,
				 SROCE_WRITE_MIDDLE, SROCE_WRITE_LAST_IMM },
	[SROCE_OP_SEND] = { SROCE_SEND_ONLY, SROCE_SEND_FIRST,
			    SROCE_SEND_MIDDLE, SROCE_SEND_LAST },
	[SROCE_OP_SEND_IMM] = { SROCE_SEND_ONLY_IMM, SROCE_SEND_FIRST,
				SROCE_SEND_MIDDLE, SROCE_SEND_LAST_IMM },
	[SROCE_OP_SEND_INV] = { SROCE_SEND_ONLY_INV, SROCE_SEND_FIRST,
				SROCE_SEND_MIDDLE, SROCE_SEND_LAST_INV },
	[SROCE_OP_READ] = { .only = SROCE_READ_REQUEST },
	[SROCE_OP_CMP_SWP] = { .only = SROCE_COMPARE_SWAP },
	[SROCE_OP_FETCH_ADD] = { .only = SROCE_FETCH_ADD },
};

/* PSNs of the oldest request, a READ, that lie before @una. */
static s32 answered(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	if (!r->reads || !wr->started || !sroce_wr_reads(wr))
		return 0;
	return sroce_psn_diff(r->una, wr->psn);
}

/* Of a READ that is partly answered only the rest is between @una and @psn. */
static s32 outstanding(const struct sroce_requester *r)
{
	return sroce_psn_diff(r->psn, r->una) + answered(r) -
	       (s32)r->read_packets;
}

static enum sroce_next may_start(const struct sroce_requester *r,
				 const struct sroce_wr *wr)
{
	/* What has started once met these conditions and keeps its place. */
	if (wr->started)
		return SROCE_NEXT_PACKET;
	if (r->hold)
		return SROCE_NEXT_HOLD;
	if ((wr->flags & SROCE_FENCE) && r->reads)
		return SROCE_NEXT_FENCE;
	if (sroce_wr_reads(wr) && r->reads >= r->max_reads)
		return SROCE_NEXT_READS;
	if (sroce_psn_diff(r->psn, r->una) + wr->packets > SROCE_PSN_WINDOW)
		return SROCE_NEXT_WINDOW;
	return SROCE_NEXT_PACKET;
}

static u8 operation(const struct sroce_wr *wr, bool first, bool last)
{
	const struct operations *ops = &operations[wr->opcode];

	if (first)
		return last ? ops->only : ops->first;
	return last ? ops->last : ops->middle;
}

/* A READ is one packet that asks for what is still missing. */
static void fill_read(const struct sroce_requester *r,
		      struct sroce_outgoing *out)
{
	struct sroce_pkt *pkt = &out->pkt;

	pkt->opcode = r->transport | SROCE_READ_REQUEST;
	pkt->solicited = false;
	pkt->va = out->wr->remote_addr + out->offset;
	pkt->dma_len = out->wr->length - out->offset;
	pkt->payload = 0;
}

static void fill(const struct sroce_requester *r, struct sroce_outgoing *out)
{
	const struct sroce_wr *wr = out->wr;
	struct sroce_pkt *pkt = &out->pkt;
	bool last = r->packet + 1 == wr->packets;

	pkt->opcode = r->transport | operation(wr, !r->packet, last);
	pkt->solicited = last && (wr->flags & SROCE_SOLICITED);
	pkt->va = wr->remote_addr;
	pkt->dma_len = wr->length;
	pkt->payload = last ? wr->length - out->offset : r->mtu;
	if (sroce_wr_atomic(wr)) {
		pkt->swap_add = wr->opcode == SROCE_OP_CMP_SWP ?
				wr->swap : wr->compare_add;
		pkt->compare = wr->compare_add;
		pkt->payload = 0;
	}
}

/*
 * A key that is invalidated may be needed to send again what came before it:
 * that must be acknowledged.
 */
static enum sroce_next may_do(const struct sroce_requester *r,
			      const struct sroce_wr *wr)
{
	if (wr->started)
		return SROCE_NEXT_LOCAL;
	if (r->hold)
		return SROCE_NEXT_HOLD;
	if ((wr->flags & SROCE_FENCE) && r->reads)
		return SROCE_NEXT_FENCE;
	if (wr->opcode == SROCE_OP_LOCAL_INV && r->una != r->psn)
		return SROCE_NEXT_ALONE;
	return SROCE_NEXT_LOCAL;
}

enum sroce_next sroce_requester_next(const struct sroce_requester *r,
				     struct sroce_outgoing *out)
{
	struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.next);
	enum sroce_next verdict;

	if (r->in.next == r->in.tail)
		return SROCE_NEXT_NOTHING;
	if (wr->status)
		return r->hold && !wr->started ? SROCE_NEXT_HOLD :
						 SROCE_NEXT_FAULT;
	if (r->rnr_wait)
		return SROCE_NEXT_RNR;
	if (sroce_wr_local(wr)) {
		out->wr = wr;
		return may_do(r, wr);
	}
	if (outstanding(r) >= (s32)r->window)
		return SROCE_NEXT_WINDOW;
	verdict = may_start(r, wr);
	if (verdict != SROCE_NEXT_PACKET)
		return verdict;

	out->wr = wr;
	out->index = r->in.next;
	out->count = 1;
	out->offset = r->packet * r->mtu;
	out->pkt.psn = r->psn;
	out->pkt.rkey = wr->opcode == SROCE_OP_SEND_INV ? wr->invalidate :
							  wr->rkey;
	out->pkt.srqn = wr->srqn;
	out->pkt.imm = wr->imm;
	if (wr->opcode == SROCE_OP_READ)
		fill_read(r, out);
	else
		fill(r, out);
	out->pkt.pad = -out->pkt.payload & 3;
	return SROCE_NEXT_PACKET;
}

u32 sroce_requester_more(const struct sroce_requester *r,
			 const struct sroce_outgoing *out)
{
	s32 room = (s32)r->window - outstanding(r) - 1;

	if (sroce_wr_reads(out->wr) || !r->packet ||
	    r->packet + 2 >= out->wr->packets || room <= 0)
		return 0;
	return min((u32)room, out->wr->packets - r->packet - 2);
}

void sroce_requester_sent(struct sroce_requester *r,
			  const struct sroce_outgoing *out)
{
	struct sroce_wr *wr = out->wr;
	u32 n = out->count;

	if (!wr->started) {
		wr->started = true;
		wr->psn = r->psn;
		if (sroce_wr_reads(wr)) {
			r->reads++;
			r->read_packets += wr->packets;
		}
	}
	if (wr->opcode == SROCE_OP_READ)
		n = wr->packets - r->packet;
	r->packet += n;
	r->psn = sroce_psn_add(r->psn, n);
	if (sroce_psn_before(r->sent, r->psn))
		r->sent = r->psn;
	if (r->packet == wr->packets) {
		r->in.next++;
		r->packet = 0;
	}
	if (r->transport == SROCE_UC)
		r->una = r->psn;
}

void sroce_requester_done(struct sroce_requester *r)
{
	struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.next);

	if (!wr->started) {
		wr->started = true;
		wr->psn = r->psn;
	}
	r->in.next++;
}

/* Let the cursor stand at @psn, in the request that covers it. */
static void seek(struct sroce_requester *r, u32 psn)
{
	struct sroce_wr *wr;

	r->psn = psn;
	r->in.next = sroce_inflight_find(&r->in, r->psn);
	wr = sroce_inflight_wr(&r->in, r->in.next);
	r->packet = r->in.next != r->in.tail && wr->started ?
		    sroce_psn_diff(r->psn, wr->psn) : 0;
}

void sroce_requester_acknowledge(struct sroce_requester *r, u32 psn)
{
	if (psn == r->una)
		return;
	r->una = psn;
	r->retry_left = r->retry_count;
	r->rnr_left = r->rnr_retry;
	r->rnr_waits = 0;
	r->rnr_wait = false;
	r->rewound = false;
	/* The answer may be to what was sent before a rewind. */
	if (sroce_psn_before(r->psn, psn))
		seek(r, psn);
}

bool sroce_requester_finished(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return r->in.head != r->in.next &&
	       sroce_psn_diff(r->una, wr->psn) >= (s32)wr->packets;
}

void sroce_requester_retire(struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	/* One that failed or is flushed may not have started. */
	if (wr->started && sroce_wr_reads(wr)) {
		r->reads--;
		r->read_packets -= wr->packets;
	}
	/* It failed half sent: the next request begins at its first packet. */
	if (r->in.head == r->in.next) {
		r->in.next++;
		r->packet = 0;
	}
	r->in.head++;
}

void sroce_requester_rewind(struct sroce_requester *r)
{
	u32 i;

	seek(r, r->una);
	for (i = r->in.next; i != r->in.tail; i++) {
		struct sroce_wr *wr = sroce_inflight_wr(&r->in, i);

		if (!wr->started)
			break;
		wr->again = true;
	}
}

void sroce_requester_resume(struct sroce_requester *r, u32 psn)
{
	seek(r, psn);
}
