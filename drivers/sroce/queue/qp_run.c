// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scheduling of deferred QP work: by the current receive softirq, or by the
 * QP's work item.
 */
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include "../core/params.h"
#include "qp_run.h"
#include "trace.h"

/*
 * Work for processes must not have a higher priority than the processes.  Only
 * kernel users get the high-priority workqueue.
 */
static struct workqueue_struct *queue, *kernel_queue;

int sroce_qp_run_init(void)
{
	queue = alloc_workqueue("sroce", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	if (!queue)
		return -ENOMEM;
	kernel_queue = alloc_workqueue("sroce_kernel", WQ_PERCPU | WQ_HIGHPRI |
				       WQ_MEM_RECLAIM, 0);
	if (kernel_queue)
		return 0;
	destroy_workqueue(queue);
	return -ENOMEM;
}

void sroce_qp_run_exit(void)
{
	destroy_workqueue(kernel_queue);
	destroy_workqueue(queue);
}

/*
 * QPs that sroce_softirq_end() resumes.  Per CPU; only softirqs access it.
 */
struct run_list {
	struct sroce_qp *first;
	struct sroce_qp **last;
	bool open;
};

static DEFINE_PER_CPU(struct run_list, run_list);

/*
 * Consumes the caller's reference: the list or the work item takes it over, or
 * it is dropped if the QP is queued there already.
 */
static void run_list_add(struct sroce_qp *qp, bool soon)
{
	struct run_list *a;

	if (soon ? test_and_set_bit(0, &qp->run.on_list) :
		   !queue_work(qp->user ? queue : kernel_queue, &qp->run.work)) {
		sroce_qp_put(qp);
	} else if (soon) {
		a = this_cpu_ptr(&run_list);
		qp->run.next = NULL;
		*a->last = qp;
		a->last = &qp->run.next;
	}
}

void sroce_qp_wake(struct sroce_qp *qp, unsigned long todo)
{
	/* Only the softirq that has opened the list may add to it. */
	bool soon = this_cpu_read(run_list.open) && in_softirq() &&
		    !in_hardirq() && !(todo & ~SROCE_TODO_SOFTIRQ);

	if (!sroce_qp_get(qp))
		return;
	set_mask_bits(&qp->run.todo, 0, todo);
	run_list_add(qp, soon);
}

bool sroce_softirq_begin(void)
{
	struct run_list *a = this_cpu_ptr(&run_list);

	lockdep_assert_in_softirq();
	if (a->open)
		return false;
	a->first = NULL;
	a->last = &a->first;
	a->open = true;
	return true;
}

struct sroce_qp *sroce_softirq_next(void)
{
	struct run_list *a = this_cpu_ptr(&run_list);
	struct sroce_qp *qp = a->first;

	if (!qp)
		return NULL;
	a->first = qp->run.next;
	if (!a->first)
		a->last = &a->first;
	/* From here on any CPU may queue the QP again. */
	clear_bit_unlock(0, &qp->run.on_list);
	return qp;
}

void sroce_softirq_close(void)
{
	struct sroce_qp *qp;

	this_cpu_write(run_list.open, false);
	while ((qp = sroce_softirq_next()))
		run_list_add(qp, false);
}

/**
 * struct timer_budget - a CPU's budget for transmission by timers
 * @since: start of the current period, ns
 * @spent: time that timers have used in this period, ns
 * @qps: number of QPs whose timers have fired in this period; their
 *	&sroce_qp_run.timer_period equals @since
 */
struct timer_budget {
	u64 since;
	u64 spent;
	u32 qps;
};

static DEFINE_PER_CPU(struct timer_budget, timer_budget);

u64 sroce_timer_budget_get(struct sroce_qp *qp)
{
	struct timer_budget *t = this_cpu_ptr(&timer_budget);
	u64 now = ktime_get_ns();

	lockdep_assert_in_softirq();
	if (now - t->since >= SROCE_TIMER_PERIOD_NS) {
		t->since = now;
		t->spent = 0;
		t->qps = 0;
	}
	/* If its timers fire on two CPUs, both may count the QP. */
	if (READ_ONCE(qp->run.timer_period) != t->since) {
		WRITE_ONCE(qp->run.timer_period, t->since);
		t->qps++;
	}
	return t->qps <= SROCE_TIMER_QPS || t->spent < SROCE_TIMER_SHARE_NS ? now : 0;
}

void sroce_timer_budget_put(u64 began)
{
	if (began)
		this_cpu_ptr(&timer_budget)->spent += ktime_get_ns() - began;
}

void sroce_qp_error(struct sroce_qp *qp, u8 state, enum sroce_qp_todo event)
{
	u8 now = READ_ONCE(qp->state);

	lockdep_assert(lockdep_is_held(&qp->sq.lock) ||
		       lockdep_is_held(&qp->rq.lock));
	if (now == IB_QPS_ERR || now < IB_QPS_RTR)
		return;
	/*
	 * The other side may be failing at the same time: never change ERR to
	 * SQE.
	 */
	if (state == IB_QPS_ERR)
		WRITE_ONCE(qp->state, state);
	else if ((now != IB_QPS_RTS && now != IB_QPS_SQD) ||
		 cmpxchg(&qp->state, now, state) != now)
		return;
	trace_sroce_state(qp, now, state);
	sroce_qp_wake(qp, BIT(event) | BIT(SROCE_TODO_FLUSH));
}
