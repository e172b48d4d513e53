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

/* The same after a pause, for what would fail again at once. */
void sroce_worker_wake_later(struct sroce_qp *qp, unsigned long todo);

/* The work item. */
void sroce_worker_run(struct work_struct *work);

#endif /* SROCE_WORKER_H */
