/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SGL_H
#define SROCE_SGL_H

#include <rdma/sroce-abi.h>
#include "mr.h"
#include "skb_reader.h"

/**
 * struct sroce_mr_cache - MR cache: the memory that was used last
 * @mr: its region, in use (sroce_mr_get()), or NULL
 * @access: access rights that were checked
 * @first: address of the cached piece, as an SGE names it
 * @bytes: bytes of the piece; 0 if none has been looked up
 * @p: kernel address of the piece
 * @block: entry of the region's block table for the piece
 * @beyond: bytes of the region after the piece; 0 if @block cannot find them
 * @chunk: on-demand region: hold that keeps the piece present, or NULL
 *
 * Valid while a lock is held or a burst is built, so that a key is looked up
 * once per burst and an address once per page.  Call sroce_mr_cache_drop() at
 * the end.
 *
 * The PD is the QP's, except for receive WQEs of an SRQ, whose PD may differ.
 * Only those use the cache with IB_ACCESS_LOCAL_WRITE, and an entry is reused
 * only for the same access rights, so a cached entry never crosses PDs.  An XRC
 * target QP uses the PD of its current SRQ, and drops the cache together with
 * it.
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
 * struct sroce_sgl - scatter/gather list
 * @pd: protection domain of the QP
 * @qpn: QP number, for remote access: windows may be bound to it
 * @sge: private copy of the entries; for remote access one made from the RETH
 * @num_sge: number of entries
 * @access: enum ib_access_flags that are needed
 */
struct sroce_sgl {
	struct ib_pd *pd;
	u32 qpn;
	const struct sroce_sge *sge;
	u32 num_sge;
	int access;
};

/**
 * struct sroce_sgl_iter - position in an SGL
 * @p: next byte
 * @left: contiguous bytes at @p
 * @at: offset in @sge of the byte after them, bytes
 * @sge: index of the current entry
 * @want: bytes that are wanted after them
 * @memory: the SGL
 * @cache: MR cache
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
 * sroce_sgl_iter_init() - start at an offset
 * @w: iterator
 * @cache: MR cache
 * @memory: SGL
 * @at: offset, bytes
 * @len: bytes that will be wanted
 *
 * Return: false if @at is beyond the end of @memory.
 */
bool sroce_sgl_iter_init(struct sroce_sgl_iter *w, struct sroce_mr_cache *cache,
			 const struct sroce_sgl *memory, u32 at, u32 len);

/*
 * Find the next contiguous piece.  Returns EMSGSIZE at the end, EFAULT if the
 * key is refused, EAGAIN if it has to be paged in first (mem/odp_fault.h).
 */
int sroce_sgl_iter_refill(struct sroce_sgl_iter *w);

/**
 * sroce_sgl_iter_next() - get the next contiguous bytes
 * @w: iterator, moved past them
 * @len: bytes wanted, not 0; out: bytes found
 *
 * Return: their kernel address, or an ERR_PTR() of sroce_sgl_iter_refill()'s error.
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

/* True if the next @len bytes are contiguous. */
static inline bool sroce_sgl_iter_has(struct sroce_sgl_iter *w, u32 len)
{
	return w->left >= len ||
	       (!w->left && !sroce_sgl_iter_refill(w) && w->left >= len);
}

/*
 * True if pages can be attached to an skb without a check: pages of user memory
 * are never slab pages.
 */
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

/* @to is empty, and @from is empty afterwards. */
static inline void sroce_mr_cache_move(struct sroce_mr_cache *to,
				       struct sroce_mr_cache *from)
{
	if (!from->mr)
		return;
	*to = *from;
	from->mr = NULL;
}

/**
 * sroce_sgl_in_region() - test whether an SGL is in the region used last
 * @cache: MR cache
 * @from: SGL
 *
 * The region stays in use when bytes of @from are looked up: while the cache
 * holds it, its key names nothing else.  On-demand memory stays present only
 * until the next piece is looked up.
 *
 * Return: true if it is, and the region is not on-demand.
 */
static inline bool sroce_sgl_in_region(const struct sroce_mr_cache *cache,
				       const struct sroce_sgl *from)
{
	const struct sroce_mr *mr = cache->mr;

	return mr && !mr->odp && from->num_sge == 1 && mr->key == from->sge->lkey;
}

/* Account for @len more bytes in the fragments of @skb. */
static inline void sroce_skb_grow(struct sk_buff *skb, u32 len)
{
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

/*
 * Attach the part of the @len bytes at @p that lies in the first page, and
 * return its length.  One page per fragment: contiguous memory need not be one
 * compound page, so one reference would not hold all of it.
 */
static inline u32 sroce_skb_attach_page(skb_frag_t *frag, void *p, u32 len)
{
	u32 n = min_t(u32, len, PAGE_SIZE - offset_in_page(p));
	struct page *page = virt_to_page(p);

	get_page(page);
	skb_frag_fill_page_desc(frag, page, offset_in_page(p), n);
	return n;
}

/* Append a page fragment and take ownership of the caller's page reference. */
static inline void sroce_skb_add_frag(struct sk_buff *skb, struct page *page,
				      u32 offset, u32 len)
{
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset, len);
	sroce_skb_grow(skb, len);
}

/**
 * sroce_mr_cache_peek() - find memory in the cache
 * @cache: MR cache
 * @key: lkey or rkey
 * @access: access rights needed
 * @addr: first byte
 * @len: bytes
 *
 * Return: kernel address, or NULL if the bytes are not all in the cached piece.
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

/*
 * The same, in another piece of the region that was used last, which stays in use: addresses
 * found before remain valid.  Also NULL if the region is on-demand.
 */
void *sroce_mr_cache_seek(struct sroce_mr_cache *cache, u32 key, int access, u64 addr,
			  u32 len);

/* Takes over the caller's use of @mr. */
static inline void sroce_mr_cache_set(struct sroce_mr_cache *cache, struct sroce_mr *mr)
{
	sroce_mr_cache_drop(cache);
	cache->mr = mr;
	cache->bytes = 0;
	cache->beyond = 0;
	cache->chunk = NULL;
}

/**
 * sroce_sgl_store_packet() - copy payload of a packet to memory
 * @cache: MR cache
 * @to: destination
 * @at: offset in @to, bytes
 * @from: source, moved past the bytes
 * @len: number of bytes
 *
 * Context: any with bottom halves off.
 * Return: 0; EMSGSIZE if @to is too short; EFAULT if a key is refused; EAGAIN
 * if memory has to be paged in first (mem/odp_fault.h), possibly after some of
 * it has been stored; ENODATA if the packet has fewer bytes, in which case it
 * is dropped like a lost packet.
 */
int sroce_sgl_store_packet(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			   u32 at, struct sroce_reader *from, u32 len);

/* sroce_sgl_store_packet() from a buffer. */
int sroce_sgl_store(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
		    u32 at, const void *from, u32 len);

/**
 * sroce_sgl_store_behind() - store a header, and payload of a packet behind it
 * @cache: MR cache
 * @to: destination
 * @head: header, stored at the start of @to
 * @len: bytes of @head
 * @from: source, moved past the bytes
 * @payload: number of bytes
 *
 * Return: as sroce_sgl_store_packet().
 */
int sroce_sgl_store_behind(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			   const void *head, u32 len, struct sroce_reader *from, u32 payload);

/**
 * sroce_sgl_find() - find memory without copying it
 * @cache: MR cache, which keeps the memory in use
 * @from: SGL
 * @at: offset in @from, bytes
 * @len: bytes
 *
 * Return: kernel address; NULL if the bytes are not in one piece; or an ERR_PTR() of the
 * errors of sroce_sgl_store_packet().
 */
void *sroce_sgl_find(struct sroce_mr_cache *cache, const struct sroce_sgl *from, u32 at,
		     u32 len);

/* Copy memory to a buffer; same errors. */
int sroce_sgl_load(struct sroce_mr_cache *cache, const struct sroce_sgl *from,
		   u32 at, void *to, u32 len);

/**
 * sroce_sgl_attach() - attach memory to a packet without copying
 * @skb: packet; each page fragment takes a reference
 * @cache: MR cache
 * @from: SGL
 * @at: offset in @from, bytes
 * @len: bytes
 * @spare: number of fragments to leave unused
 *
 * Return: like sroce_sgl_store_packet(), or E2BIG or EOPNOTSUPP if the bytes
 * must be copied instead.  After an error the caller removes the fragments
 * added so far.
 */
int sroce_sgl_attach(struct sk_buff *skb, struct sroce_mr_cache *cache,
		     const struct sroce_sgl *from, u32 at, u32 len, u32 spare);

/* sroce_sgl_attach() from the position of @w.  After an error @w is invalid. */
int sroce_sgl_attach_next(struct sk_buff *skb, struct sroce_sgl_iter *w, u32 len,
			  u32 spare);

/**
 * sroce_sgl_store_word() - store 8 bytes at once, after all earlier stores
 * @cache: MR cache
 * @to: one entry of 8 bytes, its address a multiple of 8
 * @value: value in memory byte order
 *
 * Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_sgl_store_word(struct sroce_mr_cache *cache, const struct sroce_sgl *to,
			 u64 value);

/**
 * sroce_sgl_atomic() - 8 byte atomic operation on memory
 * @cache: MR cache
 * @on: one entry of 8 bytes, its address a multiple of 8
 * @compare: if not NULL, swap only if memory has this value; else add
 * @value: value to swap in, or addend
 * @original: out: the value before
 *
 * Atomic against every CPU.  Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_sgl_atomic(struct sroce_mr_cache *cache, const struct sroce_sgl *on,
		     const u64 *compare, u64 value, u64 *original);

#endif /* SROCE_SGL_H */
