/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTX_TIMER_H
#define SROCE_RTX_TIMER_H

#include "../base/counters.h"
#include "../queue/qp.h"

/**
 * sroce_rtx_arm() - look again in a while
 * @qp: connected, or paused; sq.lock held
 * @ns: from now
 */
void sroce_rtx_arm(struct sroce_qp *qp, u64 ns);

/**
 * sroce_rtx_progress() - an answer came, or something waits that did not
 * @qp: connected; sq.lock held
 *
 * Takes the time of a flight that ends, and waits for the next answer.
 */
void sroce_rtx_progress(struct sroce_qp *qp);

/**
 * sroce_rtx_resend() - what has been sent goes out once more
 * @qp: connected; sq.lock held
 *
 * How long its answers take says nothing then, as a rule.
 */
void sroce_rtx_resend(struct sroce_qp *qp);

/**
 * sroce_rtx_retry() - something was lost: go back, or fail
 * @qp: connected; sq.lock held; sroce_req_run() follows
 * @why: what to count if a retry is left
 */
void sroce_rtx_retry(struct sroce_qp *qp, enum sroce_counter why);

/**
 * sroce_rtx_probe() - ask the peer what it has received
 * @qp: connected; sq.lock held; sroce_req_run() follows
 */
void sroce_rtx_probe(struct sroce_qp *qp);

/**
 * sroce_rtx_due() - the timer has fired
 * @qp: the QP; sq.lock held
 *
 * Return: true if the deadline has come.  If not, the timer runs again, as long
 * as there is a deadline.
 */
bool sroce_rtx_due(struct sroce_qp *qp);

#endif /* SROCE_RTX_TIMER_H */
