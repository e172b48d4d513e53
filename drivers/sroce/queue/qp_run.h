/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_RUN_H
#define SROCE_QP_RUN_H

#include "qp.h"

/* Work that a softirq may do instead of the work item. */
#define SROCE_TODO_SOFTIRQ	(BIT(SROCE_TODO_SEND) | BIT(SROCE_TODO_RESPOND))

/* Context: loading the module.  Return: 0 or an errno. */
int sroce_qp_run_init(void);
/* Wait for work items.  Context: unloading the module; no QP is left. */
void sroce_qp_run_exit(void);

/**
 * sroce_qp_wake() - schedule deferred work of a QP
 * @qp: the QP; no effect if it is going away
 * @todo: bits of enum sroce_qp_todo
 *
 * The work item does the work.  If @todo contains only SROCE_TODO_SOFTIRQ bits,
 * and a softirq on this CPU has called sroce_softirq_begin(), that softirq does
 * it instead.
 *
 * Context: any.
 */
void sroce_qp_wake(struct sroce_qp *qp, unsigned long todo);

/**
 * sroce_qp_error() - move a QP to an error state, flush it, and raise an event
 * @qp: the QP
 * @state: IB_QPS_ERR, or IB_QPS_SQE if only the send queue is affected
 * @event: SROCE_TODO_FATAL or another event, or SROCE_TODO_FLUSH for no event
 *
 * The work item flushes and raises the event.
 *
 * Context: @qp->sq.lock or @qp->rq.lock held.
 */
void sroce_qp_error(struct sroce_qp *qp, u8 state, enum sroce_qp_todo event);

/**
 * sroce_softirq_begin() - open this CPU's list of QPs to resume
 *
 * Until sroce_softirq_end(), sroce_qp_wake() queues SROCE_TODO_SOFTIRQ work on
 * this list instead of the workqueue, and sroce_softirq_end() does it.  So a
 * long response continues on the CPU that consumes its packets, without a
 * thread.
 *
 * Context: softirq, or bottom halves off, until sroce_softirq_end().
 * Return: false if the list is open already; then a caller further up the stack
 * calls sroce_softirq_end().
 */
bool sroce_softirq_begin(void);

/*
 * Remove the next QP from the list.  Context: as sroce_softirq_begin().
 * Return: the QP, whose reference the caller takes over, or NULL.
 */
struct sroce_qp *sroce_softirq_next(void);

/*
 * Close the list, and leave the remaining QPs to their work items.  Context: as
 * sroce_softirq_begin().
 */
void sroce_softirq_close(void);

/**
 * sroce_timer_budget_get() - may a timer callback transmit?
 * @qp: QP of the timer
 *
 * Once timers of more than SROCE_TIMER_QPS QPs have fired in a period on this
 * CPU, timers may transmit for at most SROCE_TIMER_SHARE_NS of it.
 *
 * Context: timer callback, softirq.
 * Return: value for sroce_timer_budget_put(), which is called at the end of the
 * callback; 0 if the callback must call sroce_qp_wake() instead.
 */
u64 sroce_timer_budget_get(struct sroce_qp *qp);
void sroce_timer_budget_put(u64 began);

#endif /* SROCE_QP_RUN_H */
