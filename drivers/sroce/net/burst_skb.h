/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_BURST_SKB_H
#define SROCE_BURST_SKB_H

#include <linux/percpu.h>
#include <linux/skbuff.h>
#include "../mem/sgl.h"

/*
 * Memory for headers, trailers and copied payload.  Used with bottom halves
 * off, never in a hard interrupt.
 */
DECLARE_PER_CPU(struct page_frag, sroce_hdr_frag);

/**
 * sroce_skb_has_frags() - test whether an skb has fragments left for a packet
 * @skb: the skb
 * @payload: bytes of the packet's payload
 *
 * Return: true if there are enough for header, trailer and the pages of the
 * payload, plus one.
 */
static inline bool sroce_skb_has_frags(const struct sk_buff *skb, u32 payload)
{
	return skb_shinfo(skb)->nr_frags + 3 + DIV_ROUND_UP(payload, PAGE_SIZE)
	       <= MAX_SKB_FRAGS;
}

/**
 * sroce_skb_is_adjacent() - test whether an skb ends where free bytes begin
 * @skb: the skb
 * @frag: @sroce_hdr_frag of this CPU
 *
 * Return: true if the last fragment of @skb ends at the free bytes of @frag.
 */
static inline bool sroce_skb_is_adjacent(const struct sk_buff *skb,
					 const struct page_frag *frag)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	const skb_frag_t *last;

	if (!shared->nr_frags)
		return false;
	last = &shared->frags[shared->nr_frags - 1];
	return skb_frag_page(last) == frag->page &&
	       skb_frag_off(last) + skb_frag_size(last) == frag->offset;
}

/**
 * sroce_skb_extend() - append the next bytes of @sroce_hdr_frag
 * @skb: skb, to which they are adjacent
 * @bytes: number of bytes, which @sroce_hdr_frag has
 */
static __always_inline void sroce_skb_extend(struct sk_buff *skb, u32 bytes)
{
	struct skb_shared_info *shared = skb_shinfo(skb);

	skb_frag_size_add(&shared->frags[shared->nr_frags - 1], bytes);
	sroce_skb_grow(skb, bytes);
	this_cpu_ptr(&sroce_hdr_frag)->offset += bytes;
}

/**
 * sroce_skb_frag_left() - how many bytes sroce_skb_put() can append at once
 * @len: bytes wanted
 *
 * Return: what is left in this page, or fits into a new one; @len at most.
 */
static inline u32 sroce_skb_frag_left(u32 len)
{
	const struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	u32 left = frag->size - frag->offset;

	return min_t(u32, len, left ?: PAGE_SIZE);
}

/**
 * sroce_skb_alloc() - allocate an skb, whose memory is in @sroce_hdr_frag
 * @bytes: tailroom
 *
 * Return: the skb, or NULL.
 */
struct sk_buff *sroce_skb_alloc(u32 bytes);

/**
 * sroce_skb_chain() - append an empty skb to a frag_list
 * @head: skb with the frag_list
 * @tail: its last skb, @head if there is none; out: the new one
 *
 * Return: 0 or ENOMEM.
 */
int sroce_skb_chain(struct sk_buff *head, struct sk_buff **tail);

/**
 * sroce_skb_put() - append contiguous bytes
 * @skb: skb from sroce_skb_alloc()
 * @len: number of bytes
 *
 * Return: their address; NULL without memory, or if @skb has no fragment left.
 */
void *sroce_skb_put(struct sk_buff *skb, u32 len);

/**
 * sroce_skb_undo() - remove what has been appended
 * @head: skb with the frag_list
 * @last: its last skb, @head if there is none; out: @tail
 * @tail: what @last was before; at most one skb has been appended since
 * @len: bytes that @tail had
 */
void sroce_skb_undo(struct sk_buff *head, struct sk_buff **last,
		    struct sk_buff *tail, u32 len);

/* After sroce_qp_drain(). */
void sroce_burst_exit(void);

#endif /* SROCE_BURST_SKB_H */
