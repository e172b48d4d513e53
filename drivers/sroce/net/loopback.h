/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_LOOPBACK_H
#define SROCE_LOOPBACK_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <linux/workqueue.h>
#include "../core/params.h"
#include "../mem/wmem.h"
#include "rx_packet.h"

struct sroce_path;
struct sroce_qp;

/**
 * struct sroce_looped - short packet of a connection from a device to itself
 * @rx: the packet as its receiver sees it; references the netdev.  The receiver sets
 *	@net, because the netdev may move to another namespace
 * @payload: what @rx reads: @data
 * @ipv4: what @rx has as its IP header, or
 * @ipv6: the same
 * @qp: the sender; references its memory
 * @path: the side of @qp that has sent it
 * @data: payload
 *
 * Building an skb, parsing it again and freeing it costs more than all else that
 * happens to a short packet.
 */
struct sroce_looped {
	struct sroce_rx rx;
	struct sroce_reader payload;
	union {
		struct iphdr ipv4;
		struct ipv6hdr ipv6;
	};
	struct sroce_qp *qp;
	struct sroce_path *path;
	u8 data[SROCE_COPY_BREAK];
};

/**
 * struct sroce_looped_cb - control buffer of a burst in the queue, and when it is received
 * @user: the user that sent it, or NULL; the skb holds a QP of that user
 * @resets: sroce_qp_resets when it was sent
 */
struct sroce_looped_cb {
	struct sroce_wmem *user;
	u64 resets;
};

static inline struct sroce_looped_cb *sroce_looped_cb(struct sk_buff *skb)
{
	static_assert(sizeof(struct sroce_looped_cb) <= sizeof(skb->cb));
	return (struct sroce_looped_cb *)skb->cb;
}

/**
 * struct sroce_loopback - per-CPU queue of bursts from a device to itself
 * @queue: bursts; when a CPU goes offline @work may run on another.  No other
 *	lock is taken under its lock
 * @cpu: the CPU that the queue belongs to
 * @running: the queue is being delivered; protected by the queue's lock
 * @work: delivers bursts that exceed the budget
 * @packets: ring of SROCE_LOOPBACK_SHORT short packets, which are older than all
 *	bursts in @queue
 * @head: index of the next packet to deliver; written while @running is set
 * @tail: index of the next packet to queue; written by the CPU
 */
struct sroce_loopback {
	struct sk_buff_head queue;
	int cpu;
	bool running;
	struct work_struct work;
	struct sroce_looped *packets;
	u32 head;
	u32 tail;
};

DECLARE_PER_CPU(struct sroce_loopback, sroce_loopback);

/**
 * struct sroce_loopback_ops - receiver of loopback packets
 * @skb: called for each burst, which begins with the IP header, with a reference
 *	to the device; consumes the burst
 * @packet: called for each short packet; consumes its references
 *
 * Called without locks, with bottom halves off.
 */
struct sroce_loopback_ops {
	void (*skb)(struct sk_buff *skb);
	void (*packet)(struct sroce_looped *packet);
};

/* Start.  Return: 0 or ENOMEM. */
int sroce_loopback_init(const struct sroce_loopback_ops *ops);
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

/**
 * sroce_loopback_slot() - room for a short packet
 *
 * Context: bottom halves off until sroce_loopback_push_packet(), or until the room
 * is not used any more.
 *
 * Return: room, or NULL if the packet has to become a burst.
 */
static inline struct sroce_looped *sroce_loopback_slot(void)
{
	struct sroce_loopback *loop = this_cpu_ptr(&sroce_loopback);
	/* Pairs with deliver_oldest(). */
	u32 queued = loop->tail - smp_load_acquire(&loop->head);

	/* With a burst in the queue the packet would be delivered too early. */
	if (queued >= SROCE_LOOPBACK_SHORT || !skb_queue_empty_lockless(&loop->queue))
		return NULL;
	return &loop->packets[loop->tail % SROCE_LOOPBACK_SHORT];
}

/* Queue the packet in that room.  sroce_loopback_run() must follow. */
static inline void sroce_loopback_push_packet(void)
{
	struct sroce_loopback *loop = this_cpu_ptr(&sroce_loopback);

	/* Pairs with next_packet(). */
	smp_store_release(&loop->tail, loop->tail + 1);
}

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

static inline bool sroce_loopback_empty(const struct sroce_loopback *loop)
{
	return READ_ONCE(loop->head) == READ_ONCE(loop->tail) &&
	       skb_queue_empty_lockless(&loop->queue);
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

	if (!sroce_loopback_empty(loop))
		sroce_loopback_deliver(loop);
}

#endif /* SROCE_LOOPBACK_H */
