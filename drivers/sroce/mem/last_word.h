/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ordered store of the last word of a packet.  Programs poll the last byte of a
 * message, or a flag of up to 8 bytes at its end, instead of a completion.  A
 * program that sees this word must also see all bytes before it.  memcpy()
 * guarantees no order, so the last word is stored separately.
 */
#ifndef SROCE_LAST_WORD_H
#define SROCE_LAST_WORD_H

#include <asm/barrier.h>
#include <linux/string.h>
#include "../core/env.h"

/**
 * sroce_last_word() - size of the naturally aligned word at the end of a packet
 * @end: the byte after the packet
 * @len: bytes of the packet in this contiguous piece of memory, not 0
 *
 * Return: 1, 2, 4 or 8 bytes, never more than @len.
 */
static inline u32 sroce_last_word(const void *end, u32 len)
{
	unsigned long sizes = (unsigned long)end | 8;

	if (unlikely(len < 8))
		sizes |= len >= 4 ? 4 : len >= 2 ? 2 : 1;
	return sizes & -sizes;
}

/**
 * sroce_store_last() - store the last word of a packet
 * @to: destination, a multiple of @bytes
 * @from: the word, at any alignment
 * @bytes: 1, 2, 4 or 8
 *
 * One store instruction.  It is ordered after all stores before it and before
 * the stores of the next packet.
 */
static inline void sroce_store_last(void *to, const void *from, u32 bytes)
{
	switch (bytes) {
	case 8: /* each store is a release: it comes after all stores before it */
		smp_store_release((u64 *)to, get_unaligned((const u64 *)from));
		break;
	case 4: /* release, as above */
		smp_store_release((u32 *)to, get_unaligned((const u32 *)from));
		break;
	case 2: /* release, as above */
		smp_store_release((u16 *)to, get_unaligned((const u16 *)from));
		break;
	default: /* release, as above */
		smp_store_release((u8 *)to, *(const u8 *)from);
	}
	/* A release does not order later stores. */
	smp_wmb();
}

/*
 * Copy the @len bytes at the end of a packet that lie in this piece of memory.
 */
static inline void sroce_copy_ordered(void *to, const void *from, u32 len)
{
	u32 last, before;

	/* Fast paths with the results that sroce_last_word() gives for most packets. */
	if (len <= 8 && !((len | (unsigned long)to) & (len - 1))) {
		sroce_store_last(to, from, len);
		return;
	}
	if (len > 8 && !(((unsigned long)to + len) & 7)) {
		memcpy(to, from, len - 8);
		sroce_store_last(to + len - 8, from + len - 8, 8);
		return;
	}
	last = sroce_last_word(to + len, len);
	before = len - last;
	if (before)
		memcpy(to, from, before);
	sroce_store_last(to + before, from + before, last);
}

#endif /* SROCE_LAST_WORD_H */
