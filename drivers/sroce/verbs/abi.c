// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Compile-time checks of every size and offset in the ABI between module and
 * provider.  While SROCE_ABI_VERSION stays the same, offsets never change, and
 * only structures of commands grow.
 */
#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/stddef.h>
#else
/* The provider's build compiles this file as well. */
#include <assert.h>
#include <stddef.h>
#endif
#include <rdma/sroce-abi.h>

#define SIZE(type, bytes) \
	static_assert(sizeof(struct type) == (bytes), #type)
#define OFFSET(type, field, at) \
	static_assert(offsetof(struct type, field) == (at), #type "." #field)

SIZE(sroce_sge, 16);
OFFSET(sroce_sge, length, 8);
OFFSET(sroce_sge, lkey, 12);

SIZE(sroce_sqe, SROCE_SQE_HEADER);
OFFSET(sroce_sqe, opcode, 8);
OFFSET(sroce_sqe, flags, 9);
OFFSET(sroce_sqe, num_sge, 10);
OFFSET(sroce_sqe, imm_data, 12);
OFFSET(sroce_sqe, invalidate_rkey, 12);
OFFSET(sroce_sqe, rdma.remote_addr, 16);
OFFSET(sroce_sqe, rdma.rkey, 24);
OFFSET(sroce_sqe, rdma.srqn, 28);
OFFSET(sroce_sqe, atomic.remote_addr, 16);
OFFSET(sroce_sqe, atomic.rkey, 24);
OFFSET(sroce_sqe, atomic.srqn, 28);
OFFSET(sroce_sqe, atomic.compare_add, 32);
OFFSET(sroce_sqe, atomic.swap, 40);
OFFSET(sroce_sqe, flush.remote_addr, 16);
OFFSET(sroce_sqe, flush.rkey, 24);
OFFSET(sroce_sqe, flush.srqn, 28);
OFFSET(sroce_sqe, flush.length, 32);
OFFSET(sroce_sqe, flush.type, 36);
OFFSET(sroce_sqe, flush.level, 37);
OFFSET(sroce_sqe, bind.addr, 16);
OFFSET(sroce_sqe, bind.length, 24);
OFFSET(sroce_sqe, bind.lkey, 32);
OFFSET(sroce_sqe, bind.rkey, 36);
OFFSET(sroce_sqe, bind.access, 40);
OFFSET(sroce_sqe, ud.ah, 16);
OFFSET(sroce_sqe, ud.remote_qpn, 20);
OFFSET(sroce_sqe, ud.remote_qkey, 24);

SIZE(sroce_rqe, SROCE_RQE_HEADER);
OFFSET(sroce_rqe, num_sge, 8);

SIZE(sroce_cqe, SROCE_CQE_SIZE);
OFFSET(sroce_cqe, timestamp, 8);
OFFSET(sroce_cqe, byte_len, 16);
OFFSET(sroce_cqe, imm_data, 20);
OFFSET(sroce_cqe, invalidated_rkey, 20);
OFFSET(sroce_cqe, qp_num, 24);
OFFSET(sroce_cqe, src_qp, 28);
OFFSET(sroce_cqe, status, 32);
OFFSET(sroce_cqe, opcode, 33);
OFFSET(sroce_cqe, flags, 34);
OFFSET(sroce_cqe, vendor_err, 36);
OFFSET(sroce_cqe, pkey_index, 40);
OFFSET(sroce_cqe, sl, 42);
OFFSET(sroce_cqe, vlan_id, 44);
OFFSET(sroce_cqe, cookie, 48);
OFFSET(sroce_cqe, phase, 60);

SIZE(sroce_qp_slot, SROCE_SLOT_SIZE);
OFFSET(sroce_qp_slot, rq_tail, 4);
OFFSET(sroce_qp_slot, sq_head, 64);
OFFSET(sroce_qp_slot, rq_head, 68);
OFFSET(sroce_qp_slot, kick, 72);
OFFSET(sroce_qp_slot, kick_at, 76);

SIZE(sroce_cq_slot, SROCE_SLOT_SIZE);
OFFSET(sroce_cq_slot, arm, 4);
OFFSET(sroce_cq_slot, notified, 64);
OFFSET(sroce_cq_slot, served_arm, 68);

SIZE(sroce_alloc_ucontext_req, 16);
OFFSET(sroce_alloc_ucontext_req, flags, 4);
OFFSET(sroce_alloc_ucontext_req, features, 8);

SIZE(sroce_alloc_ucontext_resp, 40);
OFFSET(sroce_alloc_ucontext_resp, flags, 4);
OFFSET(sroce_alloc_ucontext_resp, max_inline, 8);
OFFSET(sroce_alloc_ucontext_resp, max_sge, 12);
OFFSET(sroce_alloc_ucontext_resp, features, 16);
OFFSET(sroce_alloc_ucontext_resp, opcodes, 24);
OFFSET(sroce_alloc_ucontext_resp, sqe_header, 28);
OFFSET(sroce_alloc_ucontext_resp, rqe_header, 30);
OFFSET(sroce_alloc_ucontext_resp, cqe_size, 32);
OFFSET(sroce_alloc_ucontext_resp, slot_size, 34);

SIZE(sroce_create_req, 8);

SIZE(sroce_map, 24);
OFFSET(sroce_map, ring_size, 8);
OFFSET(sroce_map, slot, 12);
OFFSET(sroce_map, page_offset, 16);

SIZE(sroce_create_qp_resp, 48);
OFFSET(sroce_create_qp_resp, sq_stride, 24);
OFFSET(sroce_create_qp_resp, sq_entries, 28);
OFFSET(sroce_create_qp_resp, rq_offset, 32);
OFFSET(sroce_create_qp_resp, rq_stride, 36);
OFFSET(sroce_create_qp_resp, rq_entries, 40);

SIZE(sroce_create_cq_resp, 32);
OFFSET(sroce_create_cq_resp, entries, 24);

SIZE(sroce_create_srq_resp, 40);
OFFSET(sroce_create_srq_resp, entries, 24);
OFFSET(sroce_create_srq_resp, stride, 28);
OFFSET(sroce_create_srq_resp, srq_num, 32);

SIZE(sroce_modify_srq_req, 16);
OFFSET(sroce_modify_srq_req, resp_size, 8);

SIZE(sroce_modify_srq_resp, 32);
OFFSET(sroce_modify_srq_resp, entries, 24);

SIZE(sroce_create_ah_resp, 8);
SIZE(sroce_reg_mr_req, 8);

SIZE(sroce_dm_query_resp, 24);
OFFSET(sroce_dm_query_resp, size, 8);
OFFSET(sroce_dm_query_resp, length, 16);
