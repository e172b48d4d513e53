// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/skbuff.h>
#include "sgl.h"
#include "simd_memcpy.h"

bool sroce_walk_begin(struct sroce_walk *w, struct sroce_grip *grip,
		      const struct sroce_memory *memory, u32 at, u32 len)
{
	w->left = 0;
	w->want = len;
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
	if (mr->key != key || mr->ib.pd != memory->pd ||
	    memory->access & ~mr->access)
		return false;
	if (sroce_mr_unbounded(mr))
		return true;
	return len <= mr->length && addr >= mr->iova &&
	       addr - mr->iova <= mr->length - len;
}

/* Of a region on demand: what is present from @addr on. */
static int grip_present(struct sroce_grip *grip, int access, u64 addr)
{
	const struct sroce_mr *mr = grip->mr;
	struct sroce_odp_piece piece;

	if (grip->chunk)
		sroce_odp_put(grip->chunk);
	grip->bytes = 0;
	grip->beyond = 0;
	grip->chunk = sroce_odp_get(mr->odp, sroce_mr_va(mr, addr),
				    mr->length - (addr - mr->iova),
				    sroce_access_writes(access), &piece);
	if (!grip->chunk)
		return -EAGAIN;
	grip->p = piece.p;
	grip->bytes = piece.bytes;
	grip->block = piece.block;
	grip->beyond = piece.beyond;
	grip->first = addr;
	grip->access = access;
	return 0;
}

/* Check @len bytes, all that is wanted of an SGE; find their first piece. */
static noinline int grip_piece(struct sroce_grip *grip,
			       const struct sroce_memory *memory, u32 key,
			       u64 addr, u32 len)
{
	struct sroce_mr *mr = grip->mr;
	u32 n = U32_MAX;
	u64 most;

	if (!mr || !covers(mr, memory, key, addr, len)) {
		mr = sroce_mr_get(memory->pd, memory->qpn, key, addr, len,
				  memory->access);
		if (!mr)
			return -EFAULT;
		sroce_grip_hold(grip, mr);
	}
	if (unlikely(mr->odp))
		return grip_present(grip, memory->access, addr);
	grip->beyond = 0;
	if (!sroce_mr_unbounded(mr)) {
		most = mr->length - (addr - mr->iova);
		n = min_t(u64, n, most);
		grip->p = sroce_mr_map(mr, addr, &n);
		grip->block = sroce_mr_block(mr, addr);
		grip->beyond = most - n;
	} else if (mr->kind == SROCE_MR_NULL) {
		grip->p = sroce_null_map(mr, addr, &n, memory->access);
	} else {
		grip->p = (void *)(uintptr_t)addr;
	}
	grip->first = addr;
	grip->bytes = n;
	grip->access = memory->access;
	return 0;
}

/*
 * The piece behind the one used last, as for the next packet of a message; it
 * may have less than the @len bytes that are wanted.
 */
static void *grip_next(struct sroce_grip *grip, u32 key, int access, u64 addr,
		       u32 len)
{
	const struct sroce_mr *mr = grip->mr;

	if (!mr || !grip->beyond || mr->key != key ||
	    grip->access != access || addr - grip->first != grip->bytes ||
	    len > grip->beyond)
		return NULL;
	grip->first = addr;
	grip->bytes = min(1ull << mr->block_shift, grip->beyond);
	grip->beyond -= grip->bytes;
	grip->p = *++grip->block;
	return grip->p;
}

int sroce_walk_refill(struct sroce_walk *w)
{
	const struct sroce_memory *memory = w->memory;
	const struct sroce_sge *sge = &memory->sge[w->sge];
	struct sroce_grip *grip = w->grip;
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
	w->p = sroce_grip_peek(grip, sge->lkey, memory->access, addr, n);
	if (!w->p) {
		w->p = grip_next(grip, sge->lkey, memory->access, addr, n);
		err = w->p ? 0 : grip_piece(grip, memory, sge->lkey, addr, n);
		if (err)
			return err;
		w->p = grip->p;
		n = min_t(u64, n, grip->bytes);
	}
	w->left = n;
	w->at += n;
	w->want -= n;
	return 0;
}

/* Without a walk: what lies in the first entry, and where the grip is. */
static __always_inline void *at_hand(struct sroce_grip *grip,
				     const struct sroce_memory *memory, u32 at,
				     u32 len)
{
	const struct sroce_sge *sge = memory->sge;
	u64 addr;
	void *p;

	if (!memory->num_sge || at > sge->length || len > sge->length - at)
		return NULL;
	addr = sge->addr + at;
	p = sroce_grip_peek(grip, sge->lkey, memory->access, addr, len);
	if (p)
		return p;
	p = grip_next(grip, sge->lkey, memory->access, addr, len);
	return p && len <= grip->bytes ? p : NULL;
}

int sroce_store_packet(struct sroce_grip *grip, const struct sroce_memory *to,
		       u32 at, struct sroce_reader *from, u32 len)
{
	void *near = at_hand(grip, to, at, len);
	struct sroce_walk w;

	if (near)
		return sroce_reader_place(from, near, len) ? 0 : -ENODATA;
	if (!sroce_walk_begin(&w, grip, to, at, len))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = sroce_walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		if (!(n < len ? sroce_reader_copy(from, p, n) :
				sroce_reader_place(from, p, n)))
			return -ENODATA;
		len -= n;
	}
	return 0;
}

int sroce_store_bytes(struct sroce_grip *grip, const struct sroce_memory *to,
		      u32 at, const void *from, u32 len)
{
	struct sroce_walk w;

	if (!sroce_walk_begin(&w, grip, to, at, len))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = sroce_walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		if (n < len)
			memcpy(p, from, n);
		else
			sroce_place(p, from, n);
		from += n;
		len -= n;
	}
	return 0;
}

int sroce_load_bytes(struct sroce_grip *grip, const struct sroce_memory *from,
		     u32 at, void *to, u32 len)
{
	const void *near = at_hand(grip, from, at, len);
	struct sroce_walk w;

	if (near) {
		sroce_bulk_copy(to, near, len);
		return 0;
	}
	if (!sroce_walk_begin(&w, grip, from, at, len))
		return -EMSGSIZE;
	while (len) {
		u32 n = len;
		void *p = sroce_walk_next(&w, &n);

		if (IS_ERR(p))
			return PTR_ERR(p);
		sroce_bulk_copy(to, p, n);
		to += n;
		len -= n;
	}
	return 0;
}

/* Can the page have another reference, for as long as a packet lives? */
static bool can_attach(u8 kind, const void *p)
{
	return kind == SROCE_MR_USER ||
	       (kind != SROCE_MR_DMABUF && sendpage_ok(virt_to_page(p)));
}

/* Returns how many bytes were attached before something was in the way. */
static u32 attach_piece(struct skb_shared_info *shared, u32 *frags, u32 most,
			void *p, u32 len, u8 kind)
{
	u32 left, n;

	for (left = len; left && *frags < most; left -= n, p += n) {
		if (!can_attach(kind, p))
			break;
		n = sroce_attach_page(&shared->frags[*frags], p, left);
		++*frags;
	}
	return len - left;
}

int sroce_attach_next(struct sk_buff *skb, struct sroce_walk *w, u32 len,
		      u32 spare)
{
	struct skb_shared_info *shared = skb_shinfo(skb);
	u32 frags = shared->nr_frags;
	u32 left = len;
	int err = 0;

	while (left && !err) {
		u32 n = left;
		void *p = sroce_walk_next(w, &n);
		u32 done;

		if (IS_ERR(p)) {
			err = PTR_ERR(p);
			break;
		}
		done = attach_piece(shared, &frags, MAX_SKB_FRAGS - spare, p,
				    n, w->grip->mr->kind);
		if (done < n)
			err = frags >= MAX_SKB_FRAGS - spare ? -E2BIG :
							       -EOPNOTSUPP;
		left -= done;
	}
	shared->nr_frags = frags;
	/* The owner may write to the pages while the packet is under way. */
	shared->flags |= SKBFL_SHARED_FRAG;
	sroce_grow(skb, len - left);
	return err;
}

int sroce_attach(struct sk_buff *skb, struct sroce_grip *grip,
		 const struct sroce_memory *from, u32 at, u32 len, u32 spare)
{
	struct sroce_walk w;

	if (!sroce_walk_begin(&w, grip, from, at, len))
		return -EMSGSIZE;
	return sroce_attach_next(skb, &w, len, spare);
}

/* The word that a list of one piece of 8 bytes names. */
static u64 *find_word(struct sroce_grip *grip, const struct sroce_memory *on)
{
	u32 n = sizeof(u64);
	struct sroce_walk w;
	u64 *p;

	if (!sroce_walk_begin(&w, grip, on, 0, sizeof(u64)))
		return ERR_PTR(-EMSGSIZE);
	p = sroce_walk_next(&w, &n);
	if (IS_ERR(p))
		return p;
	/* An unaligned region can give a multiple of 8 an odd place. */
	if (n != sizeof(u64) || !IS_ALIGNED((uintptr_t)p, sizeof(u64)))
		return ERR_PTR(-EFAULT);
	return p;
}

int sroce_store_word(struct sroce_grip *grip, const struct sroce_memory *to,
		     u64 value)
{
	u64 *p = find_word(grip, to);

	if (IS_ERR(p))
		return PTR_ERR(p);
	atomic64_set_release((atomic64_t *)p, value);
	return 0;
}

int sroce_atomic(struct sroce_grip *grip, const struct sroce_memory *on,
		 const u64 *compare, u64 value, u64 *original)
{
	u64 *p = find_word(grip, on);

	if (IS_ERR(p))
		return PTR_ERR(p);
	if (compare)
		*original = cmpxchg64(p, *compare, value);
	else
		*original = atomic64_fetch_add(value, (atomic64_t *)p);
	return 0;
}
