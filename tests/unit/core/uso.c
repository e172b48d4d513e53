// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "params.h"
#include "psn.h"
#include "tap.h"
#include "uso.h"

#define FIRST	0xfffff0u	/* PSNs wrap around */

/* Only the first packet of each burst arrives; each repeat is one packet. */
static bool spoil(struct sroce_uso *uso, u32 *psn, u32 bursts)
{
	bool noticed = false;

	while (bursts-- && !noticed) {
		sroce_uso_sent(uso, *psn, 64, *psn, false);
		*psn = sroce_psn_add(*psn, 1);
		CHECK(!sroce_uso_acked(uso, *psn));
		sroce_uso_sent(uso, *psn, 1, *psn, true);
		*psn = sroce_psn_add(*psn, 1);
		noticed = sroce_uso_acked(uso, *psn);
	}
	return noticed;
}

TEST(uso, spoiled_bursts_are_noticed)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;

	CHECK(!spoil(&uso, &psn, SROCE_USO_SPOILED - 1));
	CHECK(spoil(&uso, &psn, 1));
	CHECK(!spoil(&uso, &psn, SROCE_USO_SPOILED - 1));
}

/* A peer that drops packets behind a gap gets all of them again, as a burst. */
TEST(uso, spoiled_bursts_are_noticed_after_rewinds)
{
	struct sroce_uso uso = {};
	bool noticed = false;
	u32 i;

	for (i = 0; i < 2 * SROCE_USO_SPOILED + 1 && !noticed; i++) {
		u32 psn = sroce_psn_add(FIRST, i);

		noticed = sroce_uso_acked(&uso, psn);
		sroce_uso_sent(&uso, psn, 64, psn, i);
	}
	CHECK(noticed);
}

/*
 * The peer keeps the first packet of the next burst, which a repair of several
 * packets covers: that it need not be repeated proves nothing.
 */
TEST(uso, spoiled_bursts_are_noticed_between_repairs)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;
	u32 i;

	for (i = 0; i < SROCE_USO_SPOILED - 1; i++) {
		CHECK(!spoil(&uso, &psn, 1));
		sroce_uso_sent(&uso, psn, 8, psn, true);
		psn = sroce_psn_add(psn, 2);
		CHECK(!sroce_uso_acked(&uso, psn));
	}
	CHECK(spoil(&uso, &psn, 1));
}

TEST(uso, one_good_burst_proves_the_device)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;
	u32 i;

	for (i = 0; i < 3; i++) {
		CHECK(!spoil(&uso, &psn, SROCE_USO_SPOILED - 1));
		sroce_uso_sent(&uso, psn, 64, psn, false);
		psn = sroce_psn_add(psn, 2);
		CHECK(!sroce_uso_acked(&uso, psn));
	}
}

/* The first packet is lost as well, or the acknowledgment. */
TEST(uso, losses_are_no_sign)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 64 * i);

		sroce_uso_sent(&uso, psn, 64, psn, false);
		sroce_uso_sent(&uso, psn, 64, psn, true);
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 64)));
	}
}

/* The second packet is lost, and the peer keeps those behind it. */
TEST(uso, a_lost_second_packet_is_no_sign)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 64 * i);

		sroce_uso_sent(&uso, psn, 64, psn, false);
		psn = sroce_psn_add(psn, 1);
		CHECK(!sroce_uso_acked(&uso, psn));
		sroce_uso_sent(&uso, psn, 1, psn, true);
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 63)));
	}
}

/* The peer keeps the first packets of later bursts, which have two packets. */
TEST(uso, spoiled_bursts_of_two_packets_are_noticed)
{
	struct sroce_uso uso = {};
	bool noticed = false;
	u32 i;

	for (i = 0; i < SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 2 * i);

		CHECK(!noticed);
		sroce_uso_sent(&uso, psn, 2, psn, false);
		psn = sroce_psn_add(psn, 1);
		CHECK(!sroce_uso_acked(&uso, psn));
		sroce_uso_sent(&uso, psn, 1, psn, true);
		noticed = sroce_uso_acked(&uso, sroce_psn_add(psn, 2));
	}
	CHECK(noticed);
}

/* A packet behind the second one is lost. */
TEST(uso, a_later_loss_is_no_sign)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 64 * i);

		sroce_uso_sent(&uso, psn, 64, psn, false);
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 5)));
		sroce_uso_sent(&uso, sroce_psn_add(psn, 5), 1,
			       sroce_psn_add(psn, 5), true);
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 64)));
	}
}

/* One receive at a time is posted: each SEND but the first one is refused. */
TEST(uso, a_refusal_proves_the_device)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, i);

		CHECK(!sroce_uso_acked(&uso, psn));
		sroce_uso_reset(&uso);
		sroce_uso_sent(&uso, psn, 64, psn, false);
	}
}

TEST(uso, single_packets_are_no_sign)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, i);

		sroce_uso_sent(&uso, psn, 1, psn, false);
		sroce_uso_sent(&uso, psn, 1, psn, true);
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 1)));
	}
}
