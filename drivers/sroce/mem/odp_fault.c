// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Page-in of on-demand memory, for a QP that needs it and for ibv_advise_mr().
 * Paging in sleeps, possibly for long, so it has its own work items.  Destroying
 * a QP or region does not wait for them.
 */
#include <linux/slab.h>
#include "../core/params.h"
#include "odp.h"
#include "odp_fault.h"
#include "odp_page_in.h"
#include "odp_wq.h"

/* Page-in for a QP */

static bool same_range(const struct sroce_fault_range *a,
		       const struct sroce_fault_range *b)
{
	return a->odp == b->odp && a->va == b->va && a->write == b->write;
}

/* Other errors, such as lack of memory, may go away. */
static bool is_permanent(int err)
{
	return err == -EFAULT || err == -EPERM || err == -EINVAL;
}

/* Bytes ahead may not be mapped: the message can end before them. */
static int page_in_range(const struct sroce_fault_range *r)
{
	enum sroce_odp_why why = r->write ? SROCE_ODP_WRITE : SROCE_ODP_READ;
	int err = r->length ? sroce_odp_fault(r->odp, r->va, r->length, why) : 0;

	if (!err && r->ahead)
		sroce_odp_fault(r->odp, r->va + r->length, r->ahead, SROCE_ODP_AHEAD);
	return err;
}

static void page_in(struct work_struct *work)
{
	struct sroce_fault *fault = container_of(work, struct sroce_fault,
						 work);
	u8 i;

	fault->err = 0;
	for (i = 0; i < fault->count; i++) {
		struct sroce_fault_range *r = &fault->ranges[i];
		int err = fault->err ?: page_in_range(r);

		if (!fault->err && err) {
			fault->err = err;
			fault->failed = *r;
		}
		sroce_odp_release(r->odp);
	}
	fault->count = 0;
	/* Returns ownership to the QP; pairs with sroce_fault_busy(). */
	smp_store_release(&fault->busy, false);
	fault->resume(fault);
	kref_put(fault->owner, fault->release);
}

void sroce_fault_setup(struct sroce_fault *fault, struct kref *owner,
		       void (*release)(struct kref *owner),
		       void (*resume)(struct sroce_fault *fault))
{
	fault->owner = owner;
	fault->release = release;
	fault->resume = resume;
	INIT_WORK(&fault->work, page_in);
}

/*
 * Releases later, because the region may have been deregistered, and a softirq
 * must not drop the last reference.
 */
static void drop_ranges(struct sroce_fault *fault)
{
	while (fault->count)
		sroce_odp_release_later(fault->ranges[--fault->count].odp);
}

void sroce_fault_reset(struct sroce_fault *fault)
{
	fault->outdated = true;
	if (!sroce_fault_busy(fault) || !cancel_work(&fault->work))
		return;
	drop_ranges(fault);
	fault->busy = false;
	kref_put(fault->owner, fault->release);
}

/* Add an entry of an SGL to the ranges if it is on demand and not present. */
static int add_fault_range(struct sroce_fault *fault, const struct sroce_sgl *memory,
			   u32 key, u64 addr, u32 len, u32 ahead)
{
	bool write = sroce_access_writes(memory->access);
	struct sroce_fault_range *r = &fault->ranges[fault->count];
	struct sroce_mr *mr;
	u64 va;

	mr = sroce_mr_get(memory->pd, memory->qpn, key, addr, len + ahead,
			  memory->access);
	if (!mr && len && ahead) {
		ahead = 0;
		mr = sroce_mr_get(memory->pd, memory->qpn, key, addr, len,
				  memory->access);
	}
	if (!mr)
		return len ? -EFAULT : 0;
	va = sroce_mr_va(mr, addr);
	if (mr->odp && !sroce_odp_present(mr->odp, va, len + ahead, write)) {
		sroce_odp_hold(mr->odp);
		*r = (struct sroce_fault_range) { mr->odp, va, len, ahead, write };
		fault->count++;
	}
	sroce_mr_put(mr);
	return 0;
}

static int add_fault_ranges(struct sroce_fault *fault,
			    const struct sroce_sgl *memory, u32 at, u32 len, u32 ahead)
{
	int err = 0;
	u32 i, n, more;

	len = min(len, SROCE_FAULT_BYTES);
	for (i = 0; i < memory->num_sge && (len || ahead) && !err; i++) {
		const struct sroce_sge *sge = &memory->sge[i];

		if (fault->count == SROCE_FAULT_RANGES)
			break;
		if (at >= sge->length) {
			at -= sge->length;
			continue;
		}
		n = min(len, sge->length - at);
		more = min(ahead, sge->length - at - n);
		err = add_fault_range(fault, memory, sge->lkey, sge->addr + at, n, more);
		at = 0;
		len -= n;
		ahead -= more;
	}
	return err;
}

/* True if one of the ranges is the one that failed last time. */
static bool failed_before(const struct sroce_fault *fault)
{
	u8 i;

	for (i = 0; i < fault->count; i++)
		if (same_range(&fault->ranges[i], &fault->failed))
			return true;
	return false;
}

/*
 * Decide from the last result whether to try again.  A range that is paged in and
 * removed again may be paged in any number of times.  This costs the process as
 * much as the driver, and the peer limits how long it waits.
 */
static bool may_retry(struct sroce_fault *fault)
{
	if (!fault->err || !failed_before(fault)) {
		fault->tries = 0;
		return true;
	}
	return !is_permanent(fault->err) && ++fault->tries <= SROCE_FAULT_TRIES;
}

int sroce_fault_start(struct sroce_fault *fault,
		      const struct sroce_sgl *memory, u32 at, u32 len, u32 ahead)
{
	int err;

	if (sroce_fault_busy(fault))
		return 0;
	if (fault->outdated) {
		fault->outdated = false;
		fault->err = 0;
		fault->tries = 0;
	}
	err = add_fault_ranges(fault, memory, at, len, ahead);
	if (!err && fault->count && !may_retry(fault))
		err = -EFAULT;
	if (err) {
		drop_ranges(fault);
		fault->err = 0;
		fault->tries = 0;
		return err;
	}
	if (!fault->count) {
		/* The memory has become present meanwhile. */
		fault->resume(fault);
		return 0;
	}
	kref_get(fault->owner);
	fault->busy = true;
	/*
	 * Ranges can belong to several users of one PD; use the first one's
	 * workqueue.
	 */
	queue_work(sroce_odp_queues(fault->ranges[0].odp)->faults, &fault->work);
	return 0;
}

/* Prefetch by ibv_advise_mr() */

/**
 * struct advice - prefetch in progress
 * @work: runs it asynchronously
 * @why: enum sroce_odp_why
 * @count: entries in @ranges
 * @ranges: memory to page in
 */
struct advice {
	struct work_struct work;
	enum sroce_odp_why why;
	u32 count;
	struct sroce_fault_range ranges[];
};

static void free_advice(struct advice *a)
{
	while (a->count)
		sroce_odp_release(a->ranges[--a->count].odp);
	kvfree(a);
}

static int run_advice(struct advice *a)
{
	int err = 0;
	u32 i;

	for (i = 0; i < a->count && !err; i++)
		err = sroce_odp_fault(a->ranges[i].odp, a->ranges[i].va,
				      a->ranges[i].length, a->why);
	return err;
}

static void run_advice_later(struct work_struct *work)
{
	struct advice *a = container_of(work, struct advice, work);

	run_advice(a);
	free_advice(a);
}

/* A region of another PD is treated like none, because keys cannot be guessed. */
static int check_sge(const struct sroce_mr *mr, struct ib_pd *pd,
		     const struct ib_sge *sge, enum sroce_odp_why why)
{
	if (mr->ib.pd != pd)
		return -ENOENT;
	if (!mr->odp || mr->kind != SROCE_MR_USER)
		return -EINVAL;
	if (why == SROCE_ODP_PREFETCH_WRITE && !ib_access_writable(mr->access))
		return -EPERM;
	if (sge->addr < mr->iova || sge->length > mr->length ||
	    sge->addr - mr->iova > mr->length - sge->length)
		return -EFAULT;
	return 0;
}

static int take_range(struct advice *a, const struct sroce_mr *mr,
		      struct ib_pd *pd, const struct ib_sge *sge)
{
	int err = check_sge(mr, pd, sge, a->why);

	if (!err && sge->length) {
		sroce_odp_hold(mr->odp);
		a->ranges[a->count++] = (struct sroce_fault_range) {
			.odp = mr->odp,
			.va = sroce_mr_va(mr, sge->addr),
			.length = sge->length,
		};
	}
	return err;
}

/* Errno for a key without a region; does not reveal windows of other PDs. */
static int no_region(struct ib_pd *pd, u32 key)
{
	struct sroce_mr *mr;
	int err;

	rcu_read_lock();
	mr = sroce_mr_lookup(sroce_device(pd->device), key, SROCE_MR_WINDOW);
	err = mr && mr->ib.pd == pd ? -EINVAL : -ENOENT;
	rcu_read_unlock();
	return err;
}

/* Holds the region briefly, the address space until the prefetch ends. */
static int take_sge(struct advice *a, struct ib_pd *pd,
		    const struct ib_sge *sge)
{
	struct sroce_mr *mr;
	int err;

	local_bh_disable();
	mr = sroce_mr_find(sroce_device(pd->device), sge->lkey);
	if (mr) {
		err = take_range(a, mr, pd, sge);
		sroce_mr_put(mr);
	} else {
		err = no_region(pd, sge->lkey);
	}
	local_bh_enable();
	return err;
}

static int advice_why(enum ib_uverbs_advise_mr_advice advice,
		      enum sroce_odp_why *why)
{
	switch (advice) {
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:
		*why = SROCE_ODP_PREFETCH;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:
		*why = SROCE_ODP_PREFETCH_WRITE;
		return 0;
	case IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT:
		*why = SROCE_ODP_PREFETCH_PRESENT;
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 num_sge,
		    struct uverbs_attr_bundle *attrs)
{
	enum sroce_odp_why why;
	struct advice *a;
	u32 i;
	int err;

	err = advice_why(advice, &why);
	if (err)
		return err;
	a = kvzalloc(struct_size(a, ranges, num_sge), SROCE_GFP_SIZED);
	if (!a)
		return -ENOMEM;
	INIT_WORK(&a->work, run_advice_later);
	a->why = why;
	for (i = 0; i < num_sge && !err; i++)
		err = take_sge(a, pd, &sges[i]);
	if (!err && a->count && !(flags & IB_UVERBS_ADVISE_MR_FLAG_FLUSH)) {
		queue_work(sroce_odp_queues(a->ranges[0].odp)->advice, &a->work);
		return 0;
	}
	if (!err)
		err = run_advice(a);
	free_advice(a);
	return err;
}
