// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Compares drivers/sroce/net/fast_crc/chorba.c with the CRC by a table. */
#include "chorba.h"
#include "crcs.h"

TEST(chorba, agrees_with_the_table)
{
	compare(sroce_chorba, 48);
}

TEST(chorba, copies)
{
	copying = sroce_chorba_copy;
	compare(crc_of_copy, 48);
}

/* Lengths that are not whole steps of crc32_clmul.S, and the minimum */
TEST(chorba, takes_multiples_of_8)
{
	static u8 data[8 * 40], head[8 * 3];
	u32 i, len, n;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 29 + 1;
	for (i = 0; i < sizeof(head); i++)
		head[i] = i * 83 + 3;
	for (n = 0; n <= sizeof(head); n += 8)
		for (len = SROCE_CHORBA_BYTES; len <= sizeof(data); len += 8)
			EQUAL(sroce_chorba(head, data, len, n),
			      sroce_crc32(sroce_crc32(0, head, n), data, len));
}

/* x^300 + x^155 + x^117 + x^89 + 1, highest first: it changes no CRC. */
TEST(chorba, polynomial_is_a_multiple)
{
	static const u32 bits[] = { 0, 145, 183, 211, 300 };
	u8 data[48] = {};
	u32 i;

	for (i = 0; i < sizeof(bits) / sizeof(*bits); i++)
		data[bits[i] / 8] |= 1 << bits[i] % 8;
	EQUAL(sroce_crc32(0, data, sizeof(data)), 0);
}
