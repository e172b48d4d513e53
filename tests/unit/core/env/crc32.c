// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 eight bytes at a time ("slicing by eight"): the simulator computes
 * gigabytes of it.  unit test icrc.c compares it with the definition.
 */
#include <env_native.h>

static u32 table[8][256];

static void __attribute__((constructor)) fill_table(void)
{
	u32 i, j;

	for (i = 0; i < 256; i++) {
		u32 crc = i;

		for (j = 0; j < 8; j++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		table[0][i] = crc;
	}
	for (i = 0; i < 256; i++)
		for (j = 1; j < 8; j++)
			table[j][i] = table[j - 1][i] >> 8 ^
				      table[0][table[j - 1][i] & 0xff];
}

/*
 * The table is not indexed by chance, so only the caller's bytes are worth the
 * sanitizers' time: memcpy() is where they look.
 */
#define UNCHECKED __attribute__((no_sanitize("address", "undefined")))

static UNCHECKED u32 eight(u32 crc, const u8 *p)
{
	crc ^= p[0] | p[1] << 8 | p[2] << 16 | (u32)p[3] << 24;
	return table[7][crc & 0xff] ^ table[6][crc >> 8 & 0xff] ^
	       table[5][crc >> 16 & 0xff] ^ table[4][crc >> 24] ^
	       table[3][p[4]] ^ table[2][p[5]] ^
	       table[1][p[6]] ^ table[0][p[7]];
}

static UNCHECKED u32 block(u32 crc, const u8 *p, size_t len)
{
	for (; len >= 8; len -= 8, p += 8)
		crc = eight(crc, p);
	for (; len; len--)
		crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
	return crc;
}

u32 sroce_crc32(u32 crc, const void *data, size_t len)
{
	const u8 *p = data;
	u8 copy[512];

	while (len) {
		size_t n = min(len, sizeof(copy));

		memcpy(copy, p, n);
		crc = block(crc, copy, n);
		p += n;
		len -= n;
	}
	return crc;
}
