// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * usage: sim                  all scenarios, TAP output
 *        sim FACTOR           the same with FACTOR times as many seeds
 *        sim SCENARIO SEED    one run, with a trace
 */
#include <stdlib.h>
#include "trace.h"
#include "world.h"

bool tracing;

struct totals {
	u64 frames;
	u64 resent;
	u64 repairs;
	u64 probes;
	u64 timeouts;
	u64 time;
};

static void add_totals(const struct world *w, struct totals *totals)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		totals->frames += w->sides[i].link.frames;
		totals->resent += w->sides[i].ep.resent;
		totals->repairs += w->sides[i].ep.repairs;
		totals->probes += w->sides[i].ep.probes;
		totals->timeouts += w->sides[i].ep.timeouts;
	}
}

static bool one(const struct scenario *scenario, u64 seed,
		struct totals *totals)
{
	static struct world worlds[MOST_FLOWS];
	bool ok = scenario->flows ? shares_run(worlds, scenario, seed) :
				    world_run(worlds, scenario, seed);
	u32 i;

	if (!ok)
		printf("# seed %llu: %s (make -C tests/sim run SCENARIO=%s SEED=%llu)\n",
		       (unsigned long long)seed, worlds->wrong, scenario->name,
		       (unsigned long long)seed);
	totals->time += worlds->now;
	for (i = 0; i < max(scenario->flows, 1u); i++) {
		add_totals(&worlds[i], totals);
		world_free(&worlds[i]);
	}
	return ok;
}

static bool family(const struct scenario *scenario, u32 factor, u32 number)
{
	struct totals totals = {};
	u32 seeds = scenario->seeds * factor;
	u32 seed, bad = 0;

	for (seed = 1; seed <= seeds && bad < 5; seed++)
		bad += !one(scenario, seed, &totals);
	printf("%sok %u - %s, %u seeds\n", bad ? "not " : "", number,
	       scenario->name, seed - 1);
	printf("# %llu packets, %llu requests sent again, %llu repairs, %llu probes, %llu timeouts, in %llu virtual ms\n",
	       (unsigned long long)totals.frames,
	       (unsigned long long)totals.resent,
	       (unsigned long long)totals.repairs,
	       (unsigned long long)totals.probes,
	       (unsigned long long)totals.timeouts,
	       (unsigned long long)totals.time / 1000000);
	return !bad;
}

static int all(u32 factor)
{
	const struct scenario *scenario;
	u32 number = 0;
	bool ok = true;

	for (scenario = scenarios; scenario->name; scenario++)
		ok &= family(scenario, factor, ++number);
	printf("1..%u\n", number);
	return !ok;
}

int main(int argc, char **argv)
{
	const struct scenario *scenario;
	struct totals totals = {};

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3)
		return all(argc > 1 ? atoi(argv[1]) : 1);
	tracing = true;
	for (scenario = scenarios; scenario->name; scenario++)
		if (!strcmp(scenario->name, argv[1]))
			return !one(scenario, strtoull(argv[2], NULL, 0),
				    &totals);
	fprintf(stderr, "sim: no scenario %s\n", argv[1]);
	return 2;
}
