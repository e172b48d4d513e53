// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion counters.  The kernel keeps the values; none is in shared memory. */
#include <stdlib.h>

#include "sroce.h"

#if SROCE_PABI >= 65
#define ALL_OPS (IBV_QP_ATTACH_COMP_CNTR_OP_SEND |		\
		 IBV_QP_ATTACH_COMP_CNTR_OP_RECV |		\
		 IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_READ |		\
		 IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_READ |	\
		 IBV_QP_ATTACH_COMP_CNTR_OP_RDMA_WRITE |	\
		 IBV_QP_ATTACH_COMP_CNTR_OP_REMOTE_RDMA_WRITE)

struct ibv_comp_cntr *sroce_create_comp_cntr(struct ibv_context *context,
					     struct ibv_comp_cntr_init_attr *attr)
{
	struct ibv_comp_cntr *cntr;
	int err;

	if (attr->comp_mask || attr->flags ||
	    attr->type != IBV_COMP_CNTR_TYPE_WRS) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return NULL;
	err = ibv_cmd_create_comp_cntr(context, cntr, NULL);
	if (err) {
		free(cntr);
		errno = sroce_unsupported(err);
		return NULL;
	}
	return cntr;
}

int sroce_query_comp_cntr_caps(struct ibv_context *context,
			       struct ibv_comp_cntr_caps *caps,
			       size_t caps_size)
{
	return sroce_unsupported(ibv_cmd_query_comp_cntr_caps(context, caps,
							      caps_size));
}

int sroce_destroy_comp_cntr(struct ibv_comp_cntr *cntr)
{
	int err = ibv_cmd_destroy_comp_cntr(cntr);

	if (!err)
		free(cntr);
	return err;
}

int sroce_qp_attach_comp_cntr(struct ibv_qp *qp, struct ibv_comp_cntr *cntr,
			      struct ibv_qp_attach_comp_cntr_attr *attr)
{
	/* ibv_cmd_qp_attach_comp_cntr() drops operations that it does not know. */
	if (attr->comp_mask || attr->op_mask & ~ALL_OPS)
		return EOPNOTSUPP;
	return ibv_cmd_qp_attach_comp_cntr(qp, cntr, attr);
}
#endif
