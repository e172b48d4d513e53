// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "psn.h"
#include "resp_res.h"
#include "tap.h"

TEST(psn, add_wraps_at_24_bits)
{
	EQUAL(sroce_psn_add(0xffffff, 1), 0);
	EQUAL(sroce_psn_add(0xfffffe, 5), 3);
	EQUAL(sroce_psn_add(0, -1), 0xffffff);
	EQUAL(sroce_psn_add(5, 0x1000000), 5);
}

TEST(psn, diff_is_signed_within_half_psn_space)
{
	static const u32 starts[] = { 0, 1, 0x7fffff, 0x800000, 0x800001,
				      0xfffffe, 0xffffff };
	u32 i;
	s32 n;

	for (i = 0; i < ARRAY_SIZE(starts); i++)
		for (n = -0x800000; n < 0x800000; n += n & 0xff00 ? 251 : 1) {
			u32 psn = sroce_psn_add(starts[i], n);

			EQUAL(sroce_psn_diff(psn, starts[i]), n);
			EQUAL(sroce_psn_before(psn, starts[i]), n < 0);
		}
}

TEST(psn, message_length_gives_packet_count)
{
	EQUAL(sroce_packets(0, 256), 1);
	EQUAL(sroce_packets(1, 256), 1);
	EQUAL(sroce_packets(256, 256), 1);
	EQUAL(sroce_packets(257, 256), 2);
	EQUAL(sroce_packets(1 << 30, 256), 1 << 22);
	EQUAL(sroce_packets(0x80000000, 4096), 1 << 19);
	EQUAL(sroce_packets(0xffffffff, 256), 1 << 24);
}
