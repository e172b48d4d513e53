/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_MODIFY_H
#define SROCE_QP_MODIFY_H

#include "../queue/qp.h"

/**
 * sroce_qp_lock_both() - take both locks of a QP in the required order
 * @qp: the QP
 */
void sroce_qp_lock_both(struct sroce_qp *qp)
	__acquires(&qp->rq.lock) __acquires(&qp->sq.lock);
/* Release both; rq.lock with sroce_rq_end() and all its effects. */
void sroce_qp_unlock_both(struct sroce_qp *qp)
	__releases(&qp->sq.lock) __releases(&qp->rq.lock);

/**
 * sroce_qp_forget_completions() - remove the completions of a kernel user's QP
 * @qp: QP that was reset, or that is being destroyed and is idle
 *
 * Context: process, may sleep.
 */
void sroce_qp_forget_completions(const struct sroce_qp *qp);

/* Report the actual sizes of the QP's rings. */
void sroce_qp_report_cap(const struct sroce_qp *qp, struct ib_qp_cap *cap);

/* ib_device_ops */
int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata);
int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init);

#endif /* SROCE_QP_MODIFY_H */
