// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include "copy.h"

/* A position in a list of pieces. */
struct walk {
	struct sroce_grip *grip;
	const struct sroce_memory *memory;
	u32 sge;
	u32 at;
};

static bool walk_begin(struct walk *w, struct sroce_grip *grip,
		       const struct sroce_memory *memory, u32 at)
{
	w->grip = grip;
	w->memory = memory;
	for (w->sge = 0; w->sge < memory->num_sge; w->sge++) {
		if (at < memory->sge[w->sge].length)
			break;
		at -= memory->sge[w->sge].length;
	}
	w->at = at;
	return w->sge < memory->num_sge || !at;
}

static bool covers(const struct sroce_mr *mr, const struct sroce_memory *memory,
		   u32 key, u64 addr, u32 len)
{
	if (mr->ib.lkey != key || mr->ib.pd != memory->pd ||
	    memory->access & ~mr->access)
		return false;
	if (mr->kind == SROCE_MR_DMA)
		return true;
	return len <= mr->length && addr >= mr->iova &&
	       addr - mr->iova <= mr->length - len;
}

static struct sroce_mr *grip(struct sroce_grip *grip,
			     const struct sroce_memory *memory, u32 key,
			     u64 addr, u32 len)
{
	if (grip->mr && covers(grip->mr, memory, key, addr, len))
		return grip->mr;
	sroce_grip_drop(grip);
	grip->mr = sroce_mr_get(memory->pd, key, addr, len, memory->access);
	return grip->mr;
}

/*
 * The kernel address of the next bytes that lie in one piece, @len at the
 * most; @len becomes their number.  Moves behind them.
 */
static void *walk_next(struct walk *w, u32 *len)
{
	const struct sroce_sge *sge;
	struct sroce_mr *mr;
	void *p;

	while (w->sge < w->memory->num_sge &&
	       w->at == w->memory->sge[w->sge].length) {
		w->sge++;
		w->at = 0;
	}
	if (w->sge == w->memory->num_sge)
		return ERR_PTR(-EMSGSIZE);

	sge = &w->memory->sge[w->sge];
	*len = min(*len, sge->length - w->at);
	mr = grip(w->grip, w->memory, sge->lkey, sge->addr + w->at, *len);
	if (!mr)
		return ERR_PTR(-EFAULT);
	p = sroce_mr_map(mr, sge->addr + w->at, len);
	w->at += *len;
	return p;
}

int sroce_store_skb(struct sroce_grip *grip, const struct sroce_memory *to,
		    u32 at, const struct sk_buff *skb, u32 offset, u32 len)
{
	struct walk w;

	if (!walk_begin(&w, grip, to, at))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		if (skb_copy_bits(skb, offset, p, n))
			return -EFAULT;
		offset += n;
		len -= n;
	}
	return 0;
}

int sroce_store_bytes(struct sroce_grip *grip, const struct sroce_memory *to,
		      u32 at, const void *from, u32 len)
{
	struct walk w;

	if (!walk_begin(&w, grip, to, at))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		memcpy(p, from, n);
		from += n;
		len -= n;
	}
	return 0;
}

int sroce_load_bytes(struct sroce_grip *grip, const struct sroce_memory *from,
		     u32 at, void *to, u32 len)
{
	struct walk w;

	if (!walk_begin(&w, grip, from, at))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		memcpy(to, p, n);
		to += n;
		len -= n;
	}
	return 0;
}

static void detach(struct sk_buff *skb, u32 frags)
{
	while (skb_shinfo(skb)->nr_frags > frags) {
		u32 last = --skb_shinfo(skb)->nr_frags;
		skb_frag_t *frag = &skb_shinfo(skb)->frags[last];
		u32 size = skb_frag_size(frag);

		skb->len -= size;
		skb->data_len -= size;
		skb->truesize -= size;
		__skb_frag_unref(frag, false);
	}
}

/*
 * One fragment per page: what lies in one piece need not be one compound page
 * and so one reference would not hold all of it.
 */
static int attach_piece(struct sk_buff *skb, void *p, u32 len, u32 spare)
{
	while (len) {
		u32 n = min_t(u32, len, PAGE_SIZE - offset_in_page(p));
		struct page *page = virt_to_page(p);
		u32 frags = skb_shinfo(skb)->nr_frags;

		if (frags + spare >= MAX_SKB_FRAGS)
			return -E2BIG;
		if (!sendpage_ok(page))
			return -EOPNOTSUPP;
		get_page(page);
		skb_add_rx_frag(skb, frags, page, offset_in_page(p), n, n);
		p += n;
		len -= n;
	}
	return 0;
}

int sroce_attach(struct sk_buff *skb, struct sroce_grip *grip,
		 const struct sroce_memory *from, u32 at, u32 len, u32 spare)
{
	u32 frags = skb_shinfo(skb)->nr_frags;
	struct walk w;
	int err = 0;

	if (!walk_begin(&w, grip, from, at))
		return -EMSGSIZE;
	while (len && !err) {
		u32 n = len;
		void *p = walk_next(&w, &n);

		err = IS_ERR(p) ? PTR_ERR(p) : attach_piece(skb, p, n, spare);
		len -= n;
	}
	if (err) {
		detach(skb, frags);
		return err;
	}
	/* The owner may write to the pages while the packet is under way. */
	skb_shinfo(skb)->flags |= SKBFL_SHARED_FRAG;
	return 0;
}

int sroce_atomic(struct sroce_grip *grip, const struct sroce_memory *on,
		 const u64 *compare, u64 value, u64 *original)
{
	u32 n = sizeof(u64);
	struct walk w;
	u64 *p;

	if (!walk_begin(&w, grip, on, 0))
		return -EMSGSIZE;
	p = walk_next(&w, &n);
	if (IS_ERR(p))
		return PTR_ERR(p);
	/* An unaligned region can give a multiple of 8 an odd place. */
	if (n != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return -EFAULT;
	if (compare)
		*original = cmpxchg64(p, *compare, value);
	else
		*original = atomic64_fetch_add(value, (atomic64_t *)p);
	return 0;
}
