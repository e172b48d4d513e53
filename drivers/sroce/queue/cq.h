/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CQ_H
#define SROCE_CQ_H

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "doorbell.h"
#include "queue_mem.h"

/* What to call: the handler of completions, that of events. */
enum sroce_cq_call {
	SROCE_CQ_COMPLETION,
	SROCE_CQ_ERROR,
};

/**
 * struct sroce_cq - completion queue
 * @ib: what the RDMA core sees; first
 * @lock: taken with interrupts off: kernel users poll in any context;
 *	protects all below
 * @ring: memory behind @cqes
 * @cqes: ring of @entries
 * @entries: a power of two
 * @tail: completions written
 * @limit: @tail may go up to here before the user's head is read again
 * @head: completions taken by a kernel user
 * @slot: user's words; @kernel_slot of a kernel user
 * @place: where the slot is in the context
 * @served: the arm word that got its event
 * @stamped: completions carry a timestamp
 * @lenient: a completion that does not fit is dropped in silence
 * @fresh: a completion was written since the last sroce_cq_notify()
 * @fresh_solicited: one of them was solicited or an error
 * @overflowed: a completion did not fit; the CQ is dead
 * @overflow_reported: the event has been raised
 * @batch: completions that an event may wait for, 0 or 1 for none
 * @batch_ns: and for how long
 * @told: @tail at the last event
 * @timer: runs while an event waits
 * @late_solicited: of the completions since, one is solicited or an error
 * @waiting: @timer is queued
 * @waits: how often it has run; its alone, without @lock
 * @caller: calls a kernel user's handlers
 * @calls: which, bits of enum sroce_cq_call
 * @called: how often @caller has run; its alone, without @lock
 * @resize: one resize_cq() at a time; outside of @lock
 * @kernel_slot: see @slot
 */
struct sroce_cq {
	struct ib_cq ib;
	spinlock_t lock; /* all below */
	struct sroce_queue_mem *ring;
	struct sroce_cqe *cqes;
	u32 entries;
	u32 tail;
	u32 limit;
	u32 head;
	struct sroce_cq_slot *slot;
	struct sroce_doorbell place;
	u32 served;
	bool stamped;
	bool lenient;
	bool fresh;
	bool fresh_solicited;
	bool overflowed;
	bool overflow_reported;
	u32 batch;
	u64 batch_ns;
	u32 told;
	struct hrtimer timer;
	bool late_solicited;
	bool waiting;
	u32 waits;
	struct tasklet_struct caller;
	unsigned long calls;
	u32 called;
	struct mutex resize;	/* see above */
	struct sroce_cq_slot kernel_slot;
};

static inline struct sroce_cq *sroce_cq(struct ib_cq *ibcq)
{
	return container_of(ibcq, struct sroce_cq, ib);
}

/**
 * sroce_cq_push() - write a completion
 * @cq: the queue
 * @cqe: all of it but timestamp, phase and, in a user's ring, cookie
 *
 * Context: any.  The caller calls sroce_cq_notify() once it has dropped its
 * own locks.
 * Return: false if the queue has overflowed.
 */
bool sroce_cq_push(struct sroce_cq *cq, const struct sroce_cqe *cqe);

/**
 * sroce_cq_notify() - raise the events that the pushed completions call for
 * @cq: the queue
 *
 * Context: any but hard interrupt; no lock held that a completion handler
 * could want (it may post and poll).
 */
void sroce_cq_notify(struct sroce_cq *cq);

/**
 * sroce_cq_drain_handlers() - wait for the events of a QP that has gone
 * @cq: of a kernel user
 *
 * ib_free_cq() takes it that there are none without QPs, and may free what the
 * handler uses at once.  Events of other QPs, however many, are not waited for.
 *
 * Context: process, may sleep.
 */
void sroce_cq_drain_handlers(struct sroce_cq *cq);

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
