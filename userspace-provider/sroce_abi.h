/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Commands to which the driver adds a part of its own. */
#ifndef LIBSROCE_ABI_H
#define LIBSROCE_ABI_H

#include <infiniband/kern-abi.h>
#include <rdma/sroce-abi.h>
#include <kernel-abi/sroce-abi.h>

DECLARE_DRV_CMD(sroce_cmd_get_context, IB_USER_VERBS_CMD_GET_CONTEXT,
		sroce_alloc_ucontext_req, sroce_alloc_ucontext_resp);
DECLARE_DRV_CMD(sroce_cmd_reg_mr, IB_USER_VERBS_CMD_REG_MR,
		sroce_reg_mr_req, empty);
DECLARE_DRV_CMD(sroce_cmd_create_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ,
		sroce_create_req, sroce_create_cq_resp);
DECLARE_DRV_CMD(sroce_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ,
		empty, sroce_create_cq_resp);
DECLARE_DRV_CMD(sroce_cmd_create_ah, IB_USER_VERBS_CMD_CREATE_AH,
		empty, sroce_create_ah_resp);
DECLARE_DRV_CMD(sroce_cmd_create_qp, IB_USER_VERBS_EX_CMD_CREATE_QP,
		sroce_create_req, sroce_create_qp_resp);
DECLARE_DRV_CMD(sroce_cmd_create_srq, IB_USER_VERBS_CMD_CREATE_XSRQ,
		sroce_create_req, sroce_create_srq_resp);
DECLARE_DRV_CMD(sroce_cmd_modify_srq, IB_USER_VERBS_CMD_MODIFY_SRQ,
		sroce_modify_srq_req, empty);

#endif /* LIBSROCE_ABI_H */
