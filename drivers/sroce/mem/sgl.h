/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SGL_H
#define SROCE_SGL_H

#include <rdma/sroce-abi.h>
#include "mr.h"
#include "skb_reader.h"

/**
 * struct sroce_mr_cache - the memory used last
 * @mr: its region, referenced, or NULL
 * @access: rights that were checked
 * @first: address of a piece of it
 * @bytes: of the piece; 0 if none has been looked up
 * @p: where the piece is
 * @block: of the region, the block that has the piece
 * @beyond: bytes of the region behind the piece; 0 if they are not to be found
 *	from @block
 * @chunk: of a region on demand: what keeps the piece present, or NULL
 *
 * Lives while a lock is held or a burst is built, so that a key is looked up
 * once per burst and an address once per page.  sroce_mr_cache_drop() at the end.
 * It is the lock's or burst's QP's, so the protection domain is always the
 * same; but for the receive requests of an SRQ, whose domain may be another.
 * Only those ask for IB_ACCESS_LOCAL_WRITE by it, and what was found with other
 * rights is not used for them.
 * An XRC target has the domain of the SRQ in hand, and drops it with that.
 */
struct sroce_mr_cache {
	struct sroce_mr *mr;
	int access;
	u64 first;
	u64 bytes;
	void *p;
	void **block;
	u64 beyond;
	struct sroce_odp_chunk *chunk;
};

/**
 * struct sroce_sgl - a list of pieces of registered memory
 * @pd: protection domain of the QP
 * @qpn: for remote access: its number; windows may be bound to it
 * @sge: private copy of the list; for remote access one made from the RETH
 * @num_sge: its entries
 * @access: enum ib_access_flags needed
 */
struct sroce_sgl {
	struct ib_pd *pd;
	u32 qpn;
	const struct sroce_sge *sge;
	u32 num_sge;
	int access;
};

/**
 * struct sroce_sgl_iter - a position in a list of pieces
 * @p: next byte
 * @left: bytes from @p on that lie in one piece
 * @at: offset of the byte behind them in @sge, bytes
 * @sge: entry of the list
 * @want: bytes to go behind them
 * @memory: the list
 * @cache: cache
 */
struct sroce_sgl_iter {
	void *p;
	u32 left;
	u32 at;
	u32 sge;
	u32 want;
	const struct sroce_sgl *memory;
	struct sroce_mr_cache *cache;
};

/**
 * sroce_sgl_iter_init() - start at an offset in a list
 * @w: walk
 * @cache: cache
 * @memory: the list
 * @at: offset, bytes
 * @len: bytes that will be wanted
 *
 * Return: false if @at is beyond the list.
 */
bool sroce_sgl_iter_init(struct sroce_sgl_iter *w, struct sroce_mr_cache *cache,
			 const struct sroce_sgl *memory, u32 at, u32 len);

/*
 * Find the next piece; EMSGSIZE at the end, EFAULT if the key is refused,
 * EAGAIN if it has to be paged in first (mem/odp_fault.h).
 */
int sroce_sgl_iter_refill(struct sroce_sgl_iter *w);

/**
 * sroce_sgl_iter_next() - the next bytes that lie in one piece
 * @w: walk, moved behind them
 * @len: bytes wanted, not 0; out: bytes found
 *
 * Return: their kernel address, or sroce_sgl_iter_refill()'s error.
 */
static inline void *sroce_sgl_iter_next(struct sroce_sgl_iter *w, u32 *len)
{
	void *p;

	if (unlikely(!w->left)) {
		int err = sroce_sgl_iter_refill(w);

		if (err)
			return ERR_PTR(err);
	}
	*len = min(*len, w->left);
	p = w->p;
	w->p += *len;
	w->left -= *len;
	return p;
}

/* Is what follows in one piece with @len bytes, or more? */
static inline bool sroce_sgl_iter_has(struct sroce_sgl_iter *w, u32 len)
{
	return w->left >= len ||
	       (!w->left && !sroce_sgl_iter_refill(w) && w->left >= len);
}

/* Pages of users can have more references: they are no slab's. */
static inline bool sroce_sgl_iter_pinned(const struct sroce_sgl_iter *w)
{
	return w->cache->mr->kind == SROCE_MR_USER;
}

static inline void sroce_mr_cache_drop(struct sroce_mr_cache *cache)
{
	if (cache->mr) {
		if (unlikely(cache->mr->odp) && cache->chunk)
			sroce_odp_put(cache->chunk);
		sroce_mr_put(cache->mr);
	}
	cache->mr = NULL;
}

/* @len more bytes are in the fragments of @skb. */
static inline void sroce_skb_grow(struct sk_buff *skb, u32 len)
{
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/*
 * What of @len bytes at @p lies in the first page becomes a fragment: what is
 * in one piece need not be one compound page, and so one reference would not
 * hold all of it.  Returns how much that is.
 */
static inline u32 sroce_skb_attach_page(skb_frag_t *frag, void *p, u32 len)
{
	u32 n = min_t(u32, len, PAGE_SIZE - offset_in_page(p));
	struct page *page = virt_to_page(p);

	get_page(page);
	skb_frag_fill_page_desc(frag, page, offset_in_page(p), n);
	return n;
}

/* Append a page fragment; the reference to the page becomes the skb's. */
static inline void sroce_skb_add_frag(struct sk_buff *skb, struct page *page,
				      u32 offset, u32 len)
{
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset, len);
	sroce_skb_grow(skb, len);
}

/**
 * sroce_mr_cache_peek() - memory that needs no looking up
 * @cache: cache
 * @key: lkey or rkey
 * @access: rights needed
 * @addr: first byte
 * @len: bytes
 *
 * Return: their kernel address; NULL if it is not known, or not in one piece.
 */
static inline void *sroce_mr_cache_peek(const struct sroce_mr_cache *cache, u32 key,
					int access, u64 addr, u32 len)
{
	u64 at = addr - cache->first;

	if (!cache->mr || cache->mr->key != key || cache->access != access ||
	    at >= cache->bytes || cache->bytes - at < len)
		return NULL;
	return cache->p + at;
}

/* Take over the caller's reference. */
static inline void sroce_mr_cache_set(struct sroce_mr_cache *cache, struct sroce_mr *mr)
{
	sroce_mr_cache_drop(cache);
	cache->mr = mr;
	cache->bytes = 0;
	cache->beyond = 0;
	cache->chunk = NULL;
}

/**
 * sroce_sgl_store_packet() - packet to memory
 * @cache: cache
 * @to: memory
 * @at: offset in the list, bytes
 * @from: the bytes; moved behind them
 * @len: how many
 *
 * Context: any with bottom halves off.
 * Return: 0; EMSGSIZE if the list is too short; EFAULT if a key is refused;
 * EAGAIN if memory has to be paged in first (mem/odp_fault.h), when some of it may have
 * been stored; ENODATA if the packet has less, which is nobody's fault here: the
 * packet is lost, and no more.
 */
int sroce_sgl_store_packet(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			   u32 at, struct sroce_reader *from, u32 len);

/* The same from a buffer. */
int sroce_sgl_store(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
		    u32 at, const void *from, u32 len);

/* Memory to a buffer; errors as above. */
int sroce_sgl_load(struct sroce_mr_cache *cache, const struct sroce_sgl *from,
		   u32 at, void *to, u32 len);

/**
 * sroce_sgl_attach() - append memory to a packet without copying
 * @skb: gets page fragments, each with a reference
 * @cache: cache
 * @from: memory
 * @at: offset in the list, bytes
 * @len: bytes
 * @spare: fragments to leave free
 *
 * Return: as above, or E2BIG or EOPNOTSUPP if it must be copied instead.  What
 * has been appended until then is the caller's to cut off.
 */
int sroce_sgl_attach(struct sk_buff *skb, struct sroce_mr_cache *cache,
		     const struct sroce_sgl *from, u32 at, u32 len, u32 spare);

/* The same from where @w stands on; in case of an error it is of no more use. */
int sroce_sgl_attach_next(struct sk_buff *skb, struct sroce_sgl_iter *w, u32 len,
			  u32 spare);

/**
 * sroce_sgl_store_word() - one store of 8 bytes, after all before it
 * @cache: cache
 * @to: one piece of 8 bytes, its address a multiple of 8
 * @value: as it is to lie there
 *
 * Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_sgl_store_word(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			 u64 value);

/**
 * sroce_sgl_atomic() - 8 byte atomic operation on memory
 * @cache: cache
 * @on: one piece of 8 bytes, its address a multiple of 8
 * @compare: replace only this value, if not NULL; else add
 * @value: new value or addend
 * @original: what was there
 *
 * Atomic against every CPU.  Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_sgl_atomic(struct sroce_mr_cache *cache, const struct sroce_sgl *on,
		     const u64 *compare, u64 value, u64 *original);

#endif /* SROCE_SGL_H */
