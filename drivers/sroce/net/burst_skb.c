// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of bursts: allocates skbs, and pages for headers and copied payload. */
#include <linux/mm.h>
#include "../core/params.h"
#include "../core/wire.h"
#include "burst_skb.h"

DEFINE_PER_CPU(struct page_frag, sroce_hdr_frag);

/**
 * struct used_frags - ring of pages that are full
 * @pages: pages; once all packets of a page have been freed, it is used again
 *	without being cleared
 * @oldest: index of the page that was filled first
 */
struct used_frags {
	struct page_frag pages[SROCE_FRAG_PAGES - 1];
	u32 oldest;
};

static DEFINE_PER_CPU(struct used_frags, used_frags);

static void free_page_frag(struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

void sroce_burst_exit(void)
{
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		free_page_frag(per_cpu_ptr(&sroce_hdr_frag, cpu));
		for (i = 0; i < SROCE_FRAG_PAGES - 1; i++)
			free_page_frag(&per_cpu_ptr(&used_frags, cpu)->pages[i]);
	}
}

/*
 * If no large page is free the kernel returns a small one, which may be too
 * short.
 */
static bool refill_frag(struct page_frag *frag, u32 len)
{
	struct used_frags *f = this_cpu_ptr(&used_frags);

	swap(*frag, f->pages[f->oldest]);
	f->oldest = (f->oldest + 1) % (SROCE_FRAG_PAGES - 1);
	if (skb_page_frag_refill(len, frag, GFP_ATOMIC | __GFP_NOWARN))
		return frag->offset + len <= frag->size;
	/* The page has been released; mark @frag as empty. */
	frag->size = 0;
	return false;
}

struct sk_buff *sroce_skb_alloc(u32 bytes)
{
	u32 size = SKB_DATA_ALIGN(bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	struct sk_buff *skb;

	if (unlikely(SKB_DATA_ALIGN(frag->offset) + size > frag->size) &&
	    !refill_frag(frag, SMP_CACHE_BYTES + size))
		return NULL;
	frag->offset = SKB_DATA_ALIGN(frag->offset);
	skb = napi_build_skb(page_address(frag->page) + frag->offset, size);
	if (unlikely(!skb))
		return NULL;
	get_page(frag->page);
	frag->offset += size;
	return skb;
}

int sroce_skb_chain(struct sk_buff *head, struct sk_buff **tail)
{
	struct sk_buff *skb = sroce_skb_alloc(SROCE_MAX_HEADER);

	if (!skb)
		return -ENOMEM;
	if (*tail == head)
		skb_shinfo(head)->frag_list = skb;
	else
		(*tail)->next = skb;
	*tail = skb;
	return 0;
}

void *sroce_skb_put(struct sk_buff *skb, u32 len)
{
	struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	struct skb_shared_info *shared = skb_shinfo(skb);
	void *p;

	if (!shared->nr_frags && len <= skb_tailroom(skb))
		return skb_put(skb, len);
	if (unlikely(frag->offset + len > frag->size) && !refill_frag(frag, len))
		return NULL;
	p = page_address(frag->page) + frag->offset;
	if (sroce_skb_is_adjacent(skb, frag)) {
		sroce_skb_extend(skb, len);
		return p;
	}
	if (shared->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	get_page(frag->page);
	sroce_skb_add_frag(skb, frag->page, frag->offset, len);
	frag->offset += len;
	return p;
}

/*
 * Not pskb_trim(): it may move the bytes that remain, and the burst points at headers
 * in them.
 */
static void trim_packet(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *shared = skb_shinfo(skb);

	while (skb->len > len && shared->nr_frags) {
		skb_frag_t *last = &shared->frags[shared->nr_frags - 1];
		u32 n = min(skb->len - len, skb_frag_size(last));

		skb_frag_size_sub(last, n);
		skb->len -= n;
		skb->data_len -= n;
		skb->truesize -= n;
		if (!skb_frag_size(last)) {
			shared->nr_frags--;
			put_page(skb_frag_page(last));
		}
	}
	if (skb->len > len)
		__skb_trim(skb, len);
}

void sroce_skb_undo(struct sk_buff *head, struct sk_buff **last,
		    struct sk_buff *tail, u32 len)
{
	if (*last == tail) {
		trim_packet(tail, len);
		return;
	}
	kfree_skb(*last);
	if (tail == head)
		skb_shinfo(tail)->frag_list = NULL;
	else
		tail->next = NULL;
	*last = tail;
}
