// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "params.h"
#include "reorder.h"
#include "tap.h"

#define US	1000ull
#define MS	1000000ull

static struct sroce_reorder o;

TEST(reorder, gap_is_loss_at_once_without_reordering)
{
	o = (struct sroce_reorder) {};
	CHECK(sroce_reorder_gap(&o, 5, MS, MS));
	CHECK(!sroce_reorder_gap(&o, 5, MS, 2 * MS));
	EQUAL(sroce_reorder_deadline(&o), 0);
	sroce_reorder_filled(&o, 2 * MS);
	CHECK(sroce_reorder_gap(&o, 7, 2 * MS, 2 * MS));
}

/* The packet at @psn is 2 ms late.  If it is reported, it is also sent again. */
static bool receive_late(u32 psn, u64 now)
{
	bool reported = sroce_reorder_gap(&o, psn, now, now);

	sroce_reorder_filled(&o, now + (reported ? 300 * US : 2 * MS));
	if (reported && sroce_reorder_suspects(&o, psn))
		sroce_reorder_duplicate(&o, now + 2 * MS);
	return reported;
}

TEST(reorder, reordering_raises_tolerance)
{
	u32 i;

	o = (struct sroce_reorder) {};
	for (i = 0; i <= SROCE_SPURIOUS_REPORTS; i++)
		CHECK(receive_late(i, i * 10 * MS));
	EQUAL(o.tolerance, 2500 * US);
	for (i = 20; i < 500; i++)
		CHECK(!receive_late(i, i * 10 * MS));
	CHECK(o.tolerance >= 2 * MS);
	/* A lost packet is reported after the tolerance.  Losses reduce the tolerance. */
	CHECK(!sroce_reorder_gap(&o, 1000, 0, 0));
	EQUAL(sroce_reorder_deadline(&o), o.tolerance);
	CHECK(sroce_reorder_gap(&o, 1000, 0, o.tolerance));
	for (i = 0; i < 1000; i++) {
		sroce_reorder_filled(&o, 10 * MS);
		sroce_reorder_gap(&o, 2000 + i, 0, 10 * MS);
	}
	EQUAL(o.tolerance, 0);
}

TEST(reorder, losses_do_not_raise_tolerance)
{
	u32 i;

	o = (struct sroce_reorder) {};
	for (i = 0; i < 100; i++) {
		CHECK(sroce_reorder_gap(&o, i, 0, 0));
		sroce_reorder_filled(&o, MS);
		/* In three of four cases a probe has also repeated the packet. */
		if (i % 4 && sroce_reorder_suspects(&o, i))
			sroce_reorder_duplicate(&o, 2 * MS);
	}
	EQUAL(o.tolerance, 0);
}
