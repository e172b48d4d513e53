/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_LOOPBACK_H
#define SROCE_LOOPBACK_H

#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include "../core/params.h"
#include "../mem/wmem.h"

/**
 * struct sroce_loopback - per-CPU queue of bursts from a device to itself
 * @queue: bursts; when a CPU goes offline @work may run on another.  No other
 *	lock is taken under its lock
 * @cpu: the CPU that the queue belongs to
 * @running: the queue is being delivered; protected by the queue's lock
 * @work: delivers bursts that exceed the budget
 */
struct sroce_loopback {
	struct sk_buff_head queue;
	int cpu;
	bool running;
	struct work_struct work;
};

DECLARE_PER_CPU(struct sroce_loopback, sroce_loopback);

/**
 * sroce_loopback_init() - start
 * @deliver: called for each burst, which begins with the IP header, without
 *	locks, with bottom halves off and a reference to the device; consumes
 *	the burst
 *
 * Return: 0 or ENOMEM.
 */
int sroce_loopback_init(void (*deliver)(struct sk_buff *skb));
/* After sroce_qp_drain(): the queues are empty. */
void sroce_loopback_exit(void);

/**
 * sroce_loopback_push() - queue a burst to its own device
 * @skb: burst, with a reference to its device and to what it is charged to
 * @w: what it is charged to, or NULL
 *
 * Context: bottom halves off, a QP's lock held; sroce_loopback_run() must
 * follow.
 *
 * Return: false if the queue is full.
 */
bool sroce_loopback_push(struct sk_buff *skb, struct sroce_wmem *w);

/*
 * True if the queue holds @limit bursts, or the user has a share of them.
 * Context: bottom halves off.
 */
static inline bool sroce_loopback_exceeds(const struct sroce_loopback *loop,
					  struct sroce_wmem *w, u32 limit)
{
	const struct sroce_wmem *user = sroce_wmem_owner(w);

	if (skb_queue_len_lockless(&loop->queue) >= limit)
		return true;
	return user && READ_ONCE(*per_cpu_ptr(user->looped, loop->cpu)) >=
		       sroce_wmem_share(w, limit);
}

/*
 * True if QPs that can wait should wait.  Context: as sroce_loopback_push().
 */
static inline bool sroce_loopback_full(struct sroce_wmem *w)
{
	return sroce_loopback_exceeds(this_cpu_ptr(&sroce_loopback), w,
				      SROCE_LOOPBACK_LIMIT);
}

/* Slow path of sroce_loopback_run(); same context. */
void sroce_loopback_deliver(struct sroce_loopback *loop);

/**
 * sroce_loopback_run() - deliver queued bursts
 *
 * Two QPs of a device can talk to each other, so the peer's lock is never taken
 * under a QP's lock.
 *
 * Context: bottom halves off, no lock held.
 */
static inline void sroce_loopback_run(void)
{
	struct sroce_loopback *loop = this_cpu_ptr(&sroce_loopback);

	if (!skb_queue_empty_lockless(&loop->queue))
		sroce_loopback_deliver(loop);
}

#endif /* SROCE_LOOPBACK_H */
