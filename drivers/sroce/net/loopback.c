// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Loopback: delivers bursts to QPs of the same device without the network
 * stack.
 */
#include "../core/params.h"
#include "loopback.h"

DEFINE_PER_CPU(struct sroce_loopback, sroce_loopback);

/* Not WQ_HIGHPRI: the work may run for long, and other tasks need the CPU. */
static struct workqueue_struct *queue;

/* The user that sent the burst, or NULL; the skb holds a QP of that user. */
static struct sroce_wmem **skb_user(struct sk_buff *skb)
{
	return (struct sroce_wmem **)skb->cb;
}

static void count_looped(const struct sroce_loopback *loop, struct sk_buff *skb,
			 int more)
{
	struct sroce_wmem *user = *skb_user(skb);
	u32 *looped;

	lockdep_assert_held(&loop->queue.lock);
	if (!user)
		return;
	looped = per_cpu_ptr(user->looped, loop->cpu);
	WRITE_ONCE(*looped, *looped + more);
}

static void (*deliver)(struct sk_buff *skb);

/*
 * Take the oldest burst.  An empty queue or a used-up budget ends the delivery.
 */
static struct sk_buff *loop_next(struct sroce_loopback *loop, u32 *budget)
{
	struct sk_buff *skb = NULL;

	spin_lock(&loop->queue.lock);
	if (*budget)
		skb = __skb_dequeue(&loop->queue);
	if (skb) {
		--*budget;
		count_looped(loop, skb, -1);
	} else {
		loop->running = false;
	}
	spin_unlock(&loop->queue.lock);
	return skb;
}

static bool loop_begin(struct sroce_loopback *loop)
{
	bool mine;

	spin_lock(&loop->queue.lock);
	mine = !skb_queue_empty(&loop->queue) && !loop->running;
	if (mine)
		loop->running = true;
	spin_unlock(&loop->queue.lock);
	return mine;
}

/* Responses that a delivery causes go to the end of the queue. */
void sroce_loopback_deliver(struct sroce_loopback *loop)
{
	u32 budget = SROCE_LOOPBACK_BUDGET;
	struct sk_buff *skb;

	lockdep_assert_in_softirq();
	if (!loop_begin(loop))
		return;
	while ((skb = loop_next(loop, &budget)))
		deliver(skb);
	if (!skb_queue_empty_lockless(&loop->queue))
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
		*skb_user(skb) = sroce_wmem_owner(w);
		count_looped(loop, skb, 1);
		__skb_queue_tail(&loop->queue, skb);
	}
	spin_unlock(&loop->queue.lock);
	return room;
}

int sroce_loopback_init(void (*function)(struct sk_buff *skb))
{
	int cpu;

	queue = alloc_workqueue("sroce_loopback", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!queue)
		return -ENOMEM;
	deliver = function;
	for_each_possible_cpu(cpu) {
		struct sroce_loopback *loop = per_cpu_ptr(&sroce_loopback, cpu);

		skb_queue_head_init(&loop->queue);
		loop->cpu = cpu;
		INIT_WORK(&loop->work, run_rest);
	}
	return 0;
}

void sroce_loopback_exit(void)
{
	destroy_workqueue(queue);
}
