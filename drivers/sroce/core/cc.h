/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CC_H
#define SROCE_CC_H

#include "params.h"
#include "rtt.h"

/**
 * struct sroce_cc - congestion control of a requester
 * @window: packets that may be unacknowledged; at most @max_window, less after
 *	losses
 * @max_window: limit of @window
 * @overlap: packets of READ responses that may be missing when the next READ
 *	starts; less after losses, and more than @max_window after a long time without
 * @bdp: bandwidth-delay product with the shortest round trip, packets; 0 if it is not
 *	known, or less than one packet
 * @rate: packets that the path carries in 2^30 ns
 * @acked: packets acknowledged since @window and @overlap grew
 * @since_loss: packets acknowledged since the latest loss, or since @window became smaller
 *	because of congestion
 * @since_cut: packets acknowledged since @window became smaller because of congestion,
 *	or since the connection began
 * @lone: losses since @window became smaller because of congestion
 * @too_many: losses while @overlap exceeded @max_window; at most SROCE_MAX_TOO_MANY
 * @queued: the round trip has grown: a queue on the path is filled
 * @unloaded: the last flight took hardly longer than the shortest round trip: no queue is
 *	filled
 * @distant: the window depends on the distance
 * @slow: the round trip is longer than busy processors make it
 * @paced: packets are sent at a pace
 * @marked: @window was last reduced because of marks
 */
struct sroce_cc {
	u32 window;
	u32 max_window;
	u32 overlap;
	u32 bdp;
	u32 rate;
	u32 acked;
	u32 since_loss;
	u32 since_cut;
	u32 lone;
	u8 too_many;
	bool queued;
	bool unloaded;
	bool distant;
	bool slow;
	bool paced;
	bool marked;
};

/* Has a loss made the window smaller? */
static inline bool sroce_cc_reduced(const struct sroce_cc *cc)
{
	return cc->window != cc->max_window;
}

/* Does the round trip of READs decide how many packets may be unacknowledged? */
static inline bool sroce_cc_needs_rtt(const struct sroce_cc *cc)
{
	return cc->distant || sroce_cc_reduced(cc) || cc->since_loss >= SROCE_RARE_LOSS / 2;
}

/* Packets that may be unacknowledged, or missing, when a READ starts. */
static inline u32 sroce_cc_read_window(const struct sroce_cc *cc)
{
	if (cc->distant || sroce_cc_reduced(cc))
		return cc->window;
	return max(cc->window, cc->overlap);
}

/*
 * Maximum packets of a burst.  The last packet of a burst requests an ACK.  If a burst
 * filled the path, the path would be idle until the ACK arrives; and a short queue drops
 * the end of a burst first.  So flows that share a queue need bursts of the same part of
 * their windows: the estimated BDP differs between them.
 */
static inline u32 sroce_cc_burst(const struct sroce_cc *cc)
{
	u32 most = SROCE_BURST_PACKETS;

	if (cc->paced || cc->window < SROCE_SMALL_WINDOW || cc->window < 2 * cc->bdp)
		most = clamp(cc->window / SROCE_WINDOW_BURSTS, 2u, most);
	return most;
}

/**
 * sroce_cc_init() - start with a window
 * @cc: state
 * @window: packets, not 0
 */
static inline void sroce_cc_init(struct sroce_cc *cc, u32 window)
{
	*cc = (struct sroce_cc) {
		.window = window, .max_window = window, .overlap = window,
	};
}

/**
 * sroce_cc_congested() - the network is congested
 * @cc: state
 * @flight: packets that were unacknowledged when the last one was sent
 *
 * Takes a quarter of the flight.
 */
void sroce_cc_congested(struct sroce_cc *cc, u32 flight);

/**
 * sroce_cc_marked() - the network has marked packets
 * @cc: state
 * @flight: packets that were unacknowledged when the last one was sent
 *
 * Takes a sixth of the flight.  The window of a distant peer then grows slowly beyond the
 * BDP.
 */
void sroce_cc_marked(struct sroce_cc *cc, u32 flight);

/**
 * sroce_cc_lost() - a packet was lost; called once per round trip
 * @cc: state
 * @flight: packets that were unacknowledged when the last one was sent
 * @reads: READs are outstanding
 *
 * A loss is a sign of congestion if the round trip has grown, or if a small window
 * had no loss for several windows.  Otherwise it may have other reasons, and the
 * window stays at what the path holds, at least.  If no queue is filled, or with a
 * distant peer, it stays as it is: while a loss is repaired, twice as many packets are on
 * their way.
 *
 * The responses to READs behind a lost response are dropped.  So the next READ
 * starts when few packets are missing, but not so few that the path is idle.  With a
 * paced flow of a near peer, these are at most half of the window, because others may
 * share the path.
 *
 * Return: true if it was taken for congestion.
 */
bool sroce_cc_lost(struct sroce_cc *cc, u32 flight, bool reads);

/**
 * sroce_cc_lost_many() - do the losses of a round trip show congestion?
 * @cc: state
 * @losses: packets lost
 * @flight: packets that were unacknowledged when the first loss was noticed
 *
 * If most of the flight is lost, the network is congested, however distant the peer is.
 *
 * Return: true if the window was reduced.
 */
bool sroce_cc_lost_many(struct sroce_cc *cc, u32 losses, u32 flight);

/**
 * sroce_cc_lost_packets() - the path has lost part of a flight
 * @cc: state
 * @packets: packets lost
 *
 * A queue that overflows loses the end of a burst.  A window without these packets fits.
 * The losses of a network are a small part of the window, and hardly reduce it.
 */
void sroce_cc_lost_packets(struct sroce_cc *cc, u32 packets);

/**
 * sroce_cc_pace() - time that packets take at the pace of a peer that is not near
 * @cc: state
 * @rtt: round trips
 * @packets: their number
 *
 * A large window that is sent at once, as after a repair, would overflow the queues on
 * the way.  A READ request may ask for several windows, and that for a gap for many,
 * but the responses cannot be stopped, and are over after a round trip: it counts as
 * one window.
 *
 * Return: ns until the next packet may be sent, at most half a round trip; 0 if packets
 * are not paced.
 */
static inline u64 sroce_cc_pace(const struct sroce_cc *cc, const struct sroce_rtt *rtt,
				u32 packets)
{
	if (!cc->paced)
		return 0;
	return (u64)min(packets, cc->window) * (rtt->smooth / (SROCE_PACE_FACTOR * cc->window));
}

/* @packets have been acknowledged. */
void sroce_cc_acked(struct sroce_cc *cc, u32 packets);

/* There were no losses: packets or responses were only late. */
static inline void sroce_cc_undo(struct sroce_cc *cc)
{
	cc->window = cc->max_window;
}

/**
 * sroce_cc_rtt() - there is a new sample of the round trip
 * @cc: state
 * @rtt: the sample has been added
 * @flight: packets that the sampled flight had; 0 if a single packet was repeated
 *
 * A window that fits all networks within a building leaves the links between
 * cities idle.  So the window grows with the distance, up to twice the packets
 * that arrive in a round trip.  More of them would only wait in queues.
 */
void sroce_cc_rtt(struct sroce_cc *cc, const struct sroce_rtt *rtt, u32 flight);

#endif /* SROCE_CC_H */
