/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CQ_H
#define SROCE_CQ_H

#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "doorbell.h"
#include "queue_mem.h"

/* Bits of &sroce_cq_caller.calls: which handlers of a kernel user to call. */
enum sroce_cq_call {
	SROCE_CQ_COMPLETION,
	SROCE_CQ_ERROR,
};

/**
 * struct sroce_cq_ring - ring of a CQ's completions; protected by the CQ's lock
 * @memory: memory of @cqes
 * @cqes: completions; @entries of them
 * @entries: a power of two
 * @tail: number of completions written
 * @limit: value of @tail at which the user's head must be read again
 * @head: number of completions polled by a kernel user
 * @overflowed: a completion did not fit; the CQ accepts no more
 */
struct sroce_cq_ring {
	struct sroce_queue_mem *memory;
	struct sroce_cqe *cqes;
	u32 entries;
	u32 tail;
	u32 limit;
	u32 head;
	bool overflowed;
};

/**
 * struct sroce_cq_event - which events of a CQ are due; protected by the CQ's lock
 * @served_arm: arm word for which the last event was raised
 * @notified: tail at the last event, or a later head; see cq_has_room()
 * @pushed: a completion was pushed since the last sroce_cq_notify(); also read without
 *	the lock, as a hint
 * @pushed_solicited: one of these was solicited or an error
 * @unnotified_solicited: a completion since the last event was solicited or an error
 * @overflow_reported: IB_EVENT_CQ_ERR has been raised
 */
struct sroce_cq_event {
	u32 served_arm;
	u32 notified;
	bool pushed;
	bool pushed_solicited;
	bool unnotified_solicited;
	bool overflow_reported;
};

/**
 * struct sroce_cq_moderation - delay of events by modify_cq(); protected by the CQ's lock
 * @batch: completions before an event is raised; 0 or 1 for no moderation
 * @batch_ns: maximum delay of an event, ns
 * @timer: runs while an event is delayed
 * @waiting: @timer is queued
 * @runs: number of runs of @timer; written by its callback without the lock
 */
struct sroce_cq_moderation {
	u32 batch;
	u64 batch_ns;
	struct hrtimer timer;
	bool waiting;
#ifndef SROCE_HAVE_POST_DESTROY_CQ
	u32 runs;
#endif
};

/**
 * struct sroce_cq_caller - calls a kernel user's handlers in softirq context; not
 *	protected by the CQ's lock
 * @work: work item
 * @calls: handlers to call, bits of enum sroce_cq_call; atomic
 * @runs: number of runs of @work, which writes it
 */
struct sroce_cq_caller {
	struct sroce_bh_work work;
	unsigned long calls;
#ifndef SROCE_HAVE_POST_DESTROY_CQ
	u32 runs;
#endif
};

/**
 * struct sroce_cq - completion queue
 * @ib: the RDMA core's part; first member
 * @lock: protects @ring, @event and @moderation; taken with interrupts off, because
 *	kernel users poll in any context
 * @ring: completions
 * @slot: doorbell words; @kernel_slot for a kernel user
 * @doorbell: location of @slot in the context
 * @timestamped: completions carry a timestamp
 * @ignore_overrun: silently drop completions that do not fit
 *	(IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN)
 * @event: events that are due
 * @moderation: delay of events
 * @caller: calls a kernel user's handlers
 * @resize: serializes resize_cq() and sroce_cq_forget(); taken before @lock
 * @kernel_slot: see @slot
 */
struct sroce_cq {
	struct ib_cq ib;
	spinlock_t lock;	/* see above */
	struct sroce_cq_ring ring;
	struct sroce_cq_slot *slot;
	struct sroce_doorbell doorbell;
	bool timestamped;
	bool ignore_overrun;
	struct sroce_cq_event event;
	struct sroce_cq_moderation moderation;
	struct sroce_cq_caller caller;
	struct mutex resize;	/* see above */
	struct sroce_cq_slot kernel_slot;
};

static inline struct sroce_cq *sroce_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ib);
}

/*
 * Clear the members that the writer of a completion may leave out.  The others are set
 * for each completion: clearing all of them would take longer.
 */
static inline void sroce_cqe_begin(struct sroce_cqe *cqe)
{
	cqe->byte_len = 0;
	cqe->imm_data = 0;
	cqe->src_qp = 0;
	cqe->status = 0;
	cqe->opcode = 0;
	cqe->flags = 0;
	cqe->vendor_err = 0;
	cqe->pkey_index = 0;
	cqe->sl = 0;
	cqe->reserved = 0;
	cqe->vlan_id = 0;
	cqe->reserved3[0] = 0;
	cqe->reserved3[1] = 0;
}

/**
 * sroce_cq_push() - write a completion
 * @cq: the queue
 * @cqe: completion; the timestamp is set here, and the cookie is removed for a
 *	process
 *
 * Context: any.  The caller calls sroce_cq_notify() after it has released its
 * locks.
 * Return: false if the queue has overflowed.
 */
bool sroce_cq_push(struct sroce_cq *cq, struct sroce_cqe *cqe);

/**
 * sroce_cq_notify() - raise the events that are due after sroce_cq_push()
 * @cq: the queue
 *
 * Context: any except hard interrupt.  The caller holds no lock that a
 * completion handler may take; handlers may post and poll.
 */
void sroce_cq_notify(struct sroce_cq *cq);

/**
 * sroce_cq_forget() - remove the completions of a QP that is reset or destroyed
 * @cq: CQ of a kernel user; a process removes completions itself
 * @qp: the QP, which pushes no more completions
 *
 * Kernel users take the QP from the completion, and may free it when they have destroyed
 * it.  So completions of receives from an SRQ are removed, too.
 *
 * Context: process, may sleep.
 */
void sroce_cq_forget(struct sroce_cq *cq, const struct ib_qp *qp);

#ifndef SROCE_HAVE_POST_DESTROY_CQ
/**
 * sroce_cq_drain_handlers() - wait for the events of a QP that was destroyed
 * @cq: CQ of a kernel user
 *
 * Before pre_destroy_cq() came, ib_free_cq() assumed that a CQ without QPs has no
 * events, and freed the handler's data at once.  This does not wait for the events of
 * other QPs, however many there are.
 *
 * Context: process, may sleep.
 */
void sroce_cq_drain_handlers(struct sroce_cq *cq);
#endif

/* ib_device_ops */
int sroce_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		    struct sroce_cq_input *input);
int sroce_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);
int sroce_pre_destroy_cq(struct ib_cq *ibcq);
void sroce_post_destroy_cq(struct ib_cq *ibcq);
int sroce_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int sroce_resize_cq(struct ib_cq *ibcq, sroce_cqe_count cqe,
		    struct ib_udata *udata);
int sroce_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int sroce_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);

#endif /* SROCE_CQ_H */
