/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_H
#define SROCE_MR_H


#include <linux/rhashtable.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include "../base/ref.h"
#include "../base/sroce.h"
#include "odp.h"

/* What a region can be asked for; each kind may refuse some. */
#define SROCE_MR_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

enum sroce_mr_kind {
	/* Of every address; see sroce_mr_unbounded(). */
	SROCE_MR_DMA,		/* all kernel addresses; kernel users only */
	SROCE_MR_NULL,		/* zeros (mem/mr.c) */
	/* Bounded. */
	SROCE_MR_USER,		/* user memory, pinned or on demand */
	SROCE_MR_DM,		/* device memory (mem/mr_dm.c) */
	SROCE_MR_DMABUF,	/* of another's pages, which stay theirs (mem/mr_dmabuf.c) */
	SROCE_MR_FAST,		/* registered by requests; mem/mr_fast.c */
	SROCE_MR_SLOT,		/* place of a window's key; see @binding */
	SROCE_MR_WINDOW,	/* what a window is bound to; not in the table */
};

/**
 * struct sroce_mr - memory region
 * @ib: what the RDMA core sees; first.  lkey and rkey are the same key, which
 *	kernel users may change before their request for it is executed
 * @node: in the device's table, by @index
 * @index: upper 24 bits of the key, random
 * @key: the key
 * @kind: enum sroce_mr_kind
 * @block_shift: log2 of the block size
 * @access: enum ib_access_flags
 * @iova: first address, as users name it
 * @length: bytes
 * @blocks: kernel address of each block that the region touches
 * @skip: bytes of the first block before the region; with @odp the address of
 *	its first byte in the process
 * @umem: the pins
 * @release: gives back @blocks and what they lead to, also half made; sleeps
 * @odp: nothing is pinned: what is present is found here.  A window has that
 *	of its region
 * @windows: windows bound to it; -1 while none may be
 * @binding: of a window's place: SROCE_MR_WINDOW, or NULL; RCU
 * @parent: of a window: the region it is bound to, referenced
 * @qpn: of a window of type 2: the QP that it is bound to, else 0
 * @ref: one for being registered, one per user on the data path; all above
 *	but @node, @index, @windows and @binding changes only while it is 0
 * @rcu: lookups may still look at it
 */
struct sroce_mr {
	struct ib_mr ib;
	struct rhash_head node;
	u32 index;
	u32 key;
	u8 kind;
	u8 block_shift;
	int access;
	u64 iova;
	u64 length;
	u64 skip;
	void **blocks;
	struct ib_umem *umem;
	void (*release)(struct sroce_mr *mr);
	struct sroce_odp *odp;
	atomic_t windows;
	struct sroce_mr __rcu *binding;
	struct sroce_mr *parent;
	u32 qpn;
	struct sroce_ref ref;
	struct rcu_head rcu;
};

/* Has it all addresses, and no blocks by address? */
static inline bool sroce_mr_unbounded(const struct sroce_mr *mr)
{
	return mr->kind <= SROCE_MR_NULL;
}

/* The table of a device's keys.  Context: process.  Return: 0 or an errno. */
int sroce_mr_table_init(struct sroce_device *dev);
/* Context: process; no region and no window is left. */
void sroce_mr_table_exit(struct sroce_device *dev);

/**
 * sroce_mr_get() - the one check of a key
 * @pd: protection domain of the QP
 * @qpn: its number, for remote access
 * @key: lkey or rkey
 * @addr: first byte of the access
 * @length: bytes, not 0 (an access to nothing needs no key)
 * @access: the enum ib_access_flags that the access needs; 0 to read locally
 *
 * Checks the key's variant, the PD, the rights, the bounds without overflow,
 * and of windows the QP.  Holds off deregistration until sroce_mr_put(), so
 * keep it no longer than a burst.
 *
 * Context: bottom halves off, until sroce_mr_put(): invalidating spins, also in
 * a softirq, until nobody has a reference.
 * Return: the region, or NULL if access is refused.
 */
struct sroce_mr *sroce_mr_get(struct ib_pd *pd, u32 qpn, u32 key, u64 addr,
			      u64 length, int access);
/* Drop the reference of sroce_mr_get() and its like.  Context: any. */
void sroce_mr_put(struct sroce_mr *mr);

/* The same of all that the key is for, whatever its bounds are. */
struct sroce_mr *sroce_mr_get_whole(struct ib_pd *pd, u32 qpn, u32 key,
				    int access);

/* The region with that key, but no window, whoever asks; as above. */
struct sroce_mr *sroce_mr_find(struct sroce_device *dev, u32 key);

/* Is the right to use remote keys wanted? */
static inline bool sroce_access_remote(int access)
{
	return access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL |
			 IB_ACCESS_FLUSH_PERSISTENT);
}

/**
 * sroce_mr_alloc() - begin a region
 * @size: of the structure that begins with the struct sroce_mr
 * @pd: protection domain
 * @kind: enum sroce_mr_kind
 * @access: enum ib_access_flags
 *
 * The caller sets @release and makes the rest; sroce_mr_finish() ends it.
 *
 * Return: the region, or NULL.
 */
struct sroce_mr *sroce_mr_alloc(size_t size, struct ib_pd *pd, int kind,
				int access);

/**
 * sroce_mr_finish() - publish a region, or give up
 * @mr: from sroce_mr_alloc()
 * @err: errno so far
 *
 * Return: what the verb returns; after an error @mr has been released and freed.
 */
struct ib_mr *sroce_mr_finish(struct sroce_mr *mr, int err);

/* Give it a key that nobody can guess and let lookups find it. */
int sroce_mr_publish(struct sroce_mr *mr);
/* Undo that: new lookups find nothing; who has a reference keeps it. */
void sroce_mr_unpublish(struct sroce_mr *mr);
/* What has a key of this index, valid or not.  Context: RCU read side. */
struct sroce_mr *sroce_mr_lookup(struct sroce_device *dev, u32 key);
/* The place of a window's key, or NULL.  Context: RCU read side. */
struct sroce_mr *sroce_mr_find_slot(struct sroce_device *dev, u32 key);

/* Is memory changed by it? */
static inline bool sroce_access_writes(int access)
{
	return access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			 IB_ACCESS_REMOTE_ATOMIC);
}

/* Where the process that registered it has the byte at @addr. */
static inline u64 sroce_mr_va(const struct sroce_mr *mr, u64 addr)
{
	return mr->skip + (addr - mr->iova);
}

/**
 * sroce_mr_map() - kernel address of a byte
 * @mr: from sroce_mr_get(), bounded; none of those with @odp
 * @addr: within the bounds checked there
 * @length: in: bytes wanted; out: bytes that lie in one piece
 */
static inline void *sroce_mr_map(const struct sroce_mr *mr, u64 addr,
				 u32 *length)
{
	u64 mask = (1ull << mr->block_shift) - 1;
	u64 first = addr - mr->iova + mr->skip;

	*length = min_t(u64, *length, mask + 1 - (first & mask));
	return mr->blocks[first >> mr->block_shift] + (first & mask);
}

/* The block of @mr, which is bounded, that has @addr. */
static inline void **sroce_mr_block(const struct sroce_mr *mr, u64 addr)
{
	return mr->blocks + ((addr - mr->iova + mr->skip) >> mr->block_shift);
}

/* ib_device_ops */
struct ib_mr *sroce_get_dma_mr(struct ib_pd *pd, int access);
struct ib_mr *sroce_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, SROCE_DMAH
				struct ib_udata *udata);
struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata);
int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata);

/* As sroce_mr_map(); the page depends on what is wanted. */
static inline void *sroce_null_map(const struct sroce_mr *mr, u64 addr,
				   u32 *length, int access)
{
	bool write = access & IB_ACCESS_LOCAL_WRITE;

	*length = min_t(u32, *length, PAGE_SIZE - offset_in_page(addr));
	return mr->blocks[write] + offset_in_page(addr);
}

#endif /* SROCE_MR_H */
