/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DOORBELL_BATCH_H
#define SROCE_DOORBELL_BATCH_H

#include "../queue/qp.h"

/**
 * sroce_doorbell_rung() - somebody has posted
 * @qp: any type; sq.lock held
 *
 * Sends.  If the process posts in a stream, what it posts next is batch_start for
 * a moment, and fewer kicks are asked for.
 */
void sroce_doorbell_rung(struct sroce_qp *qp);

/* Send what was batch_start up to now.  @qp: referenced.  Context: process. */
void sroce_batch_send(struct sroce_qp *qp);

/* Nothing is batch_start any more.  @qp: in RESET.  Context: process. */
void sroce_batch_cancel(struct sroce_qp *qp);

/**
 * sroce_batch_ended() - the time to gather is over
 * @qp: the QP, sq.lock held; sroce_batch_run() follows
 *
 * Gathers again if it has been worth it.
 */
void sroce_batch_ended(struct sroce_qp *qp);

/* Send what was batch_start.  @qp: the QP, sq.lock held. */
void sroce_batch_run(struct sroce_qp *qp);

#endif /* SROCE_DOORBELL_BATCH_H */
