// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * CRC-32 of IEEE 802.3 by shifts and additions.
 *
 * The CRC's polynomial has a multiple of low degree with only five terms
 * (S. Russell, "Chorba: A novel CRC32 implementation", arXiv:2412.16398):
 *
 *	x^300 + x^155 + x^117 + x^89 + 1
 *
 * Therefore the remainder does not change if a bit of the message is cleared
 * and added 145, 183, 211 and 300 bits later.  After this is done to all words
 * except the last five, the CRC of five words is left to compute.  The nearest
 * target is two words away, so adjacent words do not depend on each other.
 *
 * The first bit of the message is the least significant bit of a word, so a
 * later bit is to the left.
 */
#include "chorba.h"
#include "../../core/params.h"

#define WORD	sizeof(u64)
/*
 * Sums for the next five words.  The last bits of a word go to the sixth word,
 * whose sum takes the place of the sum for the word just processed.
 */
#define WORDS	(SROCE_CHORBA_BYTES / WORD)

/* Add the first word and its sum to the later sums. */
static __always_inline void shift_step(const u8 *p, u64 *first, u64 *third,
				       u64 *fourth, u64 *fifth)
{
	u64 word = get_unaligned_le64(p) ^ *first;

	*third ^= word << (145 - 128) ^ word << (183 - 128);
	*fourth ^= word >> (192 - 145) ^ word >> (192 - 183) ^
		   word << (211 - 192);
	*fifth ^= word >> (256 - 211) ^ word << (300 - 256);
	/* The sixth word; its sum was zero. */
	*first = word >> (320 - 300);
}

/* Update the sums for the five words that follow the @n bytes at @p. */
static __always_inline void shift_all(u64 *sum, const u8 *p, size_t n)
{
	u64 a = sum[0], b = sum[1], c = sum[2], d = sum[3], e = sum[4], sixth;

	for (; n >= WORDS * WORD; n -= WORDS * WORD, p += WORDS * WORD) {
		shift_step(p, &a, &c, &d, &e);
		shift_step(p + WORD, &b, &d, &e, &a);
		shift_step(p + 2 * WORD, &c, &e, &a, &b);
		shift_step(p + 3 * WORD, &d, &a, &b, &c);
		shift_step(p + 4 * WORD, &e, &b, &c, &d);
	}
	for (; n; n -= WORD, p += WORD) {
		shift_step(p, &a, &c, &d, &e);
		sixth = a;
		a = b;
		b = c;
		c = d;
		d = e;
		e = sixth;
	}
	sum[0] = a;
	sum[1] = b;
	sum[2] = c;
	sum[3] = d;
	sum[4] = e;
}

u32 sroce_chorba(const void *head, const void *p, size_t len, size_t n)
{
	u64 sum[WORDS] = {};
	u8 last[SROCE_CHORBA_BYTES];
	size_t i;

	shift_all(sum, head, n);
	len -= sizeof(last);
	shift_all(sum, p, len);
	for (i = 0; i < sizeof(last); i += WORD)
		put_unaligned_le64(get_unaligned_le64(p + len + i) ^
				   sum[i / WORD], last + i);
	return sroce_crc32(0, last, sizeof(last));
}
