// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "gaps.h"
#include "tap.h"

static struct sroce_gaps g;

static void expect_gap(u32 i, u32 from, u32 to)
{
	EQUAL(g.list[i].from, from & SROCE_PSN_MASK);
	EQUAL(g.list[i].to, to & SROCE_PSN_MASK);
}

TEST(gaps, packet_ahead_opens_gap)
{
	g = (struct sroce_gaps) {};
	CHECK(sroce_gaps_take(&g, 0xfffffe, 2));
	EQUAL(g.count, 1);
	expect_gap(0, 0xfffffe, 2);
	CHECK(sroce_gaps_take(&g, 0xfffffe, 3));
	EQUAL(g.count, 1);
	CHECK(sroce_gaps_take(&g, 0xfffffe, 5));
	EQUAL(g.count, 2);
	expect_gap(1, 4, 5);
	EQUAL(g.top, 6);
	EQUAL(sroce_gaps_missing(&g), 5);
}

TEST(gaps, packet_shrinks_or_splits_gap)
{
	g = (struct sroce_gaps) {};
	CHECK(sroce_gaps_take(&g, 0, 10));
	CHECK(sroce_gaps_take(&g, 0, 9));
	expect_gap(0, 0, 9);
	CHECK(sroce_gaps_take(&g, 0, 4));
	EQUAL(g.count, 2);
	expect_gap(0, 0, 4);
	expect_gap(1, 5, 9);
	CHECK(sroce_gaps_take(&g, 0, 5));
	expect_gap(1, 6, 9);
	sroce_gaps_acknowledge(&g, 3);
	expect_gap(0, 3, 4);
	sroce_gaps_acknowledge(&g, 7);
	EQUAL(g.count, 1);
	expect_gap(0, 7, 9);
	sroce_gaps_acknowledge(&g, 11);
	EQUAL(g.count, 0);
}

TEST(gaps, held_packet_is_not_accepted_again)
{
	g = (struct sroce_gaps) {};
	CHECK(sroce_gaps_take(&g, 0, 2));
	CHECK(!sroce_gaps_take(&g, 0, 2));
	CHECK(sroce_gaps_take(&g, 0, 4));
	CHECK(!sroce_gaps_take(&g, 0, 2));
}

TEST(gaps, number_of_gaps_is_limited)
{
	u32 i;

	g = (struct sroce_gaps) {};
	for (i = 0; i < SROCE_GAPS; i++)
		CHECK(sroce_gaps_take(&g, 0, 10 * i + 9));
	CHECK(!sroce_gaps_take(&g, 0, 10 * i + 9));
	CHECK(!sroce_gaps_take(&g, 0, 5));
	CHECK(sroce_gaps_take(&g, 0, 10 * i));
	EQUAL(g.count, SROCE_GAPS);
	sroce_gaps_extend(&g, 1000);
	EQUAL(g.top, 10 * i + 1);
}

TEST(gaps, gap_is_requested_once)
{
	g = (struct sroce_gaps) {};
	sroce_gaps_extend(&g, 7);
	EQUAL(g.count, 0);
	CHECK(sroce_gaps_take(&g, 0, 2));
	sroce_gaps_unasked(&g)->asked = true;
	CHECK(!sroce_gaps_unasked(&g));
	sroce_gaps_extend(&g, 7);
	expect_gap(1, 3, 7);
	EQUAL(sroce_gaps_unasked(&g)->from, 3);
	sroce_gaps_unasked(&g)->asked = true;
	EQUAL(sroce_gaps_missing(&g), 0);
	sroce_gaps_forget_asked(&g);
	EQUAL(sroce_gaps_unasked(&g)->from, 0);
	EQUAL(sroce_gaps_missing(&g), 6);
}
