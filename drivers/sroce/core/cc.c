// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion control: how many packets may be unacknowledged.
 */
#include "cc.h"

#define MIN_WINDOW	2u
/* Packets that must be acknowledged for one more in the window */
#define ACKS_PER_PACKET	16
/* Distant peers: a packet of window for each PACKET_NS of the round trip, */
#define PACKET_NS	10000
/* at most this many packets. */
#define MAX_WINDOW	8192u

void sroce_cc_lost(struct sroce_cc *cc, u32 flight)
{
	u32 least = min(MIN_WINDOW, cc->max_window);

	flight = clamp(flight, least, cc->window);
	cc->window = max(flight - (flight + 3) / 4, least);
	cc->acked = 0;
}

void sroce_cc_acked(struct sroce_cc *cc, u32 packets)
{
	u32 acked = cc->acked + packets;

	if (!sroce_cc_reduced(cc))
		return;
	cc->window = min(cc->window + acked / ACKS_PER_PACKET, cc->max_window);
	cc->acked = acked % ACKS_PER_PACKET;
}

/*
 * Twice the packets that arrive within the shortest round trip: the sampled
 * flight took the latest one.  Units of 2^16 ns avoid a 64 bit division.
 */
static u32 two_bdp(const struct sroce_rtt *rtt, u32 flight)
{
	return 2 * min(flight, MAX_WINDOW) * (rtt->least >> 16) /
	       (rtt->last >> 16);
}

bool sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight)
{
	u32 most = clamp(rtt->least / PACKET_NS, SROCE_WINDOW, MAX_WINDOW);
	bool distant = most > SROCE_WINDOW;
	bool reduced = sroce_cc_reduced(cc);

	/* A small flight says nothing of the bandwidth. */
	if (distant && flight > cc->max_window / 2)
		cc->max_window = two_bdp(rtt, flight);
	cc->max_window = clamp(cc->max_window, SROCE_WINDOW, most);
	cc->window = reduced ? min(cc->window, cc->max_window) : cc->max_window;
	return distant;
}
