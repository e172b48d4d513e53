/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DOORBELL_BATCH_H
#define SROCE_DOORBELL_BATCH_H

#include "../queue/qp.h"

/**
 * sroce_gather_kick() - somebody has posted
 * @qp: any type; sq.lock held
 *
 * Sends.  If the process posts in a stream, what it posts next is gathered for
 * a moment, and fewer kicks are asked for.
 */
void sroce_gather_kick(struct sroce_qp *qp);

/* Send what was gathered up to now.  @qp: referenced.  Context: process. */
void sroce_gather_send(struct sroce_qp *qp);

/* Nothing is gathered any more.  @qp: in RESET.  Context: process. */
void sroce_gather_cancel(struct sroce_qp *qp);

/**
 * sroce_gather_ended() - the time to gather is over
 * @qp: the QP, sq.lock held; sroce_gather_run() follows
 *
 * Gathers again if it has been worth it.
 */
void sroce_gather_ended(struct sroce_qp *qp);

/* Send what was gathered.  @qp: the QP, sq.lock held. */
void sroce_gather_run(struct sroce_qp *qp);

#endif /* SROCE_DOORBELL_BATCH_H */
