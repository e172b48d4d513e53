// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Several connections that begin together and share both directions of a link: the
 * packets of all wait in one queue.  Each has its fair share, and all data arrives.
 */
#include <stdlib.h>
#include "trace.h"
#include "world.h"

/* All begin before this. */
#define START		10000000

/* The shares are measured from here to there. */
#define MEASURE_FROM	(1 * SECONDS)
#define MEASURE_TO	(3 * SECONDS)

static void setup(struct world *flows, const struct scenario *scenario, u64 seed)
{
	u32 i, j;

	for (i = 0; i < scenario->flows; i++) {
		world_setup(&flows[i], scenario, seed * MOST_FLOWS + i);
		for (j = 0; j < 2; j++)
			flows[i].sides[j].link.sender = &flows[0].sides[j].link.busy;
		flows[i].sides[0].next_post = rng_between(&flows[i].rng, 0, START);
	}
}

/* As if it had begun while others had filled the queue. */
static void keep_least(struct world *w, u32 least)
{
	struct sroce_rtt *rtt = &w->sides[0].ep.rtx.rtt;

	if (rtt->smooth)
		rtt->least = max(rtt->least, least);
}

static struct world *next_flow(struct world *flows, u32 count)
{
	struct world *next = flows;
	u32 i;

	for (i = 1; i < count; i++)
		if (world_next(&flows[i]) < world_next(next))
			next = &flows[i];
	return next;
}

/* All events before @end. */
static void run_until(struct world *flows, const struct scenario *scenario, u64 end)
{
	struct world *w = next_flow(flows, scenario->flows);

	while (world_next(w) < end) {
		world_step(w, world_next(w));
		keep_least(flows, scenario->least);
		w = next_flow(flows, scenario->flows);
	}
}

/* Is the share of each within scenario->within percent of the mean? */
static bool is_fair(struct world *w, const struct scenario *scenario, const u32 *psn)
{
	u32 count = scenario->flows, sum = 0, share[MOST_FLOWS], i;

	for (i = 0; i < count; i++) {
		if (world_finished(&w[i]))
			return wrong(w, "flow %u has ended early", i);
		share[i] = sroce_psn_diff(w[i].sides[0].ep.req.una, psn[i]);
		sum += share[i];
	}
	for (i = 0; i < count; i++)
		if (abs((int)(share[i] * count - sum)) > (int)(sum / 100 * scenario->within))
			return wrong(w, "flow %u has %u of %u packets", i, share[i], sum);
	return true;
}

static bool end_all(struct world *flows, const struct scenario *scenario)
{
	char text[sizeof(flows->wrong)];
	u32 i;

	run_until(flows, scenario, LIMIT);
	for (i = 0; i < scenario->flows; i++) {
		if (world_check(&flows[i]))
			continue;
		memcpy(text, flows[i].wrong, sizeof(text));
		return wrong(flows, "flow %u: %s", i, text);
	}
	return true;
}

bool shares_run(struct world *flows, const struct scenario *scenario, u64 seed)
{
	u32 psn[MOST_FLOWS], i;
	bool fair;

	setup(flows, scenario, seed);
	run_until(flows, scenario, MEASURE_FROM);
	for (i = 0; i < scenario->flows; i++)
		psn[i] = flows[i].sides[0].ep.req.una;
	run_until(flows, scenario, MEASURE_TO);
	fair = is_fair(flows, scenario, psn);
	return end_all(flows, scenario) && fair;
}
