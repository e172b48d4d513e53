/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WORKER_H
#define SROCE_WORKER_H

#include "qp.h"

int sroce_worker_init(void);
void sroce_worker_exit(void);

/**
 * sroce_worker_wake() - hand something over to the QP's work item
 * @qp: the QP; nothing happens if it is going away
 * @todo: bits of enum sroce_todo
 *
 * Context: any.
 */
void sroce_worker_wake(struct sroce_qp *qp, unsigned long todo);

/* Complete everything posted of a QP in an error state; may sleep. */
void sroce_worker_flush(struct sroce_qp *qp);

/* The work item. */
void sroce_worker_run(struct work_struct *work);

#endif /* SROCE_WORKER_H */
