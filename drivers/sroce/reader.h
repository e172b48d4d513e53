/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_READER_H
#define SROCE_READER_H

#include <linux/skbuff.h>

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

/* Copy to @to, or only move on if that is NULL; false if there is less. */
bool sroce_reader_copy(struct sroce_reader *r, void *to, u32 len);

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
		return sroce_reader_copy(r, buffer, len) ? buffer : NULL;
	p = r->p;
	r->p += len;
	r->left -= len;
	return p;
}

#endif /* SROCE_READER_H */
