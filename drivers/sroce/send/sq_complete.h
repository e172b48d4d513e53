/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SQ_COMPLETE_H
#define SROCE_SQ_COMPLETE_H

#include "../queue/qp.h"

/**
 * sroce_finish() - finish the oldest request
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_finish(struct sroce_qp *qp, u8 status);

/**
 * sroce_finish_done() - finish the requests that are acknowledged
 * @qp: connected; sq.lock held
 */
void sroce_finish_done(struct sroce_qp *qp);

/**
 * sroce_finish_failed() - the oldest request that is not done fails, and takes
 *	the QP with it
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_finish_failed(struct sroce_qp *qp, u8 status);

/**
 * sroce_finish_failing() - settle what is to be flushed
 * @qp: the QP, sq.lock held; if it is not in error, nothing is to be flushed
 *
 * That is what has been posted by now.  Whoever posts later kicks.
 */
void sroce_finish_failing(struct sroce_qp *qp);

/**
 * sroce_finish_flush() - complete requests of a QP in error, in order
 * @qp: the QP, sq.lock held
 *
 * Those that sroce_finish_failing() has found, up to SROCE_FLUSH_BUDGET.
 *
 * Return: true if there are more.
 */
bool sroce_finish_flush(struct sroce_qp *qp);

/**
 * sroce_finish_invalidate() - invalidate the key that a request names
 * @qp: connected; sq.lock held; no burst of the caller has a grip
 * @wr: the request
 *
 * Return: enum sroce_status.
 */
u8 sroce_finish_invalidate(struct sroce_qp *qp, const struct sroce_wr *wr);

#endif /* SROCE_SQ_COMPLETE_H */
