/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_WORK_H
#define SROCE_QP_WORK_H

#include <linux/hrtimer.h>
#include "../queue/qp.h"

/* Complete what was posted by now of a QP in an error state; may sleep. */
void sroce_worker_flush(struct sroce_qp *qp);

/* The work item. */
void sroce_worker_run(struct work_struct *work);

/* Context: no lock held.  See sroce_worker_begin(). */
void sroce_worker_end(void);

/* Callbacks of sq.timer, sq.gather and rq.pause.  Context: softirq. */
enum hrtimer_restart sroce_timer_fired(struct hrtimer *timer);
enum hrtimer_restart sroce_gather_end(struct hrtimer *timer);
enum hrtimer_restart sroce_answer_again(struct hrtimer *timer);

#endif /* SROCE_QP_WORK_H */
