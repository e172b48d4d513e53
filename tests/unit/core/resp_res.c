// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "params.h"
#include "resp_res.h"
#include "test_packet.h"
#include "tap.h"

static struct sroce_resource reads[4];
static struct sroce_resp_res res;

static void setup(u32 size)
{
	memset(reads, 0, sizeof(reads));
	res = (struct sroce_resp_res){ .reads = reads, .size = size, .mtu = MTU };
}

static void add(struct sroce_pkt pkt, u64 original, u32 msn)
{
	CHECK(sroce_resp_res_room(&res));
	sroce_resp_res_add(&res, &pkt, original, msn);
}

static bool repeat(struct sroce_pkt pkt)
{
	return sroce_resp_res_repeat(&res, &pkt);
}

/* Send the next response packet.  It must have these values. */
static void expect_response(u8 opcode, u32 psn, u32 payload, u32 offset)
{
	struct sroce_resource *read = sroce_resp_res_pending(&res);
	struct sroce_pkt pkt = {};

	CHECK(read);
	EQUAL(sroce_resp_res_next(&res, read, &pkt), offset);
	EQUAL(pkt.opcode, opcode);
	EQUAL(pkt.psn, psn);
	EQUAL(pkt.payload, payload);
	EQUAL(pkt.pad, -payload & 3);
	EQUAL(sroce_aeth_class(pkt.syndrome), SROCE_AETH_ACK);
	sroce_resp_res_sent(&res, read, 1);
}

static void drain(void)
{
	struct sroce_resource *read;

	while ((read = sroce_resp_res_pending(&res)))
		sroce_resp_res_sent(&res, read, 1);
}

TEST(resp_res, size_zero_has_no_room)
{
	setup(0);
	CHECK(!sroce_resp_res_room(&res));
	CHECK(!sroce_resp_res_pending(&res));
	CHECK(!repeat(read_request(5, 0, 5)));
}

TEST(resp_res, response_is_split_at_mtu)
{
	setup(1);
	add(read_request(7, 0, 0), 0, 1);
	expect_response(SROCE_READ_RESPONSE_ONLY, 7, 0, 0);
	CHECK(!sroce_resp_res_pending(&res));
	add(read_request(8, 0, MTU), 0, 2);
	expect_response(SROCE_READ_RESPONSE_ONLY, 8, MTU, 0);
	add(read_request(9, 0, MTU + 1), 0, 3);
	expect_response(SROCE_READ_RESPONSE_FIRST, 9, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_LAST, 10, 1, MTU);
	add(read_request(11, 0, 3 * MTU - 2), 0, 4);
	expect_response(SROCE_READ_RESPONSE_FIRST, 11, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_MIDDLE, 12, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_LAST, 13, MTU - 2, 2 * MTU);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, response_psn_wraps)
{
	setup(2);
	add(read_request(0xffffff, 0, 3 * MTU), 0, 1);
	expect_response(SROCE_READ_RESPONSE_FIRST, 0xffffff, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_MIDDLE, 0, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_LAST, 1, MTU, 2 * MTU);
	CHECK(repeat(read_request(0, 2 * MTU - MTU, 2 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 0, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_LAST, 1, MTU, 2 * MTU);
}

TEST(resp_res, duplicate_atomic_returns_recorded_value)
{
	struct sroce_pkt pkt = {};

	setup(2);
	add(atomic(3, 64), 1234, 9);
	expect_response(SROCE_ATOMIC_ACKNOWLEDGE, 3, 0, 0);
	CHECK(repeat(atomic(3, 64)));
	sroce_resp_res_next(&res, sroce_resp_res_pending(&res), &pkt);
	EQUAL(pkt.original, 1234);
	EQUAL(pkt.msn, 9);
	expect_response(SROCE_ATOMIC_ACKNOWLEDGE, 3, 0, 0);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, atomic_write_and_flush_get_empty_response)
{
	setup(3);
	add(atomic_write(5, 8), 0, 1);
	add(flush(6, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE), 0, 2);
	expect_response(SROCE_READ_RESPONSE_ONLY, 5, 0, 0);
	expect_response(SROCE_READ_RESPONSE_ONLY, 6, 0, 0);
	CHECK(!sroce_resp_res_pending(&res));
	CHECK(repeat(atomic_write(5, 8)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 5, 0, 0);
	CHECK(repeat(flush(6, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 6, 0, 0);
	CHECK(!repeat(read_request(5, 8, 0)));
	CHECK(!repeat(atomic(5, 8)));
	CHECK(!repeat(atomic_write(6, 8)));
	CHECK(!repeat(flush(5, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE)));
	CHECK(!repeat(flush(7, SROCE_FLUSH_GLOBAL, SROCE_FLUSH_RANGE)));
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, duplicate_of_other_kind_is_ignored)
{
	setup(4);
	add(read_request(3, 0, 100), 0, 1);
	add(atomic(4, 64), 5, 2);
	drain();
	CHECK(!repeat(atomic(3, 0)));
	CHECK(!repeat(read_request(4, 64, 8)));
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, duplicate_read_beyond_original_is_ignored)
{
	struct sroce_pkt other = read_request(10, 0, 100);

	setup(4);
	add(read_request(10, 0x4000, 3 * MTU), 0, 1);
	drain();
	CHECK(!repeat(read_request(10, 0x4001, MTU)));
	CHECK(!repeat(read_request(10, 0x4000, 3 * MTU + 1)));
	CHECK(!repeat(read_request(11, 0x4000, MTU)));
	CHECK(!repeat(read_request(11, 0x4000 + MTU, 2 * MTU + 1)));
	CHECK(!repeat(read_request(11, 0x4000 + MTU, 0xffffffff)));
	CHECK(!repeat(read_request(13, 0x4000 + 3 * MTU, 0)));
	CHECK(!repeat(read_request(9, 0x4000, MTU)));
	other.va = 0x4000;
	other.rkey++;
	CHECK(!repeat(other));
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, duplicate_read_may_be_shorter)
{
	setup(4);
	add(read_request(10, 0x4000, 4 * MTU), 0, 1);
	drain();
	CHECK(repeat(read_request(11, 0x4000 + MTU, MTU + 5)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 11, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_LAST, 12, 5, 2 * MTU);
	CHECK(!sroce_resp_res_pending(&res));
	CHECK(repeat(read_request(13, 0x4000 + 3 * MTU, MTU)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 13, MTU, 3 * MTU);
	/* The responder still has the whole request. */
	CHECK(repeat(read_request(10, 0x4000, 4 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 10, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_MIDDLE, 11, MTU, MTU);
}

TEST(resp_res, duplicate_restarts_response)
{
	setup(2);
	add(read_request(10, 0, 3 * MTU), 0, 1);
	expect_response(SROCE_READ_RESPONSE_FIRST, 10, MTU, 0);
	CHECK(repeat(read_request(10, 0, 3 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 10, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_MIDDLE, 11, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_LAST, 12, MTU, 2 * MTU);
	CHECK(!sroce_resp_res_pending(&res));
}

/* The network may have made the duplicate; the peer does not repeat the other requests. */
TEST(resp_res, duplicate_keeps_responses_not_started)
{
	setup(4);
	add(read_request(10, 0, 2 * MTU), 0, 1);
	add(read_request(12, 0, 2 * MTU), 0, 2);
	expect_response(SROCE_READ_RESPONSE_FIRST, 10, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_LAST, 11, MTU, MTU);
	CHECK(repeat(read_request(10, 0, 2 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 10, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_LAST, 11, MTU, MTU);
	expect_response(SROCE_READ_RESPONSE_FIRST, 12, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_LAST, 13, MTU, MTU);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, partial_duplicate_drops_later_responses)
{
	setup(4);
	add(read_request(10, 0, 2 * MTU), 0, 1);
	add(atomic(12, 0), 7, 2);
	CHECK(repeat(read_request(10, 0, MTU)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 10, MTU, 0);
	CHECK(!sroce_resp_res_pending(&res));
	CHECK(repeat(atomic(12, 0)));
	expect_response(SROCE_ATOMIC_ACKNOWLEDGE, 12, 0, 0);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, duplicate_drops_rest_of_later_response)
{
	setup(4);
	add(read_request(10, 0, MTU), 0, 1);
	add(read_request(11, 0, 2 * MTU), 0, 2);
	add(atomic(13, 0), 7, 3);
	expect_response(SROCE_READ_RESPONSE_ONLY, 10, MTU, 0);
	expect_response(SROCE_READ_RESPONSE_FIRST, 11, MTU, 0);
	CHECK(repeat(read_request(10, 0, MTU)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 10, MTU, 0);
	expect_response(SROCE_ATOMIC_ACKNOWLEDGE, 13, 0, 0);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, max_dest_rd_atomic_limits_requests)
{
	setup(2);
	add(read_request(1, 0, 1), 0, 1);
	add(read_request(2, 0, 1), 0, 2);
	CHECK(!sroce_resp_res_room(&res));
	expect_response(SROCE_READ_RESPONSE_ONLY, 1, 1, 0);
	CHECK(sroce_resp_res_room(&res));
}

/*
 * The peer has received the response and sends the next request.  The response to a
 * duplicate of the previous request is still being sent.
 */
TEST(resp_res, new_request_replaces_response_to_duplicate)
{
	setup(1);
	add(read_request(1, 0, 2 * MTU), 0, 1);
	drain();
	CHECK(repeat(read_request(1, 0, 2 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 1, MTU, 0);
	add(read_request(3, 0, 1), 0, 2);
	EQUAL(res.waiting, 1);
	expect_response(SROCE_READ_RESPONSE_ONLY, 3, 1, 0);
	CHECK(!sroce_resp_res_pending(&res));
	EQUAL(res.count, 1);
}

TEST(resp_res, oldest_entry_is_replaced)
{
	u32 i;

	setup(3);
	for (i = 0; i < 20; i++) {
		add(atomic(i, 0), i, i);
		drain();
		EQUAL(repeat(atomic(i - 2, 0)), i >= 2);
		drain();
		CHECK(i < 3 || !repeat(atomic(i - 3, 0)));
	}
	EQUAL(res.count, 3);
	EQUAL(res.waiting, 0);
}

/* After 2^24 packets a new request has the PSNs of a recorded one. */
TEST(resp_res, newest_entry_with_psn_is_used)
{
	setup(4);
	add(read_request(100, 0x4000, 3 * MTU), 0, 1);
	add(read_request(101, 0x8000, 2 * MTU), 0, 2);
	drain();
	CHECK(repeat(read_request(101, 0x8000, 2 * MTU)));
	expect_response(SROCE_READ_RESPONSE_FIRST, 101, MTU, 0);
}

TEST(resp_res, part_of_largest_read_is_repeated)
{
	setup(1);
	res.mtu = 256;
	add(read_request(0xfffff0, 0, 1u << 30), 0, 1);
	EQUAL(reads[0].packets, SROCE_MAX_PACKETS);
	drain();
	CHECK(repeat(read_request(sroce_psn_add(0xfffff0, (1 << 22) - 1),
				  (1u << 30) - 256, 256)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 0x3fffef, 256, (1u << 30) - 256);
	CHECK(!sroce_resp_res_pending(&res));
}

TEST(resp_res, resize_keeps_newest_entries)
{
	struct sroce_resource more[8], fewer[2];

	setup(3);
	add(read_request(10, 0, 2 * MTU), 0, 1);
	drain();
	add(read_request(12, 0x1000, 3 * MTU), 0, 2);
	add(read_request(15, 0x2000, MTU), 0, 3);
	expect_response(SROCE_READ_RESPONSE_FIRST, 12, MTU, 0);
	CHECK(sroce_resp_res_move(&res, more, 8) == reads);
	EQUAL(res.size, 8);
	expect_response(SROCE_READ_RESPONSE_MIDDLE, 13, MTU, MTU);
	CHECK(repeat(read_request(10, 0, 2 * MTU)));
	drain();
	CHECK(sroce_resp_res_move(&res, fewer, 2) == more);
	CHECK(!repeat(read_request(10, 0, 2 * MTU)));
	CHECK(repeat(read_request(12, 0x1000, 3 * MTU)));
	drain();
	CHECK(repeat(read_request(15, 0x2000, MTU)));
	expect_response(SROCE_READ_RESPONSE_ONLY, 15, MTU, 0);
	CHECK(!sroce_resp_res_pending(&res));
	CHECK(sroce_resp_res_room(&res));
}

/* Send all responses.  A device segments their first two packets. */
static void drain_in_bursts(void)
{
	struct sroce_resource *read;

	while ((read = sroce_resp_res_pending(&res))) {
		if (read->end - read->next > 1)
			read->second = read->next + 1;
		sroce_resp_res_sent(&res, read, read->end - read->next);
	}
}

/* READ of @packets packets; the peer requests it again from @packet on. */
static void lose_from(u32 psn, u32 packets, u32 packet)
{
	add(read_request(psn, 0x4000, packets * MTU), 0, 1);
	drain_in_bursts();
	CHECK(repeat(read_request(psn + packet, 0x4000 + packet * MTU,
				  (packets - packet) * MTU)));
	drain_in_bursts();
}

/* Each repeated response is a burst, too, of which only the first packet arrives. */
TEST(resp_res, spoiled_bursts_are_detected)
{
	u32 psn = SROCE_USO_SPOILED + 1;
	u32 i;

	setup(1);
	add(read_request(0, 0x4000, psn * MTU), 0, 1);
	drain_in_bursts();
	for (i = 1; i <= SROCE_USO_SPOILED; i++) {
		CHECK(!sroce_resp_res_spoiled(&res));
		CHECK(repeat(read_request(i, 0x4000 + i * MTU, (psn - i) * MTU)));
		drain_in_bursts();
	}
	CHECK(sroce_resp_res_spoiled(&res));
	CHECK(!sroce_resp_res_spoiled(&res));
}

/* The device loses whole bursts.  A packet that is sent alone arrives. */
TEST(resp_res, lost_bursts_are_followed_by_a_packet_alone)
{
	struct sroce_resource *read;

	setup(1);
	add(read_request(0, 0x4000, 8 * MTU), 0, 1);
	CHECK(!sroce_resp_res_pending(&res)->lone);
	drain_in_bursts();
	CHECK(repeat(read_request(0, 0x4000, 8 * MTU)));
	read = sroce_resp_res_pending(&res);
	CHECK(read->lone);
	drain_in_bursts();
	CHECK(repeat(read_request(1, 0x4000 + MTU, 7 * MTU)));
	CHECK(!read->lone);
	drain_in_bursts();
	CHECK(repeat(read_request(1, 0x4000 + MTU, 7 * MTU)));
	CHECK(read->lone);
}

TEST(resp_res, spoiled_bursts_of_short_reads_are_detected)
{
	u32 i;

	setup(2);
	for (i = 0; i < SROCE_USO_SPOILED; i++) {
		CHECK(!sroce_resp_res_spoiled(&res));
		lose_from(2 * i, 2, 1);
	}
	CHECK(sroce_resp_res_spoiled(&res));
}

/* Anything but the second packet is lost: sometimes, or each time. */
TEST(resp_res, losses_are_no_spoiled_bursts)
{
	u32 i;

	setup(2);
	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		lose_from(8 * i, 8, i % SROCE_USO_SPOILED ? 1 : 2);
		CHECK(!sroce_resp_res_spoiled(&res));
	}
	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		lose_from(8 * i, 8, 0);
		CHECK(!sroce_resp_res_spoiled(&res));
	}
}

/* The peer receives a whole response now and then. */
TEST(resp_res, good_burst_resets_count)
{
	u32 i;

	setup(1);
	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		lose_from(16 * i, 8, 1);
		CHECK(!sroce_resp_res_spoiled(&res));
		add(read_request(16 * i + 8, 0x4000, 2 * MTU), 0, 1);
		drain_in_bursts();
	}
}

/* A burst has responses to two READs of one packet, and only the first one arrives. */
TEST(resp_res, spoiled_bursts_of_several_responses_are_detected)
{
	u32 i;

	setup(2);
	for (i = 0; i < SROCE_USO_SPOILED; i++) {
		CHECK(!sroce_resp_res_spoiled(&res));
		add(read_request(2 * i, 0, MTU), 0, 1);
		add(read_request(2 * i + 1, 0x4000, MTU), 0, 2);
		drain();
		reads[(res.first + 1) % 2].second = 0;
		CHECK(repeat(read_request(2 * i + 1, 0x4000, MTU)));
		drain();
	}
	CHECK(sroce_resp_res_spoiled(&res));
}

/* Packets that were sent one by one do not tell anything. */
TEST(resp_res, single_packets_are_no_bursts)
{
	u32 i;

	setup(1);
	for (i = 0; i < 4 * SROCE_USO_SPOILED; i++) {
		add(read_request(8 * i, 0x4000, 8 * MTU), 0, 1);
		drain();
		CHECK(repeat(read_request(8 * i + 1, 0x4000 + MTU, 7 * MTU)));
		drain();
		CHECK(!sroce_resp_res_spoiled(&res));
	}
}
