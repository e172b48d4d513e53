// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies between packets and registered memory, through scatter/gather lists
 * and the MR cache; atomic operations on memory.
 */
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include "sgl.h"

bool sroce_sgl_iter_init(struct sroce_sgl_iter *w, struct sroce_mr_cache *cache,
			 const struct sroce_sgl *memory, u32 at, u32 len)
{
	w->left = 0;
	w->want = len;
	w->cache = cache;
	w->memory = memory;
	for (w->sge = 0; w->sge < memory->num_sge; w->sge++) {
		if (at < memory->sge[w->sge].length)
			break;
		at -= memory->sge[w->sge].length;
	}
	w->at = at;
	return w->sge < memory->num_sge || !at;
}

static bool cache_covers(const struct sroce_mr *mr, const struct sroce_sgl *memory,
			 u32 key, u64 addr, u32 len)
{
	if (mr->key != key || mr->ib.pd != memory->pd ||
	    memory->access & ~mr->access)
		return false;
	if (sroce_mr_unbounded(mr))
		return true;
	return len <= mr->length && addr >= mr->iova &&
	       addr - mr->iova <= mr->length - len;
}

/* On-demand region: cache the memory that is present from @addr on. */
static int cache_present(struct sroce_mr_cache *cache, int access, u64 addr)
{
	const struct sroce_mr *mr = cache->mr;
	struct sroce_odp_piece piece;

	if (cache->chunk)
		sroce_odp_put(cache->chunk);
	cache->bytes = 0;
	cache->beyond = 0;
	cache->chunk = sroce_odp_get(mr->odp, sroce_mr_va(mr, addr),
				     mr->length - (addr - mr->iova),
				     sroce_access_writes(access), &piece);
	if (!cache->chunk)
		return -EAGAIN;
	cache->p = piece.p;
	cache->bytes = piece.bytes;
	cache->block = piece.block;
	cache->beyond = piece.beyond;
	cache->first = addr;
	cache->access = access;
	return 0;
}

/*
 * Cache the part of a block that belongs to the region, also the bytes before @addr:
 * receive buffers in one page are not used in the order of their addresses.
 */
static void cache_block(struct sroce_mr_cache *cache, u64 addr)
{
	const struct sroce_mr *mr = cache->mr;
	u64 in_region = addr - mr->iova, size = 1ull << mr->block_shift;
	u64 in_block = (in_region + mr->skip) & (size - 1);
	u64 before = min(in_region, in_block);
	u64 after = min(mr->length - in_region, size - in_block);

	cache->block = sroce_mr_block(mr, addr);
	cache->p = *cache->block + (in_block - before);
	cache->first = addr - before;
	cache->bytes = before + after;
	cache->beyond = mr->length - in_region - after;
}

/* A null region has one page for reads and one for writes, whatever the address. */
static void cache_unbounded(struct sroce_mr_cache *cache, u64 addr)
{
	const struct sroce_mr *mr = cache->mr;
	bool write = cache->access & IB_ACCESS_LOCAL_WRITE;
	u32 offset = offset_in_page(addr);

	if (mr->kind == SROCE_MR_NULL) {
		cache->p = mr->blocks[write] + offset;
		cache->bytes = PAGE_SIZE - offset;
	} else {
		cache->p = ib_virt_dma_to_ptr(addr);
		cache->bytes = U32_MAX;
	}
	cache->first = addr;
	cache->beyond = 0;
}

/*
 * Check the key for @len bytes of an SGE, and cache the contiguous piece with @addr.
 */
static noinline int cache_fill(struct sroce_mr_cache *cache,
			       const struct sroce_sgl *memory, u32 key,
			       u64 addr, u32 len)
{
	struct sroce_mr *mr = cache->mr;

	if (!mr || !cache_covers(mr, memory, key, addr, len)) {
		mr = sroce_mr_get(memory->pd, memory->qpn, key, addr, len,
				  memory->access);
		if (!mr)
			return -EFAULT;
		sroce_mr_cache_set(cache, mr);
	}
	if (unlikely(mr->odp))
		return cache_present(cache, memory->access, addr);
	cache->access = memory->access;
	if (!sroce_mr_unbounded(mr)) {
		cache_block(cache, addr);
		return 0;
	}
	cache_unbounded(cache, addr);
	return 0;
}

/*
 * The piece after the cached one, as the next packet of a message needs it.  It
 * may be shorter than @len.
 */
static bool cache_next(struct sroce_mr_cache *cache, u32 key, int access, u64 addr,
		       u32 len)
{
	const struct sroce_mr *mr = cache->mr;

	if (!mr || !cache->beyond || mr->key != key ||
	    cache->access != access || addr - cache->first != cache->bytes ||
	    len > cache->beyond)
		return false;
	cache->first = addr;
	cache->bytes = min(1ull << mr->block_shift, cache->beyond);
	cache->beyond -= cache->bytes;
	cache->p = *++cache->block;
	return true;
}

/* Cache the piece with @addr. */
static int cache_move(struct sroce_mr_cache *cache, const struct sroce_sgl *memory,
		      u32 key, u64 addr, u32 len)
{
	if (cache_next(cache, key, memory->access, addr, len))
		return 0;
	return cache_fill(cache, memory, key, addr, len);
}

/*
 * Bytes at @addr in the cached piece; @len: bytes wanted, out: bytes found.  NULL if there
 * are none, or if the region does not have all that are wanted.
 */
static void *cache_part(const struct sroce_mr_cache *cache, u32 key, int access,
			u64 addr, u32 *len)
{
	u64 at = addr - cache->first, left = cache->bytes - at;

	if (!cache->mr || cache->mr->key != key || cache->access != access ||
	    at >= cache->bytes || *len > left + cache->beyond)
		return NULL;
	*len = min_t(u64, *len, left);
	return cache->p + at;
}

void *sroce_mr_cache_seek(struct sroce_mr_cache *cache, u32 key, int access, u64 addr, u32 len)
{
	const struct sroce_mr *mr = cache->mr;

	/* Without bytes, @addr could be the region's end, which has no block. */
	if (!mr || mr->key != key || cache->access != access || mr->odp ||
	    sroce_mr_unbounded(mr) || len - 1ull >= mr->length || addr < mr->iova ||
	    addr - mr->iova > mr->length - len)
		return NULL;
	cache_block(cache, addr);
	return sroce_mr_cache_peek(cache, key, access, addr, len);
}

int sroce_sgl_iter_refill(struct sroce_sgl_iter *w)
{
	const struct sroce_sgl *memory = w->memory;
	const struct sroce_sge *sge = &memory->sge[w->sge];
	struct sroce_mr_cache *cache = w->cache;
	u64 addr;
	u32 n;
	int err;

	for (; w->sge < memory->num_sge && w->at == sge->length; sge++) {
		w->sge++;
		w->at = 0;
	}
	if (w->sge == memory->num_sge)
		return -EMSGSIZE;
	addr = sge->addr + w->at;
	n = min(w->want, sge->length - w->at);
	w->p = cache_part(cache, sge->lkey, memory->access, addr, &n);
	if (!w->p) {
		err = cache_move(cache, memory, sge->lkey, addr, n);
		if (err)
			return err;
		addr -= cache->first;
		w->p = cache->p + addr;
		n = min_t(u64, n, cache->bytes - addr);
	}
	w->left = n;
	w->at += n;
	w->want -= n;
	return 0;
}

/*
 * Fast path without an iterator: the bytes lie in the first entry and in one piece.
 * NULL if they do not, or an error of cache_fill().
 */
static __always_inline void *find_piece(struct sroce_mr_cache *cache,
					const struct sroce_sgl *memory, u32 at,
					u32 len)
{
	const struct sroce_sge *sge = memory->sge;
	u32 n = len;
	u64 addr;
	int err;
	void *p;

	if (!memory->num_sge || at > sge->length || len > sge->length - at)
		return NULL;
	addr = sge->addr + at;
	p = sroce_mr_cache_peek(cache, sge->lkey, memory->access, addr, len);
	/* An access of 0 bytes needs no key. */
	if (likely(p) || !len)
		return p;
	if (cache_part(cache, sge->lkey, memory->access, addr, &n))
		return NULL;
	err = cache_move(cache, memory, sge->lkey, addr, len);
	if (unlikely(err))
		return ERR_PTR(err);
	addr -= cache->first;
	return len <= cache->bytes - addr ? cache->p + addr : NULL;
}

/* Not part of its caller, whose fast path then saves fewer registers. */
static noinline int store_pieces(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
				 u32 at, struct sroce_reader *from, u32 len)
{
	struct sroce_sgl_iter w __uninitialized;

	if (!sroce_sgl_iter_init(&w, cache, to, at, len))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = sroce_sgl_iter_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		if (!(n < len ? sroce_reader_copy(from, p, n) :
				sroce_reader_store(from, p, n)))
			return -ENODATA;
		len -= n;
	}
	return 0;
}

int sroce_sgl_store_packet(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			   u32 at, struct sroce_reader *from, u32 len)
{
	void *near = find_piece(cache, to, at, len);

	if (IS_ERR(near))
		return PTR_ERR(near);
	if (!near)
		return store_pieces(cache, to, at, from, len);
	return sroce_reader_store(from, near, len) ? 0 : -ENODATA;
}

int sroce_sgl_store(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
		    u32 at, const void *from, u32 len)
{
	struct sroce_reader r = sroce_reader_of(from, len);

	return sroce_sgl_store_packet(cache, to, at, &r, len);
}

/*
 * Store @head and the packet's payload at the start of @to, whose @bytes begin in the cached
 * piece and end there or in the next block.  Returns ENOENT if they do not, or if @head
 * reaches into that block.
 */
static __always_inline int store_behind(const struct sroce_mr_cache *cache,
					const struct sroce_sgl *to, const void *head, u32 len,
					struct sroce_reader *from, u32 payload)
{
	u32 bytes = len + payload, first = bytes;
	u8 *p = cache_part(cache, to->sge->lkey, to->access, to->sge->addr, &first);

	if (!p || first < len || (first < bytes && bytes - first > 1ull << cache->mr->block_shift))
		return -ENOENT;
	memcpy(p, head, len);
	if (first == bytes)
		return sroce_reader_store(from, p + len, payload) ? 0 : -ENODATA;
	return sroce_reader_copy(from, p + len, first - len) &&
	       sroce_reader_store(from, cache->block[1], bytes - first) ? 0 : -ENODATA;
}

int sroce_sgl_store_behind(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			   const void *head, u32 len, struct sroce_reader *from, u32 payload)
{
	u32 bytes = len + payload;
	int err;

	if (likely(to->num_sge && bytes <= to->sge->length)) {
		err = store_behind(cache, to, head, len, from, payload);
		if (likely(err != -ENOENT))
			return err;
		err = cache_move(cache, to, to->sge->lkey, to->sge->addr, bytes);
		if (!err)
			err = store_behind(cache, to, head, len, from, payload);
		if (err != -ENOENT)
			return err;
	}
	return sroce_sgl_store(cache, to, 0, head, len) ?:
	       sroce_sgl_store_packet(cache, to, len, from, payload);
}

/* As store_pieces(). */
static noinline int load_pieces(struct sroce_mr_cache *cache, const struct sroce_sgl *from,
				u32 at, void *to, u32 len)
{
	struct sroce_sgl_iter w __uninitialized;

	if (!sroce_sgl_iter_init(&w, cache, from, at, len))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = sroce_sgl_iter_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		memcpy(to, p, n);
		to += n;
		len -= n;
	}
	return 0;
}

void *sroce_sgl_find(struct sroce_mr_cache *cache, const struct sroce_sgl *from, u32 at,
		     u32 len)
{
	return find_piece(cache, from, at, len);
}

int sroce_sgl_load(struct sroce_mr_cache *cache, const struct sroce_sgl *from,
		   u32 at, void *to, u32 len)
{
	const void *near = find_piece(cache, from, at, len);

	if (IS_ERR(near))
		return PTR_ERR(near);
	if (!near)
		return load_pieces(cache, from, at, to, len);
	memcpy(to, near, len);
	return 0;
}

/* True if the page can be referenced for as long as a packet lives. */
static bool can_attach(u8 kind, const void *p)
{
	return kind == SROCE_MR_USER ||
	       (kind != SROCE_MR_DMABUF && sendpage_ok(virt_to_page(p)));
}

/* Returns the number of bytes attached before a limit or an unsuitable page. */
static u32 attach_piece(struct skb_shared_info *shared, u32 *frags, u32 most,
			void *p, u32 len, u8 kind)
{
	u32 left, n;

	for (left = len; left && *frags < most; left -= n, p += n) {
		if (!can_attach(kind, p))
			break;
		n = sroce_skb_attach_page(&shared->frags[*frags], p, left);
		++*frags;
	}
	return len - left;
}

int sroce_sgl_attach_next(struct sk_buff *skb, struct sroce_sgl_iter *w, u32 len,
			  u32 spare)
{
	struct skb_shared_info *shared = skb_shinfo(skb);
	u32 frags = shared->nr_frags;
	u32 left = len;
	int err = 0;

	while (left && !err) {
		u32 n = left;
		void *p = sroce_sgl_iter_next(w, &n);
		u32 done;

		if (IS_ERR(p)) {
			err = PTR_ERR(p);
			break;
		}
		done = attach_piece(shared, &frags, MAX_SKB_FRAGS - spare, p,
				    n, w->cache->mr->kind);
		if (done < n)
			err = frags >= MAX_SKB_FRAGS - spare ? -E2BIG :
							       -EOPNOTSUPP;
		left -= done;
	}
	shared->nr_frags = frags;
	/* The owner may write to the pages while the packet is in flight. */
	shared->flags |= SKBFL_SHARED_FRAG;
	sroce_skb_grow(skb, len - left);
	return err;
}

int sroce_sgl_attach(struct sk_buff *skb, struct sroce_mr_cache *cache,
		     const struct sroce_sgl *from, u32 at, u32 len, u32 spare)
{
	struct sroce_sgl_iter w __uninitialized;

	if (!sroce_sgl_iter_init(&w, cache, from, at, len))
		return -EMSGSIZE;
	return sroce_sgl_attach_next(skb, &w, len, spare);
}

/* The word that an SGL with one entry of 8 bytes names. */
static u64 *find_word(struct sroce_mr_cache *cache, const struct sroce_sgl *on)
{
	u32 n = sizeof(u64);
	struct sroce_sgl_iter w __uninitialized;
	u64 *p;

	if (!sroce_sgl_iter_init(&w, cache, on, 0, sizeof(u64)))
		return ERR_PTR(-EMSGSIZE);
	p = sroce_sgl_iter_next(&w, &n);
	if (IS_ERR(p))
		return p;
	/*
	 * An aligned address can be unaligned in memory if the region's start
	 * is.
	 */
	if (n != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return ERR_PTR(-EFAULT);
	return p;
}

int sroce_sgl_store_word(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			 u64 value)
{
	u64 *p = find_word(cache, to);

	if (IS_ERR(p))
		return PTR_ERR(p);
	atomic64_set_release((atomic64_t *)p, value);
	return 0;
}

int sroce_sgl_atomic(struct sroce_mr_cache *cache, const struct sroce_sgl *on,
		     const u64 *compare, u64 value, u64 *original)
{
	u64 *p = find_word(cache, on);

	if (IS_ERR(p))
		return PTR_ERR(p);
	if (compare)
		*original = cmpxchg64(p, *compare, value);
	else
		*original = atomic64_fetch_add(value, (atomic64_t *)p);
	return 0;
}
