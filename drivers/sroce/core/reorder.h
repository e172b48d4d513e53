/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_REORDER_H
#define SROCE_REORDER_H

#include "psn.h"

/**
 * struct sroce_reorder - time after which a missing packet counts as lost
 * @since: when @open: time of the first packet behind the gap, ns
 * @psn: when @open: PSN of the missing packet
 * @tolerance: a gap is a loss after this time, ns.  0 in a network that keeps the
 *	order
 * @late_since: @since of the latest gap that was reported
 * @late_psn: PSN of that gap
 * @spurious: consecutive spurious reports, at most SROCE_SPURIOUS_REPORTS
 * @open: there is a gap
 * @reported: it counts as a loss
 * @suspect: if the packet with @late_psn arrives twice, the report was not
 *	necessary
 *
 * RACK (RFC 8985) also adapts to reordering by duplicates.  A single duplicate says
 * little, because it may be a probe.
 */
struct sroce_reorder {
	u64 since;
	u32 psn;
	u32 tolerance;
	u64 late_since;
	u32 late_psn;
	u8 spurious;
	bool open;
	bool reported;
	bool suspect;
};

/**
 * sroce_reorder_gap() - a packet is missing
 * @o: state
 * @psn: PSN of the missing packet
 * @since: time of the first packet behind it
 * @now: the time
 *
 * Return: true once, when the packet counts as lost.
 */
bool sroce_reorder_gap(struct sroce_reorder *o, u32 psn, u64 since, u64 now);

/* When an open gap that was not reported becomes a loss.  0: there is none. */
static inline u64 sroce_reorder_deadline(const struct sroce_reorder *o)
{
	return o->open && !o->reported ? o->since + o->tolerance : 0;
}

/* The missing packet has arrived.  @now: the time. */
void sroce_reorder_filled(struct sroce_reorder *o, u64 now);

/* Is a duplicate of @psn of interest?  Then call sroce_reorder_duplicate(). */
static inline bool sroce_reorder_suspects(const struct sroce_reorder *o, u32 psn)
{
	return o->suspect && psn == o->late_psn;
}

/* The packet that was reported has arrived once more.  @now: the time. */
void sroce_reorder_duplicate(struct sroce_reorder *o, u64 now);

#endif /* SROCE_REORDER_H */
