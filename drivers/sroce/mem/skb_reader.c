// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Sequential reader for the bytes of an skb. */
#include "skb_reader.h"

/* The reader finds pages in the direct map. */
static_assert(!IS_ENABLED(CONFIG_HIGHMEM));

static void open_skb(struct sroce_reader *r, const struct sk_buff *skb,
		     u32 offset)
{
	r->p = skb->data + offset;
	r->left = skb_headlen(skb) - offset;
	r->frag = skb_shinfo(skb)->frags;
	r->end = r->frag + skb_shinfo(skb)->nr_frags;
}

void sroce_reader_begin(struct sroce_reader *r, const struct sk_buff *skb,
			u32 offset)
{
	r->list = skb_shinfo(skb)->frag_list;
	open_skb(r, skb, offset);
}

bool sroce_reader_open(struct sroce_reader *r)
{
	const struct sk_buff *skb = r->list;

	if (!skb)
		return false;
	r->list = skb->next;
	open_skb(r, skb, 0);
	return true;
}

bool sroce_reader_copy_pieces(struct sroce_reader *r, void *to, u32 len)
{
	while (len) {
		u32 n = len;
		const u8 *p = sroce_reader_piece(r, &n);

		if (!p)
			return false;
		if (to) {
			memcpy(to, p, n);
			to += n;
		}
		len -= n;
	}
	return true;
}

bool sroce_reader_store_pieces(struct sroce_reader *r, void *to, u32 len)
{
	u32 last, before;
	const u8 *p;
	u64 buffer;

	if (!len)
		return true;
	last = sroce_last_word(to + len, len);
	before = len - last;
	if (before && !sroce_reader_copy(r, to, before))
		return false;
	p = sroce_reader_take(r, last, &buffer);
	if (!p)
		return false;
	sroce_store_last(to + before, p, last);
	return true;
}
