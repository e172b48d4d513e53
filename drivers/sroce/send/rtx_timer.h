/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTX_TIMER_H
#define SROCE_RTX_TIMER_H

#include "../queue/qp.h"

/**
 * sroce_rtx_timer_arm() - set a deadline, without slack
 * @qp: the QP, sq.lock held
 * @ns: time from now, ns
 */
void sroce_rtx_timer_arm(struct sroce_qp *qp, u64 ns);

/**
 * sroce_rtx_timer_progress() - update the deadline after an acknowledgment, or
 *	after the first packet was sent
 * @qp: connected QP, sq.lock held
 * @from: the packets from this PSN on have just been sent
 *
 * Sets or clears the deadline as core/rtx.c decides.
 */
void sroce_rtx_timer_progress(struct sroce_qp *qp, u32 from);

/**
 * sroce_rtx_timer_paced() - likewise, while the deadline is the end of SROCE_SQ_RATE
 * @qp: connected QP, sq.lock held
 * @from: the packets from this PSN on have just been sent
 */
void sroce_rtx_timer_paced(struct sroce_qp *qp, u32 from);

/**
 * sroce_rtx_timer_ahead() - a response behind a missing one has arrived
 * @qp: connected QP, sq.lock held
 *
 * May move the deadline, as core/rtx.c decides; other waits end as before.
 */
void sroce_rtx_timer_ahead(struct sroce_qp *qp);

/**
 * sroce_rtx_timer_retry() - go back to a lost packet, or fail the QP
 * @qp: connected QP, sq.lock held; sroce_req_run() must follow
 * @why: counter of a retry; an exceeded retry count has its own counter
 */
void sroce_rtx_timer_retry(struct sroce_qp *qp, enum sroce_counter why);

/**
 * sroce_rtx_timer_repair() - repeat the packet that a NAK asks for, or fail the QP
 * @qp: connected QP, sq.lock held; sroce_req_run() must follow
 */
void sroce_rtx_timer_repair(struct sroce_qp *qp);

/**
 * sroce_rtx_timer_ask() - request what is missing of a READ response
 * @qp: connected QP, sq.lock held; sroce_req_run() must follow
 * @rest: everything that has not arrived is missing
 */
void sroce_rtx_timer_ask(struct sroce_qp *qp, bool rest);

/**
 * sroce_rtx_timer_probe() - ask the peer what it has received
 * @qp: connected QP, sq.lock held; sroce_req_run() must follow
 */
void sroce_rtx_timer_probe(struct sroce_qp *qp);

/**
 * sroce_rtx_timer_due() - handle expiry of the timer
 * @qp: the QP, sq.lock held
 *
 * Return: true if the deadline has passed.  Otherwise the timer is started
 * again if there is a deadline.
 */
bool sroce_rtx_timer_due(struct sroce_qp *qp);

/*
 * The deadline of a pause or of an RNR wait has passed.  It serves both: the later of two
 * waits has set it.  @qp: any type, sq.lock held; sroce_req_run() must follow, or go on.
 */
static inline void sroce_rtx_timer_waited(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	qp->sq.timer.blocked = SROCE_SQ_OPEN;
	qp->sq.req.rnr_wait = false;
}

#endif /* SROCE_RTX_TIMER_H */
