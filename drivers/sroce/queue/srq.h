/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SRQ_H
#define SROCE_SRQ_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include "doorbell.h"
#include "queue_mem.h"

struct sroce_recv_wqe;
struct sroce_xrc_entry;

/**
 * struct sroce_srq - shared receive queue
 * @ib: the RDMA core's part; first member
 * @lock: protects @ring and @limit; taken with _bh, nested inside rq.lock of
 *	the QPs that use the SRQ
 * @ring: receive WQEs
 * @limit: raise IB_EVENT_SRQ_LIMIT_REACHED once when fewer WQEs are left; 0 for
 *	no event
 * @mutex: serializes modify_srq()
 * @memory: memory of @ring.mem
 * @ctx: context of the process, or NULL
 * @doorbell: location of the doorbell slot in the context
 * @post_lock: serializes posts of kernel users; taken with interrupts off
 * @kernel_slot: doorbell words of a kernel user
 * @limit_reached: kernel user: raises the event that modify_srq() causes
 * @number: XRC: SRQ number, random, unique in the module; otherwise 0
 * @serial: XRC: identifies the SRQ; unlike @number it is never reused
 * @entry: XRC: entry in the table of recv/xrc.c
 */
struct sroce_srq {
	struct ib_srq ib;
	spinlock_t lock;	/* see above */
	struct sroce_recv_ring ring;
	u32 limit;
	struct mutex mutex;	/* see above */
	struct sroce_queue_mem *memory;
	struct sroce_ucontext *ctx;
	struct sroce_doorbell doorbell;
	spinlock_t post_lock;	/* see above */
	struct sroce_qp_slot kernel_slot;
	struct work_struct limit_reached;
	u32 number;
	u64 serial;
	struct sroce_xrc_entry *entry;
};

static inline struct sroce_srq *sroce_srq(struct ib_srq *ibsrq)
{
	return container_of(ibsrq, struct sroce_srq, ib);
}

/**
 * sroce_srq_take() - take the next receive WQE
 * @srq: the queue
 * @wqe: result, with room for @srq->ring.max_sge SGEs
 * @todo: bits of enum sroce_qp_todo; the bits of due events are added
 *
 * Context: bottom halves off.  Return: enum sroce_fetched.
 */
enum sroce_fetched sroce_srq_take(struct sroce_srq *srq,
				  struct sroce_recv_wqe *wqe,
				  unsigned long *todo);

/* Raise an event.  Context: no lock held that an event handler may take. */
void sroce_srq_raise(struct sroce_srq *srq, enum ib_event_type type);
/*
 * Raise the events that sroce_srq_take() has added to @todo; other bits are
 * ignored.  Context: as sroce_srq_raise().
 */
void sroce_srq_raise_due(struct sroce_srq *srq, unsigned long todo);

/*
 * True if the limit event is due.  Each limit that is set causes one event, so
 * this clears it.  Context: @lock held.
 */
bool sroce_srq_limit_reached(struct sroce_srq *srq);

#endif /* SROCE_SRQ_H */
