// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requester: selects the next packet to send (IBTA vol. 1, 9.7.3 and 9.7.5), and
 * advances past it.  A request keeps its PSNs.
 */
#include "errors.h"
#include "params.h"
#include "requester.h"
#include "resp_res.h"

/* Number of response packets received for the oldest request, if it is a READ. */
static s32 responses_received(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	if (!wr->started || !sroce_wr_reads(wr))
		return 0;
	return sroce_psn_diff(r->una, wr->psn);
}

/*
 * Packets that count against the window.  For a READ these are requests and
 * responses: without a limit, the responses to max_rd_atomic READs would crowd
 * out requests.  For requests other than READs, responses count only after losses.
 * @read_packets includes responses that were received; these lie before @una.  After a
 * rewind it includes READs that lie ahead of @psn, so that all packets between count.
 */
static s32 count_outstanding(const struct sroce_requester *r,
			     const struct sroce_wr *wr)
{
	s32 flight = sroce_psn_diff(r->psn, r->una);

	if (!r->reads || r->psn != r->sent || sroce_cc_reduced(&r->cc) ||
	    wr->opcode == SROCE_OP_READ)
		return flight;
	return flight + responses_received(r) - (s32)r->read_packets;
}

/* After an RNR NAK one packet is enough to find out if the peer is ready. */
static s32 send_window(const struct sroce_requester *r, const struct sroce_wr *wr)
{
	if (r->rnr_waits)
		return 1;
	return wr->opcode == SROCE_OP_READ ? sroce_cc_read_window(&r->cc) : r->cc.window;
}

/* Is the next packet a request for missing READ responses? */
static bool in_gap(const struct sroce_requester *r)
{
	return r->repair.active && r->repair.asking && r->repair.gaps.count;
}

/* Number of entries of @ends that @psn has not reached. */
static u32 parts_ahead(const struct sroce_requester *r)
{
	u32 n = r->parts;

	while (n && !sroce_psn_before(r->psn, r->ends[n - 1]))
		n--;
	return n;
}

/*
 * The responder sees a partial READ as a separate request, and a duplicate must
 * not extend beyond the original.  Therefore a repeated request ends at the end
 * of an earlier partial request, or before it.
 */
static u32 read_limit(const struct sroce_requester *r,
		      const struct sroce_wr *wr)
{
	u32 n = parts_ahead(r);
	u32 limit = wr->packets - r->packet;

	if (n)
		limit = min(limit, (u32)sroce_psn_diff(r->ends[n - 1], r->psn));
	if (in_gap(r))
		limit = min(limit, (u32)sroce_psn_diff(r->repair.end, r->psn));
	return limit;
}

/*
 * Several windows.  For a distant peer the window is larger, and requests are paced:
 * it is requested in parts, as many as may be outstanding.
 */
static u32 large_part(const struct sroce_requester *r)
{
	/* Of a READ that has started, max_rd_atomic may become 0; see forbid(). */
	u32 parts = clamp((u32)r->max_reads, 1u, (u32)SROCE_PARTS);

	if (!r->cc.distant)
		return SROCE_READ_WINDOWS * r->cc.max_window;
	return max(r->cc.max_window / parts, SROCE_WINDOW);
}

/*
 * Number of response packets to request.  A long READ is issued as several READ
 * requests in sequence, after losses each of the open window only.
 */
static u32 read_part(const struct sroce_requester *r, const struct sroce_wr *wr)
{
	s32 room = (s32)r->cc.window - sroce_psn_diff(r->psn, r->una);
	u32 limit = read_limit(r, wr);

	if (in_gap(r) || r->parts == SROCE_PARTS)
		return limit;
	if (!sroce_cc_reduced(&r->cc))
		return min(limit, large_part(r));
	return room > 0 ? min_t(u32, limit, room) : 1;
}

/*
 * Requests that take a responder resource of the peer.  Each part of a READ is a
 * request.
 */
static u32 count_resources(const struct sroce_requester *r)
{
	u32 i, n = r->reads;

	for (i = 0; i < r->parts; i++)
		n += sroce_psn_before(r->ends[i], r->sent);
	return n;
}

/*
 * The next part of a READ is requested as soon as the window has room for a burst,
 * and the peer a resource.  A part that is requested again waits for the response to
 * the previous one: both may be duplicates of one request, and a peer may drop the
 * response to the first duplicate for the second one.
 */
static bool part_waits(const struct sroce_requester *r,
		       const struct sroce_wr *wr)
{
	s32 room = (s32)r->cc.window - sroce_psn_diff(r->psn, r->una);

	if (wr->opcode != SROCE_OP_READ || !r->packet || r->psn == r->una)
		return false;
	return r->psn != r->sent || r->parts == SROCE_PARTS || count_resources(r) >= r->max_reads ||
	       room < (s32)min(read_limit(r, wr), sroce_cc_burst(&r->cc));
}

static void note_part(struct sroce_requester *r, struct sroce_wr *wr, u32 n)
{
	u32 limit = read_limit(r, wr);
	u32 ahead = parts_ahead(r);
	u32 i;

	if (n != wr->packets - r->packet)
		wr->parts = true;
	/* The request for a gap lies within an earlier one. */
	if (in_gap(r) || n == limit)
		return;
	for (i = r->parts++; i > ahead; i--)
		r->ends[i] = r->ends[i - 1];
	r->ends[ahead] = sroce_psn_add(r->psn, n);
}

/*
 * First PSN of the oldest request; sroce_inflight_find() depends on it.  For a
 * READ with a partial response it lies before @una.  A finished request is not
 * searched for; on UC every request is finished once it has been sent.
 */
static u32 oldest_psn(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return wr->started && sroce_psn_before(wr->psn, r->una) &&
	       !sroce_requester_finished(r) ? wr->psn : r->una;
}

/* A READ waits until others can start with it, if enough responses are missing meanwhile. */
static bool group_waits(const struct sroce_requester *r)
{
	return sroce_psn_before(r->una, r->group) && !sroce_psn_before(r->psn, r->group);
}

/*
 * A READ was sent.  If the next one has to wait for the overlap, it waits for a part of it.
 * Losses have not shortened the overlap, and the rest of it hides the round trip.
 */
static void note_group(struct sroce_requester *r, const struct sroce_wr *wr)
{
	const struct sroce_cc *cc = &r->cc;
	u32 part = cc->overlap / SROCE_GROUP_PART;

	if (!cc->rate || cc->overlap < cc->max_window || cc->distant || cc->paced ||
	    cc->bdp > cc->overlap - part || wr->packets > part / 2 ||
	    sroce_psn_diff(r->psn, r->una) < (s32)cc->overlap)
		return;
	r->group = sroce_psn_add(r->psn, part - cc->overlap);
}

/*
 * May @packets more be outstanding?  The oldest request begins less than SROCE_MAX_PACKETS
 * before @una.
 */
static bool fits_psn_window(const struct sroce_requester *r, u32 packets)
{
	if (sroce_psn_diff(r->psn, r->una) + packets <= SROCE_PSN_WINDOW - SROCE_MAX_PACKETS)
		return true;
	return sroce_psn_diff(r->psn, oldest_psn(r)) + packets <= SROCE_PSN_WINDOW;
}

/* max_rd_atomic was changed to 0, in SQD, after the request was posted. */
static enum sroce_next forbid(struct sroce_wr *wr)
{
	wr->status = SROCE_LOC_QP_OP_ERR;
	return SROCE_NEXT_FAULT;
}

static enum sroce_next may_start(const struct sroce_requester *r,
				 struct sroce_wr *wr)
{
	/* A request that has started met these conditions before. */
	if (wr->started)
		return SROCE_NEXT_PACKET;
	if (r->drain)
		return SROCE_NEXT_HOLD;
	if ((wr->flags & SROCE_FENCE) && r->reads)
		return SROCE_NEXT_FENCE;
	if (sroce_wr_reads(wr) && count_resources(r) >= r->max_reads)
		return r->max_reads ? SROCE_NEXT_READS : forbid(wr);
	/* A lost response makes the responses to later READs useless. */
	if (wr->opcode == SROCE_OP_READ && r->reads &&
	    (sroce_psn_diff(r->psn, r->una) >= (s32)r->cc.overlap || group_waits(r)))
		return SROCE_NEXT_WINDOW;
	return fits_psn_window(r, wr->packets) ? SROCE_NEXT_PACKET : SROCE_NEXT_WINDOW;
}

/* One READ request packet: for all missing data, or for a part of it. */
static void fill_read(const struct sroce_requester *r,
		      struct sroce_outgoing *out)
{
	struct sroce_pkt *pkt = &out->pkt;

	out->count = read_part(r, out->wr);
	pkt->opcode = r->transport | SROCE_READ_REQUEST;
	pkt->solicited = false;
	pkt->va = out->wr->remote_addr + out->offset;
	pkt->dma_len = min(out->count * r->mtu, out->wr->length - out->offset);
	pkt->payload = 0;
}

/* Operands of atomics and FLUSH, which have no payload. */
static void fill_operands(const struct sroce_wr *wr, struct sroce_pkt *pkt)
{
	u16 headers = sroce_opcodes[pkt->opcode].headers;

	if (headers & SROCE_PAYLOAD)
		return;
	pkt->payload = 0;
	if (headers & SROCE_FETH) {
		pkt->flush_type = wr->flush.type;
		pkt->flush_level = wr->flush.level;
		return;
	}
	pkt->swap_add = wr->opcode == SROCE_OP_CMP_SWP ? wr->swap :
							  wr->compare_add;
	pkt->compare = wr->compare_add;
}

static void fill_packet(const struct sroce_requester *r, struct sroce_outgoing *out)
{
	const struct sroce_wr *wr = out->wr;
	const struct sroce_op_row *op = sroce_wr_row(wr);
	struct sroce_pkt *pkt = &out->pkt;
	bool last = r->packet + 1 == wr->packets;
	u8 pos = (r->packet ? 0 : SROCE_FIRST) | (last ? SROCE_LAST : 0);

	pkt->opcode = r->transport | op->packets[pos];
	/* Only a message that completes a receive WQE may set SE (9.2.3). */
	pkt->solicited = last && wr->flags & SROCE_SOLICITED &&
			 op->traits & SROCE_TRAIT_RECEIVES;
	pkt->va = wr->remote_addr;
	pkt->dma_len = wr->length;
	pkt->payload = last ? wr->length - out->offset : r->mtu;
	if (op->response)
		fill_operands(wr, pkt);
}

/*
 * Local operations that were executed behind an outstanding request complete
 * together with it, in one lock section.  Limit their number.
 */
static bool locals_wait(const struct sroce_requester *r)
{
	return r->una != r->psn &&
	       r->in.next - r->in.head >= r->cc.window + SROCE_LOCALS_BEHIND;
}

static bool key_is_used(const struct sroce_requester *r, const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->traits & SROCE_TRAIT_ENDS_KEY && r->una != r->psn &&
	       (s32)(wr->key_end - r->in.head) > 0;
}

static enum sroce_next may_do(const struct sroce_requester *r,
			      const struct sroce_wr *wr)
{
	if (wr->started)
		return SROCE_NEXT_LOCAL;
	if (r->drain)
		return SROCE_NEXT_HOLD;
	if ((wr->flags & SROCE_FENCE) && r->reads)
		return SROCE_NEXT_FENCE;
	if (key_is_used(r, wr))
		return SROCE_NEXT_KEY;
	return locals_wait(r) ? SROCE_NEXT_WINDOW : SROCE_NEXT_LOCAL;
}

/* Is every packet of the READ that has gaps held, or requested again? */
static bool knows_all_gaps(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return r->repair.gaps.top == sroce_psn_add(wr->psn, wr->packets);
}

/*
 * True if the requests behind a READ with gaps must wait.  A later READ must not return
 * older data than an earlier one, so they are repeated once the gaps are filled.  With a
 * distant peer this takes long, so they are repeated directly behind the repair of all
 * gaps.  Also true if the peer may drop packets behind a gap.
 */
static bool repair_waits(const struct sroce_requester *r)
{
	if (r->repair.active)
		return false;
	if (r->repair.gaps.count && r->in.next != r->in.head &&
	    (!r->cc.distant || !knows_all_gaps(r)))
		return true;
	return r->repair.waits && r->psn == r->sent;
}

enum sroce_next sroce_requester_next(const struct sroce_requester *r,
				     struct sroce_outgoing *out)
{
	struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.next);
	enum sroce_next verdict;

	if (r->in.next == r->in.tail)
		return SROCE_NEXT_NOTHING;
	if (wr->status)
		return r->drain && !wr->started ? SROCE_NEXT_HOLD :
						 SROCE_NEXT_FAULT;
	if (r->rnr_wait)
		return SROCE_NEXT_RNR;
	if (sroce_wr_local(wr)) {
		out->wr = wr;
		return may_do(r, wr);
	}
	if (repair_waits(r))
		return SROCE_NEXT_WINDOW;
	if (!in_gap(r) &&
	    (count_outstanding(r, wr) >= send_window(r, wr) || part_waits(r, wr)))
		return SROCE_NEXT_WINDOW;
	verdict = may_start(r, wr);
	if (verdict != SROCE_NEXT_PACKET)
		return verdict;

	out->wr = wr;
	out->index = r->in.next;
	out->count = 1;
	out->offset = r->packet * r->mtu;
	out->pkt.psn = r->psn;
	out->pkt.rkey = sroce_wr_row(wr)->traits & SROCE_TRAIT_INVALIDATES ?
			wr->invalidate : wr->rkey;
	out->pkt.srqn = wr->srqn;
	out->pkt.imm = wr->imm;
	if (wr->opcode == SROCE_OP_READ)
		fill_read(r, out);
	else
		fill_packet(r, out);
	out->pkt.pad = -out->pkt.payload & 3;
	return SROCE_NEXT_PACKET;
}

u32 sroce_requester_more(const struct sroce_requester *r,
			 const struct sroce_outgoing *out)
{
	s32 room = send_window(r, out->wr) - count_outstanding(r, out->wr) - 1;

	if (sroce_wr_reads(out->wr) || !r->packet ||
	    r->packet + 2 >= out->wr->packets || room <= 0)
		return 0;
	if (r->repair.active)
		room = min(room, sroce_psn_diff(r->repair.end, r->psn) - 1);
	else if (r->repair.waits)
		room = min(room, sroce_psn_diff(r->sent, r->psn) - 1);
	room = min(room, (s32)sroce_cc_burst(&r->cc) - 1);
	return min((u32)room, out->wr->packets - r->packet - 2);
}

void sroce_requester_resume(struct sroce_requester *r, u32 psn)
{
	struct sroce_wr *wr;

	r->psn = psn;
	r->in.next = sroce_inflight_find(&r->in, r->psn);
	wr = sroce_inflight_wr(&r->in, r->in.next);
	r->packet = r->in.next != r->in.tail && wr->started ?
		    sroce_psn_diff(r->psn, wr->psn) : 0;
}

/*
 * End of the READ that has the gaps, or of the part of it that has the highest response.
 * The request for the next part may be lost.  Without a free resource the peer would take a
 * new one for a new READ, and forget the earlier part.
 */
static u32 known_end(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);
	u32 i = r->parts;

	if (count_resources(r) > r->max_reads)
		while (i--)
			if (!sroce_psn_before(r->ends[i], r->repair.gaps.top))
				return r->ends[i];
	return sroce_psn_add(wr->psn, wr->packets);
}

u32 sroce_requester_gaps_end(const struct sroce_requester *r)
{
	u32 end = r->repair.active ? r->repair.resume : r->psn;
	u32 last = known_end(r);

	/* Responses may have been requested before a rewind. */
	if (sroce_psn_before(end, r->repair.gaps.top))
		end = r->repair.gaps.top;
	return sroce_psn_before(last, end) ? last : end;
}

void sroce_requester_next_gap(struct sroce_requester *r)
{
	struct sroce_gap *gap = sroce_gaps_unasked(&r->repair.gaps);

	/*
	 * The responses to later READs are dropped, and requested again once the gaps
	 * are filled.
	 */
	if (r->repair.gaps.count)
		r->repair.resume = sroce_requester_gaps_end(r);
	if (sroce_psn_before(r->repair.resume, r->una))
		r->repair.resume = r->una;
	r->repair.active = gap;
	r->repair.asking = gap;
	if (!gap) {
		sroce_requester_resume(r, r->repair.resume);
		return;
	}
	gap->asked = true;
	r->repair.end = gap->to;
	sroce_requester_resume(r, gap->from);
}

static void note_repeated(struct sroce_requester *r)
{
	if (sroce_psn_before(r->repair.repeated, r->psn))
		r->repair.repeated = r->psn;
	if (sroce_psn_before(r->repair.repeated_ever, r->psn))
		r->repair.repeated_ever = r->psn;
	if (r->repair.active && !sroce_psn_before(r->psn, r->repair.end))
		sroce_requester_next_gap(r);
}

void sroce_requester_sent(struct sroce_requester *r,
			  const struct sroce_outgoing *out)
{
	struct sroce_wr *wr = out->wr;
	bool again = sroce_requester_again(r, out);
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
		note_part(r, wr, n);
	r->packet += n;
	r->psn = sroce_psn_add(r->psn, n);
	if (sroce_psn_before(r->sent, r->psn))
		r->sent = r->psn;
	if (!again)
		r->flight = sroce_psn_diff(r->psn, r->una);
	if (wr->opcode == SROCE_OP_READ && !again)
		note_group(r, wr);
	if (r->packet == wr->packets) {
		r->in.next++;
		r->packet = 0;
	}
	if (r->transport == SROCE_UC)
		r->una = r->psn;
	else if (again)
		note_repeated(r);
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

void sroce_requester_retire(struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	/* A request that failed or was flushed may not have started. */
	if (wr->started && sroce_wr_reads(wr)) {
		r->reads--;
		r->read_packets -= wr->packets;
	}
	/* It failed before all of it was sent: skip the rest. */
	if (r->in.head == r->in.next) {
		r->in.next++;
		r->packet = 0;
	}
	r->in.head++;
}
