// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "inflight.h"
#include "test_packet.h"
#include "tap.h"

static struct sroce_wr wrs[8];

/* Requests of 1, 3, 1 and 5 packets from @psn on; the last @idle are not started. */
static struct sroce_inflight requests(u32 head, u32 psn, u32 idle)
{
	static const u32 packets[] = { 1, 3, 1, 5 };
	struct sroce_inflight f = { wrs, ARRAY_SIZE(wrs) - 1, head, head, head };
	u32 i;

	for (i = 0; i < ARRAY_SIZE(packets); i++) {
		*sroce_inflight_wr(&f, f.tail++) = (struct sroce_wr) {
			.started = i + idle < ARRAY_SIZE(packets),
			.psn = psn & SROCE_PSN_MASK,
			.packets = packets[i],
		};
		psn += packets[i];
	}
	return f;
}

static void check_found(u32 head, u32 start)
{
	static const u8 owner[] = { 0, 1, 1, 1, 2, 3, 3, 3, 3, 3 };
	u32 at, idle;

	for (idle = 0; idle <= 4; idle++) {
		struct sroce_inflight f = requests(head, start, idle);

		for (at = 0; at < ARRAY_SIZE(owner); at++) {
			u32 want = min((u32)owner[at], 4 - idle);
			u32 psn = sroce_psn_add(start, at);

			EQUAL(sroce_inflight_find(&f, psn), head + want);
		}
		EQUAL(sroce_inflight_find(&f, sroce_psn_add(start, 10)),
		      head + 4 - idle);
	}
}

TEST(inflight, request_is_found_by_psn)
{
	check_found(0, 100);
}

TEST(inflight, request_is_found_across_wrap)
{
	u32 i;

	for (i = 0; i < 12; i++) {
		check_found(0xfffffffa + i, 0xfffff6 + i);
		check_found(i, 0xfffff6 + i);
	}
}

TEST(inflight, no_request_is_found_in_empty_queue)
{
	struct sroce_inflight f = { wrs, ARRAY_SIZE(wrs) - 1, 3, 3, 3 };

	EQUAL(sroce_inflight_find(&f, 0), 3);
	EQUAL(sroce_inflight_find(&f, 0x800000), 3);
}

TEST(inflight, longest_requests_are_found_in_full_queue)
{
	struct sroce_inflight f = { wrs, ARRAY_SIZE(wrs) - 1, 5, 5, 13 };
	u32 i, n = 1 << 20;

	for (i = 0; i < 8; i++)
		*sroce_inflight_wr(&f, 5 + i) = (struct sroce_wr) {
			.started = true,
			.psn = sroce_psn_add(0xf00000, i * n),
			.packets = i < 7 ? n : n - 1,
		};
	for (i = 0; i < 7; i++) {
		u32 psn = sroce_psn_add(0xf00000, i * n);

		EQUAL(sroce_inflight_find(&f, psn), 5 + i);
		EQUAL(sroce_inflight_find(&f, sroce_psn_add(psn, n - 1)),
		      5 + i);
	}
}

TEST(inflight, opcodes_are_classified)
{
	struct sroce_wr wr = {};

	for (wr.opcode = 0; wr.opcode < SROCE_OPS; wr.opcode++) {
		EQUAL(sroce_wr_fetches(&wr), wr.opcode >= 4 && wr.opcode <= 6);
		EQUAL(sroce_wr_reads(&wr), sroce_wr_fetches(&wr) ||
		      wr.opcode == 14 || wr.opcode == 15);
		EQUAL(sroce_wr_atomic(&wr), wr.opcode == 5 || wr.opcode == 6);
	}
}
