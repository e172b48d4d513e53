/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Writes send queue entries, for ibv_post_send() and ibv_wr_*().
 *
 * Rings are reused, and the kernel refuses reserved fields that are not zero.
 * Therefore each function writes all bytes of its part of the head.
 */
#ifndef LIBSROCE_SQE_H
#define LIBSROCE_SQE_H

#include "sroce.h"

static inline struct sroce_sqe *sq_entry(const struct sroce_sq *sq,
					 uint32_t index)
{
	size_t pos = index & (sq->entries - 1);

	return (struct sroce_sqe *)((char *)sq->ring + (pos << sq->shift));
}

/* True if there is no room for the entry at @index.  (D) */
static inline bool sq_full(struct sroce_sq *sq, uint32_t index)
{
	if (likely(index - sq->head < sq->entries))
		return false;
	sq->head = sroce_load_acquire(&sq->slot->sq_head);
	return index - sq->head >= sq->entries;
}

static inline bool sq_can_send(const struct sroce_sq *sq, unsigned int opcode)
{
	return opcode < 16 && sq->opcodes >> opcode & 1;
}

/* The key to invalidate shares the field of immediate data, in host order. */
static inline __be32 sqe_key(uint32_t rkey)
{
	union {
		uint32_t rkey;
		__be32 imm_data;
	} u = { .rkey = rkey };

	return u.imm_data;
}

/* First 16 bytes of the head. */
static inline void sqe_begin(struct sroce_sqe *sqe, uint64_t wr_id,
			     uint8_t opcode, uint8_t flags, __be32 imm_data)
{
	sqe->wr_id = wr_id;
	sqe->opcode = opcode;
	sqe->flags = flags;
	sqe->num_sge = 0;
	sqe->imm_data = imm_data;
}

/* Other 32 bytes of the head: one function per kind of operation. */
static inline void sqe_plain(struct sroce_sqe *sqe)
{
	memset(&sqe->rdma, 0, sizeof(sqe->rdma));
}

static inline void sqe_rdma(struct sroce_sqe *sqe, uint64_t remote_addr,
			    uint32_t rkey)
{
	sqe->rdma.remote_addr = remote_addr;
	sqe->rdma.rkey = rkey;
	sqe->rdma.srqn = 0;
	memset(sqe->rdma.reserved, 0, sizeof(sqe->rdma.reserved));
}

static inline void sqe_atomic(struct sroce_sqe *sqe, uint64_t remote_addr,
			      uint32_t rkey, uint64_t compare_add,
			      uint64_t swap)
{
	sqe->atomic.remote_addr = remote_addr;
	sqe->atomic.rkey = rkey;
	sqe->atomic.srqn = 0;
	sqe->atomic.compare_add = compare_add;
	sqe->atomic.swap = swap;
}

/* Only for ibv_wr_flush(), where libibverbs has it. */
static inline void sqe_flush(struct sroce_sqe *sqe, uint64_t remote_addr,
			     uint32_t rkey, uint32_t length, uint8_t type,
			     uint8_t level)
{
	sqe->flush.remote_addr = remote_addr;
	sqe->flush.rkey = rkey;
	sqe->flush.srqn = 0;
	sqe->flush.length = length;
	sqe->flush.type = type;
	sqe->flush.level = level;
	sqe->flush.reserved = 0;
	sqe->flush.reserved2 = 0;
}

/* XRC: number of the peer's SRQ; called after any of these functions. */
static inline void sqe_srqn(struct sroce_sqe *sqe, uint32_t srqn)
{
	SROCE_SAME(offsetof(struct sroce_sqe, rdma.srqn),
		   offsetof(struct sroce_sqe, atomic.srqn));
	SROCE_SAME(offsetof(struct sroce_sqe, rdma.srqn),
		   offsetof(struct sroce_sqe, flush.srqn));

	/* A bind has another field in these bytes, and a local invalidation names no SRQ. */
	if (sqe->opcode != SROCE_WR_BIND_MW && sqe->opcode != SROCE_WR_LOCAL_INV)
		sqe->rdma.srqn = srqn;
}

static inline void sqe_bind(struct sroce_sqe *sqe,
			    const struct ibv_mw_bind_info *info, uint32_t rkey)
{
	sqe->bind.addr = info->addr;
	sqe->bind.length = info->length;
	sqe->bind.lkey = info->mr ? info->mr->lkey : 0;
	sqe->bind.rkey = rkey;
	sqe->bind.access = info->mw_access_flags;
	sqe->bind.reserved = 0;
}

static inline void sqe_ud(struct sroce_sqe *sqe, struct ibv_ah *ah,
			  uint32_t remote_qpn, uint32_t remote_qkey)
{
	sqe->ud.ah = to_sroce_ah(ah)->number;
	sqe->ud.remote_qpn = remote_qpn;
	sqe->ud.remote_qkey = remote_qkey;
	memset(sqe->ud.reserved, 0, sizeof(sqe->ud.reserved));
}

/* The SGE list or inline data after the head. */
static inline struct sroce_sge *sqe_list(struct sroce_sqe *sqe)
{
	return (struct sroce_sge *)(sqe + 1);
}

static inline void sge_copy(struct sroce_sge *to, const struct ibv_sge *from)
{
	SROCE_SAME(sizeof(*to), sizeof(*from));
	SROCE_SAME(offsetof(struct sroce_sge, length),
		   offsetof(struct ibv_sge, length));
	SROCE_SAME(offsetof(struct sroce_sge, lkey),
		   offsetof(struct ibv_sge, lkey));

	memcpy(to, from, sizeof(*to));
}

/* Returns 0, or EINVAL with an incomplete entry. */
static inline int sqe_set_list(const struct sroce_sq *sq, struct sroce_sqe *sqe,
			       const struct ibv_sge *list, size_t num)
{
	struct sroce_sge *sge = sqe_list(sqe);
	size_t i;

	if (unlikely(num > sq->max_sge))
		return EINVAL;
	for (i = 0; i < num; i++)
		sge_copy(&sge[i], &list[i]);
	sqe->num_sge = num;
	return 0;
}

/* Append inline data; @num_sge is the number of bytes so far. */
static inline int sqe_add_inline(const struct sroce_sq *sq,
				 struct sroce_sqe *sqe,
				 const void *data, size_t length)
{
	uint32_t used = sqe->num_sge;

	if (unlikely(length > sq->max_inline - used))
		return EINVAL;
	if (length)
		memcpy((char *)sqe_list(sqe) + used, data, length);
	sqe->num_sge = used + length;
	return 0;
}

#endif /* LIBSROCE_SQE_H */
