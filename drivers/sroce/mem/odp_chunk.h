/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_CHUNK_H
#define SROCE_ODP_CHUNK_H

#include <linux/mm_types.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "../base/ref.h"

struct hmm_range;
struct pid;
struct sroce_odp_wq;

/*
 * Pages in a chunk; small, so that scattered accesses do not need large tables.
 */
#define SROCE_ODP_CHUNK_PAGES	256
#define SROCE_ODP_CHUNK_BYTES	(SROCE_ODP_CHUNK_PAGES * PAGE_SIZE)

/**
 * struct sroce_odp - on-demand access to an address space
 * @ref: references to the structure
 * @work: frees the structure from contexts that cannot
 * @mm: the address space; only the mm_struct is referenced
 * @process: the process that opened it
 * @queues: workqueues of the user
 * @lock: protects adding and removing chunks; taken outside mmap_lock
 * @chunks: by address / SROCE_ODP_CHUNK_BYTES; RCU
 * @count: number of chunks
 * @hand: index of the chunk that was last removed for lack of room
 * @closed: no chunk may be added
 * @faults: see struct sroce_odp_stats
 * @prefetches: see struct sroce_odp_stats
 * @invalidations: see struct sroce_odp_stats
 */
struct sroce_odp {
	refcount_t ref;
	struct work_struct work;
	struct mm_struct *mm;
	struct pid *process;
	struct sroce_odp_wq *queues;
	struct mutex lock;	/* see above */
	struct xarray chunks;
	u32 count;
	unsigned long hand;
	bool closed;
	atomic64_t faults;
	atomic64_t prefetches;
	atomic64_t invalidations;
};

/**
 * struct sroce_odp_chunk - part of the address space
 * @notifier: reports changes of the mappings
 * @odp: the address space
 * @ref: references to the structure: one for the table, one per fault in
 *	progress
 * @users: one for being usable, one per hold; 0 while pages are removed
 * @pausing: pages are to be removed, so lookups fail.  A hint: without it, CPUs that
 *	hold the chunk in turn could delay the notifier for any time
 * @lock: serializes writers of the table; taken inside mmap_lock and the locks
 *	of reclaim
 * @gone: removed from the table; written with @lock held
 * @writable: pages that may be written to
 * @pages: kernel address of each page that is present, or NULL
 * @rcu: delays freeing until lookups have ended
 */
struct sroce_odp_chunk {
	struct mmu_interval_notifier notifier;
	struct sroce_odp *odp;
	refcount_t ref;
	struct sroce_ref users;
	bool pausing;
	struct mutex lock;	/* see above */
	bool gone;
	DECLARE_BITMAP(writable, SROCE_ODP_CHUNK_PAGES);
	void *pages[SROCE_ODP_CHUNK_PAGES];
	struct rcu_head rcu;
};

static inline unsigned long sroce_odp_chunk_start(const struct sroce_odp_chunk *chunk)
{
	return chunk->notifier.interval_tree.start;
}

/**
 * sroce_odp_chunk_get() - find or add a chunk
 * @odp: address space, whose mm_users the caller keeps above 0
 * @index: address / SROCE_ODP_CHUNK_BYTES
 *
 * Context: process, may sleep.
 * Return: a reference, EFAULT if @odp is closed, or another errno.
 */
struct sroce_odp_chunk *sroce_odp_chunk_get(struct sroce_odp *odp, unsigned long index);
/* Drop the reference of sroce_odp_chunk_get().  Context: any. */
void sroce_odp_chunk_put(struct sroce_odp_chunk *chunk);

/**
 * sroce_odp_chunk_map() - enter pages into the table
 * @chunk: referenced
 * @range: result of hmm_range_fault(); pages without HMM_PFN_VALID are left out
 *
 * Context: process, may sleep.
 * Return: number of pages that have become present; EBUSY if the mappings have changed since;
 * EAGAIN if the chunk has been removed; EFAULT if the kernel cannot access a page.
 */
int sroce_odp_chunk_map(struct sroce_odp_chunk *chunk, const struct hmm_range *range);

#endif /* SROCE_ODP_CHUNK_H */
