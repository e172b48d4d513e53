// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asserts that the user ABI, the core and the kernel use the same numbers, because
 * they are copied without conversion.  The provider asserts that the ABI uses the
 * numbers of libibverbs.
 */
#include <linux/build_bug.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/ib_verbs.h>
#include <rdma/sroce-abi.h>
#include "../core/errors.h"
#include "../core/inflight.h"
#include "../core/optable.h"

/* The casts avoid a warning about different enums. */
#define SAME(a, b) static_assert((int)(a) == (int)(b), #a " == " #b)
#define ALL_SAME(a, b, c) \
	static_assert((int)(a) == (int)(c) && (int)(b) == (int)(c), \
		      #a " == " #b " == " #c)

/* Opcodes of work requests */
#define SAME_OP(abi, core, kernel) \
	ALL_SAME(SROCE_WR_##abi, IB_WR_##kernel, SROCE_OP_##core)

SAME_OP(RDMA_WRITE, WRITE, RDMA_WRITE);
SAME_OP(RDMA_WRITE_WITH_IMM, WRITE_IMM, RDMA_WRITE_WITH_IMM);
SAME_OP(SEND, SEND, SEND);
SAME_OP(SEND_WITH_IMM, SEND_IMM, SEND_WITH_IMM);
SAME_OP(RDMA_READ, READ, RDMA_READ);
SAME_OP(ATOMIC_CMP_AND_SWP, CMP_SWP, ATOMIC_CMP_AND_SWP);
SAME_OP(ATOMIC_FETCH_AND_ADD, FETCH_ADD, ATOMIC_FETCH_AND_ADD);
SAME_OP(LOCAL_INV, LOCAL_INV, LOCAL_INV);
SAME_OP(BIND_MW, BIND_MW, BIND_MW);
SAME_OP(SEND_WITH_INV, SEND_INV, SEND_WITH_INV);
SAME_OP(FLUSH, FLUSH, FLUSH);
SAME_OP(ATOMIC_WRITE, ATOMIC_WRITE, ATOMIC_WRITE);

/* Rows of the core's own have numbers that neither ABI nor kernel uses. */
static_assert((int)SROCE_OP_REG_MR > (int)IB_WR_ATOMIC_WRITE &&
	      (int)SROCE_OP_REG_MR > (int)IB_WR_MASKED_ATOMIC_FETCH_AND_ADD &&
	      (int)SROCE_OPS <= (int)IB_WR_REG_MR);

/* Flags of work requests */
#define SAME_FLAG(name) \
	ALL_SAME(SROCE_WR_##name, IB_SEND_##name, SROCE_##name)

SAME_FLAG(FENCE);
SAME_FLAG(SIGNALED);
SAME_FLAG(SOLICITED);
SAME_FLAG(INLINE);
/* Only requests of kernel users have it. */
static_assert(!(SROCE_INVALIDATE & SROCE_WR_ALL_FLAGS));

/* FLUSH: placement type and selectivity level, also on the wire */
SAME(SROCE_WR_FLUSH_GLOBAL, SROCE_FLUSH_GLOBAL);
SAME(SROCE_WR_FLUSH_PERSISTENT, SROCE_FLUSH_PERSISTENT);
SAME(SROCE_WR_FLUSH_RANGE, SROCE_FLUSH_RANGE);
SAME(SROCE_WR_FLUSH_REGION, SROCE_FLUSH_REGION);

/* Access rights that a peer needs */
SAME(IB_ACCESS_REMOTE_WRITE, SROCE_MAY_WRITE);
SAME(IB_ACCESS_REMOTE_READ, SROCE_MAY_READ);
SAME(IB_ACCESS_REMOTE_ATOMIC, SROCE_MAY_ATOMIC);
SAME(IB_ACCESS_FLUSH_GLOBAL, SROCE_MAY_FLUSH);
SAME(IB_ACCESS_FLUSH_PERSISTENT, SROCE_MAY_PERSIST);

/* Completion opcodes; queue/cq.c converts that of REG_MR. */
SAME(IB_WC_SEND, SROCE_WC_SEND);
SAME(IB_WC_RDMA_WRITE, SROCE_WC_RDMA_WRITE);
SAME(IB_WC_RDMA_READ, SROCE_WC_RDMA_READ);
SAME(IB_WC_COMP_SWAP, SROCE_WC_COMP_SWAP);
SAME(IB_WC_FETCH_ADD, SROCE_WC_FETCH_ADD);
SAME(IB_UVERBS_WC_BIND_MW, SROCE_WC_BIND_MW);
SAME(IB_WC_LOCAL_INV, SROCE_WC_LOCAL_INV);
SAME(IB_UVERBS_WC_FLUSH, SROCE_WC_FLUSH);
SAME(IB_UVERBS_WC_ATOMIC_WRITE, SROCE_WC_ATOMIC_WRITE);
SAME(IB_WC_RECV, SROCE_WC_RECV);
SAME(IB_WC_RECV_RDMA_WITH_IMM, SROCE_WC_RECV_RDMA_WITH_IMM);

/* Completion status */
#define SAME_STATUS(name) SAME(IB_WC_##name, SROCE_##name)

SAME_STATUS(SUCCESS);
SAME_STATUS(LOC_LEN_ERR);
SAME_STATUS(LOC_QP_OP_ERR);
SAME_STATUS(LOC_PROT_ERR);
SAME_STATUS(WR_FLUSH_ERR);
SAME_STATUS(MW_BIND_ERR);
SAME_STATUS(BAD_RESP_ERR);
SAME_STATUS(REM_INV_REQ_ERR);
SAME_STATUS(REM_ACCESS_ERR);
SAME_STATUS(REM_OP_ERR);
SAME_STATUS(RETRY_EXC_ERR);
SAME_STATUS(RNR_RETRY_EXC_ERR);

/* A completion's status and opcode have one byte each. */
static_assert(IB_WC_GENERAL_ERR <= U8_MAX && IB_WC_RECV_RDMA_WITH_IMM <= U8_MAX);
