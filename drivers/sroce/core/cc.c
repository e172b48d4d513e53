// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: how many packets may be unacknowledged.
 */
#include "cc.h"
#include "params.h"

void sroce_cc_lost(struct sroce_cc *cc, u32 flight)
{
	u32 least = min(SROCE_MIN_WINDOW, cc->max_window);

	flight = clamp(flight, least, cc->window);
	cc->window = max(flight - (flight + 3) / 4, least);
	cc->acked = 0;
}

void sroce_cc_acked(struct sroce_cc *cc, u32 packets)
{
	u32 acked = cc->acked + packets;

	if (!sroce_cc_reduced(cc))
		return;
	cc->window = min(cc->window + acked / SROCE_WINDOW_ACKS, cc->max_window);
	cc->acked = acked % SROCE_WINDOW_ACKS;
}

/*
 * Twice the packets that arrive within the shortest round trip: the sampled
 * flight took the latest one.  Units of 2^16 ns avoid a 64 bit division.
 */
static u32 two_bdp(const struct sroce_rtt *rtt, u32 flight)
{
	return 2 * min(flight, SROCE_MAX_WINDOW) * (rtt->least >> 16) /
	       (rtt->last >> 16);
}

bool sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight)
{
	u32 most = clamp(rtt->least / SROCE_WINDOW_PACKET_NS, SROCE_WINDOW, SROCE_MAX_WINDOW);
	bool distant = most > SROCE_WINDOW;
	bool reduced = sroce_cc_reduced(cc);

	/* A small flight says nothing of the bandwidth. */
	if (distant && flight > cc->max_window / 2)
		cc->max_window = two_bdp(rtt, flight);
	cc->max_window = clamp(cc->max_window, SROCE_WINDOW, most);
	cc->window = reduced ? min(cc->window, cc->max_window) : cc->max_window;
	return distant;
}

void sroce_cc_congested(struct sroce_cc *cc, u32 flight)
{
	u32 least = min(SROCE_MIN_WINDOW, cc->max_window);

	flight = clamp(flight, least, cc->window);
	cc->window = max(flight - (flight + 3) / 4, least);
	cc->acked = 0;
}
