/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GAPS_H
#define SROCE_GAPS_H

#include "params.h"
#include "psn.h"

/**
 * struct sroce_gap - response packets that are missing
 * @from: first PSN
 * @to: one past the last PSN
 * @asked: requested again
 */
struct sroce_gap {
	u32 from;
	u32 to;
	bool asked;
};

/**
 * struct sroce_gaps - scoreboard of the response to one READ (RFC 6675 has one
 *	for TCP)
 * @list: gaps, ascending; the first one begins at the oldest PSN that is not
 *	acknowledged
 * @count: entries of @list; 0 if no response packet is held
 * @top: one past the highest PSN that is held or in a gap; valid if @count
 */
struct sroce_gaps {
	struct sroce_gap list[SROCE_GAPS];
	u8 count;
	u32 top;
};

/**
 * sroce_gaps_take() - note that a packet which is ahead has arrived
 * @g: the gaps
 * @una: oldest PSN that is not acknowledged
 * @psn: PSN of the packet, after @una
 *
 * Return: false if the packet has been noted before, or the list is full.  The
 * caller then drops the packet.
 */
bool sroce_gaps_take(struct sroce_gaps *g, u32 una, u32 psn);

/* Packets before @end that have not been noted are missing. */
void sroce_gaps_extend(struct sroce_gaps *g, u32 end);

/* Everything before @una is acknowledged. */
void sroce_gaps_acknowledge(struct sroce_gaps *g, u32 una);

/* The first gap that has not been requested again; or NULL. */
struct sroce_gap *sroce_gaps_unasked(struct sroce_gaps *g);

/* Packets that are missing and have not been requested again. */
u32 sroce_gaps_missing(const struct sroce_gaps *g);

/* The packets that were requested again have not arrived: request them once more. */
void sroce_gaps_forget_asked(struct sroce_gaps *g);

#endif /* SROCE_GAPS_H */
