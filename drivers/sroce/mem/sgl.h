/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SGL_H
#define SROCE_SGL_H

#include <rdma/sroce-abi.h>
#include "mr.h"
#include "skb_reader.h"

/**
 * struct sroce_grip - the memory used last
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
 * once per burst and an address once per page.  sroce_grip_drop() at the end.
 * It is the lock's or burst's QP's, so the protection domain is always the
 * same; but for the receive requests of an SRQ, whose domain may be another.
 * Only those ask for IB_ACCESS_LOCAL_WRITE by it, and what was found with other
 * rights is not used for them.
 * An XRC target has the domain of the SRQ in hand, and drops it with that.
 */
struct sroce_grip {
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
 * struct sroce_memory - a list of pieces of registered memory
 * @pd: protection domain of the QP
 * @qpn: for remote access: its number; windows may be bound to it
 * @sge: private copy of the list; for remote access one made from the RETH
 * @num_sge: its entries
 * @access: enum ib_access_flags needed
 */
struct sroce_memory {
	struct ib_pd *pd;
	u32 qpn;
	const struct sroce_sge *sge;
	u32 num_sge;
	int access;
};

/**
 * struct sroce_walk - a position in a list of pieces
 * @p: next byte
 * @left: bytes from @p on that lie in one piece
 * @at: offset of the byte behind them in @sge, bytes
 * @sge: entry of the list
 * @want: bytes to go behind them
 * @memory: the list
 * @grip: cache
 */
struct sroce_walk {
	void *p;
	u32 left;
	u32 at;
	u32 sge;
	u32 want;
	const struct sroce_memory *memory;
	struct sroce_grip *grip;
};

/**
 * sroce_walk_begin() - start at an offset in a list
 * @w: walk
 * @grip: cache
 * @memory: the list
 * @at: offset, bytes
 * @len: bytes that will be wanted
 *
 * Return: false if @at is beyond the list.
 */
bool sroce_walk_begin(struct sroce_walk *w, struct sroce_grip *grip,
		      const struct sroce_memory *memory, u32 at, u32 len);

/*
 * Find the next piece; EMSGSIZE at the end, EFAULT if the key is refused,
 * EAGAIN if it has to be paged in first (mem/odp_fault.h).
 */
int sroce_walk_refill(struct sroce_walk *w);

/**
 * sroce_walk_next() - the next bytes that lie in one piece
 * @w: walk, moved behind them
 * @len: bytes wanted, not 0; out: bytes found
 *
 * Return: their kernel address, or sroce_walk_refill()'s error.
 */
static inline void *sroce_walk_next(struct sroce_walk *w, u32 *len)
{
	void *p;

	if (unlikely(!w->left)) {
		int err = sroce_walk_refill(w);

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
static inline bool sroce_walk_has(struct sroce_walk *w, u32 len)
{
	return w->left >= len ||
	       (!w->left && !sroce_walk_refill(w) && w->left >= len);
}

/* Pages of users can have more references: they are no slab's. */
static inline bool sroce_walk_pinned(const struct sroce_walk *w)
{
	return w->grip->mr->kind == SROCE_MR_USER;
}

static inline void sroce_grip_drop(struct sroce_grip *grip)
{
	if (grip->mr) {
		if (unlikely(grip->mr->odp) && grip->chunk)
			sroce_odp_put(grip->chunk);
		sroce_mr_put(grip->mr);
	}
	grip->mr = NULL;
}

/* @len more bytes are in the fragments of @skb. */
static inline void sroce_grow(struct sk_buff *skb, u32 len)
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
static inline u32 sroce_attach_page(skb_frag_t *frag, void *p, u32 len)
{
	u32 n = min_t(u32, len, PAGE_SIZE - offset_in_page(p));
	struct page *page = virt_to_page(p);

	get_page(page);
	skb_frag_fill_page_desc(frag, page, offset_in_page(p), n);
	return n;
}

/* Append a page fragment; the reference to the page becomes the skb's. */
static inline void sroce_add_frag(struct sk_buff *skb, struct page *page,
				  u32 offset, u32 len)
{
	skb_fill_page_desc(skb, skb_shinfo(skb)->nr_frags, page, offset, len);
	sroce_grow(skb, len);
}

/**
 * sroce_grip_peek() - memory that needs no looking up
 * @grip: cache
 * @key: lkey or rkey
 * @access: rights needed
 * @addr: first byte
 * @len: bytes
 *
 * Return: their kernel address; NULL if it is not known, or not in one piece.
 */
static inline void *sroce_grip_peek(const struct sroce_grip *grip, u32 key,
				    int access, u64 addr, u32 len)
{
	u64 at = addr - grip->first;

	if (!grip->mr || grip->mr->key != key || grip->access != access ||
	    at >= grip->bytes || grip->bytes - at < len)
		return NULL;
	return grip->p + at;
}

/* Take over the caller's reference. */
static inline void sroce_grip_hold(struct sroce_grip *grip, struct sroce_mr *mr)
{
	sroce_grip_drop(grip);
	grip->mr = mr;
	grip->bytes = 0;
	grip->beyond = 0;
	grip->chunk = NULL;
}

/**
 * sroce_store_packet() - packet to memory
 * @grip: cache
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
int sroce_store_packet(struct sroce_grip *grip, const struct sroce_memory *to,
		       u32 at, struct sroce_reader *from, u32 len);

/* The same from a buffer. */
int sroce_store_bytes(struct sroce_grip *grip, const struct sroce_memory *to,
		      u32 at, const void *from, u32 len);

/* Memory to a buffer; errors as above. */
int sroce_load_bytes(struct sroce_grip *grip, const struct sroce_memory *from,
		     u32 at, void *to, u32 len);

/**
 * sroce_attach() - append memory to a packet without copying
 * @skb: gets page fragments, each with a reference
 * @grip: cache
 * @from: memory
 * @at: offset in the list, bytes
 * @len: bytes
 * @spare: fragments to leave free
 *
 * Return: as above, or E2BIG or EOPNOTSUPP if it must be copied instead.  What
 * has been appended until then is the caller's to cut off.
 */
int sroce_attach(struct sk_buff *skb, struct sroce_grip *grip,
		 const struct sroce_memory *from, u32 at, u32 len, u32 spare);

/* The same from where @w stands on; in case of an error it is of no more use. */
int sroce_attach_next(struct sk_buff *skb, struct sroce_walk *w, u32 len,
		      u32 spare);

/**
 * sroce_store_word() - one store of 8 bytes, after all before it
 * @grip: cache
 * @to: one piece of 8 bytes, its address a multiple of 8
 * @value: as it is to lie there
 *
 * Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_store_word(struct sroce_grip *grip, const struct sroce_memory *to,
		     u64 value);

/**
 * sroce_atomic() - 8 byte atomic operation on memory
 * @grip: cache
 * @on: one piece of 8 bytes, its address a multiple of 8
 * @compare: replace only this value, if not NULL; else add
 * @value: new value or addend
 * @original: what was there
 *
 * Atomic against every CPU.  Return: 0; EFAULT if the key is refused; EAGAIN.
 */
int sroce_atomic(struct sroce_grip *grip, const struct sroce_memory *on,
		 const u64 *compare, u64 value, u64 *original);

#endif /* SROCE_SGL_H */
