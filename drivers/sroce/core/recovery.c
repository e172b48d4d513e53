// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loss recovery: how acknowledgments, losses and marks change the requester's state.
 * A loss is repaired, or rewinds to the lost packet (go-back-N).
 */
#include "params.h"
#include "recovery.h"

void sroce_requester_lost(struct sroce_requester *r, u32 packets)
{
	struct sroce_repair *p = &r->repair;
	bool congested = false;

	if (!p->recovering) {
		p->recovering = true;
		p->slowed = false;
		p->recover = r->sent;
		p->flight = r->flight;
		p->losses = 0;
		p->count = 0;
		congested = sroce_cc_lost(&r->cc, r->flight, r->reads);
	}
	p->losses += packets;
	if (p->peer == SROCE_PEER_DROPS) {
		if (!congested)
			sroce_cc_congested(&r->cc, r->flight);
		return;
	}
	if (!p->slowed)
		p->slowed = sroce_cc_lost_many(&r->cc, p->losses, p->flight);
	if (!p->slowed)
		sroce_cc_lost_packets(&r->cc, packets);
}

/*
 * Find out if the peer keeps packets behind a gap.  If packets that were not repeated
 * are acknowledged, the peer had kept them.  If only the repeated packets are, it has
 * dropped the rest.
 */
static void judge_peer(struct sroce_requester *r)
{
	struct sroce_repair *p = &r->repair;

	/* READ responses acknowledge, too, and this end holds them. */
	if (r->reads)
		return;
	if (sroce_psn_before(p->repeated, r->una)) {
		p->peer = SROCE_PEER_HOLDS;
	} else if (p->repeated == r->una && p->waits) {
		p->peer = SROCE_PEER_DROPS;
		p->naks = 0;
		p->retest = max(SROCE_PEER_RETEST * p->retest, SROCE_PEER_RETEST);
		sroce_requester_resume(r, r->una);
	}
}

static void advance_repair(struct sroce_requester *r)
{
	struct sroce_repair *p = &r->repair;

	if (sroce_psn_before(p->repeated_ever, r->una))
		p->repeated_ever = r->una;
	sroce_gaps_acknowledge(&p->gaps, r->una);
	/* The response to a probe alone: the packets behind it are lost, if there are any. */
	if (p->probed && p->repeated == r->una && r->una != r->sent) {
		sroce_requester_lost(r, sroce_psn_diff(r->sent, r->una));
		p->active = false;
		sroce_requester_resume(r, r->una);
	}
	p->probed = false;
	if (p->recovering) {
		if (sroce_psn_before(r->una, p->recover))
			judge_peer(r);
		else
			p->recovering = false;
	}
	if (!sroce_psn_before(r->una, p->repeated)) {
		p->waits = false;
		/* An old PSN would be ahead once half of the PSNs have passed. */
		if (!p->recovering)
			p->repeated = r->una;
	}
	if (p->active && !sroce_psn_before(r->una, p->end))
		sroce_requester_next_gap(r);
	/* The response may be to packets sent before a rewind. */
	if (sroce_psn_before(r->psn, r->una))
		sroce_requester_resume(r, r->una);
}

void sroce_requester_acknowledge(struct sroce_requester *r, u32 psn)
{
	if (psn == r->una)
		return;
	sroce_cc_acked(&r->cc, sroce_psn_diff(psn, r->una));
	r->una = psn;
	while (r->parts && !sroce_psn_before(psn, r->ends[r->parts - 1]))
		r->parts--;
	r->retry_left = r->retry_count;
	r->rnr_left = r->rnr_retry;
	r->rnr_waits = 0;
	r->rnr_wait = false;
	r->rewound = false;
	advance_repair(r);
}

/* Does the peer ask for the packet right behind those that were repeated? */
static bool loss_follows(const struct sroce_requester *r)
{
	const struct sroce_repair *p = &r->repair;

	return p->recovering && p->count && p->repeated == r->una;
}

void sroce_requester_nak(struct sroce_requester *r)
{
	struct sroce_repair *p = &r->repair;

	if (p->peer != SROCE_PEER_DROPS)
		return;
	if (loss_follows(r)) {
		/* The peer has later packets, or all were lost: judge_peer() may be wrong. */
		p->retest /= SROCE_PEER_RETEST;
		p->peer = SROCE_PEER_UNKNOWN;
	} else if (++p->naks >= p->retest) {
		p->peer = SROCE_PEER_UNKNOWN;
	}
}

void sroce_requester_rewind(struct sroce_requester *r)
{
	r->repair.active = false;
	r->repair.waits = false;
	r->repair.gaps.count = 0;
	r->repair.repeated = r->una;
	sroce_requester_resume(r, r->una);
}

/* Is the loss near the packets that were repeated, or one of them? */
static bool is_dense(const struct sroce_requester *r)
{
	const struct sroce_repair *p = &r->repair;

	return p->recovering && p->count &&
	       sroce_psn_diff(r->una, p->repeated) < (s32)SROCE_DENSE_LOSSES;
}

static u32 dense_losses(const struct sroce_requester *r)
{
	return r->cc.distant ? max(r->cc.bdp / SROCE_DENSE_PART, SROCE_DENSE_LOSSES) :
			       SROCE_DENSE_LOSSES;
}

void sroce_requester_repair(struct sroce_requester *r)
{
	u32 growth = r->cc.distant ? SROCE_DISTANT_GROWTH : SROCE_REPAIR_GROWTH;
	struct sroce_repair *p = &r->repair;
	bool follows = loss_follows(r);
	u32 most = sroce_psn_diff(r->sent, r->una);

	if (p->peer == SROCE_PEER_DROPS && !follows) {
		sroce_requester_rewind(r);
		return;
	}
	/* Either a long run of losses, or the peer kept no packet behind the first one. */
	if (follows && p->count >= SROCE_DOUBTFUL_REPAIR)
		p->peer = SROCE_PEER_UNKNOWN;
	if (follows) {
		/* All packets between are lost. */
		sroce_requester_lost(r, p->count);
		p->count = min(growth * p->count,
			       max_t(u32, r->cc.window, SROCE_BURST_PACKETS));
	} else {
		p->count = is_dense(r) ? min(growth * p->count, dense_losses(r)) : 1;
	}
	p->count = min(p->count, most);
	p->gaps.count = 0;
	p->active = true;
	p->asking = false;
	p->resume = r->sent;
	p->waits = p->peer != SROCE_PEER_HOLDS;
	p->end = sroce_psn_add(r->una, p->count);
	p->repeated = r->una;
	sroce_requester_resume(r, r->una);
}

bool sroce_requester_ahead(struct sroce_requester *r, u32 psn)
{
	return sroce_gaps_take(&r->repair.gaps, r->una, psn);
}

bool sroce_requester_ask(struct sroce_requester *r)
{
	if (!sroce_gaps_unasked(&r->repair.gaps))
		return false;
	/* The gaps come first.  The rest of a repair under way is sent again behind them. */
	if (!r->repair.asking)
		r->repair.active = false;
	if (!r->repair.active)
		sroce_requester_next_gap(r);
	return true;
}

void sroce_requester_refused(struct sroce_requester *r, u32 psn)
{
	struct sroce_repair *p = &r->repair;

	if (r->repair.gaps.count) {
		/* The first of them lies in a gap, or behind all gaps. */
		if (sroce_psn_before(p->resume, psn))
			p->resume = psn;
		p->active = true;
		sroce_gaps_forget_asked(&p->gaps);
		sroce_requester_next_gap(r);
		return;
	}
	/* They were a repair, and the rest need not be repeated. */
	if (p->recovering && p->peer == SROCE_PEER_HOLDS && r->psn == r->sent &&
	    sroce_psn_before(psn, p->repeated)) {
		p->active = true;
		p->asking = false;
		p->resume = r->sent;
		p->end = p->repeated;
	}
	sroce_requester_resume(r, psn);
}

/* Is anything unacknowledged that was sent before the window was last reduced? */
static bool reduced_lately(const struct sroce_requester *r)
{
	return sroce_psn_before(r->una, r->reduced_psn) &&
	       !sroce_psn_before(r->sent, r->reduced_psn);
}

void sroce_requester_congested(struct sroce_requester *r)
{
	if (!sroce_requester_waits(r) || reduced_lately(r))
		return;
	r->reduced_psn = r->sent;
	sroce_cc_marked(&r->cc, r->flight);
}
