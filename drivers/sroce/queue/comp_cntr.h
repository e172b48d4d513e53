/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMP_CNTR_H
#define SROCE_COMP_CNTR_H

#include <linux/atomic.h>
#include <rdma/ib_verbs.h>
#include "qp.h"

/**
 * struct sroce_comp_cntr - completion counter
 * @ib: the RDMA core's part; first member
 * @values: by enum ib_comp_cntr_entry: successes, and errors
 * @wmem: account of the user whose share it counts against; referenced
 */
struct sroce_comp_cntr {
	struct ib_comp_cntr ib;
	atomic64_t values[IB_COMP_CNTR_ENTRY_ERR + 1];
	struct sroce_wmem *wmem;
};

/**
 * sroce_comp_cntr_add() - count a completion
 * @qp: the QP
 * @op: enum ib_qp_attach_comp_cntr_op, one bit; or 0: nothing to count
 * @failed: the completion has an error status
 *
 * Context: lock of the side that completes held.
 */
static inline void sroce_comp_cntr_add(struct sroce_qp *qp, u32 op, bool failed)
{
	lockdep_assert(lockdep_is_held(&qp->sq.lock) ||
		       lockdep_is_held(&qp->rq.lock));
	if (likely(!(qp->cntr_ops & op)))
		return;
	atomic64_inc(&qp->cntrs[ilog2(op)]->values[failed]);
}

#endif /* SROCE_COMP_CNTR_H */
