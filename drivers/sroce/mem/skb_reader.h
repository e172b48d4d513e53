/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SKB_READER_H
#define SROCE_SKB_READER_H

#include <linux/skbuff.h>
#include "last_word.h"

/**
 * struct sroce_reader - reads an skb from front to back
 * @p: next byte
 * @left: bytes from @p on that lie in one piece
 * @frag: fragment that follows
 * @end: the end of the fragments
 * @list: the skb that follows, of the frag_list
 *
 * Nothing is pulled or changed: a packet may be shared with a capture.  To
 * read something twice copy the structure.
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
 * @skb: packet; no skb of its frag_list may have a frag_list (what is in
 *	there is not found)
 * @offset: first byte, from skb->data, in the linear part
 */
void sroce_reader_begin(struct sroce_reader *r, const struct sk_buff *skb,
			u32 offset);

/* Go on in the frag_list; false at its end. */
bool sroce_reader_open(struct sroce_reader *r);

/* Go to the next piece if this one is used up; false at the end. */
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
 * sroce_reader_piece() - the next bytes that lie in one piece
 * @r: reader, moved behind them
 * @len: bytes wanted, not 0; out: bytes found
 *
 * Return: the bytes, NULL at the end.
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

/* sroce_reader_copy() of bytes that do not lie in one piece. */
bool sroce_reader_copy_pieces(struct sroce_reader *r, void *to, u32 len);

/* Copy to @to, or only move on if that is NULL; false if there is less. */
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

/* sroce_reader_store() of bytes that do not lie in one piece. */
bool sroce_reader_store_pieces(struct sroce_reader *r, void *to, u32 len);

/**
 * sroce_reader_store() - copy the end of a packet to where a program may poll it
 * @r: reader, moved behind it
 * @to: memory, one piece
 * @len: bytes
 *
 * As sroce_reader_copy(), but the last word becomes visible last (mem/last_word.h).
 */
static inline bool sroce_reader_store(struct sroce_reader *r, void *to, u32 len)
{
	if (unlikely(!r->left))
		sroce_reader_refill(r);
	/* Nothing at all is theirs, too. */
	if (unlikely(len - 1 >= r->left))
		return sroce_reader_store_pieces(r, to, len);
	sroce_copy_ordered(to, r->p, len);
	r->p += len;
	r->left -= len;
	return true;
}

/**
 * sroce_reader_take() - bytes in one piece, wherever they lie
 * @r: reader, moved behind them
 * @len: bytes
 * @buffer: room for them
 *
 * Return: where they are, in the packet or in @buffer; NULL if there are less.
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
 * sroce_reader_payload() - a packet as our own bursts have them
 * @r: reader, moved behind it
 * @before: bytes left of the piece, and what
 * @len: bytes, all of the next fragment, and what
 * @after: bytes that begin the fragment behind it
 * @head: out: the bytes before
 * @tail: out: the bytes after
 *
 * Return: the fragment; NULL, and the reader as it was, if there is nothing of
 * this kind.
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
