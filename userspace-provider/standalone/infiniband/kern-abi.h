/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Commands: the part that libsroce uses of rdma-core's header of this name,
 * which is private, too (see driver.h).
 */
#ifndef SROCE_STANDALONE_KERN_ABI_H
#define SROCE_STANDALONE_KERN_ABI_H

#include <rdma/ib_user_verbs.h>

/* A header, the kernel's structure, then the driver's own */
#define SROCE_COMMAND(name)						\
	struct ibv_##name {						\
		struct ib_uverbs_cmd_hdr hdr;				\
		struct ib_uverbs_##name core_payload;			\
	}

#define SROCE_COMMAND_EX(name)						\
	struct ibv_##name##_ex {					\
		struct ib_uverbs_cmd_hdr hdr;				\
		struct ib_uverbs_ex_cmd_hdr ex_hdr;			\
		struct ib_uverbs_ex_##name core_payload;		\
	}

SROCE_COMMAND(alloc_mw);
SROCE_COMMAND(alloc_pd);
SROCE_COMMAND(create_ah);
SROCE_COMMAND(create_xsrq);
SROCE_COMMAND(get_context);
SROCE_COMMAND(modify_qp);
SROCE_COMMAND(modify_srq);
SROCE_COMMAND(open_qp);
SROCE_COMMAND(open_xrcd);
SROCE_COMMAND(query_port);
SROCE_COMMAND(query_qp);
SROCE_COMMAND(query_srq);
SROCE_COMMAND(reg_mr);
SROCE_COMMAND(rereg_mr);
SROCE_COMMAND(resize_cq);
SROCE_COMMAND_EX(create_cq);
SROCE_COMMAND_EX(create_qp);
SROCE_COMMAND_EX(modify_qp);

/* rdma-core gives this structure no suffix. */
struct ibv_modify_cq {
	struct ib_uverbs_cmd_hdr hdr;
	struct ib_uverbs_ex_cmd_hdr ex_hdr;
	struct ib_uverbs_ex_modify_cq core_payload;
};

/* No request or response of the driver */
struct empty {};

/* Structures of a command, for DECLARE_DRV_CMD() */
#define SROCE_REQ_IB_USER_VERBS_CMD_CREATE_AH		ibv_create_ah
#define SROCE_RESP_IB_USER_VERBS_CMD_CREATE_AH		ib_uverbs_create_ah_resp
#define SROCE_REQ_IB_USER_VERBS_CMD_CREATE_XSRQ		ibv_create_xsrq
#define SROCE_RESP_IB_USER_VERBS_CMD_CREATE_XSRQ	ib_uverbs_create_srq_resp
#define SROCE_REQ_IB_USER_VERBS_CMD_GET_CONTEXT		ibv_get_context
#define SROCE_RESP_IB_USER_VERBS_CMD_GET_CONTEXT	ib_uverbs_get_context_resp
#define SROCE_REQ_IB_USER_VERBS_CMD_MODIFY_SRQ		ibv_modify_srq
#define SROCE_RESP_IB_USER_VERBS_CMD_MODIFY_SRQ		empty
#define SROCE_REQ_IB_USER_VERBS_CMD_REG_MR		ibv_reg_mr
#define SROCE_RESP_IB_USER_VERBS_CMD_REG_MR		ib_uverbs_reg_mr_resp
#define SROCE_REQ_IB_USER_VERBS_CMD_RESIZE_CQ		ibv_resize_cq
#define SROCE_RESP_IB_USER_VERBS_CMD_RESIZE_CQ		ib_uverbs_resize_cq_resp
#define SROCE_REQ_IB_USER_VERBS_EX_CMD_CREATE_CQ	ibv_create_cq_ex
#define SROCE_RESP_IB_USER_VERBS_EX_CMD_CREATE_CQ	ib_uverbs_ex_create_cq_resp
#define SROCE_REQ_IB_USER_VERBS_EX_CMD_CREATE_QP	ibv_create_qp_ex
#define SROCE_RESP_IB_USER_VERBS_EX_CMD_CREATE_QP	ib_uverbs_ex_create_qp_resp

/*
 * struct NAME and struct NAME_resp: the command with the driver's part.  rdma-core's
 * macro asserts that nothing is between the parts; check-abi compares the two.
 */
#define DECLARE_DRV_CMD(name, command, req, resp)			\
	struct name {							\
		struct SROCE_REQ_##command ibv_cmd;			\
		struct req drv_payload;					\
	};								\
	struct name##_resp {						\
		struct SROCE_RESP_##command ibv_resp;			\
		struct resp drv_payload;				\
	}

#endif /* SROCE_STANDALONE_KERN_ABI_H */
