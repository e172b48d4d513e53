// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One row per operation of a work request (IBTA vol. 1, 9.4 and 10.8; annex
 * A19).  opcode.c has one per packet.
 */
#include "optable.h"

/* BTH operations of messages of several packets, and of one */
#define PACKETS(only_, first_, middle_, last_)				\
	.packets = {							\
		[SROCE_ONLY] = SROCE_##only_,				\
		[SROCE_FIRST] = SROCE_##first_,				\
		[SROCE_MIDDLE] = SROCE_##middle_,			\
		[SROCE_LAST] = SROCE_##last_,				\
	}
#define PACKET(only_) .packets = { [SROCE_ONLY] = SROCE_##only_ }

#define BIT_OF(transport) (1 << (SROCE_##transport >> 5))
#define RELIABLE	(BIT_OF(RC) | BIT_OF(XRC))
#define CONNECTED	(RELIABLE | BIT_OF(UC))
#define ALL		(CONNECTED | BIT_OF(UD))

const struct sroce_op_row sroce_optable[SROCE_OPS] = {
	[SROCE_OP_SEND] = {
		PACKETS(SEND_ONLY, SEND_FIRST, SEND_MIDDLE, SEND_LAST),
		.transports = ALL,
		.traits = SROCE_TRAIT_RECEIVES,
		.wc = SROCE_WC_SEND,
		.recv_wc = SROCE_WC_RECV,
	},
	[SROCE_OP_SEND_IMM] = {
		PACKETS(SEND_ONLY_IMM, SEND_FIRST, SEND_MIDDLE, SEND_LAST_IMM),
		.transports = ALL,
		.traits = SROCE_TRAIT_RECEIVES,
		.wc = SROCE_WC_SEND,
		.recv_wc = SROCE_WC_RECV,
	},
	[SROCE_OP_SEND_INV] = {
		PACKETS(SEND_ONLY_INV, SEND_FIRST, SEND_MIDDLE, SEND_LAST_INV),
		.transports = RELIABLE,
		.traits = SROCE_TRAIT_RECEIVES | SROCE_TRAIT_INVALIDATES,
		.wc = SROCE_WC_SEND,
		.recv_wc = SROCE_WC_RECV,
	},
	[SROCE_OP_WRITE] = {
		PACKETS(WRITE_ONLY, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST),
		.transports = CONNECTED,
		.operands = SROCE_OPERANDS_RDMA,
		.rights = SROCE_MAY_WRITE,
		.wc = SROCE_WC_RDMA_WRITE,
	},
	[SROCE_OP_WRITE_IMM] = {
		PACKETS(WRITE_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE,
			WRITE_LAST_IMM),
		.transports = CONNECTED,
		.operands = SROCE_OPERANDS_RDMA,
		.rights = SROCE_MAY_WRITE,
		.traits = SROCE_TRAIT_RECEIVES,
		.wc = SROCE_WC_RDMA_WRITE,
		.recv_wc = SROCE_WC_RECV_RDMA_WITH_IMM,
	},
	[SROCE_OP_READ] = {
		PACKET(READ_REQUEST),
		.transports = RELIABLE,
		.operands = SROCE_OPERANDS_RDMA,
		.rights = SROCE_MAY_READ,
		.traits = SROCE_TRAIT_FETCHES,
		.response = SROCE_KIND_READ_RESPONSE,
		.wc = SROCE_WC_RDMA_READ,
	},
	[SROCE_OP_CMP_SWP] = {
		PACKET(COMPARE_SWAP),
		.transports = RELIABLE,
		.operands = SROCE_OPERANDS_ATOMIC,
		.rights = SROCE_MAY_ATOMIC,
		.traits = SROCE_TRAIT_FETCHES | SROCE_TRAIT_WORD,
		.response = SROCE_KIND_ATOMIC_ACK,
		.wc = SROCE_WC_COMP_SWAP,
	},
	[SROCE_OP_FETCH_ADD] = {
		PACKET(FETCH_ADD),
		.transports = RELIABLE,
		.operands = SROCE_OPERANDS_ATOMIC,
		.rights = SROCE_MAY_ATOMIC,
		.traits = SROCE_TRAIT_FETCHES | SROCE_TRAIT_WORD,
		.response = SROCE_KIND_ATOMIC_ACK,
		.wc = SROCE_WC_FETCH_ADD,
	},
	/* The response to these two is a READ response without data. */
	[SROCE_OP_ATOMIC_WRITE] = {
		PACKET(ATOMIC_WRITE),
		.transports = RELIABLE,
		.operands = SROCE_OPERANDS_RDMA,
		.rights = SROCE_MAY_WRITE,
		.traits = SROCE_TRAIT_WORD,
		.response = SROCE_KIND_READ_RESPONSE,
		.wc = SROCE_WC_ATOMIC_WRITE,
	},
	[SROCE_OP_FLUSH] = {
		PACKET(FLUSH),
		.transports = RELIABLE,
		.operands = SROCE_OPERANDS_FLUSH,
		.rights = SROCE_MAY_FLUSH | SROCE_MAY_PERSIST,
		.response = SROCE_KIND_READ_RESPONSE,
		.wc = SROCE_WC_FLUSH,
	},
	/* Earlier requests may need the key, for retransmissions or for responses. */
	[SROCE_OP_LOCAL_INV] = {
		.transports = CONNECTED,
		.traits = SROCE_TRAIT_LOCAL | SROCE_TRAIT_ENDS_KEY,
		.wc = SROCE_WC_LOCAL_INV,
	},
	[SROCE_OP_BIND_MW] = {
		.transports = CONNECTED,
		.operands = SROCE_OPERANDS_BIND,
		.traits = SROCE_TRAIT_LOCAL,
		.wc = SROCE_WC_BIND_MW,
	},
	[SROCE_OP_REG_MR] = {
		.transports = CONNECTED,
		.operands = SROCE_OPERANDS_REG,
		.traits = SROCE_TRAIT_LOCAL | SROCE_TRAIT_KERNEL_ONLY,
		.wc = SROCE_WC_REG_MR,
	},
};
