// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: how many packets may be unacknowledged.
 */
#include "cc.h"
#include "params.h"

void sroce_cc_congested(struct sroce_cc *cc, u32 flight)
{
	u32 least = min(SROCE_MIN_WINDOW, cc->max_window);

	flight = clamp(flight, least, cc->window);
	cc->window = max(flight - (flight + 3) / 4, least);
	cc->acked = 0;
	cc->lone = 0;
}

/*
 * Losses that the network makes by itself come at random.  Those of a short queue come
 * when the window exceeds the queue: after a cut nothing is lost for several windows.
 * If each loss looks like the first kind, a smaller window is tried now and then.
 */
static bool is_congestion(struct sroce_cc *cc)
{
	return cc->since_loss >= SROCE_CALM_WINDOWS * cc->window ||
	       ++cc->lone > SROCE_LONE_LOSSES;
}

void sroce_cc_lost(struct sroce_cc *cc, u32 flight, bool reads)
{
	u32 least = max(cc->bdp, SROCE_LONE_LOSS_WINDOW);

	if (reads)
		cc->overlap = max(min(cc->overlap, flight) / 4,
				  max(cc->bdp, 1u));
	if (cc->queued ||
	    (cc->window < SROCE_SMALL_WINDOW && is_congestion(cc)))
		sroce_cc_congested(cc, flight);
	else if (cc->window > least)
		cc->window = max(cc->window / 2, least);
	cc->since_loss = 0;
}

/*
 * Around what the path holds, more than one packet per round trip would overflow its
 * queue by many.  With a distant peer, growing would take too long.
 */
static bool grows_slowly(const struct sroce_cc *cc)
{
	return cc->max_window <= SROCE_WINDOW && cc->window < 2 * cc->bdp;
}

void sroce_cc_acked(struct sroce_cc *cc, u32 packets)
{
	u32 step = min(cc->window, grows_slowly(cc) ? SROCE_SLOW_ACKS :
						      SROCE_WINDOW_ACKS);
	u32 more;

	cc->since_loss += packets;
	if (!sroce_cc_reduced(cc) && cc->overlap >= cc->max_window)
		return;
	cc->acked += packets;
	more = cc->acked / step;
	cc->acked -= more * step;
	cc->window = min(cc->window + more, cc->max_window);
	cc->overlap = min(cc->overlap + more, cc->max_window);
}

/*
 * Packets that arrive within the shortest round trip: the sampled flight took the
 * latest one.  Units of 2^12 ns avoid a 64 bit division.
 */
static u32 path_holds(const struct sroce_rtt *rtt, u32 flight)
{
	return min(flight, SROCE_MAX_WINDOW) * (rtt->least >> 12) /
	       max(rtt->last >> 12, 1u);
}

bool sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight)
{
	u32 most = clamp(rtt->least / SROCE_WINDOW_PACKET_NS, SROCE_WINDOW, SROCE_MAX_WINDOW);
	bool distant = most > SROCE_WINDOW;
	bool reduced = sroce_cc_reduced(cc);

	cc->queued = rtt->smooth > 2 * (u64)rtt->least + SROCE_QUEUED_NS;
	/* A small flight says nothing of the bandwidth. */
	if (flight > cc->window / 2)
		cc->bdp = path_holds(rtt, flight);
	if (distant && flight > cc->max_window / 2)
		cc->max_window = 2 * cc->bdp;
	cc->max_window = clamp(cc->max_window, SROCE_WINDOW, most);
	cc->window = reduced ? min(cc->window, cc->max_window) : cc->max_window;
	return distant;
}
