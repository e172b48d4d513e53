/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_LOOPBACK_H
#define SROCE_LOOPBACK_H

#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>

/**
 * struct sroce_loopback - bursts on their way from a device to itself
 * @queue: the processor's own, but when one goes offline @work may run on
 *	another; its lock is a leaf
 * @running: they are being delivered; under the queue's lock
 * @work: delivers what was left
 */
struct sroce_loopback {
	struct sk_buff_head queue;
	bool running;
	struct work_struct work;
};

DECLARE_PER_CPU(struct sroce_loopback, sroce_loopback);

/**
 * sroce_loopback_init() - start
 * @deliver: called for each burst, from its IP header on, without lock, with
 *	bottom halves off, its device held; it consumes it
 *
 * Return: 0 or ENOMEM.
 */
int sroce_loopback_init(void (*deliver)(struct sk_buff *skb));
/* After sroce_tx_drain(): nothing is under way. */
void sroce_loopback_exit(void);

/**
 * sroce_loopback_push() - send a burst to the device it comes from
 * @skb: the burst, its dev held
 *
 * Context: bottom halves off, a QP's lock held; sroce_loopback_run() follows.
 *
 * Return: false if there are too many already.
 */
bool sroce_loopback_push(struct sk_buff *skb);

/*
 * Each QP has a limit of its own (SROCE_TX_LIMIT), but a process may have very
 * many, and nobody is charged for what they have under way: so many bursts, of
 * 256 KiB at most, wait on a processor before QPs that can wait do.
 */
#define SROCE_LOOPBACK_LIMIT	256

/* Is it for later to send more?  Context: as of sroce_loopback_push(). */
static inline bool sroce_loopback_full(void)
{
	return skb_queue_len_lockless(this_cpu_ptr(&sroce_loopback.queue)) >=
	       SROCE_LOOPBACK_LIMIT;
}

/* What sroce_loopback_run() does if there is anything.  Context: as there. */
void sroce_loopback_deliver(struct sroce_loopback *loop);

/**
 * sroce_loopback_run() - deliver what was pushed
 *
 * A QP's lock is never held when its peer's is taken, so that two QPs of a
 * device can talk to each other.
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
