// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loopback: delivers bursts, and short packets one by one, to QPs of the same
 * device without the network stack.
 */
#include <linux/slab.h>
#include "../core/params.h"
#include "../queue/qp.h"
#include "loopback.h"

DEFINE_PER_CPU(struct sroce_loopback, sroce_loopback);

/* Not WQ_HIGHPRI: the work may run for long, and other tasks need the CPU. */
static struct workqueue_struct *queue;

static void count_looped(const struct sroce_loopback *loop, struct sk_buff *skb,
			 int more)
{
	struct sroce_wmem *user = sroce_looped_cb(skb)->user;
	u32 *looped;

	lockdep_assert_held(&loop->queue.lock);
	if (!user)
		return;
	looped = per_cpu_ptr(user->looped, loop->cpu);
	WRITE_ONCE(*looped, *looped + more);
}

static const struct sroce_loopback_ops *receiver;

static struct sroce_looped *next_packet(struct sroce_loopback *loop)
{
	/* Pairs with sroce_loopback_push_packet(). */
	if (loop->head == smp_load_acquire(&loop->tail))
		return NULL;
	return &loop->packets[loop->head % SROCE_LOOPBACK_SHORT];
}

/* Take the oldest burst, unless a packet has been queued before it. */
static struct sk_buff *next_burst(struct sroce_loopback *loop)
{
	struct sk_buff *skb = NULL;

	spin_lock(&loop->queue.lock);
	if (!next_packet(loop))
		skb = __skb_dequeue(&loop->queue);
	if (skb)
		count_looped(loop, skb, -1);
	spin_unlock(&loop->queue.lock);
	return skb;
}

static void deliver_oldest(struct sroce_loopback *loop)
{
	struct sroce_looped *packet = next_packet(loop);
	struct sk_buff *skb;

	if (packet) {
		receiver->packet(packet);
		/* Pairs with sroce_loopback_slot(): the slot is free. */
		smp_store_release(&loop->head, loop->head + 1);
		return;
	}
	skb = next_burst(loop);
	if (skb)
		receiver->skb(skb);
}

static bool loop_begin(struct sroce_loopback *loop)
{
	bool mine;

	spin_lock(&loop->queue.lock);
	mine = !sroce_loopback_empty(loop) && !loop->running;
	if (mine)
		loop->running = true;
	spin_unlock(&loop->queue.lock);
	return mine;
}

/*
 * Returns true if the delivery ends.  The queue is checked under the lock: if a packet is
 * queued later, loop_begin() finds @running false.
 */
static bool loop_end(struct sroce_loopback *loop, u32 budget)
{
	bool more;

	if (budget && !sroce_loopback_empty(loop))
		return false;
	spin_lock(&loop->queue.lock);
	more = budget && !sroce_loopback_empty(loop);
	loop->running = more;
	spin_unlock(&loop->queue.lock);
	return !more;
}

/* Responses that a delivery causes go to the end of the queue. */
void sroce_loopback_deliver(struct sroce_loopback *loop)
{
	u32 budget = SROCE_LOOPBACK_BUDGET;

	lockdep_assert_in_softirq();
	if (!loop_begin(loop))
		return;
	do
		deliver_oldest(loop);
	while (!loop_end(loop, --budget));
	if (!sroce_loopback_empty(loop))
		queue_work_on(smp_processor_id(), queue, &loop->work);
}

static void run_rest(struct work_struct *work)
{
	struct sroce_loopback *loop = container_of(work, struct sroce_loopback, work);

	local_bh_disable();
	sroce_loopback_deliver(loop);
	local_bh_enable();
}

/*
 * Twice the limit, because ACKs and UD packets do not test
 * sroce_loopback_full().
 */
bool sroce_loopback_push(struct sk_buff *skb, struct sroce_wmem *w)
{
	struct sroce_loopback *loop = this_cpu_ptr(&sroce_loopback);
	bool room;

	lockdep_assert_in_softirq();
	spin_lock(&loop->queue.lock);
	room = !sroce_loopback_exceeds(loop, w, 2 * SROCE_LOOPBACK_LIMIT);
	if (room) {
		sroce_looped_cb(skb)->user = sroce_wmem_owner(w);
		sroce_looped_cb(skb)->resets = atomic64_read(&sroce_qp_resets);
		count_looped(loop, skb, 1);
		__skb_queue_tail(&loop->queue, skb);
	}
	spin_unlock(&loop->queue.lock);
	return room;
}

static void free_packets(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		kfree(per_cpu_ptr(&sroce_loopback, cpu)->packets);
}

static int init_cpu(int cpu)
{
	struct sroce_loopback *loop = per_cpu_ptr(&sroce_loopback, cpu);

	skb_queue_head_init(&loop->queue);
	loop->cpu = cpu;
	INIT_WORK(&loop->work, run_rest);
	loop->packets = kcalloc_node(SROCE_LOOPBACK_SHORT, sizeof(*loop->packets),
				     GFP_KERNEL, cpu_to_node(cpu));
	return loop->packets ? 0 : -ENOMEM;
}

int sroce_loopback_init(const struct sroce_loopback_ops *ops)
{
	int err = 0;
	int cpu;

	receiver = ops;
	for_each_possible_cpu(cpu)
		err = err ?: init_cpu(cpu);
	queue = alloc_workqueue("sroce_loopback", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!err && queue)
		return 0;
	if (queue)
		destroy_workqueue(queue);
	free_packets();
	return -ENOMEM;
}

void sroce_loopback_exit(void)
{
	destroy_workqueue(queue);
	free_packets();
}
