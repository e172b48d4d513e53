// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * On-demand paging: regions whose memory is not pinned and follows the
 * process's mappings.  The address space is divided into chunks.  A chunk has a
 * table of the pages that are present, and an MMU notifier that removes pages
 * from it.
 *
 * The data path reads the tables where it cannot sleep.  It holds a chunk for
 * one burst, and the notifier waits for that.  Pages that are present have no
 * reference of the driver.  Pages that are attached to packets get one while
 * the chunk is held.
 */
#include <linux/bitmap.h>
#include <linux/hmm.h>
#include <linux/mm.h>
#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include "../base/deferred.h"
#include "../base/ref.h"
#include "../core/params.h"
#include "odp.h"
#include "odp_chunk.h"
#include "odp_wq.h"

/* Chunk tables */

void sroce_odp_chunk_put(struct sroce_odp_chunk *chunk)
{
	if (refcount_dec_and_test(&chunk->ref))
		kfree_rcu(chunk, rcu);
}

void sroce_odp_put(struct sroce_odp_chunk *chunk)
{
	sroce_ref_put(&chunk->users);
}

/* Refuse new holds, and wait until nobody holds the chunk. */
static void chunk_pause(struct sroce_odp_chunk *chunk)
{
	lockdep_assert_held(&chunk->lock);
	WRITE_ONCE(chunk->pausing, true);
	sroce_ref_drain(&chunk->users);
}

/* The same without a wait: false, and nothing has changed, if somebody holds the chunk. */
static bool chunk_try_pause(struct sroce_odp_chunk *chunk)
{
	lockdep_assert_held(&chunk->lock);
	if (!sroce_ref_try_drain(&chunk->users))
		return false;
	WRITE_ONCE(chunk->pausing, true);
	return true;
}

static void chunk_resume(struct sroce_odp_chunk *chunk)
{
	lockdep_assert_held(&chunk->lock);
	WRITE_ONCE(chunk->pausing, false);
	sroce_ref_revive(&chunk->users);
}

/*
 * A writable page may have been written to, so mark it dirty.  The process
 * still owns it: the notifier has not returned yet.
 */
static void drop_page(struct sroce_odp_chunk *chunk, u32 i)
{
	if (test_bit(i, chunk->writable))
		folio_mark_dirty(virt_to_folio(chunk->pages[i]));
	clear_bit(i, chunk->writable);
	WRITE_ONCE(chunk->pages[i], NULL);
}

static u32 drop_pages(struct sroce_odp_chunk *chunk, u32 first, u32 last)
{
	u32 i, n = 0;

	lockdep_assert_held(&chunk->lock);
	for (i = first; i <= last; i++) {
		if (!chunk->pages[i])
			continue;
		drop_page(chunk, i);
		n++;
	}
	return n;
}

static bool any_present(const struct sroce_odp_chunk *chunk, u32 first,
			u32 last)
{
	while (first <= last)
		if (chunk->pages[first++])
			return true;
	return false;
}

/*
 * Remove pages @first to @last from the table.  Returns false if somebody holds the chunk and
 * the caller must not wait.
 */
static bool unmap_pages(struct sroce_odp_chunk *chunk, u32 first, u32 last, bool wait)
{
	lockdep_assert_held(&chunk->lock);
	if (!any_present(chunk, first, last))
		return true;
	if (wait)
		chunk_pause(chunk);
	else if (!chunk_try_pause(chunk))
		return false;
	atomic64_add(drop_pages(chunk, first, last),
		     &chunk->odp->invalidations);
	chunk_resume(chunk);
	return true;
}

/*
 * The kernel is about to change the mappings of the range.  This waits for the
 * holders of the chunk.  They have bottom halves off, so the wait is short.  The OOM reaper
 * must not wait at all; it tries again.
 */
static bool chunk_invalidate(struct mmu_interval_notifier *notifier,
			     const struct mmu_notifier_range *range,
			     unsigned long seq)
{
	struct sroce_odp_chunk *chunk =
		container_of(notifier, struct sroce_odp_chunk, notifier);
	unsigned long start = max(range->start, sroce_odp_chunk_start(chunk));
	unsigned long last = min(range->end - 1, sroce_odp_chunk_start(chunk) +
						 SROCE_ODP_CHUNK_BYTES - 1);
	bool wait = mmu_notifier_range_blockable(range);
	bool done;

	if (wait)
		mutex_lock(&chunk->lock);
	else if (!mutex_trylock(&chunk->lock))
		return false;
	done = unmap_pages(chunk, (start - sroce_odp_chunk_start(chunk)) >> PAGE_SHIFT,
			   (last - sroce_odp_chunk_start(chunk)) >> PAGE_SHIFT, wait);
	if (done)
		mmu_interval_set_seq(notifier, seq);
	mutex_unlock(&chunk->lock);
	return done;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = chunk_invalidate,
};

/* Adding and removing chunks */

static void remove_chunk(struct sroce_odp *odp, struct sroce_odp_chunk *chunk)
{
	lockdep_assert_held(&odp->lock);
	xa_erase(&odp->chunks, sroce_odp_chunk_start(chunk) / SROCE_ODP_CHUNK_BYTES);
	odp->count--;
	mutex_lock(&chunk->lock);
	WRITE_ONCE(chunk->gone, true);
	/* Not resumed: lookups that still find the chunk must not hold it. */
	chunk_pause(chunk);
	drop_pages(chunk, 0, SROCE_ODP_CHUNK_PAGES - 1);
	mutex_unlock(&chunk->lock);
	mmu_interval_notifier_remove(&chunk->notifier);
	sroce_odp_chunk_put(chunk);
}

/* At the limit remove a chunk, round robin. */
static void make_chunk_room(struct sroce_odp *odp)
{
	struct sroce_odp_chunk *chunk;

	lockdep_assert_held(&odp->lock);
	if (odp->count < SROCE_ODP_MAX_CHUNKS)
		return;
	chunk = xa_find_after(&odp->chunks, &odp->hand, ULONG_MAX, XA_PRESENT);
	if (!chunk) {
		odp->hand = 0;
		chunk = xa_find(&odp->chunks, &odp->hand, ULONG_MAX,
				XA_PRESENT);
	}
	remove_chunk(odp, chunk);
}

static struct sroce_odp_chunk *alloc_chunk(struct sroce_odp *odp)
{
	struct sroce_odp_chunk *chunk = kzalloc_obj(*chunk,
						    GFP_KERNEL_ACCOUNT);

	if (!chunk)
		return NULL;
	chunk->odp = odp;
	refcount_set(&chunk->ref, 1);
	sroce_ref_init(&chunk->users);
	mutex_init(&chunk->lock);
	return chunk;
}

/* The caller keeps mm_users above 0. */
static struct sroce_odp_chunk *add_chunk(struct sroce_odp *odp,
					 unsigned long index)
{
	struct sroce_odp_chunk *chunk = alloc_chunk(odp);
	int err;

	if (!chunk)
		return ERR_PTR(-ENOMEM);
	make_chunk_room(odp);
	err = mmu_interval_notifier_insert(&chunk->notifier, odp->mm,
					   index * SROCE_ODP_CHUNK_BYTES, SROCE_ODP_CHUNK_BYTES,
					   &notifier_ops);
	if (err) {
		kfree(chunk);
		return ERR_PTR(err);
	}
	err = xa_err(xa_store(&odp->chunks, index, chunk, GFP_KERNEL_ACCOUNT));
	if (err) {
		mmu_interval_notifier_remove(&chunk->notifier);
		kfree(chunk);
		return ERR_PTR(err);
	}
	odp->count++;
	return chunk;
}

struct sroce_odp_chunk *sroce_odp_chunk_get(struct sroce_odp *odp, unsigned long index)
{
	struct sroce_odp_chunk *chunk;

	mutex_lock(&odp->lock);
	if (odp->closed) {
		chunk = ERR_PTR(-EFAULT);
	} else {
		chunk = xa_load(&odp->chunks, index);
		if (!chunk)
			chunk = add_chunk(odp, index);
	}
	if (!IS_ERR(chunk))
		refcount_inc(&chunk->ref);
	mutex_unlock(&odp->lock);
	return chunk;
}

/*
 * Adds a first chunk, because the first notifier of an mm needs mmap_lock for
 * writing, which a later fault should not wait for.
 */
struct sroce_odp *sroce_odp_open(void)
{
	struct sroce_odp *odp = kzalloc_obj(*odp, GFP_KERNEL_ACCOUNT);
	struct sroce_odp_chunk *chunk;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	refcount_set(&odp->ref, 1);
	mutex_init(&odp->lock);
	xa_init(&odp->chunks);
	odp->mm = current->mm;
	mmgrab(odp->mm);
	odp->process = get_pid(task_tgid(current));
	odp->queues = sroce_odp_wq_get();
	chunk = odp->queues ? sroce_odp_chunk_get(odp, 0) : ERR_PTR(-ENOMEM);
	if (IS_ERR(chunk)) {
		sroce_odp_close(odp);
		return ERR_CAST(chunk);
	}
	sroce_odp_chunk_put(chunk);
	return odp;
}

void sroce_odp_close(struct sroce_odp *odp)
{
	struct sroce_odp_chunk *chunk;
	unsigned long index;

	if (!odp)
		return;
	mutex_lock(&odp->lock);
	odp->closed = true;
	xa_for_each(&odp->chunks, index, chunk) {
		remove_chunk(odp, chunk);
		cond_resched();
	}
	mutex_unlock(&odp->lock);
	sroce_odp_release(odp);
}

struct sroce_odp_wq *sroce_odp_queues(const struct sroce_odp *odp)
{
	return odp->queues;
}

void sroce_odp_hold(struct sroce_odp *odp)
{
	refcount_inc(&odp->ref);
}

static void free_odp(struct sroce_odp *odp)
{
	xa_destroy(&odp->chunks);
	sroce_odp_wq_put(odp->queues);
	put_pid(odp->process);
	mmdrop(odp->mm);
	kfree(odp);
}

void sroce_odp_release(struct sroce_odp *odp)
{
	if (refcount_dec_and_test(&odp->ref))
		free_odp(odp);
}

static void free_later(struct work_struct *work)
{
	free_odp(container_of(work, struct sroce_odp, work));
}

void sroce_odp_release_later(struct sroce_odp *odp)
{
	if (!refcount_dec_and_test(&odp->ref))
		return;
	INIT_WORK(&odp->work, free_later);
	sroce_defer(&odp->work);
}

/* Lookup on the data path */

static bool page_usable(const struct sroce_odp_chunk *chunk, u32 i, bool write)
{
	return READ_ONCE(chunk->pages[i]) &&
	       (!write || test_bit(i, chunk->writable));
}

/* Number of consecutive usable pages from @first on. */
static u32 count_pages_in_row(const struct sroce_odp_chunk *chunk, u32 first, u32 end,
			      bool write)
{
	u32 i = first;

	while (i < end && page_usable(chunk, i, write))
		i++;
	return i - first;
}

/* Number of these pages that are contiguous in the direct map. */
static u32 count_adjoining(void *const *page, u32 run)
{
	u32 n = 1;

	while (n < run && READ_ONCE(page[n]) == page[0] + n * PAGE_SIZE)
		n++;
	return n;
}

static bool describe_pages(struct sroce_odp_chunk *chunk, u64 va, u64 most,
			   bool write, struct sroce_odp_piece *piece)
{
	u32 offset = offset_in_page(va);
	u32 first = (va - sroce_odp_chunk_start(chunk)) >> PAGE_SHIFT;
	u64 pages = min_t(u64, SROCE_ODP_RUN_PAGES, ((most - 1 + offset) >> PAGE_SHIFT) + 1);
	u32 run = count_pages_in_row(chunk, first, min_t(u64, SROCE_ODP_CHUNK_PAGES, first + pages),
				     write);
	u64 bytes = min(most, (u64)run * PAGE_SIZE - offset);
	u32 whole;

	if (!run)
		return false;
	whole = count_adjoining(&chunk->pages[first], run);
	piece->p = chunk->pages[first] + offset;
	piece->bytes = min(bytes, (u64)whole * PAGE_SIZE - offset);
	piece->block = &chunk->pages[first + whole - 1];
	piece->beyond = bytes - piece->bytes;
	return true;
}

struct sroce_odp_chunk *sroce_odp_get(struct sroce_odp *odp, u64 va, u64 most,
				      bool write, struct sroce_odp_piece *piece)
{
	struct sroce_odp_chunk *chunk;

	rcu_read_lock();
	chunk = xa_load(&odp->chunks, va / SROCE_ODP_CHUNK_BYTES);
	if (chunk && (READ_ONCE(chunk->pausing) || !sroce_ref_get(&chunk->users)))
		chunk = NULL;
	rcu_read_unlock();
	if (!chunk)
		return NULL;
	if (describe_pages(chunk, va, most, write, piece))
		return chunk;
	sroce_odp_put(chunk);
	return NULL;
}

bool sroce_odp_present(struct sroce_odp *odp, u64 va, u64 length, bool write)
{
	struct sroce_odp_piece piece;
	struct sroce_odp_chunk *chunk;
	u64 n;

	for (; length; va += n, length -= n) {
		chunk = sroce_odp_get(odp, va, length, write, &piece);
		if (!chunk)
			return false;
		sroce_odp_put(chunk);
		n = piece.bytes + piece.beyond;
	}
	return true;
}

/* Entering pages */

/*
 * False for memory that is not in the kernel's direct map (memfd_secret()); the
 * driver must not access it.
 */
static bool page_reachable(const void *p)
{
	u8 byte;

	return !copy_from_kernel_nofault(&byte, p, sizeof(byte));
}

/*
 * Returns 1 if the page has become present or writable, 0 if it was, or an
 * errno.
 */
static int map_page(struct sroce_odp_chunk *chunk, u32 i, unsigned long pfn)
{
	void *p = page_address(hmm_pfn_to_page(pfn));
	bool write = pfn & HMM_PFN_WRITE;

	lockdep_assert_held(&chunk->lock);
	/*
	 * The notifier should have removed a stale page.  If not, believe HMM.
	 */
	if (chunk->pages[i] && chunk->pages[i] != p)
		unmap_pages(chunk, i, i, true);
	if (chunk->pages[i] && (!write || test_bit(i, chunk->writable)))
		return 0;
	if (!page_reachable(p))
		return -EFAULT;
	if (write)
		set_bit(i, chunk->writable);
	WRITE_ONCE(chunk->pages[i], p);
	return 1;
}

int sroce_odp_chunk_map(struct sroce_odp_chunk *chunk, const struct hmm_range *range)
{
	u32 first = (range->start - sroce_odp_chunk_start(chunk)) >> PAGE_SHIFT;
	u32 i, n = (range->end - range->start) >> PAGE_SHIFT;
	int done = 0;
	int err = 0;

	mutex_lock(&chunk->lock);
	if (chunk->gone)
		err = -EAGAIN;
	else if (mmu_interval_read_retry(range->notifier, range->notifier_seq))
		err = -EBUSY;
	for (i = 0; i < n && err >= 0; i++) {
		/* Without HMM_PFN_REQ_FAULT there are gaps. */
		if (!(range->hmm_pfns[i] & HMM_PFN_VALID))
			continue;
		err = map_page(chunk, first + i, range->hmm_pfns[i]);
		done += err > 0;
	}
	mutex_unlock(&chunk->lock);
	return err < 0 ? err : done;
}

void sroce_odp_stats(const struct sroce_odp *odp, struct sroce_odp_stats *stats)
{
	stats->faults = atomic64_read(&odp->faults);
	stats->prefetches = atomic64_read(&odp->prefetches);
	stats->invalidations = atomic64_read(&odp->invalidations);
}
