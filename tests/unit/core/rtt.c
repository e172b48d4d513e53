// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rtt.h"
#include "tap.h"

#define US	1000

static u64 interval_after(s64 ns, u32 times)
{
	struct sroce_rtt rtt = {};

	while (times--)
		sroce_rtt_add(&rtt, ns);
	return sroce_rtt_probe(&rtt);
}

TEST(rtt, interval_is_default_without_sample)
{
	EQUAL(interval_after(0, 0), 20000 * US);
}

TEST(rtt, first_sample_gives_interval_of_four_rtts)
{
	EQUAL(interval_after(1000 * US, 1), 4000 * US);
}

TEST(rtt, steady_samples_give_interval_of_two_rtts)
{
	CHECK(interval_after(1000 * US, 100) >= 2000 * US);
	CHECK(interval_after(1000 * US, 100) < 2010 * US);
}

TEST(rtt, interval_has_minimum)
{
	EQUAL(interval_after(1, 100), 500 * US);
	EQUAL(interval_after(0, 1), 500 * US);
	EQUAL(interval_after(-5, 3), 500 * US);
}

TEST(rtt, sample_is_limited_to_one_second)
{
	EQUAL(interval_after((s64)1 << 62, 1), 4000000 * (u64)US);
}

TEST(rtt, interval_follows_rtt)
{
	struct sroce_rtt rtt = {};
	u64 slow;
	u32 i;

	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 1000 * US);
	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 10000 * US);
	slow = sroce_rtt_probe(&rtt);
	CHECK(slow > 19000 * US && slow < 30000 * US);
	for (i = 0; i < 100; i++)
		sroce_rtt_add(&rtt, 1000 * US);
	CHECK(sroce_rtt_probe(&rtt) < 2500 * US);
}

TEST(rtt, outlier_raises_interval)
{
	struct sroce_rtt rtt = {};
	u32 i;

	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 1000 * US);
	sroce_rtt_add(&rtt, 100000 * US);
	CHECK(sroce_rtt_probe(&rtt) > 100000 * US);
}

/* A queue in front of other packets does not delay the next repair. */
TEST(rtt, repair_interval_follows_shortest_rtt)
{
	struct sroce_rtt rtt = {};
	u32 i;

	sroce_rtt_add(&rtt, 300 * US);
	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 2000 * US);
	EQUAL(sroce_rtt_repair(&rtt), 600 * US);
	/* Without a queue it is a little longer than a round trip. */
	rtt = (struct sroce_rtt) {};
	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 1000 * US);
	CHECK(sroce_rtt_repair(&rtt) < 1300 * US);
}
