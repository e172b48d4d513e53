/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GATHER_H
#define SROCE_GATHER_H

#include "qp.h"

/* Of a stream so many posts are gathered before the next kick. */
#define SROCE_GATHER_POSTS	32

/**
 * sroce_gather_kick() - somebody has posted
 * @qp: any type; sq.lock held
 *
 * Sends.  If the process posts in a stream, what it posts next is gathered for
 * a moment, and fewer kicks are asked for.
 */
void sroce_gather_kick(struct sroce_qp *qp);

/* Send what was gathered.  @timer: sq.gather.  Context: softirq, no lock. */
enum hrtimer_restart sroce_gather_end(struct hrtimer *timer);

/* Send what was gathered up to now.  @qp: referenced.  Context: process. */
void sroce_gather_send(struct sroce_qp *qp);

/* Nothing is gathered any more.  @qp: in RESET.  Context: process. */
void sroce_gather_cancel(struct sroce_qp *qp);

#endif /* SROCE_GATHER_H */
