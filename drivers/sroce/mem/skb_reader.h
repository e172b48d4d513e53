/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SKB_READER_H
#define SROCE_SKB_READER_H

#include <linux/skbuff.h>
#include "last_word.h"

/**
 * struct sroce_reader - reads an skb from front to back
 * @p: next byte
 * @left: contiguous bytes at @p
 * @frag: next fragment
 * @end: end of the fragments
 * @list: next skb of the frag_list
 *
 * Does not pull or change the skb: a packet may be shared with a packet
 * capture.  To read something twice, copy the structure.
 */
struct sroce_reader {
	const u8 *p;
	u32 left;
	const skb_frag_t *frag;
	const skb_frag_t *end;
	const struct sk_buff *list;
};

/**
 * sroce_reader_begin() - start
 * @r: reader
 * @skb: packet; the skbs of its frag_list must not have a frag_list themselves,
 *	because it is ignored
 * @offset: first byte, relative to skb->data, in the linear part
 */
void sroce_reader_begin(struct sroce_reader *r, const struct sk_buff *skb,
			u32 offset);

/* A reader for @len contiguous bytes at @p. */
static inline struct sroce_reader sroce_reader_of(const void *p, u32 len)
{
	return (struct sroce_reader) { .p = p, .left = len };
}

/* Continue with the next skb of the frag_list; false at its end. */
bool sroce_reader_open(struct sroce_reader *r);

/* Go to the next contiguous piece if this one is used up; false at the end. */
static inline bool sroce_reader_refill(struct sroce_reader *r)
{
	while (!r->left) {
		if (likely(r->frag < r->end)) {
			r->p = skb_frag_address(r->frag);
			r->left = skb_frag_size(r->frag);
			r->frag++;
		} else if (!sroce_reader_open(r)) {
			return false;
		}
	}
	return true;
}

/**
 * sroce_reader_piece() - get the next contiguous bytes
 * @r: reader, moved past them
 * @len: bytes wanted, not 0; out: bytes found
 *
 * Return: address of the bytes, or NULL at the end.
 */
static inline const u8 *sroce_reader_piece(struct sroce_reader *r, u32 *len)
{
	const u8 *p;

	if (unlikely(!r->left) && !sroce_reader_refill(r))
		return NULL;
	*len = min(*len, r->left);
	p = r->p;
	r->p += *len;
	r->left -= *len;
	return p;
}

/* sroce_reader_copy() of bytes that are not contiguous. */
bool sroce_reader_copy_pieces(struct sroce_reader *r, void *to, u32 len);

/* Copy to @to, or skip if @to is NULL; false if the packet has fewer bytes. */
static inline bool sroce_reader_copy(struct sroce_reader *r, void *to, u32 len)
{
	if (unlikely(!r->left))
		sroce_reader_refill(r);
	if (unlikely(r->left < len))
		return sroce_reader_copy_pieces(r, to, len);
	if (to)
		memcpy(to, r->p, len);
	r->p += len;
	r->left -= len;
	return true;
}

/* sroce_reader_store() of bytes that are not contiguous. */
bool sroce_reader_store_pieces(struct sroce_reader *r, void *to, u32 len);

/**
 * sroce_reader_store() - copy the end of a packet to memory that a program may
 *   poll
 * @r: reader, moved past it
 * @to: destination, contiguous
 * @len: bytes
 *
 * Like sroce_reader_copy(), but the last word becomes visible last
 * (mem/last_word.h).
 *
 * Return: false if the packet has fewer bytes
 */
static inline bool sroce_reader_store(struct sroce_reader *r, void *to, u32 len)
{
	if (unlikely(!r->left))
		sroce_reader_refill(r);
	/* A length of 0 is handled there, too. */
	if (unlikely(len - 1 >= r->left))
		return sroce_reader_store_pieces(r, to, len);
	sroce_copy_ordered(to, r->p, len);
	r->p += len;
	r->left -= len;
	return true;
}

/**
 * sroce_reader_take() - get bytes, copied only if they are not contiguous
 * @r: reader, moved past them
 * @len: bytes
 * @buffer: room for @len bytes
 *
 * Return: address in the packet or @buffer, or NULL if the packet has fewer
 * bytes.
 */
static inline const u8 *sroce_reader_take(struct sroce_reader *r, u32 len,
					  void *buffer)
{
	const u8 *p;

	if (unlikely(!r->left))
		sroce_reader_refill(r);
	if (unlikely(r->left < len))
		return sroce_reader_copy_pieces(r, buffer, len) ? buffer : NULL;
	p = r->p;
	r->p += len;
	r->left -= len;
	return p;
}

/**
 * sroce_reader_payload() - fast path for payload in the layout of our own
 *   bursts
 * @r: reader, moved past it
 * @before: all contiguous bytes that are left, and what they belong to
 * @len: length of the next fragment, all of it payload
 * @after: bytes after the payload, at the start of the following fragment
 * @head: out: address of the @before bytes
 * @tail: out: address of the @after bytes
 *
 * Return: address of the fragment; NULL if the layout differs, and the reader
 * is unchanged.
 */
static inline const u8 *sroce_reader_payload(struct sroce_reader *r, u32 before,
					     u32 len, u32 after,
					     const u8 **head, const u8 **tail)
{
	const skb_frag_t *frag = r->frag;

	if (r->left != before || frag + 1 >= r->end ||
	    skb_frag_size(frag) != len || skb_frag_size(frag + 1) < after)
		return NULL;
	*head = r->p;
	*tail = skb_frag_address(frag + 1);
	r->p = *tail + after;
	r->left = skb_frag_size(frag + 1) - after;
	r->frag = frag + 2;
	return skb_frag_address(frag);
}

#endif /* SROCE_SKB_READER_H */
