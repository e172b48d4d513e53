// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "rtt.h"
#include "tap.h"

#define US	1000

static u64 after(s64 ns, u32 times)
{
	struct sroce_rtt rtt = {};

	while (times--)
		sroce_rtt_add(&rtt, ns);
	return sroce_rtt_probe(&rtt);
}

TEST(rtt, a_guess_without_a_sample)
{
	EQUAL(after(0, 0), 20000 * US);
}

TEST(rtt, one_sample_leaves_room)
{
	EQUAL(after(1000 * US, 1), 4000 * US);
}

TEST(rtt, steady_answers_are_expected_in_time)
{
	CHECK(after(1000 * US, 100) >= 2000 * US);
	CHECK(after(1000 * US, 100) < 2010 * US);
}

TEST(rtt, never_too_soon)
{
	EQUAL(after(1, 100), 500 * US);
	EQUAL(after(0, 1), 500 * US);
	EQUAL(after(-5, 3), 500 * US);
}

TEST(rtt, no_more_than_a_second_a_sample)
{
	EQUAL(after((s64)1 << 62, 1), 4000000 * (u64)US);
}

TEST(rtt, it_follows)
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

TEST(rtt, an_outlier_makes_it_wary)
{
	struct sroce_rtt rtt = {};
	u32 i;

	for (i = 0; i < 50; i++)
		sroce_rtt_add(&rtt, 1000 * US);
	sroce_rtt_add(&rtt, 100000 * US);
	CHECK(sroce_rtt_probe(&rtt) > 100000 * US);
}
