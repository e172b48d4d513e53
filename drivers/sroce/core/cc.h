/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CC_H
#define SROCE_CC_H

#include "rtt.h"

/**
 * struct sroce_cc - congestion control of a requester
 * @window: packets that may be unacknowledged; at most @max_window, less after
 *	losses
 * @max_window: its limit without losses
 * @acked: packets acknowledged since @window grew
 */
struct sroce_cc {
	u32 window;
	u32 max_window;
	u32 acked;
};

/* Has a loss made the window smaller? */
static inline bool sroce_cc_reduced(const struct sroce_cc *cc)
{
	return cc->window != cc->max_window;
}

/**
 * sroce_cc_init() - start with a window
 * @cc: state
 * @window: packets, not 0
 */
static inline void sroce_cc_init(struct sroce_cc *cc, u32 window)
{
	*cc = (struct sroce_cc) { .window = window, .max_window = window };
}

/**
 * sroce_cc_lost() - a packet was lost
 * @cc: state
 * @flight: packets that were unacknowledged when the last one was sent
 *
 * Every packet behind a lost one is sent again, so a window of W packets wastes
 * W of them for each loss.  A loss takes a quarter of the flight, and 16
 * acknowledged packets add one.  The window settles where one round trip in
 * four loses a packet, both with random losses and with a queue that is shorter
 * than the window.
 */
void sroce_cc_lost(struct sroce_cc *cc, u32 flight);

/**
 * sroce_cc_congested() - a queue on the way has marked a packet
 * @cc: state
 * @flight: packets that were unacknowledged when the last one was sent
 *
 * Takes a quarter of the flight.  The caller sees to it that this happens once
 * per round trip (RFC 3168, 6.1.2).
 */
void sroce_cc_congested(struct sroce_cc *cc, u32 flight);

/* @packets have been acknowledged. */
void sroce_cc_acked(struct sroce_cc *cc, u32 packets);

/* The losses were none: packets and responses were only on their way. */
static inline void sroce_cc_undo(struct sroce_cc *cc)
{
	cc->window = cc->max_window;
}

/**
 * sroce_cc_rtt() - there is a new sample of the round trip
 * @cc: state
 * @rtt: the sample has been added
 * @flight: packets that the sampled flight had
 *
 * A window that fits all networks within a building leaves the links between
 * cities idle.  So the window grows with the distance, up to twice the packets
 * that arrive in a round trip.  More of them would only wait in queues.
 *
 * Return: true if the peer is distant.
 */
bool sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight);

#endif /* SROCE_CC_H */
