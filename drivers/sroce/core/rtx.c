// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Retransmission: samples of the round trip (RFC 6298), probes of a tail that
 * may be lost (RFC 8985), and the timeout of the QP.
 */
#include "completer.h"
#include "params.h"
#include "recovery.h"
#include "rtx.h"

/*
 * The first sample may be an upper bound, because it includes a retransmission.
 * The second sample replaces it.  If it is longer than the timeout, nothing was
 * lost: the retransmitted packets had only been on their way.
 */
static void take_sample(struct sroce_rtx *x, struct sroce_requester *r, u64 now)
{
	s64 ns = now - x->sample.at;
	bool bound = x->upper_bound && !x->rtt.smooth;

	if (x->upper_bound && !bound) {
		x->rtt = (struct sroce_rtt) {};
		x->upper_bound = false;
		if (x->timeout && ns >= (s64)x->timeout)
			sroce_cc_undo(&r->cc);
	}
	sroce_rtt_add(&x->rtt, ns);
	x->probe.floor -= x->probe.floor / SROCE_PROBE_FLOOR_DECAY;
	if (!x->sample.rexmit && !bound)
		sroce_cc_rtt(&r->cc, &x->rtt, x->sample.flight);
	x->sample.running = false;
	x->sample.rexmit = false;
	x->sample.skip = bound || r->cc.paced ? 0 : SROCE_RTT_SAMPLE_SKIP;
}

static void sample_if_acked(struct sroce_rtx *x, struct sroce_requester *r,
			    u64 now)
{
	if ((x->sample.running || x->sample.rexmit) &&
	    !sroce_psn_before(r->una, x->sample.psn))
		take_sample(x, r, now);
}

/*
 * No sample includes a retransmission (Karn's algorithm).  Of READs and atomics
 * only the first response counts, and only if nothing else was outstanding.
 * If the window, or the overlap of READs, depends on it, the responses to all READs are
 * sampled.
 */
static void start_sample(struct sroce_rtx *x, const struct sroce_requester *r,
			 u32 from, bool idle, u64 now)
{
	bool first = r->reads && idle;

	if (from == r->psn || x->sample.running || x->resent ||
	    (r->reads && !idle && !sroce_cc_needs_rtt(&r->cc) && !x->upper_bound))
		return;
	if (x->rtt.smooth && x->sample.skip) {
		x->sample.skip--;
		return;
	}
	x->sample.running = true;
	x->sample.psn = first ? sroce_psn_add(r->una, 1) : r->psn;
	x->sample.flight = sroce_psn_diff(x->sample.psn, r->una);
	x->sample.at = now;
}

/*
 * Between one and four times the QP's attribute (vol. 1, 9.7.6.1.3): the peer may
 * be more distant than the user assumed.  A QP without one has SROCE_REFUSED_NS; see
 * sroce_rtx_waits().
 */
static u64 retry_timeout(const struct sroce_rtx *x)
{
	u64 timeout = x->timeout ?: SROCE_REFUSED_NS;

	if (!x->rtt.smooth)
		return timeout;
	return clamp(sroce_rtt_probe(&x->rtt), timeout, 4 * timeout);
}

/*
 * A late response can cross a repeated request.  If the peer then refuses the repeated
 * request, the result is ambiguous.  This is more likely with several READs or atomics,
 * whose responses are large.  They get more time, and no probe before the round trip is
 * known.
 */
static u64 normal_interval(const struct sroce_rtx *x,
			   const struct sroce_requester *r)
{
	bool alone = r->in.next + !!r->packet - r->in.head == 1;

	if (!r->reads || alone)
		return sroce_rtt_probe(&x->rtt);
	return x->rtt.smooth ? sroce_rtt_probe(&x->rtt) << SROCE_READ_PROBE_SHIFT :
			       retry_timeout(x);
}

/*
 * While a loss is repaired, the peer is silent until it has the repeated packet;
 * the response to that may be lost, too.
 */
static u64 probe_interval(const struct sroce_rtx *x,
			  const struct sroce_requester *r)
{
	u64 interval = normal_interval(x, r);

	if (r->repair.recovering && x->rtt.smooth)
		interval = min(interval, sroce_rtt_repair(&x->rtt));
	return max_t(u64, interval, x->probe.floor);
}

/*
 * A loss in a stream may be noticed later than by a NAK, too: the NAK may be lost.
 */
static u64 first_interval(const struct sroce_rtx *x,
			  const struct sroce_requester *r)
{
	return min(probe_interval(x, r), retry_timeout(x));
}

/*
 * The response to a repeated packet is a valid sample, because the peer reported the
 * first copy missing.  While there are losses, there are few other samples.  If it is the
 * first sample, it is better than the one that is being taken, which includes the repair.
 *
 * The first copy may also have been late, not lost.  Then the response to it can follow
 * the NAK at any distance.  Such a sample must not become the shortest round trip, which
 * stays until RESET: with 50 us for a path of 50 ms the peer would no longer be distant,
 * and each loss would count as congestion.  So much less than the shortest round trip is
 * not a response to the repeated packet.
 */
static void sample_repair(struct sroce_rtx *x, struct sroce_requester *r, u64 now)
{
	u64 ns = now - x->repair_at;

	if (!x->sample.repair || sroce_psn_before(r->una, x->repair_psn))
		return;
	if (!x->rtt.smooth) {
		x->upper_bound = false;
		x->sample.running = false;
	}
	x->sample.repair = false;
	if (ns < x->rtt.least / 2)
		return;
	sroce_rtt_add(&x->rtt, ns);
	sroce_cc_rtt(&r->cc, &x->rtt, 0);
}

/* Record the delay of the response for which a probe was sent. */
static void note_late(struct sroce_rtx *x, const struct sroce_requester *r,
		      u64 now)
{
	if (x->probe.undecided && !x->probe.late && sroce_psn_before(x->probe.psn, r->una))
		x->probe.late = min(now - x->probe.since, (u64)SROCE_MAX_PROBE_FLOOR_NS);
}

static void set_deadline(struct sroce_rtx *x, u64 deadline)
{
	x->deadline = x->probe.count == SROCE_MAX_PROBES ? x->expires :
						min(deadline, x->expires);
	x->armed = true;
}

static void take_samples(struct sroce_rtx *x, struct sroce_requester *r, u64 now)
{
	sample_if_acked(x, r, now);
	sample_repair(x, r, now);
	note_late(x, r, now);
	if (x->resent && !sroce_psn_before(r->una, x->resent_to))
		x->resent = false;
}

void sroce_rtx_paced(struct sroce_rtx *x, struct sroce_requester *r, u32 from, u64 now)
{
	take_samples(x, r, now);
	if (sroce_rtx_waits(x, r))
		start_sample(x, r, from, false, now);
}

void sroce_rtx_progress(struct sroce_rtx *x, struct sroce_requester *r, u32 from,
			u64 now)
{
	bool waits = sroce_rtx_waits(x, r);
	/* The deadline may be that of another wait, which has passed. */
	bool idle = !x->armed && from == r->una;

	x->armed = false;
	if (!waits)
		x->expires_set = false;
	if (!sroce_rtx_needs_time(x, r))
		return;
	take_samples(x, r, now);
	if (!waits)
		return;
	start_sample(x, r, from, idle, now);
	x->quiet_since = now;
	if (!x->expires_set) {
		x->probe.count = 0;
		x->expires = now + retry_timeout(x);
		x->expires_set = true;
	}
	set_deadline(x, now + first_interval(x, r));
}

void sroce_rtx_ahead(struct sroce_rtx *x, const struct sroce_requester *r, u64 now)
{
	if (x->armed && x->expires_set && r->repair.recovering && !r->cc.paced)
		set_deadline(x, max(x->deadline, now + first_interval(x, r)));
}

/*
 * If nothing was acknowledged for a whole round trip, the next response is to
 * the retransmission, which can be sampled then.  With many losses no other
 * flight can.
 */
static bool quiet_for_rtt(const struct sroce_rtx *x, u64 now)
{
	return now - x->quiet_since >= x->rtt.smooth;
}

void sroce_rtx_resent(struct sroce_rtx *x, struct sroce_requester *r, u64 now)
{
	/* A NAK also acknowledges the packets before it. */
	sample_if_acked(x, r, now);
	sample_repair(x, r, now);
	x->probe.undecided = false;
	/* A later response could belong to either of two repeated packets. */
	x->sample.repair = false;
	x->resent = true;
	x->resent_to = r->sent;
	if (!x->rtt.smooth) {
		/* The silence may be the distance to the peer, not a loss. */
		x->upper_bound = true;
	} else {
		x->sample.running = false;
		x->sample.rexmit = x->upper_bound && quiet_for_rtt(x, now);
	}
	if (x->sample.rexmit) {
		x->sample.psn = sroce_psn_add(r->una, 1);
		x->sample.at = now;
	}
	x->quiet_since = now;
}

void sroce_rtx_repaired(struct sroce_rtx *x, const struct sroce_requester *r,
			u64 now)
{
	/*
	 * The peer reports each gap in a run of repeated packets, though the next packet
	 * of the run will fill it: the response may be to an earlier copy.
	 */
	x->sample.repair = r->repair.repeated_ever == r->una;
	x->repair_at = now;
	x->repair_psn = sroce_psn_add(r->una, 1);
}

bool sroce_rtx_repair_underway(const struct sroce_rtx *x,
			       const struct sroce_requester *r, u64 now)
{
	return r->repair.recovering && sroce_psn_before(r->una, r->repair.repeated) &&
	       now - x->repair_at < x->rtt.least;
}

void sroce_rtx_echo(struct sroce_rtx *x, const struct sroce_requester *r,
		    u32 psn)
{
	if (!x->probe.undecided || !x->probe.late || !sroce_psn_before(psn, r->una) ||
	    sroce_psn_before(psn, x->probe.psn))
		return;
	x->probe.undecided = false;
	if (x->probe.spurious < SROCE_SPURIOUS_PROBES)
		x->probe.spurious++;
	else
		x->probe.floor = max(x->probe.floor, x->probe.late + x->probe.late / 4);
}

enum sroce_rtx_action sroce_rtx_expired(const struct sroce_rtx *x,
					const struct sroce_requester *r)
{
	if (!sroce_requester_waits(r))
		return SROCE_RTX_NOTHING;
	if (x->deadline < x->expires)
		return SROCE_RTX_PROBE;
	return r->refusal ? SROCE_RTX_REFUSED : SROCE_RTX_RETRY;
}

/* Has only the first part of the oldest response arrived? */
static bool response_broke_off(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return wr->started && sroce_wr_reads(wr) && sroce_psn_before(wr->psn, r->una);
}

/* @since: begin of the silence.  @probed: it is open if the last probe was needed. */
static void note_probe(struct sroce_rtx *x, const struct sroce_requester *r,
		       u64 since, bool probed)
{
	/* All probes of one silence count once. */
	if (x->probe.count > 1) {
		x->probe.undecided = probed;
		return;
	}
	/* The last one had a single response. */
	if (probed) {
		x->probe.spurious = 0;
		x->probe.floor /= 2;
	}
	x->probe.undecided = !r->repair.recovering;
	x->probe.since = since;
	x->probe.psn = r->una;
	x->probe.late = 0;
}

void sroce_rtx_probe(struct sroce_rtx *x, struct sroce_requester *r, u64 now)
{
	u64 interval = probe_interval(x, r) << (++x->probe.count + 1) / 2;
	bool probed = x->probe.undecided;
	u64 since = x->quiet_since;

	sroce_rtx_resent(x, r, now);
	note_probe(x, r, since, probed);
	if (sroce_requester_holds(r)) {
		sroce_gaps_forget_asked(&r->repair.gaps);
		sroce_completer_ask(r, true);
	} else if (r->reads) {
		r->rewound = true;
		/* Nothing behind it has arrived for the whole interval. */
		if (response_broke_off(r))
			sroce_requester_lost(r, sroce_psn_diff(r->psn, r->una));
		sroce_requester_rewind(r);
	} else {
		sroce_requester_probed(r);
		x->probe.due = true;
	}
	set_deadline(x, now + interval);
}
