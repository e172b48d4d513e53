// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "loop.h"

/* Bursts, of 256 KiB at most, before the rest is left to a thread. */
#define BUDGET	8

DEFINE_PER_CPU(struct sroce_loop, sroce_loop);

static void (*deliver)(struct sk_buff *skb);

/* The oldest burst; none ends the delivery, as the budget does. */
static struct sk_buff *pop(struct sroce_loop *loop, u32 *budget)
{
	struct sk_buff *skb;

	spin_lock(&loop->lock);
	skb = *budget ? loop->first : NULL;
	if (skb) {
		--*budget;
		WRITE_ONCE(loop->first, skb->next);
		if (!loop->first)
			loop->last = &loop->first;
		skb_mark_not_on_list(skb);
	} else {
		loop->running = false;
	}
	spin_unlock(&loop->lock);
	return skb;
}

static bool begin(struct sroce_loop *loop)
{
	bool mine;

	spin_lock(&loop->lock);
	mine = loop->first && !loop->running;
	if (mine)
		loop->running = true;
	spin_unlock(&loop->lock);
	return mine;
}

/* What is delivered may be answered: the answer goes to the end. */
void sroce_loop_deliver(struct sroce_loop *loop)
{
	u32 budget = BUDGET;
	struct sk_buff *skb;

	lockdep_assert_in_softirq();
	if (!begin(loop))
		return;
	while ((skb = pop(loop, &budget)))
		deliver(skb);
	if (READ_ONCE(loop->first))
		queue_work_on(smp_processor_id(), system_highpri_wq,
			      &loop->work);
}

static void run_rest(struct work_struct *work)
{
	struct sroce_loop *loop = container_of(work, struct sroce_loop, work);

	local_bh_disable();
	sroce_loop_deliver(loop);
	local_bh_enable();
}

void sroce_loop_push(struct sk_buff *skb)
{
	struct sroce_loop *loop = this_cpu_ptr(&sroce_loop);

	lockdep_assert_in_softirq();
	skb->next = NULL;
	spin_lock(&loop->lock);
	WRITE_ONCE(*loop->last, skb);
	loop->last = &skb->next;
	spin_unlock(&loop->lock);
}

void sroce_loop_init(void (*function)(struct sk_buff *skb))
{
	int cpu;

	deliver = function;
	for_each_possible_cpu(cpu) {
		struct sroce_loop *loop = per_cpu_ptr(&sroce_loop, cpu);

		spin_lock_init(&loop->lock);
		loop->last = &loop->first;
		INIT_WORK(&loop->work, run_rest);
	}
}

void sroce_loop_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		flush_work(&per_cpu_ptr(&sroce_loop, cpu)->work);
}
