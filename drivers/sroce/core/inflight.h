/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_INFLIGHT_H
#define SROCE_INFLIGHT_H

#include "optable.h"
#include "psn.h"

struct sroce_av;

enum sroce_op_flags {
	SROCE_FENCE		= 1 << 0,
	SROCE_SIGNALED		= 1 << 1,
	SROCE_SOLICITED		= 1 << 2,
	SROCE_INLINE		= 1 << 3,
	SROCE_INVALIDATE	= 1 << 4,	/* READ: a key, when it is done */
};

/**
 * struct sroce_wr - private copy of a send request that is in flight
 * @wr_id: the user's
 * @remote_addr: all that name the peer's memory
 * @swap: atomic: swap value
 * @flush: FLUSH: enum sroce_flush_type and enum sroce_flush_level
 * @compare_add: atomic: compare value, or addend
 * @rkey: as @remote_addr
 * @srqn: XRC: the peer's SRQ
 * @bind: of a memory window, or what REG_MR registers
 * @ud: datagrams: @ah is the number of a process's address handle; a kernel
 *	user has the address vector itself, @av, and for the GSI @pkey_index
 * @imm: immediate data, network order
 * @invalidate: in its place: the key to invalidate
 * @length: of the message, bytes
 * @psn: its first PSN, once @started
 * @packets: the PSNs it takes: of its packets, or of a READ's answer; none if
 *	it is local.  One for FLUSH, whose @length is of the peer's memory
 * @opcode: enum sroce_op, nothing else
 * @flags: enum sroce_op_flags
 * @started: a packet of it has been sent, or it is local and done: @psn is
 *	valid
 * @parts: a READ of which a part has been asked for, not all that was missing
 * @status: not 0 (enum sroce_status) if it cannot be sent: it fails with this
 *	as soon as it is the oldest
 * @num_sge: entries of its SGE list, or bytes with SROCE_INLINE; the driver
 *	keeps the list beside this structure
 */
struct sroce_wr {
	u64 wr_id;
	union {
		struct {
			u64 remote_addr;
			union {
				u64 swap;
				struct {
					u8 type;
					u8 level;
				} flush;
			};
			u64 compare_add;
			u32 rkey;
			u32 srqn;
		};
		struct {
			u64 addr;
			u64 bytes;
			u32 lkey;
			u32 key;
			u32 access;
		} bind;
		struct {
			struct sroce_av *av;
			u32 ah;
			u32 remote_qpn;
			u32 qkey;
			u16 pkey_index;
		} ud;
	};
	union {
		__be32 imm;
		u32 invalidate;
	};
	u32 length;
	u32 psn;
	u32 packets;
	u8 opcode;
	u8 flags;
	bool started;
	bool parts;
	u8 status;
	u16 num_sge;
};

static inline const struct sroce_op_row *sroce_wr_row(const struct sroce_wr *wr)
{
	return &sroce_optable[wr->opcode];
}

/* Does the response bring data? */
static inline bool sroce_wr_fetches(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->traits & SROCE_TRAIT_FETCHES;
}

/*
 * Does it have a response of its own, for which the peer uses a resource?  So
 * do atomic WRITEs and FLUSHes (annex A19): as if they read nothing.
 */
static inline bool sroce_wr_reads(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->response;
}

/* Done here, in its turn, without a packet. */
static inline bool sroce_wr_local(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->traits & SROCE_TRAIT_LOCAL;
}

static inline bool sroce_wr_atomic(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->response == SROCE_KIND_ATOMIC_ACK;
}

/**
 * struct sroce_inflight - requests copied from the ring and not completed
 * @wrs: ring of @mask + 1 records
 * @mask: size - 1, the size being a power of two
 * @head: the oldest that is not completed
 * @next: the one to send from
 * @tail: one past the newest
 *
 * Counts run freely: @head <= @next <= @tail.
 */
struct sroce_inflight {
	struct sroce_wr *wrs;
	u32 mask;
	u32 head;
	u32 next;
	u32 tail;
};

static inline struct sroce_wr *sroce_inflight_wr(const struct sroce_inflight *f,
						 u32 index)
{
	return &f->wrs[index & f->mask];
}

/**
 * sroce_inflight_find() - the request that a PSN belongs to
 * @f: the records
 * @psn: sequence number, at or after the first one of the oldest request
 *
 * Return: index of the started request that covers @psn; @f->tail, or the
 * index of the first request that has not started, if none does.
 */
u32 sroce_inflight_find(const struct sroce_inflight *f, u32 psn);

#endif /* SROCE_INFLIGHT_H */
