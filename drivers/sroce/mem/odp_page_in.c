// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Paging in memory of a process, and entering its pages into the tables of odp.c.  This
 * sleeps, possibly for good: a file system or a userfaultfd may never provide a page.
 */
#include <linux/hmm.h>
#include <linux/memcontrol.h>
#include <linux/mm.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/userfaultfd_k.h>
#include "../core/params.h"
#include "odp_chunk.h"
#include "odp_page_in.h"

/* Retry for this long while the mappings keep changing. */
#define HMM_TIMEOUT	msecs_to_jiffies(HMM_RANGE_DEFAULT_TIMEOUT)
/* Waits in a row for one page.  A page of a file that cannot be read takes one each time. */
#define MAX_WAITS	16

/**
 * struct progress - of paging in a batch
 * @waited: the mmap_lock was released in this round
 * @va: page of the last wait
 * @waits: waits in a row for it
 * @errors: pages that were faulted because HMM reported an error
 */
struct progress {
	bool waited;
	unsigned long va;
	unsigned int waits;
	DECLARE_BITMAP(errors, SROCE_ODP_BATCH);
};

static bool why_writes(enum sroce_odp_why why)
{
	return why == SROCE_ODP_WRITE || why == SROCE_ODP_AHEAD ||
	       why == SROCE_ODP_PREFETCH_WRITE;
}

/*
 * True if a thread of the process uses the address space.  Other processes that share it
 * (CLONE_VM) do not count.  Its pointer is only compared, so nothing has to keep it.
 */
static bool process_lives(const struct sroce_odp *odp)
{
	struct task_struct *leader, *thread;
	bool lives = false;

	rcu_read_lock();
	leader = pid_task(odp->process, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, thread) {
			lives = READ_ONCE(thread->mm) == odp->mm;
			if (lives)
				break;
		}
	}
	rcu_read_unlock();
	return lives;
}

/* After a wait: the region and its process still exist. */
static bool may_go_on(const struct sroce_odp_chunk *chunk)
{
	return !READ_ONCE(chunk->gone) && process_lives(chunk->odp);
}

/* Ask HMM which pages of @range the process has. */
static int ask_hmm(struct mm_struct *mm, struct hmm_range *range)
{
	int err;

	range->notifier_seq = mmu_interval_read_begin(range->notifier);
	mmap_read_lock(mm);
	err = hmm_range_fault(range);
	mmap_read_unlock(mm);
	return err;
}

/*
 * Whether a page of @vma, which may be NULL, may be paged in.  Special mappings such as [vvar]
 * expect no fault of another process.  One that has neither flag needs FAULT_FLAG_REMOTE.
 * Memory ahead is not worth a wait for another process.
 */
static int may_fault(struct vm_area_struct *vma, enum sroce_odp_why why)
{
	if (!vma || vma->vm_flags & (VM_IO | VM_PFNMAP) || !(vma->vm_flags & VM_READ))
		return -EFAULT;
	mmap_assert_locked(vma->vm_mm);
	if (why_writes(why) && !(vma->vm_flags & VM_WRITE))
		return -EPERM;
	if (why == SROCE_ODP_AHEAD && userfaultfd_armed(vma))
		return -EAGAIN;
	return 0;
}

static void note_wait(struct progress *p, unsigned long va)
{
	p->waits = p->va == va ? p->waits + 1 : 1;
	p->va = va;
	p->waited = true;
}

/*
 * Let the process have a page.  After a wait, the process may have replaced the mapping, so a
 * new attempt is for the caller, who asks HMM again.  A repeated fault (FAULT_FLAG_TRIED)
 * would keep the mmap_lock during the next wait.
 */
static int fault_page(struct mm_struct *mm, unsigned long va, enum sroce_odp_why why,
		      struct progress *p)
{
	unsigned int flags = FAULT_FLAG_REMOTE | FAULT_FLAG_ALLOW_RETRY | FAULT_FLAG_KILLABLE |
			     (why_writes(why) ? FAULT_FLAG_WRITE : 0);
	struct vm_area_struct *vma;
	vm_fault_t fault;
	int err;

	mmap_read_lock(mm);
	vma = vma_lookup(mm, va);
	err = may_fault(vma, why);
	fault = err ? 0 : handle_mm_fault(vma, va, flags, NULL);
	if (fault & (VM_FAULT_RETRY | VM_FAULT_COMPLETED))
		note_wait(p, va);
	else
		mmap_read_unlock(mm);
	return err ?: vm_fault_to_errno(fault, 0);
}

/*
 * Let the process have the pages of @range that it has not, until the first that took a wait.
 * Returns 0 if it has all, EBUSY if @range has to be looked up again, or another errno.
 * hmm_range_fault() must not do this: it would hold the mmap_lock while it waits for a file,
 * and would refuse pages of a userfaultfd.
 */
static int fault_missing(struct mm_struct *mm, const struct hmm_range *range,
			 enum sroce_odp_why why, struct progress *p)
{
	unsigned long wanted = HMM_PFN_VALID | (why_writes(why) ? HMM_PFN_WRITE : 0);
	unsigned long i, n = (range->end - range->start) >> PAGE_SHIFT;
	int result = 0;

	for (i = 0; i < n && !p->waited; i++) {
		unsigned long pfn = range->hmm_pfns[i];
		int err;

		/* A fault brings a huge page back from a device.  Other errors stay. */
		if (pfn & HMM_PFN_ERROR && __test_and_set_bit(i, p->errors))
			return -EFAULT;
		if ((pfn & wanted) == wanted)
			continue;
		err = fault_page(mm, range->start + i * PAGE_SIZE, why, p);
		if (err)
			return err;
		result = -EBUSY;
	}
	return result;
}

/*
 * @start and @end are page aligned.  Returns the number of pages that have
 * become present, or an errno.
 */
static int fault_batch(struct sroce_odp_chunk *chunk, unsigned long start,
		       unsigned long end, enum sroce_odp_why why)
{
	struct mm_struct *mm = chunk->odp->mm;
	unsigned long until = jiffies + HMM_TIMEOUT;
	unsigned long pfns[SROCE_ODP_BATCH] = {};
	struct hmm_range range = {
		.notifier = &chunk->notifier,
		.start = start,
		.end = end,
		.hmm_pfns = pfns,
	};
	struct progress p = {};
	int err;

	do {
		p.waited = false;
		err = ask_hmm(mm, &range);
		if (!err && why != SROCE_ODP_PREFETCH_PRESENT)
			err = fault_missing(mm, &range, why, &p);
		if (!err)
			err = sroce_odp_chunk_map(chunk, &range);
		if (!p.waited)
			continue;
		if (!may_go_on(chunk))
			return -EAGAIN;
		if (p.waits == MAX_WAITS)
			return -EFAULT;
		/* The limit is for changes of the mappings, not for waits. */
		until = jiffies + HMM_TIMEOUT;
	} while (err == -EBUSY && time_before(jiffies, until) &&
		 !fatal_signal_pending(current));
	return err;
}

static void count_faults(struct sroce_odp *odp, enum sroce_odp_why why,
			 u32 pages)
{
	atomic64_add(pages, why <= SROCE_ODP_AHEAD ? &odp->faults :
						     &odp->prefetches);
}

/* Fault in the part of the range that lies in the chunk of @start. */
static int fault_chunk(struct sroce_odp *odp, unsigned long start,
		       unsigned long end, enum sroce_odp_why why)
{
	struct sroce_odp_chunk *chunk = sroce_odp_chunk_get(odp, start / SROCE_ODP_CHUNK_BYTES);
	int n = 0;

	if (IS_ERR(chunk))
		return PTR_ERR(chunk);
	while (start < end && n >= 0) {
		unsigned long stop = min(end, start + SROCE_ODP_BATCH * PAGE_SIZE);

		n = fault_batch(chunk, start, stop, why);
		if (n > 0)
			count_faults(odp, why, n);
		start = stop;
		cond_resched();
	}
	sroce_odp_chunk_put(chunk);
	return min(n, 0);
}

/*
 * Faults of several workers keep the memory of a process that has exited, so each
 * has to end soon.  The memory cgroup of such a process is not charged any more.
 */
static int fault_range(struct sroce_odp *odp, unsigned long start,
		       unsigned long end, enum sroce_odp_why why)
{
	unsigned long stop;
	int err = 0;

	for (; start < end && !err; start = stop) {
		if (!process_lives(odp))
			return -EFAULT;
		stop = min(end, ALIGN_DOWN(start, SROCE_ODP_CHUNK_BYTES) + SROCE_ODP_CHUNK_BYTES);
		err = fault_chunk(odp, start, stop, why);
		if (fatal_signal_pending(current))
			err = err ?: -EINTR;
	}
	return err;
}

int sroce_odp_fault(struct sroce_odp *odp, u64 va, u64 length,
		    enum sroce_odp_why why)
{
	struct mem_cgroup *memcg, *old;
	u64 end;
	int err;

	if (check_add_overflow(va, length, &end) || end > odp->mm->task_size)
		return -EFAULT;
	/* The memory of a process that has exited may have been freed. */
	if (!mmget_not_zero(odp->mm))
		return -EFAULT;
	/* Charge the tables to the memory cgroup of the process. */
	memcg = get_mem_cgroup_from_mm(odp->mm);
	old = set_active_memcg(memcg);
	err = fault_range(odp, ALIGN_DOWN(va, PAGE_SIZE), PAGE_ALIGN(end), why);
	set_active_memcg(old);
	mem_cgroup_put(memcg);
	mmput(odp->mm);
	return err;
}
