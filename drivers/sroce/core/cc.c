// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: how many packets may be unacknowledged.
 */
#include "cc.h"
#include "params.h"

/* READs that overlapped beyond the window were too many for the path. */
static void limit_overlap(struct sroce_cc *cc)
{
	if (cc->overlap <= cc->max_window)
		return;
	cc->overlap = cc->max_window;
	cc->too_many = min(cc->too_many + 1, SROCE_MAX_TOO_MANY);
}

static void reduce_window(struct sroce_cc *cc, u32 flight, u32 part)
{
	u32 least = min(SROCE_MIN_WINDOW, cc->max_window);

	flight = clamp(flight, least, cc->window);
	cc->window = max(flight - (flight + part - 1) / part, least);
	limit_overlap(cc);
	cc->acked = 0;
	cc->since_loss = 0;
	cc->lone = 0;
	cc->since_cut = 0;
	cc->marked = false;
}

void sroce_cc_congested(struct sroce_cc *cc, u32 flight)
{
	reduce_window(cc, flight, 4);
}

/* A queue that marks is short: a larger reduction would leave the link idle (RFC 8511). */
void sroce_cc_marked(struct sroce_cc *cc, u32 flight)
{
	reduce_window(cc, flight, 6);
	cc->marked = true;
}

static bool is_calm(const struct sroce_cc *cc)
{
	return cc->since_loss >= SROCE_CALM_WINDOWS * cc->window;
}

/*
 * Random losses on the path occur at any time.  A short queue loses packets only when
 * the window exceeds it, so after a reduction nothing is lost for several windows.  If
 * all losses look random, a smaller window is tried from time to time.
 */
static bool is_congestion(struct sroce_cc *cc)
{
	return is_calm(cc) || ++cc->lone > SROCE_LONE_LOSSES;
}

/*
 * Several flows share a queue fairly only if all of them are reduced.  To a near peer
 * without pacing, bursts of the flow itself make a queue.
 */
static bool meets_queue(const struct sroce_cc *cc)
{
	return cc->paced && !cc->distant && !cc->unloaded;
}

/*
 * Packets by which READs overlap at least.  The BDP hides the round trip.  It is estimated
 * from the flow's own rate, so it would keep the shares of flows that share a queue.
 */
static u32 least_overlap(const struct sroce_cc *cc)
{
	u32 least = cc->bdp;

	if (cc->paced && !cc->distant)
		least = min(least, cc->window / 2);
	return max(least, 1u);
}

bool sroce_cc_lost(struct sroce_cc *cc, u32 flight, bool reads)
{
	u32 least = max(cc->bdp, SROCE_LONE_LOSS_WINDOW);

	limit_overlap(cc);
	if (reads)
		cc->overlap = max(min(cc->overlap, flight) / 4, least_overlap(cc));
	if (!cc->rate && !sroce_cc_reduced(cc)) {
		cc->window = min(cc->window, SROCE_FIRST_LOSS_WINDOW);
	} else if (cc->queued ||
		   ((cc->window < SROCE_SMALL_WINDOW || meets_queue(cc)) && is_congestion(cc))) {
		sroce_cc_congested(cc, flight);
		return true;
	} else if (!cc->distant && !cc->unloaded && cc->window > least) {
		cc->window = max(cc->window / 2, least);
	}
	cc->since_loss = 0;
	return false;
}

bool sroce_cc_lost_many(struct sroce_cc *cc, u32 losses, u32 flight)
{
	u32 least = max(cc->bdp, SROCE_LONE_LOSS_WINDOW);
	u32 part = cc->distant ? SROCE_MANY_OF_DISTANT : SROCE_MANY_OF_FLIGHT;

	if (losses <= SROCE_MANY_LOSSES || losses * part <= flight)
		return false;
	/* No network loses every other packet by itself. */
	if (!cc->distant || cc->queued ||
	    losses * SROCE_MOST_OF_FLIGHT > flight)
		reduce_window(cc, flight, 2);
	else if (cc->window > least)
		cc->window = max(cc->window - cc->window / 4, least);
	return true;
}

void sroce_cc_lost_packets(struct sroce_cc *cc, u32 packets)
{
	if (cc->distant || !sroce_cc_reduced(cc) || cc->window <= SROCE_LONE_LOSS_WINDOW)
		return;
	cc->window = max(cc->window - min(packets, cc->window), SROCE_LONE_LOSS_WINDOW);
}

/*
 * If flows start together, none meets an empty queue: to each the full one looks like
 * distance.  Then only marks and losses show it.
 */
static bool was_cut_lately(const struct sroce_cc *cc)
{
	return cc->since_cut < SROCE_CALM_WINDOWS * cc->window;
}

/*
 * After a reduction other flows may have their share of the path, even if no queue is
 * filled.
 */
static bool is_steady(const struct sroce_cc *cc)
{
	return cc->since_cut >= SROCE_STEADY_WINDOWS * cc->window;
}

static bool may_grow_fast(const struct sroce_cc *cc)
{
	return cc->unloaded && is_calm(cc) && is_steady(cc);
}

/*
 * Growing by one packet per round trip would take too long.  But a queue may mark packets
 * only every 100 ms (RFC 8289), and a window that grows faster beyond the BDP fills the
 * queue again meanwhile.  After losses it has to be larger than the BDP, to keep the path
 * busy while they are repaired.
 */
static u32 acks_to_grow_distant(const struct sroce_cc *cc)
{
	if (cc->marked && !is_steady(cc) && cc->bdp && cc->window >= cc->bdp)
		return SROCE_SLOW_ACKS;
	return cc->queued || was_cut_lately(cc) ? SROCE_WINDOW_ACKS : SROCE_DISTANT_ACKS;
}

/*
 * Near the capacity of the path, growing by more than one packet per round trip would
 * overflow its queue.  The estimated capacity is too small if the window is: then no
 * queue is filled, and nothing is lost.
 * Paced flows of a near peer grow by one in any case, because flows that grow by a part
 * of their windows never become equal.
 */
static u32 acks_to_grow(const struct sroce_cc *cc)
{
	if (cc->distant)
		return acks_to_grow_distant(cc);
	if ((cc->paced || cc->window < 2 * cc->bdp) && !may_grow_fast(cc))
		return SROCE_SLOW_ACKS;
	return SROCE_WINDOW_ACKS;
}

/*
 * The responses to later READs are dropped with a lost one, so each loss costs as many
 * packets as overlap.  With a near peer, the BDP is enough to hide the round trip.  It
 * is estimated from the flow's own rate, so READs that share a queue would keep their
 * shares if it limited the overlap of paced ones.
 */
static bool may_overlap_more(const struct sroce_cc *cc)
{
	return cc->paced || cc->overlap < max(cc->bdp, SROCE_LEAST_OVERLAP) ||
	       cc->since_loss >= SROCE_RARE_LOSS;
}

/* A count that wrapped would make an old loss a new one. */
static void count_acked(u32 *count, u32 packets)
{
	*count += min(packets, ~0u - *count);
}

/*
 * Packets for @packets acknowledged ones, if one is due for each @step; the rest counts
 * for the next one.
 */
static u32 packets_due(struct sroce_cc *cc, u32 packets, u32 step)
{
	u32 due;

	cc->acked += packets;
	due = cc->acked / step;
	cc->acked -= due * step;
	return due;
}

/*
 * Busy processors delay requests and responses by milliseconds, however near the peer is.
 * On a slow link, more READs would only wait longer.
 */
static void overlap_beyond_window(struct sroce_cc *cc, u32 packets)
{
	if (cc->overlap >= SROCE_NEAR_OVERLAP || cc->distant || cc->slow ||
	    cc->since_loss < SROCE_RARE_LOSS << 2 * cc->too_many)
		return;
	cc->overlap += packets_due(cc, packets, SROCE_WINDOW_ACKS);
	cc->overlap = min(cc->overlap, SROCE_NEAR_OVERLAP);
}

void sroce_cc_acked(struct sroce_cc *cc, u32 packets)
{
	u32 step = min(cc->window, acks_to_grow(cc));
	u32 more;

	count_acked(&cc->since_loss, packets);
	count_acked(&cc->since_cut, packets);
	if (!sroce_cc_reduced(cc) && cc->overlap >= cc->max_window) {
		overlap_beyond_window(cc, packets);
		return;
	}
	more = packets_due(cc, packets, step);
	cc->window = min(cc->window + more, cc->max_window);
	if (may_overlap_more(cc))
		cc->overlap = min(cc->overlap + more, cc->max_window);
}

/*
 * The path carries at least the packets that were in flight, per round trip.  Only a
 * round trip with queueing delay shows that it carries no more: after losses the window
 * is often smaller than the capacity of the path.  Units of 2^12 ns avoid a 64 bit division.
 */
static void estimate_rate(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight)
{
	u32 rate = (min(flight, SROCE_MAX_WINDOW) << 18) / max(rtt->last >> 12, 1u);

	if (rate > cc->rate)
		cc->rate = rate;
	else if (rtt->last > rtt->least + rtt->least / SROCE_RATE_QUEUED)
		cc->rate -= (cc->rate - rate) / SROCE_RATE_DECAY;
}

void sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight)
{
	u32 most = clamp(rtt->least / SROCE_WINDOW_PACKET_NS, SROCE_WINDOW, SROCE_MAX_WINDOW);
	bool reduced = sroce_cc_reduced(cc);
	bool was_distant = cc->distant;

	cc->distant = most > SROCE_WINDOW;
	cc->paced = rtt->least >= SROCE_PACE_LEAST_NS;
	cc->slow = rtt->smooth > SROCE_SLOW_NS;
	/* While a packet is repeated alone, the queue drains. */
	if (flight)
		cc->unloaded = rtt->last <= rtt->least + rtt->least / SROCE_UNLOADED;
	cc->queued = rtt->smooth > 2 * (u64)rtt->least + SROCE_QUEUED_NS;
	/* A small flight does not show the bandwidth. */
	if (flight > cc->window / 2)
		estimate_rate(cc, rtt, flight);
	cc->bdp = min_t(u64, (u64)cc->rate * rtt->least >> 30, SROCE_MAX_WINDOW);
	if (cc->distant && flight > cc->max_window / 2)
		cc->max_window = 2 * cc->bdp;
	cc->max_window = clamp(cc->max_window, SROCE_WINDOW, most);
	cc->window = reduced ? min(cc->window, cc->max_window) : cc->max_window;
	if (was_distant && !cc->distant)
		cc->overlap = min(cc->overlap, cc->max_window);
}
