/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_WORK_H
#define SROCE_QP_WORK_H

#include <linux/hrtimer.h>
#include "../queue/qp.h"

/*
 * Flush the WQEs posted so far of a QP in an error state.  Context: process,
 * may sleep.
 */
void sroce_qp_flush(struct sroce_qp *qp);

/* Work item of a QP. */
void sroce_qp_work(struct work_struct *work);

/* Run the per-CPU list; see sroce_softirq_begin().  Context: no lock held. */
void sroce_softirq_end(void);

/* Callbacks of sq.timer.hrtimer, sq.batch.timer and rq.pause.  Context: softirq. */
enum hrtimer_restart sroce_rtx_timer_fired(struct hrtimer *timer);
enum hrtimer_restart sroce_batch_timer_fired(struct hrtimer *timer);
enum hrtimer_restart sroce_resp_timer_fired(struct hrtimer *timer);

#endif /* SROCE_QP_WORK_H */
