// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: the key table, the key check, registration of user memory,
 * and null and DMA regions.
 */
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#ifdef SROCE_HAVE_RDMA_ITER
#include <rdma/iter.h>
#endif
#include "../base/udata.h"
#include "mr.h"
#include "pmem.h"

/*
 * Block sizes: any power of two from a page to 1 GiB, the alignment of the
 * direct map.
 */
#define BLOCK_SIZES GENMASK(30, PAGE_SHIFT)

/* Access flags that regions of user memory support. */
#define USER_ACCESS	(SROCE_MR_ACCESS | IB_ACCESS_ON_DEMAND | IB_ACCESS_FLUSH_PERSISTENT)

/* The index is random, so it serves as its own hash. */
static u32 mr_hash(const void *key, u32 len, u32 seed)
{
	return *(const u32 *)key;
}

/* Not memcmp(): each message needs a lookup. */
static int mr_differs(struct rhashtable_compare_arg *arg, const void *mr)
{
	return *(const u32 *)arg->key != ((const struct sroce_mr *)mr)->index;
}

static const struct rhashtable_params mr_params = {
	.key_len = sizeof_field(struct sroce_mr, index),
	.key_offset = offsetof(struct sroce_mr, index),
	.head_offset = offsetof(struct sroce_mr, node),
	.hashfn = mr_hash,
	.obj_cmpfn = mr_differs,
	.automatic_shrinking = true,
};

int sroce_mr_table_init(struct sroce_device *dev)
{
	return rhashtable_init(&dev->mrs, &mr_params);
}

void sroce_mr_table_exit(struct sroce_device *dev)
{
	rhashtable_destroy(&dev->mrs);
}

/* The key of a memory window is not valid as an lkey. */
static bool window_allows(const struct sroce_mr *mr, u32 qpn, int access)
{
	return sroce_access_remote(access) && (!mr->qpn || mr->qpn == qpn);
}

static bool mr_allows(const struct sroce_mr *mr, struct ib_pd *pd, u32 qpn,
		      u32 key, u64 addr, u64 length, int access)
{
	if (mr->key != key || mr->ib.pd != pd || access & ~mr->access)
		return false;
	if (mr->kind == SROCE_MR_WINDOW && !window_allows(mr, qpn, access))
		return false;
	if (sroce_mr_unbounded(mr))
		return true;
	return addr >= mr->iova && length <= mr->length &&
	       addr - mr->iova <= mr->length - length;
}

struct sroce_mr *sroce_mr_lookup(struct sroce_device *dev, u32 key, int kind)
{
	u32 index = key >> 8;
	struct sroce_mr *mr;

	mr = rhashtable_lookup(&dev->mrs, &index, mr_params);
	return mr && mr->kind == kind ? mr : NULL;
}

/*
 * Become a user, if the region is open.  The first look keeps new users from
 * delaying sroce_mr_close(), because in a softirq a reader does not let a
 * waiting writer go first.  The second look is the one that counts: what follows
 * a writer's section sees the region closed.
 */
static __always_inline bool mr_hold(struct sroce_mr *mr)
{
	if (unlikely(!sroce_mr_is_open(mr)))
		return false;
	read_lock(&mr->users);
	/* Pairs with sroce_mr_open(). */
	if (unlikely(atomic_read_acquire(&mr->windows) < 0)) {
		read_unlock(&mr->users);
		return false;
	}
	/* Sparse does not follow a lock beyond a function. */
	__release(&mr->users);
	return true;
}

/*
 * Look up a key and become a user, without checking access rights.  Bottom
 * halves are off, because a softirq may wait for the end of the use.
 */
static __always_inline struct sroce_mr *mr_find(struct sroce_device *dev,
						u32 key)
{
	u32 index = key >> 8;
	struct sroce_mr *mr;

	lockdep_assert_in_softirq();
	rcu_read_lock();
	mr = rhashtable_lookup(&dev->mrs, &index, mr_params);
	if (mr && !mr_hold(mr))
		mr = NULL;
	rcu_read_unlock();
	return mr;
}

struct sroce_mr *sroce_mr_get(struct ib_pd *pd, u32 qpn, u32 key, u64 addr,
			      u64 length, int access)
{
	struct sroce_mr *mr = mr_find(sroce_device(pd->device), key);

	if (!mr || mr_allows(mr, pd, qpn, key, addr, length, access))
		return mr;
	sroce_mr_put(mr);
	return NULL;
}

struct sroce_mr *sroce_mr_get_whole(struct ib_pd *pd, u32 qpn, u32 key,
				    int access)
{
	struct sroce_mr *mr = mr_find(sroce_device(pd->device), key);

	if (!mr || mr_allows(mr, pd, qpn, key, mr->iova, mr->length, access))
		return mr;
	sroce_mr_put(mr);
	return NULL;
}

struct sroce_mr *sroce_mr_find(struct sroce_device *dev, u32 key)
{
	struct sroce_mr *mr = mr_find(dev, key);

	if (!mr || (mr->key == key && mr->kind != SROCE_MR_WINDOW))
		return mr;
	sroce_mr_put(mr);
	return NULL;
}

void sroce_mr_put(struct sroce_mr *mr)
{
	__acquire(&mr->users);
	read_unlock(&mr->users);
}

void sroce_mr_close(struct sroce_mr *mr)
{
	atomic_set(&mr->windows, -1);
	write_lock_bh(&mr->users);
	write_unlock_bh(&mr->users);
}

struct sroce_mr *sroce_mr_alloc(size_t size, struct ib_pd *pd, int kind,
				int access)
{
	struct sroce_mr *mr = kzalloc(size, GFP_KERNEL_ACCOUNT);

	if (!mr)
		return NULL;
	/* Lookups need the PD before the RDMA core sets it. */
	mr->ib.pd = pd;
	mr->kind = kind;
	mr->access = access;
	rwlock_init(&mr->users);
	return mr;
}

void sroce_mr_unpublish(struct sroce_mr *mr)
{
	struct sroce_device *dev = sroce_device(mr->ib.pd->device);

	rhashtable_remove_fast(&dev->mrs, &mr->node, mr_params);
}

int sroce_mr_publish(struct sroce_mr *mr)
{
	struct sroce_device *dev = sroce_device(mr->ib.pd->device);
	int tries, err;

	if (atomic_read(&dev->mrs.nelems) >= SROCE_MAX_MR)
		return -ENOMEM;
	for (tries = 0; tries < 100; tries++) {
		u32 key = get_random_u32();

		mr->index = key >> 8;
		if (!mr->index)
			continue;
		mr->key = key;
		mr->ib.lkey = key;
		mr->ib.rkey = key;
		err = rhashtable_lookup_insert_fast(&dev->mrs, &mr->node,
						    mr_params);
		/* EBUSY: the table is being resized. */
		if (err != -EEXIST && err != -EBUSY)
			return err;
		cond_resched();
	}
	return -ENOMEM;
}

static void mr_release(struct sroce_mr *mr)
{
	if (mr->release)
		mr->release(mr);
}

struct ib_mr *sroce_mr_finish(struct sroce_mr *mr, int err)
{
	if (!err)
		err = sroce_mr_publish(mr);
	if (!err)
		return &mr->ib;
	mr_release(mr);
	kfree(mr);
	return ERR_PTR(err);
}

/*
 * User QPs cannot use this region: its PD differs from theirs, and the RDMA
 * core creates DMA regions for kernel PDs only.
 */
struct ib_mr *sroce_get_dma_mr(struct ib_pd *pd, int access)
{
	struct sroce_mr *mr;

	if (access & ~SROCE_MR_ACCESS)
		return ERR_PTR(-EOPNOTSUPP);
	mr = sroce_mr_alloc(sizeof(*mr), pd, SROCE_MR_DMA, access);
	return mr ? sroce_mr_finish(mr, 0) : ERR_PTR(-ENOMEM);
}

/* The device has no DMA device, so DMA addresses are addresses of the direct map. */
static void mr_fill(struct sroce_mr *mr)
{
	struct ib_block_iter block;
	void **next = mr->blocks;

	rdma_umem_for_each_dma_block(mr->umem, &block, 1ul << mr->block_shift) {
		*next++ = ib_virt_dma_to_ptr(rdma_block_iter_dma_address(&block));
		cond_resched();
	}
}

static int mr_map(struct sroce_mr *mr, u64 iova)
{
	unsigned long size = ib_umem_find_best_pgsz(mr->umem, BLOCK_SIZES,
						    iova);

	/*
	 * No block size: start address and iova have different offsets in a
	 * page.
	 */
	if (!size)
		return -EINVAL;
	mr->block_shift = ilog2(size);
	mr->skip = iova & (size - 1);
	mr->blocks = kvmalloc_array(ib_umem_num_dma_blocks(mr->umem, size),
				    sizeof(*mr->blocks), SROCE_GFP_SIZED);
	if (!mr->blocks)
		return -ENOMEM;
	mr_fill(mr);
	return 0;
}

/* On-demand pages that have left memory can no longer be written back. */
static bool may_persist(int access)
{
	const int both = IB_ACCESS_ON_DEMAND | IB_ACCESS_FLUSH_PERSISTENT;

	return (access & both) != both;
}

static int mr_check(struct ib_pd *pd, u64 start, u64 length, u64 iova,
		    int access, struct ib_udata *udata)
{
	u64 last;
	int err;

	if (access & ~USER_ACCESS || !may_persist(access))
		return -EOPNOTSUPP;
	err = ib_check_mr_access(pd->device, access);
	if (err)
		return err;
	if (!length || check_add_overflow(iova, length - 1, &last) ||
	    check_add_overflow(start, length - 1, &last))
		return -EINVAL;
	return ib_no_udata_io(udata);
}

static void mr_unpin(struct sroce_mr *mr)
{
	sroce_odp_close(mr->odp);
	ib_umem_release(mr->umem);
	kvfree(mr->blocks);
}

static struct sroce_mr *alloc_user_mr(struct ib_pd *pd, int access)
{
	struct sroce_mr *mr;

	mr = sroce_mr_alloc(sizeof(*mr), pd, SROCE_MR_USER, access);
	if (mr)
		mr->release = mr_unpin;
	return mr;
}

/*
 * ib_umem_get() untags the address of pinned memory; here the driver does it.
 */
static int mr_watch(struct sroce_mr *mr, u64 start)
{
	struct sroce_odp *odp = sroce_odp_open();

	if (IS_ERR(odp))
		return PTR_ERR(odp);
	mr->odp = odp;
	mr->block_shift = PAGE_SHIFT;
	mr->skip = untagged_addr(start);
	return 0;
}

/* mr_unpin() undoes this, also after a failure. */
static int mr_pin(struct sroce_mr *mr, u64 start, u64 length, u64 iova)
{
	bool zero_based = mr->access & IB_ZERO_BASED;
	struct ib_umem *umem;
	int err;

	mr->iova = zero_based ? 0 : iova;
	mr->length = length;
	/* The RDMA core sets these for only one of the two commands that register. */
	mr->ib.iova = iova;
	mr->ib.length = length;
	if (mr->access & IB_ACCESS_ON_DEMAND)
		return mr_watch(mr, start);
	umem = ib_umem_get_va(mr->ib.pd->device, start, length, mr->access);
	if (IS_ERR(umem))
		return PTR_ERR(umem);
	mr->umem = umem;
	err = mr_map(mr, zero_based ? start : iova);
	if (!err && mr->access & IB_ACCESS_FLUSH_PERSISTENT)
		err = sroce_pmem_check(mr->blocks, mr->block_shift, mr->skip, mr->length);
	return err;
}

/* Null regions */

/**
 * struct null_mr - null region
 * @mr: the region, whose blocks are @pages; first member
 * @pages: the kernel's zero page for reads, and a page for writes that is never
 *	read
 */
struct null_mr {
	struct sroce_mr mr;
	void *pages[2];
};

/* True if a process asks for a null region instead of registering memory. */
static bool null_mr_asked(struct ib_udata *udata)
{
	struct sroce_reg_mr_req req;

	/* Kernel users cannot ask for one. */
	return udata && !ib_copy_validate_udata_in(udata, req, reserved) &&
	       req.flags == SROCE_REG_MR_NULL && !req.reserved &&
	       !ib_respond_empty_udata(udata);
}

static void null_release(struct sroce_mr *mr)
{
	free_page((unsigned long)mr->blocks[1]);
}

/*
 * Null region: reads return zeros, writes are discarded.  It has no bounds, and
 * @length must be 0.  Only local access is allowed.
 */
static struct ib_mr *alloc_null_mr(struct ib_pd *pd, u64 length, int access)
{
	struct null_mr *null;
	struct sroce_mr *mr;

	if (length || access != IB_ACCESS_LOCAL_WRITE)
		return ERR_PTR(-EINVAL);
	mr = sroce_mr_alloc(sizeof(*null), pd, SROCE_MR_NULL, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	null = container_of(mr, struct null_mr, mr);
	null->pages[0] = page_address(ZERO_PAGE(0));
	null->pages[1] = (void *)__get_free_page(GFP_KERNEL_ACCOUNT);
	mr->blocks = null->pages;
	mr->block_shift = PAGE_SHIFT;
	mr->release = null_release;
	return sroce_mr_finish(mr, null->pages[1] ? 0 : -ENOMEM);
}

struct ib_mr *sroce_reg_user_mr(struct ib_pd *pd, u64 start, u64 length,
				u64 iova, int access, SROCE_DMAH
				struct ib_udata *udata)
{
	struct sroce_mr *mr;
	int err;

	/* On-demand memory has no fixed location for a hint. */
	if (sroce_dmah_given() && access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	if (null_mr_asked(udata))
		return alloc_null_mr(pd, length, access);
	err = mr_check(pd, start, length, iova, access, udata);
	if (err)
		return ERR_PTR(err);
	mr = alloc_user_mr(pd, access);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	return sroce_mr_finish(mr, mr_pin(mr, start, length, iova));
}

/*
 * DMA handles are hints for a device on a bus.  Here CPUs copy, so there is
 * nothing to set up, and a region ignores its handle.
 */
int sroce_alloc_dmah(struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

int sroce_dealloc_dmah(struct ib_dmah *dmah, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* Take over the attributes of @draft.  The key stays. */
static void mr_take_over(struct sroce_mr *mr, struct sroce_mr *draft, bool pinned)
{
	sroce_mr_close(mr);
	mr->access = draft->access;
	mr->ib.pd = draft->ib.pd;
	if (pinned) {
		swap(mr->umem, draft->umem);
		swap(mr->odp, draft->odp);
		swap(mr->blocks, draft->blocks);
		mr->block_shift = draft->block_shift;
		mr->iova = draft->iova;
		mr->length = draft->length;
		mr->ib.iova = draft->ib.iova;
		mr->ib.length = draft->ib.length;
		mr->skip = draft->skip;
	}
	sroce_mr_open(mr);
}

/*
 * Pages that were pinned for reading cannot be written to.  mr_pin() also looks whether they
 * are persistent.
 */
static bool must_pin(const struct sroce_mr *mr, int flags, int access)
{
	return flags & IB_MR_REREG_TRANS ||
	       access & ~mr->access & IB_ACCESS_FLUSH_PERSISTENT ||
	       (mr->access ^ access) & (IB_ZERO_BASED | IB_ACCESS_ON_DEMAND) ||
	       (mr->umem && !mr->umem->writable && ib_access_writable(access));
}

/* Start address in the process. */
static u64 mr_start(const struct sroce_mr *mr)
{
	return mr->odp ? mr->skip : mr->umem->address;
}

struct ib_mr *sroce_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start,
				  u64 length, u64 iova, int access,
				  struct ib_pd *pd, struct ib_udata *udata)
{
	struct sroce_mr *mr = container_of(ibmr, struct sroce_mr, ib);
	struct sroce_mr *draft;
	bool pin;
	int err;

	if (mr->kind != SROCE_MR_USER)
		return ERR_PTR(-EOPNOTSUPP);
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	pin = must_pin(mr, flags, access);
	if (!(flags & IB_MR_REREG_TRANS)) {
		start = mr_start(mr);
		length = mr->length;
		iova = mr->access & IB_ZERO_BASED ? start : mr->iova;
	}
	err = mr_check(pd, start, length, iova, access, udata);
	if (err)
		return ERR_PTR(err);
	draft = alloc_user_mr(pd, access);
	if (!draft)
		return ERR_PTR(-ENOMEM);
	if (pin)
		err = mr_pin(draft, start, length, iova);
	if (!err && atomic_cmpxchg(&mr->windows, 0, -1))
		err = -EBUSY;
	if (!err)
		mr_take_over(mr, draft, pin);
	mr_release(draft);
	kfree(draft);
	return ERR_PTR(err);
}

int sroce_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_mr *mr = container_of(ibmr, struct sroce_mr, ib);

	if (atomic_cmpxchg(&mr->windows, 0, -1))
		return -EBUSY;
	sroce_mr_unpublish(mr);
	sroce_mr_close(mr);
	mr_release(mr);
	kfree_rcu(mr, rcu);
	return 0;
}
