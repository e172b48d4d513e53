/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WORKER_H
#define SROCE_WORKER_H

#include "qp.h"

/* Context: loading the module.  Return: 0 or an errno. */
int sroce_worker_init(void);
/* Waits for work items.  Context: unloading the module; no QP is left. */
void sroce_worker_exit(void);

/**
 * sroce_worker_wake() - hand something over to the QP's work item
 * @qp: the QP; nothing happens if it is going away
 * @todo: bits of enum sroce_todo
 *
 * What can go on in a softirq does, if one of ours is running here: see
 * sroce_worker_begin().
 *
 * Context: any.
 */
void sroce_worker_wake(struct sroce_qp *qp, unsigned long todo);

/**
 * sroce_worker_begin() - what wakes a QP on this processor will be done soon
 *
 * Between this and sroce_worker_end() sending and answering are not handed to
 * work items, but done at the end: a long answer goes on where its packets
 * are consumed, without a thread.
 *
 * Context: bottom halves off until sroce_worker_end().
 * Return: false if it has begun already, and somebody else will end it.
 */
bool sroce_worker_begin(void);
/* Context: no lock held. */
void sroce_worker_end(void);

/**
 * sroce_worker_turn_begin() - may this timer send?
 * @qp: whose timer it is
 *
 * If not, the timers of this processor have sent for long enough, and the QP is
 * to be woken instead.
 *
 * Context: a timer's callback, softirq.
 * Return: what sroce_worker_turn_end() takes, which ends the callback; 0: it may
 * not.
 */
u64 sroce_worker_turn_begin(struct sroce_qp *qp);
void sroce_worker_turn_end(u64 began);

/* Complete what was posted by now of a QP in an error state; may sleep. */
void sroce_worker_flush(struct sroce_qp *qp);

/* The work item. */
void sroce_worker_run(struct work_struct *work);

#endif /* SROCE_WORKER_H */
