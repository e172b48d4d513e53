/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OPTABLE_H
#define SROCE_OPTABLE_H

#include "wire.h"

/* Opcode of a work request: the numbers of enum ib_wr_opcode. */
enum sroce_op {
	SROCE_OP_WRITE		= 0,
	SROCE_OP_WRITE_IMM	= 1,
	SROCE_OP_SEND		= 2,
	SROCE_OP_SEND_IMM	= 3,
	SROCE_OP_READ		= 4,
	SROCE_OP_CMP_SWP	= 5,
	SROCE_OP_FETCH_ADD	= 6,
	SROCE_OP_LOCAL_INV	= 7,
	SROCE_OP_BIND_MW	= 8,
	SROCE_OP_SEND_INV	= 9,
	SROCE_OP_FLUSH		= 14,
	SROCE_OP_ATOMIC_WRITE	= 15,
	/* Numbers of our own from here on */
	SROCE_OP_REG_MR		= 16,
	SROCE_OP_NONE		= 17,	/* any number without a row */
	SROCE_OPS,
};

/* Kind of a packet.  Its position in the message is enum sroce_pkt_pos. */
enum sroce_kind {
	SROCE_KIND_NONE,
	SROCE_KIND_SEND,
	SROCE_KIND_WRITE,
	SROCE_KIND_READ,
	SROCE_KIND_ATOMIC,
	SROCE_KIND_ATOMIC_WRITE,
	SROCE_KIND_FLUSH,
	SROCE_KIND_RESERVED,	/* a request that no version of the specification defines */
	SROCE_KIND_READ_RESPONSE,
	SROCE_KIND_ACK,
	SROCE_KIND_ATOMIC_ACK,
	SROCE_KIND_CNP,
};

/* The requester handles this kind and all that follow: responses and CNPs. */
#define SROCE_KIND_RESPONSES	SROCE_KIND_READ_RESPONSE

enum sroce_pkt_pos {
	SROCE_MIDDLE	= 0,
	SROCE_FIRST	= 1 << 0,
	SROCE_LAST	= 1 << 1,
	SROCE_ONLY	= SROCE_FIRST | SROCE_LAST,
};

/* Access rights at the responder: the numbers of enum ib_access_flags. */
enum sroce_permission {
	SROCE_MAY_WRITE		= 1 << 1,
	SROCE_MAY_READ		= 1 << 2,
	SROCE_MAY_ATOMIC	= 1 << 3,
	SROCE_MAY_FLUSH		= 1 << 8,
	SROCE_MAY_PERSIST	= 1 << 9,
	SROCE_MAY_ALL		= SROCE_MAY_WRITE | SROCE_MAY_READ |
				  SROCE_MAY_ATOMIC | SROCE_MAY_FLUSH |
				  SROCE_MAY_PERSIST,
	SROCE_MAY_NEVER		= 1 << 15,	/* no connection has it */
};

/* Completion opcode: the numbers of enum ib_wc_opcode. */
enum sroce_wc_opcode {
	SROCE_WC_SEND			= 0,
	SROCE_WC_RDMA_WRITE		= 1,
	SROCE_WC_RDMA_READ		= 2,
	SROCE_WC_COMP_SWAP		= 3,
	SROCE_WC_FETCH_ADD		= 4,
	SROCE_WC_BIND_MW		= 5,
	SROCE_WC_LOCAL_INV		= 6,
	SROCE_WC_FLUSH			= 8,
	SROCE_WC_ATOMIC_WRITE		= 9,
	/* The kernel's number is not the same in all versions: queue/cq.c. */
	SROCE_WC_REG_MR			= 127,
	SROCE_WC_RECV			= 128,
	SROCE_WC_RECV_RDMA_WITH_IMM	= 129,
};

/* Layout of the operands in a WQE */
enum sroce_operands {
	SROCE_OPERANDS_NONE,	/* only an SGL and immediate data */
	SROCE_OPERANDS_RDMA,
	SROCE_OPERANDS_ATOMIC,
	SROCE_OPERANDS_FLUSH,	/* no SGL: the length is in the WQE */
	SROCE_OPERANDS_BIND,
	SROCE_OPERANDS_REG,
};

enum sroce_op_traits {
	SROCE_TRAIT_LOCAL		= 1 << 0,	/* executed without a packet */
	SROCE_TRAIT_FETCHES	= 1 << 1,	/* the response brings data */
	SROCE_TRAIT_WORD		= 1 << 2,	/* 8 bytes, aligned at the peer */
	SROCE_TRAIT_RECEIVES	= 1 << 3,	/* completes a receive request */
	SROCE_TRAIT_INVALIDATES	= 1 << 4,	/* invalidates a key of the peer */
	SROCE_TRAIT_ENDS_KEY		= 1 << 5,	/* waits for earlier users of the key */
	SROCE_TRAIT_KERNEL_ONLY	= 1 << 6,	/* no process may post it */
};

/**
 * struct sroce_op_row - properties of an operation
 * @rights: enum sroce_permission that it needs at the responder.  FLUSH: the
 *	rights of all placement types
 * @packets: BTH operation (enum sroce_operation) of each enum sroce_pkt_pos.
 *	The headers are in sroce_opcodes
 * @traits: enum sroce_op_traits
 * @response: enum sroce_kind of its response, for which the peer uses a
 *	resource (max_dest_rd_atomic); SROCE_KIND_NONE if it is only acknowledged
 * @transports: sroce_transport_bit() of each transport that has it; 0 for a
 *	number without an operation
 * @operands: enum sroce_operands
 * @wc: enum sroce_wc_opcode of its completion
 * @recv_wc: enum sroce_wc_opcode of the receive completion, if it SROCE_TRAIT_RECEIVES
 */
struct sroce_op_row {
	u16 rights;
	u8 packets[4];
	u8 traits;
	u8 response;
	u8 transports;
	u8 operands;
	u8 wc;
	u8 recv_wc;
};

extern const struct sroce_op_row sroce_optable[SROCE_OPS];

static inline u8 sroce_transport_bit(u8 transport)
{
	return 1 << (transport >> 5);
}

#endif /* SROCE_OPTABLE_H */
