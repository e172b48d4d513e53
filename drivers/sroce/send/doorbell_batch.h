/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DOORBELL_BATCH_H
#define SROCE_DOORBELL_BATCH_H

#include "../queue/qp.h"

/**
 * sroce_doorbell_rung() - send WQEs after a doorbell
 * @qp: any type; sq.lock held
 *
 * If the process posts a stream, later WQEs are collected for SROCE_BATCH_NS,
 * and the process is asked to kick less often.
 */
void sroce_doorbell_rung(struct sroce_qp *qp);

/* Send the WQEs collected so far.  @qp: referenced.  Context: process. */
void sroce_batch_send(struct sroce_qp *qp);

/* Stop collecting.  @qp: in RESET.  Context: process. */
void sroce_batch_cancel(struct sroce_qp *qp);

/**
 * sroce_batch_ended() - handle expiry of the batch timer
 * @qp: the QP, sq.lock held; sroce_batch_run() or the work item must follow
 * @restart: start the timer again if recent intervals collected enough WQEs.  False if
 *	timers have used up their share of the CPU: then the process has to kick
 */
void sroce_batch_ended(struct sroce_qp *qp, bool restart);

/* Send the collected WQEs.  @qp: the QP, sq.lock held. */
void sroce_batch_run(struct sroce_qp *qp);

#endif /* SROCE_DOORBELL_BATCH_H */
