/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTX_TIMER_H
#define SROCE_RTX_TIMER_H

#include "../queue/qp.h"

/**
 * sroce_rtx_timer_arm() - set a deadline
 * @qp: the QP; sq.lock held
 * @ns: from now
 */
void sroce_rtx_timer_arm(struct sroce_qp *qp, u64 ns);

/**
 * sroce_rtx_timer_progress() - packets were acknowledged, or the first one sent
 * @qp: connected; sq.lock held
 *
 * Sets the deadline that core/rtx.c asks for, or none.
 */
void sroce_rtx_timer_progress(struct sroce_qp *qp);

/**
 * sroce_rtx_timer_retry() - a packet was lost: go back, or fail
 * @qp: connected; sq.lock held; sroce_req_run() follows
 * @why: the counter of a retry; an exceeded retry count has its own
 */
void sroce_rtx_timer_retry(struct sroce_qp *qp, enum sroce_counter why);

/**
 * sroce_rtx_timer_probe() - ask the peer what it has received
 * @qp: connected; sq.lock held; sroce_req_run() follows
 */
void sroce_rtx_timer_probe(struct sroce_qp *qp);

/**
 * sroce_rtx_timer_due() - the timer has fired
 * @qp: the QP; sq.lock held
 *
 * Return: true if the deadline has passed.  If not, the timer runs again, as
 * long as there is a deadline.
 */
bool sroce_rtx_timer_due(struct sroce_qp *qp);

#endif /* SROCE_RTX_TIMER_H */
