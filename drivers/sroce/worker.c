// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/workqueue.h>
#include "receive.h"
#include "send.h"
#include "worker.h"

static struct workqueue_struct *queue;

int sroce_worker_init(void)
{
	queue = alloc_workqueue("sroce", WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	return queue ? 0 : -ENOMEM;
}

void sroce_worker_exit(void)
{
	destroy_workqueue(queue);
}

void sroce_worker_wake(struct sroce_qp *qp, unsigned long todo)
{
	if (!sroce_qp_get(qp))
		return;
	set_mask_bits(&qp->todo, 0, todo);
	/* The reference is the queued work's: one is enough. */
	if (!queue_work(queue, &qp->work))
		sroce_qp_put(qp);
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
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		if (todo & BIT(events[i].bit))
			raise(qp, events[i].type);
}

void sroce_worker_flush(struct sroce_qp *qp)
{
	bool more;

	do {
		sroce_send_lock(qp);
		more = sroce_send_flush(qp);
		sroce_send_unlock(qp);
		sroce_receive_lock(qp);
		more |= sroce_receive_flush(qp);
		sroce_receive_unlock(qp);
		cond_resched();
	} while (more);
}

void sroce_worker_run(struct work_struct *work)
{
	struct sroce_qp *qp = container_of(work, struct sroce_qp, work);
	unsigned long todo = xchg(&qp->todo, 0);

	if (todo & BIT(SROCE_TODO_SEND)) {
		sroce_send_lock(qp);
		sroce_send_run(qp);
		sroce_send_unlock(qp);
	}
	if (todo & BIT(SROCE_TODO_ANSWER)) {
		sroce_receive_lock(qp);
		sroce_receive_answer(qp);
		sroce_receive_unlock(qp);
	}
	if (todo & BIT(SROCE_TODO_FLUSH))
		sroce_worker_flush(qp);
	raise_events(qp, todo);
	sroce_qp_put(qp);
}
