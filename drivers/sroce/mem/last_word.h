/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The end of a packet in memory.  Programs poll the last byte of a message, or a
 * flag of up to 8 bytes there, instead of a completion: whoever sees it has to
 * see all bytes before it.  memcpy() promises no order, so the last word is
 * stored by itself.
 */
#ifndef SROCE_LAST_WORD_H
#define SROCE_LAST_WORD_H

#include <asm/barrier.h>
#include <linux/string.h>

/**
 * sroce_last_word() - the naturally aligned word that a packet ends with
 * @end: the byte behind the packet
 * @len: bytes of the packet in this piece of memory, not 0
 *
 * Return: its size, 1, 2, 4 or 8 bytes; never more than @len.
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
 * @to: where to, a multiple of @bytes
 * @from: the word, at any address
 * @bytes: 1, 2, 4 or 8
 *
 * By one store, after all stores before it and before those of the next packet.
 */
static inline void sroce_store_last(void *to, const void *from, u32 bytes)
{
	switch (bytes) {
	case 8: /* a release each: after all stores before it */
		smp_store_release((u64 *)to, get_unaligned((const u64 *)from));
		break;
	case 4: /* the same */
		smp_store_release((u32 *)to, get_unaligned((const u32 *)from));
		break;
	case 2: /* the same */
		smp_store_release((u16 *)to, get_unaligned((const u16 *)from));
		break;
	default: /* the same */
		smp_store_release((u8 *)to, *(const u8 *)from);
	}
	/* A release alone lets what follows overtake it. */
	smp_wmb();
}

/* The end of a packet, all of it that is in this piece of memory: @len bytes. */
static inline void sroce_copy_ordered(void *to, const void *from, u32 len)
{
	u32 last, before;

	/* As sroce_last_word() would have it; most packets are of this kind. */
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
