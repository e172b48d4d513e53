/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMP_CNTR_VERBS_H
#define SROCE_COMP_CNTR_VERBS_H

#include "../queue/comp_cntr.h"

/* ib_device_ops */
int sroce_query_comp_cntr_caps(struct ib_device *ibdev,
			       struct ib_comp_cntr_caps *caps,
			       struct uverbs_attr_bundle *attrs);
int sroce_create_comp_cntr(struct ib_comp_cntr *ibcntr,
			   struct uverbs_attr_bundle *attrs);
int sroce_destroy_comp_cntr(struct ib_comp_cntr *ibcntr);
int sroce_modify_comp_cntr(struct ib_comp_cntr *ibcntr,
			   enum ib_comp_cntr_entry entry,
			   enum ib_comp_cntr_modify_op op, u64 value);
int sroce_read_comp_cntr(struct ib_comp_cntr *ibcntr,
			 enum ib_comp_cntr_entry entry, u64 *value);
int sroce_qp_attach_comp_cntr(struct ib_qp *ibqp, struct ib_comp_cntr *ibcntr,
			      struct ib_qp_attach_comp_cntr_attr *attr);

#endif /* SROCE_COMP_CNTR_VERBS_H */
