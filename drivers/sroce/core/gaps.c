// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Scoreboard: the packets of a READ response that are missing. */
#include "gaps.h"

static void remove_gap(struct sroce_gaps *g, u32 i)
{
	for (g->count--; i < g->count; i++)
		g->list[i] = g->list[i + 1];
}

/* The caller knows that there is room. */
static void insert_gap(struct sroce_gaps *g, u32 i, struct sroce_gap gap)
{
	u32 j;

	for (j = g->count++; j > i; j--)
		g->list[j] = g->list[j - 1];
	g->list[i] = gap;
}

static bool has_free_entry(const struct sroce_gaps *g)
{
	return g->count < SROCE_GAPS;
}

/* A packet of gap @i has arrived.  Returns false if the gap cannot be split. */
static bool fill_gap(struct sroce_gaps *g, u32 i, u32 psn)
{
	struct sroce_gap *gap = &g->list[i];
	u32 after = sroce_psn_add(psn, 1);
	struct sroce_gap rest = { after, gap->to, gap->asked };

	if (gap->from == psn) {
		gap->from = after;
	} else if (gap->to == after) {
		gap->to = psn;
	} else if (has_free_entry(g)) {
		insert_gap(g, i + 1, rest);
		g->list[i].to = psn;
	} else {
		return false;
	}
	if (g->list[i].from == g->list[i].to)
		remove_gap(g, i);
	return true;
}

bool sroce_gaps_take(struct sroce_gaps *g, u32 una, u32 psn)
{
	u32 top = g->count ? g->top : una;
	u32 i;

	if (sroce_psn_before(psn, top)) {
		for (i = 0; i < g->count; i++)
			if (!sroce_psn_before(psn, g->list[i].from) &&
			    sroce_psn_before(psn, g->list[i].to))
				return fill_gap(g, i, psn);
		return false;
	}
	if (psn != top) {
		if (!has_free_entry(g))
			return false;
		insert_gap(g, g->count, (struct sroce_gap) { top, psn });
	}
	g->top = sroce_psn_add(psn, 1);
	return true;
}

void sroce_gaps_extend(struct sroce_gaps *g, u32 end)
{
	if (!g->count || !sroce_psn_before(g->top, end) || !has_free_entry(g))
		return;
	insert_gap(g, g->count, (struct sroce_gap) { g->top, end });
	g->top = end;
}

void sroce_gaps_acknowledge(struct sroce_gaps *g, u32 una)
{
	while (g->count && !sroce_psn_before(una, g->list[0].to))
		remove_gap(g, 0);
	if (g->count && sroce_psn_before(g->list[0].from, una))
		g->list[0].from = una;
}

struct sroce_gap *sroce_gaps_unasked(struct sroce_gaps *g)
{
	u32 i;

	for (i = 0; i < g->count; i++)
		if (!g->list[i].asked)
			return &g->list[i];
	return NULL;
}

u32 sroce_gaps_missing(const struct sroce_gaps *g)
{
	u32 i, packets = 0;

	for (i = 0; i < g->count; i++)
		if (!g->list[i].asked)
			packets += sroce_psn_diff(g->list[i].to,
						  g->list[i].from);
	return packets;
}

void sroce_gaps_forget_asked(struct sroce_gaps *g)
{
	u32 i;

	for (i = 0; i < g->count; i++)
		g->list[i].asked = false;
}
