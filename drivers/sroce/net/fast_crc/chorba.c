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

/* Read the word @at bytes behind @p; copy it to @to, unless that is NULL. */
static __always_inline u64 take_word(const u8 *p, u8 *to, size_t at)
{
	u64 word = get_unaligned_le64(p + at);

	if (to) {
		/* Its owner may change it: what is copied and what is summed must be one read. */
		OPTIMIZER_HIDE_VAR(word);
		put_unaligned_le64(word, to + at);
	}
	return word;
}

/* Add the first word, @word, and its sum to the later sums. */
static __always_inline void shift_step(u64 word, u64 *first, u64 *third, u64 *fourth,
				       u64 *fifth)
{
	word ^= *first;
	*third ^= word << (145 - 128) ^ word << (183 - 128);
	*fourth ^= word >> (192 - 145) ^ word >> (192 - 183) ^
		   word << (211 - 192);
	*fifth ^= word >> (256 - 211) ^ word << (300 - 256);
	/* The sixth word; its sum was zero. */
	*first = word >> (320 - 300);
}

/*
 * Update the sums for the five words that follow the @n bytes at @p.  These are copied to
 * @to, unless that is NULL.
 */
static __always_inline void shift_all(u64 *sum, const u8 *p, u8 *to, size_t n)
{
	u64 a = sum[0], b = sum[1], c = sum[2], d = sum[3], e = sum[4], sixth;
	size_t i = 0;

	for (; n - i >= WORDS * WORD; i += WORDS * WORD) {
		shift_step(take_word(p, to, i), &a, &c, &d, &e);
		shift_step(take_word(p, to, i + WORD), &b, &d, &e, &a);
		shift_step(take_word(p, to, i + 2 * WORD), &c, &e, &a, &b);
		shift_step(take_word(p, to, i + 3 * WORD), &d, &a, &b, &c);
		shift_step(take_word(p, to, i + 4 * WORD), &e, &b, &c, &d);
	}
	for (; i < n; i += WORD) {
		shift_step(take_word(p, to, i), &a, &c, &d, &e);
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

static __always_inline u32 chorba(const u8 *head, const u8 *p, u8 *to, size_t len, size_t n)
{
	u64 sum[WORDS] = {};
	u8 last[SROCE_CHORBA_BYTES];
	size_t i;

	shift_all(sum, head, NULL, n);
	len -= sizeof(last);
	shift_all(sum, p, to, len);
	for (i = 0; i < sizeof(last); i += WORD)
		put_unaligned_le64(take_word(p, to, len + i) ^ sum[i / WORD], last + i);
	return sroce_crc32(0, last, sizeof(last));
}

u32 sroce_chorba(const void *head, const void *p, size_t len, size_t n)
{
	return chorba(head, p, NULL, len, n);
}

u32 sroce_chorba_copy(const void *head, const void *p, size_t len, size_t n, void *to)
{
	return chorba(head, p, to, len, n);
}
