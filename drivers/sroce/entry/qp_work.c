// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Deferred work of a QP: its work item, its timer callbacks, and the end of a
 * receive softirq.
 */
#include <linux/jiffies.h>
#include "../core/params.h"
#include "../queue/qp_run.h"
#include "../queue/srq.h"
#include "../recv/resp.h"
#include "../recv/resp_tx.h"
#include "../recv/rq.h"
#include "../send/doorbell_batch.h"
#include "../send/req.h"
#include "../send/response.h"
#include "../send/rtx_timer.h"
#include "../send/sq.h"
#include "../send/sq_complete.h"
#include "qp_work.h"

/*
 * Responses first, because requests use up the room in the queues
 * (SROCE_TX_LIMIT).
 */
static void respond_and_send(struct sroce_qp *qp, unsigned long todo)
{
	if (todo & BIT(SROCE_TODO_RESPOND)) {
		sroce_rq_begin(qp);
		sroce_resp_run(qp);
		sroce_rq_end(qp);
	}
	if (todo & BIT(SROCE_TODO_SEND)) {
		sroce_sq_begin(qp);
		sroce_req_run(qp);
		sroce_sq_end(qp);
	}
}

static void run_qp(struct sroce_qp *qp)
{
	unsigned long todo = xchg(&qp->run.todo, 0);

	respond_and_send(qp, todo);
	if (todo & ~SROCE_TODO_SOFTIRQ)
		sroce_qp_wake(qp, todo & ~SROCE_TODO_SOFTIRQ);
	sroce_qp_put(qp);
}

void sroce_softirq_end(void)
{
	unsigned long end = jiffies + msecs_to_jiffies(SROCE_SOFTIRQ_MS);
	u32 budget = SROCE_SOFTIRQ_BUDGET;
	struct sroce_qp *qp;

	while (budget-- && !time_after(jiffies, end) && (qp = sroce_softirq_next()))
		run_qp(qp);
	sroce_softirq_close();
}

static void raise_event(struct sroce_qp *qp, enum ib_event_type type)
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
		enum sroce_qp_todo bit;
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
			raise_event(qp, events[i].type);
}

/*
 * The process can move the tails at any time.  They are read once here, so that
 * moving them does not prolong the flush.
 */
static void begin_flush(struct sroce_qp *qp)
{
	sroce_sq_begin(qp);
	sroce_sq_flush_begin(qp);
	sroce_sq_end(qp);
	sroce_rq_begin(qp);
	/* In SQE the responder goes on, and sends in order. */
	if (sroce_qp_state(qp) == IB_QPS_ERR)
		sroce_resp_send_last(qp);
	sroce_rq_flush_begin(qp);
	sroce_rq_end(qp);
}

static bool flush_some(struct sroce_qp *qp)
{
	bool more;

	sroce_sq_begin(qp);
	more = sroce_sq_flush(qp);
	sroce_sq_end(qp);
	sroce_rq_begin(qp);
	more |= sroce_rq_flush(qp);
	sroce_rq_end(qp);
	return more;
}

void sroce_qp_flush(struct sroce_qp *qp)
{
	u32 entries = max(qp->sq.ring.entries, qp->rq.ring.entries);
	/* Others may find more meanwhile; that is theirs to flush. */
	u32 rounds = entries / SROCE_FLUSH_BUDGET + 1;

	begin_flush(qp);
	while (rounds-- && flush_some(qp))
		cond_resched();
}

/* Flush in small pieces, because other work items need the thread. */
static bool flush_in_pieces(struct sroce_qp *qp, unsigned long todo)
{
	const unsigned long flush = BIT(SROCE_TODO_FLUSH) |
				    BIT(SROCE_TODO_FLUSH_REST);

	if (todo & BIT(SROCE_TODO_FLUSH))
		begin_flush(qp);
	if (!(todo & flush) || !flush_some(qp))
		return false;
	sroce_qp_wake(qp, (todo & ~(flush | SROCE_TODO_SOFTIRQ)) |
			      BIT(SROCE_TODO_FLUSH_REST));
	return true;
}

void sroce_qp_work(struct work_struct *work)
{
	struct sroce_qp *qp = container_of(work, struct sroce_qp, run.work);
	unsigned long todo = xchg(&qp->run.todo, 0);

	respond_and_send(qp, todo);
	/* Flush completions come before the events. */
	if (!flush_in_pieces(qp, todo))
		raise_events(qp, todo);
	sroce_qp_put(qp);
}

/* No response until the deadline. */
static void handle_timeout(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	/* While this host pages in memory, the wait does not count as a timeout. */
	if (sq->paging.refetch || sroce_fault_busy(&sq->paging.fault)) {
		sroce_rtx_restart(&sq->rtx);
		return;
	}
	switch (sroce_rtx_expired(&sq->rtx, &sq->req)) {
	case SROCE_RTX_PROBE:
		sroce_rtx_timer_probe(qp);
		break;
	case SROCE_RTX_RETRY:
		sroce_rtx_timer_retry(qp, SROCE_LOCAL_ACK_TIMEOUT_ERR);
		break;
	case SROCE_RTX_REFUSED:
		sroce_req_refused(qp, sq->req.refusal);
		break;
	case SROCE_RTX_NOTHING:
		break;
	}
}

static void deadline_passed(struct sroce_qp *qp, u64 budget)
{
	struct sroce_sendq *sq = &qp->sq;

	if (!sroce_sq_active(qp))
		return;
	if (!sq->timer.blocked && !sq->req.rnr_wait)
		handle_timeout(qp);
	sroce_rtx_timer_waited(qp);
	if (budget)
		sroce_req_run(qp);
	else
		sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
}

enum hrtimer_restart sroce_rtx_timer_fired(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, sq.timer.hrtimer);
	u64 budget = sroce_timer_budget_get(qp);

	sroce_sq_begin(qp);
	if (sroce_rtx_timer_due(qp))
		deadline_passed(qp, budget);
	sroce_sq_end(qp);
	sroce_timer_budget_put(budget);
	return HRTIMER_NORESTART;
}

enum hrtimer_restart sroce_batch_timer_fired(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, sq.batch.timer);
	u64 budget = sroce_timer_budget_get(qp);

	sroce_sq_begin(qp);
	sroce_batch_ended(qp, budget);
	if (budget)
		sroce_batch_run(qp);
	else
		sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
	sroce_sq_end(qp);
	sroce_timer_budget_put(budget);
	return HRTIMER_NORESTART;
}

enum hrtimer_restart sroce_resp_timer_fired(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, rq.pause);
	u64 budget = sroce_timer_budget_get(qp);

	if (budget) {
		sroce_rq_begin(qp);
		sroce_resp_run(qp);
		sroce_rq_end(qp);
	} else {
		sroce_qp_wake(qp, BIT(SROCE_TODO_RESPOND));
	}
	sroce_timer_budget_put(budget);
	return HRTIMER_NORESTART;
}
