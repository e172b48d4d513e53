// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion counters.  They count the completions of a QP by operation; a
 * request counts even if it is not signaled.
 */
#include <rdma/uverbs_ioctl.h>
#include "../base/ucontext.h"
#include "../mem/wmem.h"
#include "comp_cntr_verbs.h"
#include "qp_modify.h"

#define ALL_OPS	(BIT(SROCE_CNTR_BITS) - 1)

static struct sroce_comp_cntr *to_cntr(struct ib_comp_cntr *ibcntr)
{
	return container_of(ibcntr, struct sroce_comp_cntr, ib);
}

int sroce_query_comp_cntr_caps(struct ib_device *ibdev,
			       struct ib_comp_cntr_caps *caps,
			       struct uverbs_attr_bundle *attrs)
{
	caps->max_value = U64_MAX;
	caps->max_counters = SROCE_MAX_COMP_CNTR;
	caps->supported_qp_attach_ops = ALL_OPS;
	return 0;
}

/* The memory is zeroed. */
int sroce_create_comp_cntr(struct ib_comp_cntr *ibcntr,
			   struct uverbs_attr_bundle *attrs)
{
	struct sroce_comp_cntr *cntr = to_cntr(ibcntr);
	struct sroce_wmem *wmem = sroce_ucontext(attrs->context)->wmem;

	if (!sroce_wmem_take(wmem, SROCE_SHARED_COMP_CNTRS, 1,
			     SROCE_MAX_COMP_CNTR))
		return -ENOMEM;
	cntr->wmem = sroce_wmem_get(wmem);
	return 0;
}

/* The RDMA core refuses this while a QP uses the counter. */
int sroce_destroy_comp_cntr(struct ib_comp_cntr *ibcntr)
{
	struct sroce_comp_cntr *cntr = to_cntr(ibcntr);

	sroce_wmem_give_back(cntr->wmem, SROCE_SHARED_COMP_CNTRS, 1);
	sroce_wmem_put(cntr->wmem);
	return 0;
}

static bool entry_exists(enum ib_comp_cntr_entry entry)
{
	return entry == IB_COMP_CNTR_ENTRY_COMP ||
	       entry == IB_COMP_CNTR_ENTRY_ERR;
}

int sroce_modify_comp_cntr(struct ib_comp_cntr *ibcntr,
			   enum ib_comp_cntr_entry entry,
			   enum ib_comp_cntr_modify_op op, u64 value)
{
	struct sroce_comp_cntr *cntr = to_cntr(ibcntr);

	if (!entry_exists(entry))
		return -EOPNOTSUPP;
	switch (op) {
	case IB_COMP_CNTR_MODIFY_OP_SET:
		atomic64_set(&cntr->values[entry], value);
		return 0;
	case IB_COMP_CNTR_MODIFY_OP_INC:
		atomic64_add(value, &cntr->values[entry]);
		return 0;
	default:
		return -EOPNOTSUPP;
	}
}

int sroce_read_comp_cntr(struct ib_comp_cntr *ibcntr,
			 enum ib_comp_cntr_entry entry, u64 *value)
{
	if (!entry_exists(entry))
		return -EOPNOTSUPP;
	*value = atomic64_read(&to_cntr(ibcntr)->values[entry]);
	return 0;
}

/*
 * The RDMA core refuses operations that have a counter, and keeps the counter
 * until the QP is destroyed.
 */
int sroce_qp_attach_comp_cntr(struct ib_qp *ibqp, struct ib_comp_cntr *ibcntr,
			      struct ib_qp_attach_comp_cntr_attr *attr)
{
	struct sroce_qp *qp = sroce_qp(ibqp);
	unsigned long ops = attr->op_mask;
	int err = -EINVAL;
	u32 bit;

	if (ops & ~ALL_OPS)
		return -EOPNOTSUPP;
	mutex_lock(&qp->mutex);
	sroce_qp_lock_both(qp);
	if (qp->state == IB_QPS_RESET || qp->state == IB_QPS_INIT) {
		for_each_set_bit(bit, &ops, SROCE_CNTR_BITS)
			qp->cntrs[bit] = to_cntr(ibcntr);
		qp->cntr_ops |= ops;
		err = 0;
	}
	sroce_qp_unlock_both(qp);
	mutex_unlock(&qp->mutex);
	return err;
}
