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

/* Complete what was posted by now of a QP in an error state; may sleep. */
void sroce_worker_flush(struct sroce_qp *qp);

/* The work item. */
void sroce_worker_run(struct work_struct *work);

#endif /* SROCE_WORKER_H */
