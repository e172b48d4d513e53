// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "loop.h"

/* Bursts delivered before the rest is left to a thread. */
#define BUDGET	64

DEFINE_PER_CPU(struct sroce_loop, sroce_loop);

static void (*deliver)(struct sk_buff *skb);

static struct sk_buff *pop(struct sroce_loop *loop)
{
	struct sk_buff *skb = loop->first;

	if (!skb)
		return NULL;
	loop->first = skb->next;
	if (!loop->first)
		loop->last = &loop->first;
	skb_mark_not_on_list(skb);
	return skb;
}

/* What is delivered may be answered: the answer goes to the end. */
void sroce_loop_deliver(struct sroce_loop *loop)
{
	u32 budget = BUDGET;
	struct sk_buff *skb;

	loop->running = true;
	while (budget-- && (skb = pop(loop)))
		deliver(skb);
	loop->running = false;
	if (loop->first)
		queue_work_on(smp_processor_id(), system_highpri_wq,
			      &loop->work);
}

static void run_rest(struct work_struct *work)
{
	struct sroce_loop *loop = container_of(work, struct sroce_loop, work);

	local_bh_disable();
	if (loop->first && !loop->running)
		sroce_loop_deliver(loop);
	local_bh_enable();
}

void sroce_loop_push(struct sk_buff *skb)
{
	struct sroce_loop *loop = this_cpu_ptr(&sroce_loop);

	skb->next = NULL;
	*loop->last = skb;
	loop->last = &skb->next;
}

void sroce_loop_init(void (*function)(struct sk_buff *skb))
{
	int cpu;

	deliver = function;
	for_each_possible_cpu(cpu) {
		struct sroce_loop *loop = per_cpu_ptr(&sroce_loop, cpu);

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
