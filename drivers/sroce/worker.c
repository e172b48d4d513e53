// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/workqueue.h>
#include "answer.h"
#include "finish.h"
#include "receive.h"
#include "send.h"
#include "worker.h"

/*
 * What processes have to be done has no more right to a processor than they:
 * the threads of high priority are for the kernel's own users.
 */
static struct workqueue_struct *queue, *kernel_queue;

int sroce_worker_init(void)
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

void sroce_worker_exit(void)
{
	destroy_workqueue(kernel_queue);
	destroy_workqueue(queue);
}

/* QPs to go on with at sroce_worker_end(); the processor's own, softirqs. */
struct agenda {
	struct sroce_qp *first;
	struct sroce_qp **last;
	bool open;
};

static DEFINE_PER_CPU(struct agenda, agenda);

#define IN_SOFTIRQ	(BIT(SROCE_TODO_SEND) | BIT(SROCE_TODO_ANSWER))
/* QPs served, and for how long, before the rest is left to threads. */
#define AGENDA_BUDGET	16
#define AGENDA_MS	2

/* @qp's reference becomes the agenda's or the work item's: one is enough. */
static void enter(struct sroce_qp *qp, bool soon)
{
	struct agenda *a;

	if (soon ? test_and_set_bit(0, &qp->on_agenda) :
		   !queue_work(qp->user ? queue : kernel_queue, &qp->work)) {
		sroce_qp_put(qp);
	} else if (soon) {
		a = this_cpu_ptr(&agenda);
		qp->next = NULL;
		*a->last = qp;
		a->last = &qp->next;
	}
}

void sroce_worker_wake(struct sroce_qp *qp, unsigned long todo)
{
	/* Only the softirq that has it open adds to it. */
	bool soon = this_cpu_read(agenda.open) && in_softirq() &&
		    !in_hardirq() && !(todo & ~IN_SOFTIRQ);

	if (!sroce_qp_get(qp))
		return;
	set_mask_bits(&qp->todo, 0, todo);
	enter(qp, soon);
}

bool sroce_worker_begin(void)
{
	struct agenda *a = this_cpu_ptr(&agenda);

	lockdep_assert_in_softirq();
	if (a->open)
		return false;
	a->first = NULL;
	a->last = &a->first;
	a->open = true;
	return true;
}

static struct sroce_qp *agenda_pop(struct agenda *a)
{
	struct sroce_qp *qp = a->first;

	if (!qp)
		return NULL;
	a->first = qp->next;
	if (!a->first)
		a->last = &a->first;
	/* From here on it may be entered again, by another processor, too. */
	clear_bit_unlock(0, &qp->on_agenda);
	return qp;
}

/* Answers first: what we send takes the queues' room (SROCE_TX_LIMIT). */
static void go_on(struct sroce_qp *qp, unsigned long todo)
{
	if (todo & BIT(SROCE_TODO_ANSWER)) {
		sroce_receive_lock(qp);
		sroce_answer(qp);
		sroce_receive_unlock(qp);
	}
	if (todo & BIT(SROCE_TODO_SEND)) {
		sroce_send_lock(qp);
		sroce_send_run(qp);
		sroce_send_unlock(qp);
	}
}

static void serve(struct sroce_qp *qp)
{
	unsigned long todo = xchg(&qp->todo, 0);

	go_on(qp, todo);
	if (todo & ~IN_SOFTIRQ)
		sroce_worker_wake(qp, todo & ~IN_SOFTIRQ);
	sroce_qp_put(qp);
}

void sroce_worker_end(void)
{
	struct agenda *a = this_cpu_ptr(&agenda);
	unsigned long end = jiffies + msecs_to_jiffies(AGENDA_MS);
	u32 budget = AGENDA_BUDGET;
	struct sroce_qp *qp;

	while (budget-- && !time_after(jiffies, end) && (qp = agenda_pop(a)))
		serve(qp);
	a->open = false;
	while ((qp = agenda_pop(a)))
		enter(qp, false);
}

/*
 * Timers of very many QPs may expire at once, and the softirq serves all of them
 * before it looks at anything else.  If they are of more QPs than so many, they
 * send for so many nanoseconds of each so many; the rest is done by threads.
 */
#define TURN_QPS	32
#define TURN_SHARE	(2 * NSEC_PER_MSEC)
#define TURN_PERIOD	(4 * NSEC_PER_MSEC)

/* @qps: of which timers have fired @since; their &sroce_qp.turn is the same */
struct turns {
	u64 since;
	u64 spent;
	u32 qps;
};

static DEFINE_PER_CPU(struct turns, turns);

u64 sroce_worker_turn_begin(struct sroce_qp *qp)
{
	struct turns *t = this_cpu_ptr(&turns);
	u64 now = ktime_get_ns();

	lockdep_assert_in_softirq();
	if (now - t->since >= TURN_PERIOD) {
		t->since = now;
		t->spent = 0;
		t->qps = 0;
	}
	/* Its timers may fire on two processors: it counts there and here. */
	if (READ_ONCE(qp->turn) != t->since) {
		WRITE_ONCE(qp->turn, t->since);
		t->qps++;
	}
	return t->qps <= TURN_QPS || t->spent < TURN_SHARE ? now : 0;
}

void sroce_worker_turn_end(u64 began)
{
	if (began)
		this_cpu_ptr(&turns)->spent += ktime_get_ns() - began;
}

static void raise(struct sroce_qp *qp, enum ib_event_type type)
{
	struct ib_event event = {
		.device = &qp->dev->ib,
		.element.qp = qp->ib,
		.event = type,
	};

	if (qp->ib->event_handler)
		qp->ib->event_handler(&event, qp->ib->qp_context);
}

static void raise_events(struct sroce_qp *qp, unsigned long todo)
{
	static const struct {
		enum sroce_todo bit;
		enum ib_event_type type;
	} events[] = {
		{ SROCE_TODO_FATAL, IB_EVENT_QP_FATAL },
		{ SROCE_TODO_REQ_ERR, IB_EVENT_QP_REQ_ERR },
		{ SROCE_TODO_ACCESS_ERR, IB_EVENT_QP_ACCESS_ERR },
		{ SROCE_TODO_DRAINED, IB_EVENT_SQ_DRAINED },
		{ SROCE_TODO_ESTABLISHED, IB_EVENT_COMM_EST },
		{ SROCE_TODO_LAST_RECV, IB_EVENT_QP_LAST_WQE_REACHED },
	};
	u32 i;

	sroce_srq_raise_due(qp->srq, todo);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (todo & BIT(events[i].bit))
			raise(qp, events[i].type);
}

/*
 * The tails are the process's.  They are looked at once: one that moves them
 * on and on does not make flushing last.
 */
static void begin_flush(struct sroce_qp *qp)
{
	sroce_send_lock(qp);
	sroce_finish_failing(qp);
	sroce_send_unlock(qp);
	sroce_receive_lock(qp);
	sroce_receive_failing(qp);
	sroce_receive_unlock(qp);
}

static bool flush_some(struct sroce_qp *qp)
{
	bool more;

	sroce_send_lock(qp);
	more = sroce_finish_flush(qp);
	sroce_send_unlock(qp);
	sroce_receive_lock(qp);
	more |= sroce_receive_flush(qp);
	sroce_receive_unlock(qp);
	return more;
}

void sroce_worker_flush(struct sroce_qp *qp)
{
	u32 entries = max(qp->sq.entries, qp->rq.ring.entries);
	/* Others may find more meanwhile; that is theirs to flush. */
	u32 rounds = entries / SROCE_FLUSH_BUDGET + 1;

	begin_flush(qp);
	while (rounds-- && flush_some(qp))
		cond_resched();
}

/* Others want the thread, too: it is done in many small pieces. */
static bool flush_in_pieces(struct sroce_qp *qp, unsigned long todo)
{
	const unsigned long flush = BIT(SROCE_TODO_FLUSH) |
				    BIT(SROCE_TODO_FLUSH_REST);

	if (todo & BIT(SROCE_TODO_FLUSH))
		begin_flush(qp);
	if (!(todo & flush) || !flush_some(qp))
		return false;
	sroce_worker_wake(qp, (todo & ~(flush | IN_SOFTIRQ)) |
			      BIT(SROCE_TODO_FLUSH_REST));
	return true;
}

void sroce_worker_run(struct work_struct *work)
{
	struct sroce_qp *qp = container_of(work, struct sroce_qp, work);
	unsigned long todo = xchg(&qp->todo, 0);

	go_on(qp, todo);
	/* What has been flushed comes before the events. */
	if (!flush_in_pieces(qp, todo))
		raise_events(qp, todo);
	sroce_qp_put(qp);
}
