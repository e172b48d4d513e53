/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SRQ_H
#define SROCE_SRQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>
#include "doorbell.h"
#include "queue_mem.h"

struct sroce_recv_wqe;
struct sroce_xrc_entry;

/**
 * struct sroce_srq - shared receive queue
 * @ib: what the RDMA core sees; first
 * @lock: protects @recv and @limit; taken with _bh, nested inside rq.lock of
 *	the QPs that take from it
 * @recv: receive requests
 * @limit: with fewer of them there is an event, once; 0 for none
 * @mutex: one modify_srq() at a time
 * @memory: behind @recv.mem
 * @ctx: the process's context, or NULL
 * @place: where the slot is in the context
 * @post_lock: kernel users' posting; taken with interrupts off
 * @kernel_slot: doorbell words of a kernel user
 * @number: XRC: random, unique in the module; else 0
 * @serial: XRC: as @number, but no later queue will have it again
 * @entry: XRC: its place in the table of recv/xrc.c
 */
struct sroce_srq {
	struct ib_srq ib;
	spinlock_t lock;	/* see above */
	struct sroce_recv_ring recv;
	u32 limit;
	struct mutex mutex;	/* see above */
	struct sroce_queue_mem *memory;
	struct sroce_ucontext *ctx;
	struct sroce_doorbell place;
	spinlock_t post_lock;	/* see above */
	struct sroce_qp_slot kernel_slot;
	u32 number;
	u64 serial;
	struct sroce_xrc_entry *entry;
};

static inline struct sroce_srq *sroce_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct sroce_srq, ib);
}

/**
 * sroce_srq_take() - take the next receive request
 * @srq: the queue
 * @wqe: result, with room for @srq->recv.max_sge pieces
 * @todo: bits of enum sroce_qp_todo: events that are due
 *
 * Context: bottom halves off.  Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_srq_take(struct sroce_srq *srq,
				  struct sroce_recv_wqe *wqe,
				  unsigned long *todo);

/* Tell its owner.  Context: no lock held that an event handler could want. */
void sroce_srq_raise(struct sroce_srq *srq, enum ib_event_type type);
/* The same for what sroce_srq_take() has put in @todo; other bits may be set. */
void sroce_srq_raise_due(struct sroce_srq *srq, unsigned long todo);

/* Is an event due?  There is one for each limit.  Context: its lock held. */
bool sroce_srq_limit_reached(struct sroce_srq *srq);

#endif /* SROCE_SRQ_H */
