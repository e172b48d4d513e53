/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_H
#define SROCE_MR_H

#include <linux/rhashtable.h>
#include <linux/spinlock.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>
#include "../base/sroce.h"
#include "odp.h"

struct ib_dmah;

/* Access flags of regions; some kinds refuse some of them. */
#define SROCE_MR_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_HUGETLB |	\
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

enum sroce_mr_kind {
	/* Without bounds; see sroce_mr_unbounded(). */
	SROCE_MR_DMA,		/* all kernel addresses; kernel users only */
	SROCE_MR_NULL,		/* reads return zeros (mem/mr.c) */
	/* Bounded. */
	SROCE_MR_USER,		/* user memory, pinned or on demand */
	SROCE_MR_DM,		/* device memory (mem/mr_dm.c) */
	SROCE_MR_DMABUF,	/* pages of a dma-buf exporter (mem/mr_dmabuf.c) */
	SROCE_MR_FAST,		/* registered by REG_MR work requests (mem/mr_fast.c) */
	SROCE_MR_WINDOW,	/* a window, bound by work requests (mem/mw.c) */
};

/**
 * struct sroce_mr - memory region
 * @ib: the RDMA core's part; first member.  lkey and rkey are the same key.
 *	Kernel users may change it before their REG_MR is executed
 * @node: entry in the device's table, by @index
 * @index: upper 24 bits of the key, random
 * @key: the key
 * @kind: enum sroce_mr_kind
 * @block_shift: log2 of the block size
 * @access: enum ib_access_flags
 * @iova: first address, as work requests and peers name it
 * @length: in bytes
 * @blocks: kernel address of each block that the region touches
 * @skip: bytes of the first block before the region; with @odp, the address of
 *	the region's first byte in the process
 * @umem: the pinned pages
 * @release: frees @blocks and the memory behind them, also of a partly built
 *	region; sleeps
 * @odp: the address space, if the region is on demand: nothing is pinned, and
 *	this finds the pages that are present.  A window has the @odp of its
 *	region
 * @windows: number of windows bound to the region; -1 while it is closed, so
 *	that nobody finds its key
 * @qpn: bound type 2 window: the QP number, else 0
 * @users: held for reading by each user on the data path.  All members above
 *	except @node, @index and @windows change only while the region is closed
 * @rcu: delays freeing until lookups have ended
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
	u32 qpn;
	rwlock_t users;	/* see above */
	struct rcu_head rcu;
};

/* True if the region covers all addresses and has no block table. */
static inline bool sroce_mr_unbounded(const struct sroce_mr *mr)
{
	return mr->kind <= SROCE_MR_NULL;
}

/* Context: process.  Return: 0 or an errno. */
int sroce_mr_table_init(struct sroce_device *dev);
/* Context: process.  All regions and windows have been freed. */
void sroce_mr_table_exit(struct sroce_device *dev);

/**
 * sroce_mr_get() - check a key and become a user of the region
 * @pd: protection domain of the QP
 * @qpn: QP number, for remote access
 * @key: lkey or rkey
 * @addr: first byte of the access
 * @length: bytes, not 0 (a zero-length access needs no key)
 * @access: enum ib_access_flags that the access needs; 0 for a local read
 *
 * The only check of a key in the driver: low 8 bits of the key, PD, access
 * rights, bounds (without overflow) and, for windows, the QP.  Deregistration
 * and invalidation wait for sroce_mr_put(), so call it after one burst at most.
 *
 * Context: bottom halves off until sroce_mr_put(), because softirqs invalidate,
 * too.  A caller may use several regions, and one several times.
 * Return: the region, with @users held for reading, or NULL if access is
 * refused.
 */
struct sroce_mr *sroce_mr_get(struct ib_pd *pd, u32 qpn, u32 key, u64 addr,
			      u64 length, int access);
/* End what sroce_mr_get() and similar functions began. */
void sroce_mr_put(struct sroce_mr *mr);

/* Like sroce_mr_get() for the whole range of the key. */
struct sroce_mr *sroce_mr_get_whole(struct ib_pd *pd, u32 qpn, u32 key,
				    int access);

/*
 * Find a region, but no window, by key, without checking PD and rights.
 * Otherwise like sroce_mr_get().
 */
struct sroce_mr *sroce_mr_find(struct sroce_device *dev, u32 key);

/* True if @access has a remote right. */
static inline bool sroce_access_remote(int access)
{
	return access & (IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ |
			 IB_ACCESS_REMOTE_ATOMIC | IB_ACCESS_FLUSH_GLOBAL |
			 IB_ACCESS_FLUSH_PERSISTENT);
}

/**
 * sroce_mr_alloc() - allocate a region
 * @size: size of the structure that begins with struct sroce_mr
 * @pd: protection domain
 * @kind: enum sroce_mr_kind
 * @access: enum ib_access_flags
 *
 * The caller sets @release and the other members, then calls sroce_mr_finish() or, for
 * a region that is closed, sroce_mr_publish().
 *
 * Context: process, may sleep.
 * Return: the region, or NULL.
 */
struct sroce_mr *sroce_mr_alloc(size_t size, struct ib_pd *pd, int kind,
				int access);

/**
 * sroce_mr_finish() - publish a region, or free it after an error
 * @mr: from sroce_mr_alloc()
 * @err: errno so far
 *
 * Context: process, may sleep.
 * Return: the verb's return value.  After an error @mr has been released and
 * freed.
 */
struct ib_mr *sroce_mr_finish(struct sroce_mr *mr, int err);

/*
 * Assign a random key and insert the region into the table.  Context: process, may sleep.
 * Return: 0 or ENOMEM.
 */
int sroce_mr_publish(struct sroce_mr *mr);
/* Remove it from the table.  Its users stay. */
void sroce_mr_unpublish(struct sroce_mr *mr);
/*
 * Find the table entry of the key's index, open or not, if it is of that kind.
 * Context: RCU read side.
 */
struct sroce_mr *sroce_mr_lookup(struct sroce_device *dev, u32 key, int kind);

/* True if the data path can find the region. */
static inline bool sroce_mr_is_open(const struct sroce_mr *mr)
{
	return atomic_read(&mr->windows) >= 0;
}

/**
 * sroce_mr_close() - refuse new users, and wait for those that exist
 * @mr: region; nobody else opens or closes it
 *
 * Context: any but hard interrupt.  The caller uses no region.
 */
void sroce_mr_close(struct sroce_mr *mr);

/**
 * sroce_mr_open() - allow users
 * @mr: closed
 *
 * New users find everything that was stored before.
 */
static inline void sroce_mr_open(struct sroce_mr *mr)
{
	/* Pairs with mr_hold(). */
	atomic_set_release(&mr->windows, 0);
}

/* True if the access changes memory. */
static inline bool sroce_access_writes(int access)
{
	return access & (IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |
			 IB_ACCESS_REMOTE_ATOMIC);
}

/* Address of the byte at @addr in the process that registered the region. */
static inline u64 sroce_mr_va(const struct sroce_mr *mr, u64 addr)
{
	return mr->skip + (addr - mr->iova);
}

/* Block of the bounded region @mr that contains @addr. */
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
int sroce_alloc_dmah(struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs);
int sroce_dealloc_dmah(struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs);

#endif /* SROCE_MR_H */
