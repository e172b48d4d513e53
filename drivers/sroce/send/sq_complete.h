/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SQ_COMPLETE_H
#define SROCE_SQ_COMPLETE_H

#include "../core/params.h"
#include "../queue/qp.h"

/**
 * sroce_sq_complete() - finish the oldest request
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_sq_complete(struct sroce_qp *qp, u8 status);

/**
 * sroce_sq_complete_done() - finish the requests that are acknowledged
 * @qp: connected; sq.lock held
 */
void sroce_sq_complete_done(struct sroce_qp *qp);

/**
 * sroce_sq_fail() - fail the oldest request that is not done, and the QP
 * @qp: the QP, sq.lock held
 * @status: enum sroce_status
 */
void sroce_sq_fail(struct sroce_qp *qp, u8 status);

/**
 * sroce_sq_flush_begin() - record which WQEs are to be flushed
 * @qp: the QP, sq.lock held; no effect outside the error states
 *
 * These are the WQEs posted so far.  A later post rings the doorbell, which
 * flushes it.
 */
void sroce_sq_flush_begin(struct sroce_qp *qp);

/**
 * sroce_sq_flush() - complete requests of a QP in error, in order
 * @qp: the QP, sq.lock held
 *
 * Flushes up to SROCE_FLUSH_BUDGET of the WQEs that sroce_sq_flush_begin() found.
 *
 * Return: true if there are more.
 */
bool sroce_sq_flush(struct sroce_qp *qp);

/**
 * sroce_sq_invalidate() - invalidate the key that a request names
 * @qp: connected; sq.lock held; no burst of the caller has a cache
 * @wr: the request
 *
 * Return: enum sroce_status.
 */
u8 sroce_sq_invalidate(struct sroce_qp *qp, const struct sroce_wr *wr);

#endif /* SROCE_SQ_COMPLETE_H */
