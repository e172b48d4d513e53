/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_RUN_H
#define SROCE_QP_RUN_H

#include "qp.h"

/* What a softirq does as well as the work item */
#define SROCE_TODO_SOFTIRQ	(BIT(SROCE_TODO_SEND) | BIT(SROCE_TODO_RESPOND))

/* Context: loading the module.  Return: 0 or an errno. */
int sroce_qp_run_init(void);
/* Waits for work items.  Context: unloading the module; no QP is left. */
void sroce_qp_run_exit(void);

/**
 * sroce_qp_wake() - hand something over to the QP's work item
 * @qp: the QP; nothing happens if it is going away
 * @todo: bits of enum sroce_qp_todo
 *
 * What can go on in a softirq does, if one of ours is running here: see
 * sroce_softirq_begin().
 *
 * Context: any.
 */
void sroce_qp_wake(struct sroce_qp *qp, unsigned long todo);

/**
 * sroce_qp_error() - something went wrong: stop, flush, tell
 * @qp: the QP
 * @state: IB_QPS_ERR, or IB_QPS_SQE if only the send queue is concerned
 * @event: SROCE_TODO_FATAL and so on, or SROCE_TODO_FLUSH for none
 *
 * Context: @qp->sq.lock or @qp->rq.lock held.  The work item does the rest.
 */
void sroce_qp_error(struct sroce_qp *qp, u8 state, enum sroce_qp_todo event);

/**
 * sroce_softirq_begin() - what wakes a QP on this processor will be done soon
 *
 * Between this and sroce_softirq_end() sending and answering are not handed to
 * work items, but done at the end: a long answer goes on where its packets
 * are consumed, without a thread.
 *
 * Context: bottom halves off until sroce_softirq_end().
 * Return: false if it has begun already, and somebody else will end it.
 */
bool sroce_softirq_begin(void);

/*
 * The next QP that waits for sroce_softirq_end(), whose reference becomes the
 * caller's, or NULL.  Context: as there.
 */
struct sroce_qp *sroce_softirq_next(void);

/* It has ended: what still waits is left to work items.  Context: as there. */
void sroce_softirq_close(void);

/**
 * sroce_timer_budget_get() - may this timer send?
 * @qp: whose timer it is
 *
 * If not, the timers of this processor have sent for long enough, and the QP is
 * to be woken instead.
 *
 * Context: a timer's callback, softirq.
 * Return: what sroce_timer_budget_put() takes, which ends the callback; 0: it may
 * not.
 */
u64 sroce_timer_budget_get(struct sroce_qp *qp);
void sroce_timer_budget_put(u64 began);

#endif /* SROCE_QP_RUN_H */
