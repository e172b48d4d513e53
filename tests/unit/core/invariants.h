/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Invariants of the core's states that hold for all packets; the
 * simulator and the fuzzers check it after each step.
 */
#ifndef SROCE_TEST_INVARIANTS_H
#define SROCE_TEST_INVARIANTS_H

#include <assert.h>
#include "requester.h"
#include "completer.h"
#include "responder.h"

/* PSNs of @wr within @una..@sent. */
static inline u32 unacknowledged(const struct sroce_requester *r,
				 const struct sroce_wr *wr)
{
	s32 from = sroce_psn_diff(r->una, wr->psn);
	s32 to = sroce_psn_diff(r->sent, wr->psn);

	if (!wr->started)
		return 0;
	from = from < 0 ? 0 : from;
	to = to > (s32)wr->packets ? (s32)wr->packets : to;
	return to > from ? to - from : 0;
}

static inline void check_store(const struct sroce_requester *r)
{
	u32 i, reads = 0, packets = 0, window = 0;
	u32 end = r->una;

	for (i = r->in.head; i != r->in.tail; i++) {
		const struct sroce_wr *wr = sroce_inflight_wr(&r->in, i);

		if (!wr->started) {
			assert((s32)(i - r->in.next) >= 0);
			continue;
		}
		/* Requests are in the order of their PSNs, without gaps. */
		assert(i == r->in.head || wr->psn == end);
		end = sroce_psn_add(wr->psn, wr->packets);
		if (sroce_wr_reads(wr)) {
			reads++;
			packets += wr->packets;
		} else {
			window += unacknowledged(r, wr);
		}
	}
	assert(r->reads == reads && reads <= r->max_reads);
	assert(r->read_packets == packets);
	/* Packets sent before a loss may exceed the current window. */
	assert(window <= r->cc.max_window || r->transport == SROCE_UC);
	assert(r->cc.window > 0 && r->cc.window <= r->cc.max_window);
	assert(!sroce_psn_before(end, r->sent));
}

/* Gaps are in the order of their PSNs, and something is held behind each. */
static inline void check_gaps(const struct sroce_requester *r)
{
	const struct sroce_gaps *g = &r->repair.gaps;
	u32 i, at = r->una;

	assert(g->count <= SROCE_GAPS);
	for (i = 0; i < g->count; i++) {
		assert(!sroce_psn_before(g->list[i].from, at));
		assert(sroce_psn_before(g->list[i].from, g->list[i].to));
		at = g->list[i].to;
	}
	assert(!g->count || !sroce_psn_before(g->top, at));
	assert(!g->count || !sroce_psn_before(r->sent, g->top));
}

static inline void check_requester(const struct sroce_requester *r)
{
	u32 held = r->in.tail - r->in.head;
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.next);

	assert(held <= r->in.mask + 1);
	assert(r->in.next - r->in.head <= held);
	assert(!sroce_psn_before(r->psn, r->una));
	assert(!sroce_psn_before(r->sent, r->psn));
	assert(sroce_psn_diff(r->sent, r->una) <= SROCE_PSN_WINDOW);
	if (held && sroce_inflight_wr(&r->in, r->in.head)->started)
		assert(sroce_psn_diff(r->sent,
				      sroce_inflight_wr(&r->in, r->in.head)->psn) <=
		       SROCE_PSN_WINDOW);
	assert((r->una | r->psn | r->sent) <= SROCE_PSN_MASK);
	assert(r->retry_left <= r->retry_count);
	assert(r->rnr_left <= r->rnr_retry);
	if (r->in.next == r->in.tail || !wr->started)
		assert(!r->packet && r->psn == r->sent);
	else
		assert(r->packet < wr->packets &&
		       sroce_psn_add(wr->psn, r->packet) == r->psn);
	check_store(r);
	check_gaps(r);
}

static inline void check_resources(const struct sroce_resp_res *res)
{
	struct sroce_resp_res copy = *res;
	u32 i, waiting = 0;

	assert(res->count <= res->size && res->first <= res->size);
	for (i = 0; i < res->count; i++) {
		const struct sroce_resource *read =
			&res->reads[(res->first + i) % res->size];

		assert(read->packets && read->packets <= SROCE_MAX_PACKETS);
		assert(read->from <= read->next && read->next <= read->end);
		assert(read->end <= read->packets);
		assert(read->stop <= read->length);
		waiting += read->next != read->end;
	}
	assert(waiting == res->waiting);
	assert(!waiting == !sroce_resp_res_pending(&copy));
}

static inline void check_responder(const struct sroce_responder *r)
{
	assert(r->epsn <= SROCE_PSN_MASK && r->msn <= SROCE_PSN_MASK);
	assert(r->kind == SROCE_KIND_NONE || r->kind == SROCE_KIND_SEND ||
	       r->kind == SROCE_KIND_WRITE);
	if (r->kind == SROCE_KIND_NONE && sroce_responder_reliable(r))
		assert(!r->done && !r->rwqe_taken);
	if (r->kind == SROCE_KIND_WRITE)
		assert(r->left && r->done + r->left <= SROCE_MAX_MSG);
	assert(r->done <= SROCE_MAX_MSG);
	check_resources(&r->res);
}

/* Header prediction: the slow path must accept every packet that it accepts. */
static inline bool predicted_request(const struct sroce_responder *r,
				     const struct sroce_pkt *pkt)
{
	u8 headers[SROCE_MAX_HEADER];

	sroce_build(headers, pkt);
	if (r->kind == SROCE_KIND_NONE)
		return sroce_responder_predicts_write(r, headers, pkt->payload);
	return sroce_responder_predicts(r, headers, pkt->payload + pkt->pad);
}

/* @r is the state after the slow path, @then the state before. */
static inline void check_advance(const struct sroce_responder *r,
				 struct sroce_responder then, u32 payload)
{
	if (then.kind == SROCE_KIND_NONE)
		sroce_responder_wrote(&then);
	else
		sroce_responder_advance(&then, payload, 1);
	assert(r->epsn == then.epsn && r->last == then.last);
	assert(r->done == then.done);
	assert(r->nak_sent == then.nak_sent && r->rwqe_taken == then.rwqe_taken);
	assert(r->kind == then.kind && r->msn == then.msn);
	assert(r->kind != SROCE_KIND_WRITE ||
	       (r->va == then.va && r->left == then.left));
}

static inline bool predicted_answer(const struct sroce_requester *r,
				    const struct sroce_pkt *pkt, u32 *offset)
{
	u8 bth[SROCE_MAX_HEADER];

	sroce_build(bth, pkt);
	return sroce_completer_predicts(r, bth, pkt->payload + pkt->pad,
					offset);
}

#endif /* SROCE_TEST_INVARIANTS_H */
