// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fast registration.  Kernel users register memory with a work request in the
 * send queue, invalidate it with another, and repeat that.
 *
 * The region stays in the table as long as it is allocated.  While it is
 * invalid it is closed, and the data path does not find it.  A lookup sees
 * either a complete registration or none.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "../core/errors.h"
#include "mr_fast.h"
#include "mw.h"

#define FAST_ACCESS							\
	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |		\
	 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC |		\
	 IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_OPTIONAL)

/* Smallest page size that users request; may be less than PAGE_SIZE. */
#define MIN_PAGE	4096

/**
 * struct sroce_fast - region for REG_MR
 * @mr: in the key table; first member
 * @lock: protects the transitions between invalid and valid, and @gone
 * @gone: it has been deregistered
 * @most: maximum number of pages of a registration
 * @pages: pages of the next registration
 * @count: number of entries in @pages
 * @shift: log2 of the page size
 */
struct sroce_fast {
	struct sroce_mr mr;
	spinlock_t lock; /* see above */
	bool gone;
	u32 most;
	void **pages;
	u32 count;
	u8 shift;
};

static struct sroce_fast *to_fast(struct sroce_mr *mr)
{
	return container_of(mr, struct sroce_fast, mr);
}

static struct sroce_fast *from_ib(struct ib_mr *ibmr)
{
	return to_fast(container_of(ibmr, struct sroce_mr, ib));
}

/* Context: RCU read side. */
static struct sroce_fast *find_fast(struct ib_pd *pd, u32 key)
{
	struct sroce_mr *mr;

	mr = sroce_mr_lookup(sroce_device(pd->device), key, SROCE_MR_FAST);
	return mr ? to_fast(mr) : NULL;
}

static bool is_valid(const struct sroce_fast *fast)
{
	lockdep_assert_held(&fast->lock);
	return sroce_mr_is_open(&fast->mr);
}

static bool list_fits(const struct sroce_fast *fast, const struct sroce_wr *wr)
{
	u64 bytes = (u64)fast->count << fast->shift;
	u64 skip = wr->bind.addr & ((1ull << fast->shift) - 1);
	u64 end;

	return wr->bind.bytes && skip < bytes &&
	       wr->bind.bytes <= bytes - skip &&
	       !check_add_overflow(wr->bind.addr, wr->bind.bytes - 1, &end);
}

static bool may_register(const struct sroce_fast *fast, struct ib_pd *pd,
			 const struct sroce_wr *wr)
{
	return !fast->gone && !is_valid(fast) && fast->mr.ib.pd == pd &&
	       !(wr->bind.access & ~FAST_ACCESS) &&
	       !ib_check_mr_access(pd->device, wr->bind.access) &&
	       list_fits(fast, wr);
}

/* It is closed, so nobody reads the members changed here. */
static void make_valid(struct sroce_fast *fast, const struct sroce_wr *wr)
{
	struct sroce_mr *mr = &fast->mr;

	mr->key = wr->bind.key;
	mr->access = wr->bind.access;
	mr->iova = wr->bind.addr;
	mr->length = wr->bind.bytes;
	mr->block_shift = fast->shift;
	mr->skip = wr->bind.addr & ((1ull << fast->shift) - 1);
	memcpy(mr->blocks, fast->pages, fast->count * sizeof(*mr->blocks));
	sroce_mr_open(mr);
}

u8 sroce_fast_register(struct ib_pd *pd, const struct sroce_wr *wr)
{
	u8 status = SROCE_MW_BIND_ERR;
	struct sroce_fast *fast;

	rcu_read_lock();
	fast = find_fast(pd, wr->bind.key);
	if (fast) {
		spin_lock_bh(&fast->lock);
		if (may_register(fast, pd, wr)) {
			make_valid(fast, wr);
			status = 0;
		}
		spin_unlock_bh(&fast->lock);
	}
	rcu_read_unlock();
	return status;
}

/*
 * Invalidating an invalid region is no error: the peer's SEND with invalidate
 * may have come first, or the owner's LOCAL_INV, if it no longer waits for the peer.
 * An invalid region keeps the rights of its last registration.
 */
static u8 fast_invalidate(struct sroce_fast *fast, struct ib_pd *pd, u32 key,
			  bool remote)
{
	/* the memory management operation error (11.6.2) */
	u8 status = SROCE_MW_BIND_ERR;

	spin_lock_bh(&fast->lock);
	if (!fast->gone && fast->mr.ib.pd == pd && fast->mr.key == key &&
	    (!remote || sroce_access_remote(fast->mr.access))) {
		if (is_valid(fast))
			sroce_mr_close(&fast->mr);
		status = 0;
	}
	spin_unlock_bh(&fast->lock);
	return status;
}

u8 sroce_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote)
{
	struct sroce_fast *fast;
	u8 status;

	rcu_read_lock();
	fast = find_fast(pd, key);
	status = fast ? fast_invalidate(fast, pd, key, remote) :
			sroce_mw_invalidate(pd, qpn, key);
	rcu_read_unlock();
	return status;
}

static struct sroce_fast *alloc_fast(struct ib_pd *pd, u32 max_pages)
{
	struct sroce_fast *fast;
	struct sroce_mr *mr;

	mr = sroce_mr_alloc(sizeof(*fast), pd, SROCE_MR_FAST, 0);
	if (!mr)
		return NULL;
	fast = to_fast(mr);
	/*
	 * Pages of the current registration, followed by those of the next one.
	 */
	mr->blocks = kvcalloc(max_pages, 2 * sizeof(*fast->pages), GFP_KERNEL);
	if (!mr->blocks) {
		kfree(fast);
		return NULL;
	}
	fast->pages = mr->blocks + max_pages;
	fast->most = max_pages;
	atomic_set(&mr->windows, -1);
	spin_lock_init(&fast->lock);
	return fast;
}

struct ib_mr *sroce_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_pages)
{
	struct sroce_fast *fast;
	int err;

	if (type != IB_MR_TYPE_MEM_REG)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_pages || max_pages > SROCE_MAX_FAST_PAGES)
		return ERR_PTR(-EINVAL);
	fast = alloc_fast(pd, max_pages);
	if (!fast)
		return ERR_PTR(-ENOMEM);
	err = sroce_mr_publish(&fast->mr);
	if (err) {
		kvfree(fast->mr.blocks);
		kfree(fast);
		return ERR_PTR(err);
	}
	return &fast->mr.ib;
}

/* The DMA address is an address of the direct map; see mem/mr.c. */
static int add_page(struct ib_mr *ibmr, u64 addr)
{
	struct sroce_fast *fast = from_ib(ibmr);

	if (fast->count == fast->most)
		return -ENOMEM;
	fast->pages[fast->count++] = ib_virt_dma_to_ptr(addr);
	return 0;
}

/* Sets the pages of the next registration; a valid one does not change. */
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n,
		    unsigned int *offset)
{
	struct sroce_fast *fast = from_ib(ibmr);

	if (fast->mr.kind != SROCE_MR_FAST || ibmr->page_size < MIN_PAGE ||
	    !is_power_of_2(ibmr->page_size))
		return -EINVAL;
	fast->count = 0;
	fast->shift = ilog2(ibmr->page_size);
	return ib_sg_to_pages(ibmr, sg, n, offset, add_page);
}

int sroce_dereg_any_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct sroce_fast *fast = from_ib(ibmr);

	if (fast->mr.kind != SROCE_MR_FAST)
		return sroce_dereg_mr(ibmr, udata);
	sroce_mr_unpublish(&fast->mr);
	spin_lock_bh(&fast->lock);
	fast->gone = true;
	if (is_valid(fast))
		sroce_mr_close(&fast->mr);
	spin_unlock_bh(&fast->lock);
	kvfree(fast->mr.blocks);
	kfree_rcu(fast, mr.rcu);
	return 0;
}
