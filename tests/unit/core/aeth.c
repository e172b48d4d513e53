// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "aeth.h"
#include "tap.h"

TEST(aeth, rnr_delays_match_table_46)
{
	EQUAL(sroce_rnr_delay(0), 655360);
	EQUAL(sroce_rnr_delay(1), 10);
	EQUAL(sroce_rnr_delay(12), 640);
	EQUAL(sroce_rnr_delay(31), 491520);
	EQUAL(sroce_rnr_delay(0x20 | 12), 640);
}

TEST(aeth, rnr_wait_grows_with_naks_up_to_limit)
{
	u32 naks, wait, before = 0;

	EQUAL(sroce_rnr_wait(1, 1), 10);
	EQUAL(sroce_rnr_wait(1, 2), 20);
	EQUAL(sroce_rnr_wait(1, 255), 1280);
	EQUAL(sroce_rnr_wait(12, 2), 1280);
	EQUAL(sroce_rnr_wait(14, 200), 1280);
	EQUAL(sroce_rnr_wait(31, 255), 491520);
	EQUAL(sroce_rnr_wait(0, 255), 655360);
	for (naks = 1; naks < 256; naks++) {
		wait = sroce_rnr_wait(1, naks);
		CHECK(wait >= before);
		before = wait;
	}
}

/* From code 4 on, each delay is twice the delay two codes before. */
TEST(aeth, rnr_delay_increases_with_code)
{
	u32 i;

	for (i = 2; i < 32; i++)
		CHECK(sroce_rnr_delay(i) > sroce_rnr_delay(i - 1));
	for (i = 4; i < 32; i++)
		EQUAL(sroce_rnr_delay(i), 2 * sroce_rnr_delay(i - 2));
}

TEST(aeth, ack_timeout_doubles_with_code)
{
	EQUAL(sroce_ack_timeout(0), 0);
	EQUAL(sroce_ack_timeout(1), 8192);
	EQUAL(sroce_ack_timeout(14), 4096ull << 14);
	EQUAL(sroce_ack_timeout(31), 4096ull << 31);
	EQUAL(sroce_ack_timeout(32 + 1), 8192);
}

TEST(aeth, syndrome_has_class_and_value)
{
	EQUAL(sroce_aeth_class(SROCE_ACK_CREDITS_INVALID), SROCE_AETH_ACK);
	EQUAL(sroce_aeth_class(SROCE_RNR_NAK | 31), SROCE_AETH_RNR);
	EQUAL(sroce_aeth_class(SROCE_NAK_SEQUENCE), SROCE_AETH_NAK);
	EQUAL(sroce_aeth_value(SROCE_NAK_SEQUENCE), 0);
	EQUAL(sroce_aeth_value(SROCE_NAK_INVALID_REQ), 1);
	EQUAL(sroce_aeth_value(SROCE_NAK_REM_ACCESS), 2);
	EQUAL(sroce_aeth_value(SROCE_NAK_REM_OP), 3);
	EQUAL(sroce_aeth_value(SROCE_RNR_NAK | 12), 12);
}
