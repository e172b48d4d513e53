// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: writing completions, raising events, resizing, and polling
 * by kernel users.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include "../base/sroce.h"
#include "../base/udata.h"
#include "../core/optable.h"
#include "../core/params.h"
#include "cq.h"

#define SUPPORTED_FLAGS	(IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |	\
			 IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)

static bool cq_of_kernel(const struct sroce_cq *cq)
{
	return cq->slot == &cq->kernel_slot;
}

static struct sroce_cqe *cqe_at(const struct sroce_cq *cq, u32 index)
{
	return &cq->ring.cqes[index & (cq->ring.entries - 1)];
}

/*
 * True if there is room for one more completion.  An impossible head counts as
 * a full CQ: the process harms only its own CQ.
 */
static bool cq_has_room(struct sroce_cq *cq)
{
	u32 head;

	lockdep_assert_held(&cq->lock);
	if (likely(cq->ring.tail != cq->ring.limit))
		return true;
	if (cq->ring.overflowed)
		return false;
	head = sroce_load_acquire(&cq->slot->head);		/* (I) */
	if (cq->ring.tail - head >= cq->ring.entries) {
		cq->ring.overflowed = !cq->ignore_overrun;
		sroce_count(sroce_device(cq->ib.device), SROCE_CQ_OVERFLOWS);
		return false;
	}
	cq->ring.limit = head + cq->ring.entries;
	/* Nothing before @head needs an event.  The distance must not wrap. */
	if (unlikely(cq->ring.tail - cq->event.notified > S32_MAX))
		cq->event.notified = head;
	return true;
}

static void cq_write(struct sroce_cq *cq, struct sroce_cqe *cqe)
{
	struct sroce_cqe *to = cqe_at(cq, cq->ring.tail);

	lockdep_assert_held(&cq->lock);
	cqe->timestamp = cq->timestamped ? ktime_get_raw_ns() : 0;
	/* A kernel pointer: do not disclose it to a process. */
	if (!cq_of_kernel(cq))
		cqe->cookie = 0;
	cqe->reserved2 = 0;
	/* A process that writes here as well harms only its own CQ. */
	data_race(memcpy(to, cqe, offsetof(struct sroce_cqe, phase)));
	sroce_store_release(&to->phase,				/* (G) */
			    sroce_cqe_phase(cq->ring.tail, cq->ring.entries));
	cq->ring.tail++;
}

bool sroce_cq_push(struct sroce_cq *cq, struct sroce_cqe *cqe)
{
	unsigned long flags;
	bool room;

	spin_lock_irqsave(&cq->lock, flags);
	room = cq_has_room(cq);
	if (likely(room))
		cq_write(cq, cqe);
	/* Also wake users that sleep on a CQ that has overflowed. */
	if (!room || cqe->status || cqe->flags & SROCE_CQE_SOLICITED)
		cq->event.pushed_solicited = true;
	WRITE_ONCE(cq->event.pushed, true);
	spin_unlock_irqrestore(&cq->lock, flags);
	return room || cq->ignore_overrun;
}

/* Delay the event until there are more completions, or the period ends. */
static void cq_delay_event(struct sroce_cq *cq)
{
	lockdep_assert_held(&cq->lock);
	if (cq->moderation.waiting)
		return;
	cq->moderation.waiting = true;
	hrtimer_start(&cq->moderation.timer, ns_to_ktime(cq->moderation.batch_ns),
		      HRTIMER_MODE_REL_SOFT);
}

static void cq_mark_notified(struct sroce_cq *cq, u32 arm)
{
	lockdep_assert_held(&cq->lock);
	cq->event.served_arm = arm;
	cq->event.notified = cq->ring.tail;
	sroce_store(&cq->slot->notified, cq->event.notified);
	sroce_store(&cq->slot->served_arm, arm);
	cq->event.unnotified_solicited = false;
}

/*
 * True if an event is due.  All QPs of the CQ share the two flags.  The first
 * caller handles all completions pushed so far, including those of other CPUs:
 * the lock has made their stores visible here, so (L) orders them as well.
 * Four cases:
 *
 * - The CQ is armed.  Raise the event, no matter which CPU pushed.
 * - The CQ is not armed.  By (K) and (L) a user that arms it later finds all
 *   these completions when it polls again, or requests the event with
 *   cq_renotify().  Therefore the flags can be cleared.
 * - The CQ is armed for solicited completions, and there was none.  It stays
 *   armed, because @served_arm does not change.
 * - There are fewer completions than modify_cq() requires for an event.  The CQ
 *   stays armed, and the timer raises the event.
 *
 * A completion that was pushed before the CQ was armed, but not yet notified,
 * causes an event that finds nothing new.  This is harmless: a completion that
 * is polled between arming and the second poll causes one as well.
 */
static bool cq_event_due(struct sroce_cq *cq)
{
	bool solicited = cq->event.pushed_solicited;
	u32 arm;

	lockdep_assert_held(&cq->lock);
	WRITE_ONCE(cq->event.pushed, false);
	cq->event.pushed_solicited = false;
	sroce_full_barrier();					/* (L) */
	arm = sroce_load(&cq->slot->arm);
	if (arm == cq->event.served_arm || (arm & SROCE_ARM_SOLICITED && !solicited))
		return false;
	if (cq->ring.tail - cq->event.notified < cq->moderation.batch && !cq->ring.overflowed) {
		cq->event.unnotified_solicited |= solicited;
		cq_delay_event(cq);
		return false;
	}
	cq_mark_notified(cq, arm);
	return true;
}

/* A full batch may have raised its event before the period ended. */
static bool cq_batch_due(struct sroce_cq *cq)
{
	u32 arm = sroce_load(&cq->slot->arm);

	lockdep_assert_held(&cq->lock);
	if (arm == cq->event.served_arm || cq->ring.tail == cq->event.notified ||
	    (arm & SROCE_ARM_SOLICITED && !cq->event.unnotified_solicited))
		return false;
	cq_mark_notified(cq, arm);
	return true;
}

static void cq_raise_error(struct sroce_cq *cq)
{
	struct ib_event event = {
		.device = cq->ib.device,
		.element.cq = &cq->ib,
		.event = IB_EVENT_CQ_ERR,
	};

	if (cq->ib.event_handler)
		cq->ib.event_handler(&event, cq->ib.cq_context);
}

static void cq_call(struct sroce_cq *cq, unsigned long calls)
{
	if (calls & BIT(SROCE_CQ_COMPLETION) && cq->ib.comp_handler)
		cq->ib.comp_handler(&cq->ib, cq->ib.cq_context);
	if (unlikely(calls & BIT(SROCE_CQ_ERROR)))
		cq_raise_error(cq);
}

#ifndef SROCE_HAVE_POST_DESTROY_CQ
/* Only the timer or work item that @runs counts calls this. */
static void count_handler_run(u32 *runs)
{
	/* Orders the work of the run before the count; see runs_since(). */
	smp_store_release(runs, *runs + 1);
}

static u32 runs_since(const u32 *runs, u32 then)
{
	/* Pairs with count_handler_run(). */
	return smp_load_acquire(runs) - then;
}
#endif

static void cq_call_kernel(struct sroce_bh_work *work)
{
	struct sroce_cq *cq = container_of(work, struct sroce_cq, caller.work);

	cq_call(cq, xchg(&cq->caller.calls, 0));
#ifndef SROCE_HAVE_POST_DESTROY_CQ
	count_handler_run(&cq->caller.runs);
#endif
}

/*
 * Handlers of a kernel user must not run within the user's call of a verb,
 * because the user may hold locks.  They must not run concurrently either.
 * These are rules of the kernel's Documentation/infiniband/core_locking.rst.
 */
static void cq_raise(struct sroce_cq *cq, unsigned long calls)
{
	if (!calls)
		return;
	if (!cq_of_kernel(cq)) {
		cq_call(cq, calls);
		return;
	}
	set_mask_bits(&cq->caller.calls, 0, calls);
	sroce_bh_work_queue(&cq->caller.work);
}

static enum hrtimer_restart cq_delay_ended(struct hrtimer *timer)
{
	struct sroce_cq *cq = container_of(timer, struct sroce_cq, moderation.timer);
	unsigned long flags;
	bool due;

	spin_lock_irqsave(&cq->lock, flags);
	cq->moderation.waiting = false;
	due = cq_batch_due(cq);
	spin_unlock_irqrestore(&cq->lock, flags);
	cq_raise(cq, due ? BIT(SROCE_CQ_COMPLETION) : 0);
#ifndef SROCE_HAVE_POST_DESTROY_CQ
	count_handler_run(&cq->moderation.runs);
#endif
	return HRTIMER_NORESTART;
}

void sroce_cq_notify(struct sroce_cq *cq)
{
	unsigned long flags, calls = 0;

	/* Another CPU has already handled the completions pushed here. */
	if (!READ_ONCE(cq->event.pushed))
		return;
	spin_lock_irqsave(&cq->lock, flags);
	/*
	 * Another CPU may have done so meanwhile, and the user may have polled and armed
	 * the CQ since.  An event now would be for nothing.
	 */
	if (cq->event.pushed && cq_event_due(cq))
		calls |= BIT(SROCE_CQ_COMPLETION);
	if (unlikely(cq->ring.overflowed && !cq->event.overflow_reported))
		calls |= BIT(SROCE_CQ_ERROR);
	cq->event.overflow_reported = cq->ring.overflowed;
	spin_unlock_irqrestore(&cq->lock, flags);
	cq_raise(cq, calls);
}

static int cq_check(const struct ib_cq *ibcq,
		    const struct ib_cq_init_attr *attr)
{
	if (attr->flags & ~SUPPORTED_FLAGS)
		return -EOPNOTSUPP;
	if (!attr->cqe || attr->cqe > SROCE_MAX_CQE)
		return -EINVAL;
	if (attr->comp_vector >= ibcq->device->num_comp_vectors)
		return -EINVAL;
	return 0;
}

static int cq_create_resp(const struct sroce_cq *cq, struct sroce_queue_mem *memory,
			  u32 entries, struct ib_udata *udata)
{
	struct sroce_create_cq_resp resp = {
		.map.ring_offset = sroce_queue_mem_offset(memory),
		.map.ring_size = memory->size,
		.map.slot = cq->doorbell.number,
		.map.page_offset = cq->doorbell.page_offset,
		.entries = entries,
	};

	return sroce_udata_room(udata, sizeof(resp)) ?:
	       ib_respond_udata(udata, resp);
}

/* Allocate the doorbell slot of a process, and write the response. */
static int cq_share(struct sroce_cq *cq, struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_udata_ucontext(udata);
	int err;

	err = sroce_doorbell_alloc(ctx, &cq->doorbell);
	if (err)
		return err;
	cq->slot = cq->doorbell.mem;
	err = cq_create_resp(cq, cq->ring.memory, cq->ring.entries, udata);
	if (err)
		sroce_doorbell_free(ctx, &cq->doorbell);
	return err;
}

int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct sroce_cq_input *input)
{
	struct ib_udata *udata = sroce_cq_udata(input);
	struct sroce_ucontext *ctx = sroce_udata_ucontext(udata);
	struct sroce_cq *cq = sroce_cq(ibcq);
	int err;

	err = cq_check(ibcq, attr);
	if (!err && udata)
		err = sroce_udata_create_req(udata);
	if (err)
		return err;
	spin_lock_init(&cq->lock);
	mutex_init(&cq->resize);
	hrtimer_setup(&cq->moderation.timer, cq_delay_ended, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	sroce_bh_work_init(&cq->caller.work, cq_call_kernel);
	cq->timestamped = attr->flags & IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION;
	cq->ignore_overrun = attr->flags & IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN;
	cq->ring.entries = roundup_pow_of_two(attr->cqe);
	cq->ring.limit = cq->ring.entries;
	cq->slot = &cq->kernel_slot;
	cq->ring.memory = sroce_queue_mem_alloc(ctx ? &ctx->ib : NULL,
						cq->ring.entries * sizeof(*cq->ring.cqes));
	if (IS_ERR(cq->ring.memory))
		return PTR_ERR(cq->ring.memory);
	cq->ring.cqes = cq->ring.memory->mem;
	ibcq->cqe = cq->ring.entries;
	if (udata) {
		err = cq_share(cq, udata);
		if (err)
			sroce_queue_mem_free(cq->ring.memory);
	}
	return err;
}

#ifndef SROCE_HAVE_POST_DESTROY_CQ
/*
 * Handlers running when the QP was destroyed have finished once timer and
 * work item are idle or have each run twice.  One run is not enough: it may have
 * been in progress, past the QP's event, when it was queued again.  The timer
 * goes first, because it queues the work item.
 */
void sroce_cq_drain_handlers(struct sroce_cq *cq)
{
	u32 waits = READ_ONCE(cq->moderation.runs);
	u32 called;

	while (hrtimer_active(&cq->moderation.timer) &&
	       runs_since(&cq->moderation.runs, waits) < 2)
		usleep_range(10, 100);
	called = READ_ONCE(cq->caller.runs);
	while (sroce_bh_work_busy(&cq->caller.work) &&
	       runs_since(&cq->caller.runs, called) < 2)
		usleep_range(10, 100);
	/*
	 * If idle: order the caller's later accesses after the work that the
	 * work item did before it became idle.
	 */
	smp_rmb();
}
#endif

/*
 * The timer goes first, because it queues the work item, which calls the
 * handlers of kernel users.
 */
int sroce_pre_destroy_cq(struct ib_cq *ibcq)
{
	struct sroce_cq *cq = sroce_cq(ibcq);

	hrtimer_cancel(&cq->moderation.timer);
	sroce_bh_work_cancel(&cq->caller.work);
	return 0;
}

void sroce_post_destroy_cq(struct ib_cq *ibcq)
{
	struct sroce_cq *cq = sroce_cq(ibcq);

	if (!cq_of_kernel(cq))
		sroce_doorbell_free(sroce_ucontext(cq->ring.memory->ucontext), &cq->doorbell);
	sroce_queue_mem_free(cq->ring.memory);
}

int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata)
{
	sroce_pre_destroy_cq(ibcq);
	sroce_post_destroy_cq(ibcq);
	return 0;
}

/* Moderation and resizing */

int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period)
{
	struct sroce_cq *cq = sroce_cq(ibcq);
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	/* Without a period the last completions would never raise an event. */
	cq->moderation.batch = period ? count : 0;
	cq->moderation.batch_ns = (u64)period * NSEC_PER_USEC;
	spin_unlock_irqrestore(&cq->lock, flags);
	return 0;
}

/**
 * struct cq_copy - state of copying completions to a new ring
 * @memory: memory of the new ring
 * @cqes: entries of the new ring
 * @entries: number of @cqes
 * @base: old index of the completion that gets index 0 in the new ring
 * @done: old index of the next completion to copy
 */
struct cq_copy {
	struct sroce_queue_mem *memory;
	struct sroce_cqe *cqes;
	u32 entries;
	u32 base;
	u32 done;
};

/*
 * Copy completions up to @end, with the phase for the new ring.  A process may
 * have changed entries of its old ring.  The kernel does not use them, so this
 * is harmless.
 */
static void copy_until(const struct sroce_cq *cq, struct cq_copy *copy, u32 end)
{
	for (; copy->done != end; copy->done++) {
		u32 index = copy->done - copy->base;
		struct sroce_cqe *to = &copy->cqes[index & (copy->entries - 1)];

		*to = *cqe_at(cq, copy->done);
		to->phase = sroce_cqe_phase(index, copy->entries);
	}
}

/* Copy the rest, and replace the old ring. */
static void copy_finish(struct sroce_cq *cq, struct cq_copy *copy)
{
	lockdep_assert_held(&cq->lock);
	copy_until(cq, copy, cq->ring.tail);
	swap(cq->ring.memory, copy->memory);
	cq->ring.cqes = copy->cqes;
	cq->ring.entries = copy->entries;
	cq->ring.tail -= copy->base;
	cq->event.notified -= copy->base;
	sroce_store(&cq->slot->notified, cq->event.notified);
	cq->ring.limit = copy->entries;
	sroce_store(&cq->slot->head, 0);
#ifndef SROCE_HAVE_USER_CQ
	/* A kernel user may have polled meanwhile. */
	if (cq_of_kernel(cq)) {
		cq->ring.head -= copy->base;
		cq->ring.limit = cq->ring.head + copy->entries;
		sroce_store(&cq->slot->head, cq->ring.head);
	}
#endif
	cq->ib.cqe = copy->entries;
}

/*
 * Returns 0 when done, and EAGAIN if completions up to @tail are still to be
 * copied.  EINVAL: the new ring is too small, or the CQ has overflowed.
 */
static int copy_step(struct sroce_cq *cq, struct cq_copy *copy, u32 *tail)
{
	u32 used;

	lockdep_assert_held(&cq->lock);
	*tail = cq->ring.tail;
	used = cq->ring.tail - copy->base;
#ifndef SROCE_HAVE_USER_CQ
	if (cq_of_kernel(cq))
		used = cq->ring.tail - cq->ring.head;
#endif
	if (used > cq->ring.entries || used > copy->entries || cq->ring.overflowed)
		return -EINVAL;
	if (cq->ring.tail - copy->done > SROCE_CQ_RESIZE_BATCH)
		return -EAGAIN;
	copy_finish(cq, copy);
	return 0;
}

/*
 * Most completions are copied without the lock.  Meanwhile new ones may be
 * pushed.  A process does not poll during a resize.
 */
static int copy_cqes(struct sroce_cq *cq, struct cq_copy *copy)
{
	unsigned long flags;
	u32 tail;
	int err;

	copy->base = sroce_load(&cq->slot->head);
	copy->done = copy->base;
	for (;;) {
		spin_lock_irqsave(&cq->lock, flags);
		err = copy_step(cq, copy, &tail);
		spin_unlock_irqrestore(&cq->lock, flags);
		if (err != -EAGAIN)
			return err;
		copy_until(cq, copy, tail);
		cond_resched();
	}
}

static int resize_ring(struct sroce_cq *cq, u32 entries, struct ib_udata *udata)
{
	struct cq_copy copy = { .entries = entries };
	int err;

	lockdep_assert_held(&cq->resize);
	copy.memory = sroce_queue_mem_alloc(cq->ring.memory->ucontext,
					    entries * sizeof(*copy.cqes));
	if (IS_ERR(copy.memory))
		return PTR_ERR(copy.memory);
	copy.cqes = copy.memory->mem;
#ifdef SROCE_HAVE_USER_CQ
	err = cq_create_resp(cq, copy.memory, entries, udata);
#else
	err = udata ? cq_create_resp(cq, copy.memory, entries, udata) : 0;
#endif
	if (!err)
		err = copy_cqes(cq, &copy);
	/* The old ring, or after a failure the new one. */
	sroce_queue_mem_free(copy.memory);
	return err;
}

int sroce_resize_cq(struct ib_cq *ibcq, sroce_cqe_count cqe,
		    struct ib_udata *udata)
{
	struct sroce_cq *cq = sroce_cq(ibcq);
	int err;

	if (cqe < 1 || cqe > SROCE_MAX_CQE)
		return -EINVAL;
	err = ib_is_udata_in_empty(udata);
	if (err)
		return err;
	mutex_lock(&cq->resize);
	err = resize_ring(cq, roundup_pow_of_two(cqe), udata);
	mutex_unlock(&cq->resize);
	return err;
}

/* The phase is for processes.  @notified keeps counting the completions before it. */
static void remove_cqes(struct sroce_cq *cq, u64 cookie)
{
	u32 notified = cq->event.notified;
	u32 kept = cq->ring.head;
	u32 index;

	lockdep_assert_held(&cq->lock);
	for (index = cq->ring.head; index != cq->ring.tail; index++) {
		if (index == cq->event.notified)
			notified = kept;
		if (cqe_at(cq, index)->cookie != cookie)
			*cqe_at(cq, kept++) = *cqe_at(cq, index);
	}
	if (cq->ring.tail == cq->event.notified)
		notified = kept;
	cq->event.notified = notified;
	cq->ring.tail = kept;
}

void sroce_cq_forget(struct sroce_cq *cq, const struct ib_qp *qp)
{
	unsigned long flags;

	/* copy_cqes() counts on the completions that it has copied. */
	mutex_lock(&cq->resize);
	spin_lock_irqsave(&cq->lock, flags);
	remove_cqes(cq, (uintptr_t)qp);
	spin_unlock_irqrestore(&cq->lock, flags);
	mutex_unlock(&cq->resize);
}

static u8 network_type(u16 flags)
{
	return flags & SROCE_CQE_IPV4 ? RDMA_NETWORK_IPV4 : RDMA_NETWORK_IPV6;
}

static void cq_read(struct ib_wc *wc, const struct sroce_cqe *cqe)
{
	memset(wc, 0, sizeof(*wc));
	wc->wr_id = cqe->wr_id;
	wc->status = cqe->status;
	wc->opcode = cqe->opcode == SROCE_WC_REG_MR ? IB_WC_REG_MR : cqe->opcode;
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = cqe->byte_len;
	wc->qp = (struct ib_qp *)(uintptr_t)cqe->cookie;
	wc->src_qp = cqe->src_qp;
	wc->pkey_index = cqe->pkey_index;
	wc->port_num = SROCE_PORT;
	if (cqe->flags & SROCE_CQE_WITH_IMM) {
		wc->wc_flags |= IB_WC_WITH_IMM;
		wc->ex.imm_data = cqe->imm_data;
	}
	if (cqe->flags & SROCE_CQE_WITH_INV) {
		wc->wc_flags |= IB_WC_WITH_INVALIDATE;
		wc->ex.invalidate_rkey = cqe->invalidated_rkey;
	}
	if (cqe->flags & SROCE_CQE_GRH)
		wc->wc_flags |= IB_WC_GRH;
	if (cqe->flags & SROCE_CQE_WITH_VLAN) {
		wc->wc_flags |= IB_WC_WITH_VLAN;
		wc->vlan_id = cqe->vlan_id;
	}
	if (cqe->flags & (SROCE_CQE_IPV4 | SROCE_CQE_IPV6)) {
		wc->wc_flags |= IB_WC_WITH_NETWORK_HDR_TYPE;
		wc->network_hdr_type = network_type(cqe->flags);
	}
}

/* Kernel users only; a process polls in user space. */
int sroce_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc)
{
	struct sroce_cq *cq = sroce_cq(ibcq);
	unsigned long flags;
	int i;

	if (!cq_of_kernel(cq))
		return -EOPNOTSUPP;
	spin_lock_irqsave(&cq->lock, flags);
	for (i = 0; i < n && cq->ring.head != cq->ring.tail; i++) {
		cq_read(&wc[i], cqe_at(cq, cq->ring.head));
		cq->ring.head++;
	}
	sroce_store_release(&cq->slot->head, cq->ring.head);		/* (J) */
	spin_unlock_irqrestore(&cq->lock, flags);
	return i;
}

/*
 * A process has armed the CQ and then found completions without an event.  By
 * (K) and (L) it is possible that no other code raises it.  Without such
 * completions raise none: the RDMA core keeps events in memory until they are
 * read.
 */
static int cq_renotify(struct sroce_cq *cq)
{
	unsigned long flags;

	spin_lock_irqsave(&cq->lock, flags);
	if (cq->ring.tail != cq->event.notified) {
		cq->event.pushed_solicited = true;
		WRITE_ONCE(cq->event.pushed, true);
	}
	spin_unlock_irqrestore(&cq->lock, flags);
	sroce_cq_notify(cq);
	return 0;
}

int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags)
{
	bool solicited = (flags & IB_CQ_SOLICITED_MASK) == IB_CQ_SOLICITED;
	struct sroce_cq *cq = sroce_cq(ibcq);
	unsigned long irq_flags;
	bool missed;

	if (!cq_of_kernel(cq))
		return cq_renotify(cq);
	spin_lock_irqsave(&cq->lock, irq_flags);
	sroce_cq_arm(cq->slot, solicited);
	missed = flags & IB_CQ_REPORT_MISSED_EVENTS && cq->ring.head != cq->ring.tail;
	spin_unlock_irqrestore(&cq->lock, irq_flags);
	return missed;
}
