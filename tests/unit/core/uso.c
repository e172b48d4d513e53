// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "params.h"
#include "psn.h"
#include "tap.h"
#include "uso.h"

#define FIRST	0xfffff0u	/* PSNs wrap around */

/* Only the first packet of each burst arrives.  The second one is sent again alone. */
static bool send_spoiled(struct sroce_uso *uso, u32 *psn, u32 bursts)
{
	bool detected = false;

	while (bursts-- && !detected) {
		sroce_uso_sent(uso, *psn, 64, *psn, false);
		*psn = sroce_psn_add(*psn, 1);
		CHECK(!sroce_uso_acked(uso, *psn));
		sroce_uso_sent(uso, *psn, 1, *psn, true);
		*psn = sroce_psn_add(*psn, 1);
		detected = sroce_uso_acked(uso, *psn);
	}
	return detected;
}

TEST(uso, spoiled_bursts_are_detected)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;

	CHECK(!send_spoiled(&uso, &psn, SROCE_USO_SPOILED - 1));
	CHECK(send_spoiled(&uso, &psn, 1));
	CHECK(!send_spoiled(&uso, &psn, SROCE_USO_SPOILED - 1));
}

/* The peer drops packets behind a gap, so all of them are sent again as a burst. */
TEST(uso, spoiled_bursts_are_detected_after_rewinds)
{
	struct sroce_uso uso = {};
	bool detected = false;
	u32 i;

	for (i = 0; i < 2 * SROCE_USO_SPOILED + 1 && !detected; i++) {
		u32 psn = sroce_psn_add(FIRST, i);

		detected = sroce_uso_acked(&uso, psn);
		sroce_uso_sent(&uso, psn, 64, psn, i);
	}
	CHECK(detected);
}

/*
 * The peer holds the first packet of the next burst.  A repair of several packets
 * includes it, so its ACK does not show that the burst was good.
 */
TEST(uso, spoiled_bursts_are_detected_between_repairs)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;
	u32 i;

	for (i = 0; i < SROCE_USO_SPOILED - 1; i++) {
		CHECK(!send_spoiled(&uso, &psn, 1));
		sroce_uso_sent(&uso, psn, 8, psn, true);
		psn = sroce_psn_add(psn, 2);
		CHECK(!sroce_uso_acked(&uso, psn));
	}
	CHECK(send_spoiled(&uso, &psn, 1));
}

/* No packet of a burst arrives.  The first one is sent again alone, and arrives. */
static bool lose_all(struct sroce_uso *uso, u32 psn)
{
	sroce_uso_sent(uso, psn, 64, psn, false);
	uso->lone = true;
	sroce_uso_sent(uso, psn, 1, psn, true);
	uso->lone = false;
	/* Behind a timeout the rest follows at once. */
	sroce_uso_sent(uso, sroce_psn_add(psn, 1), 63, psn, true);
	CHECK(!sroce_uso_acked(uso, psn));
	return sroce_uso_acked(uso, sroce_psn_add(psn, 1));
}

TEST(uso, lost_bursts_are_detected)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 1; i < SROCE_USO_SPOILED / SROCE_USO_LOST; i++)
		CHECK(!lose_all(&uso, sroce_psn_add(FIRST, i)));
	CHECK(lose_all(&uso, sroce_psn_add(FIRST, i)));
	CHECK(!lose_all(&uso, sroce_psn_add(FIRST, i + 1)));
}

/* The peer has kept the rest of the burst: its first packet alone was lost. */
TEST(uso, kept_rest_is_no_lost_burst)
{
	struct sroce_uso uso = {};
	u32 i;

	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 64 * i);

		sroce_uso_sent(&uso, psn, 64, psn, false);
		uso.lone = true;
		sroce_uso_sent(&uso, psn, 1, psn, true);
		uso.lone = false;
		CHECK(!sroce_uso_acked(&uso, sroce_psn_add(psn, 64)));
	}
}

TEST(uso, good_burst_resets_count)
{
	struct sroce_uso uso = {};
	u32 psn = FIRST;
	u32 i;

	for (i = 0; i < 3; i++) {
		CHECK(!send_spoiled(&uso, &psn, SROCE_USO_SPOILED - 1));
		sroce_uso_sent(&uso, psn, 64, psn, false);
		psn = sroce_psn_add(psn, 2);
		CHECK(!sroce_uso_acked(&uso, psn));
	}
}

/* The first packet is lost, too, or its ACK. */
TEST(uso, lost_first_packet_is_not_counted)
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

/* The second packet is lost.  The peer holds the packets behind it. */
TEST(uso, lost_second_packet_is_not_counted)
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

/* The peer holds the first packet of later bursts.  These have two packets. */
TEST(uso, spoiled_bursts_of_two_packets_are_detected)
{
	struct sroce_uso uso = {};
	bool detected = false;
	u32 i;

	for (i = 0; i < SROCE_USO_SPOILED; i++) {
		u32 psn = sroce_psn_add(FIRST, 2 * i);

		CHECK(!detected);
		sroce_uso_sent(&uso, psn, 2, psn, false);
		psn = sroce_psn_add(psn, 1);
		CHECK(!sroce_uso_acked(&uso, psn));
		sroce_uso_sent(&uso, psn, 1, psn, true);
		detected = sroce_uso_acked(&uso, sroce_psn_add(psn, 2));
	}
	CHECK(detected);
}

/* A packet behind the second one is lost. */
TEST(uso, lost_later_packet_is_not_counted)
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

/* One receive is posted at a time, so each SEND after the first gets an RNR NAK. */
TEST(uso, refused_packet_resets_count)
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

TEST(uso, single_packet_is_not_counted)
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

#define PEER(i)	(0x0a000001u + (i))
#define LATER	(SROCE_USO_RETRY_NS / 2)

/* A peer may lie, so it alone gets single packets. */
TEST(uso, one_peer_reports_for_itself_only)
{
	struct sroce_uso_peers peers = {};
	u32 i;

	CHECK(!sroce_uso_peers_include(&peers, 0, 1));
	CHECK(!sroce_uso_peers_include(&peers, PEER(0), 1));
	CHECK(sroce_uso_peers_add(&peers, PEER(0), 1));
	for (i = 0; i < 2 * SROCE_USO_PEERS; i++)
		CHECK(!sroce_uso_peers_add(&peers, PEER(0), 1 + i));
	CHECK(sroce_uso_peers_include(&peers, PEER(0), LATER));
	CHECK(!sroce_uso_peers_include(&peers, PEER(1), LATER));
	CHECK(!sroce_uso_peers_all(&peers, LATER));
}

TEST(uso, several_peers_report_for_all)
{
	struct sroce_uso_peers peers = {};
	u32 i;

	for (i = 0; i < SROCE_USO_PEERS; i++) {
		CHECK(!sroce_uso_peers_all(&peers, LATER));
		CHECK(!sroce_uso_peers_include(&peers, PEER(100), LATER));
		CHECK(sroce_uso_peers_add(&peers, PEER(i), LATER));
	}
	CHECK(sroce_uso_peers_all(&peers, LATER));
	CHECK(sroce_uso_peers_include(&peers, PEER(100), LATER));
	CHECK(!sroce_uso_peers_add(&peers, PEER(100), LATER));
}

TEST(uso, reports_expire)
{
	struct sroce_uso_peers peers = {};
	u64 now = LATER;
	u32 i;

	for (i = 0; i < SROCE_USO_PEERS; i++)
		sroce_uso_peers_add(&peers, PEER(i), now + i);
	now += SROCE_USO_RETRY_NS;
	CHECK(!sroce_uso_peers_include(&peers, PEER(0), now));
	CHECK(!sroce_uso_peers_include(&peers, PEER(100), now));
	CHECK(sroce_uso_peers_include(&peers, PEER(1), now));
	/* The same peer again: no news.  Another one takes its place. */
	CHECK(!sroce_uso_peers_add(&peers, PEER(0), now));
	CHECK(sroce_uso_peers_all(&peers, now));
	now += SROCE_USO_RETRY_NS;
	CHECK(!sroce_uso_peers_include(&peers, PEER(0), now));
	CHECK(sroce_uso_peers_add(&peers, PEER(100), now));
	CHECK(sroce_uso_peers_include(&peers, PEER(100), now));
}
