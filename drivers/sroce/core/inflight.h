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
	SROCE_INVALIDATE	= 1 << 4,	/* READ: key, on completion */
};

/**
 * struct sroce_wr - private copy of a send WQE that is in flight
 * @wr_id: wr_id of the user
 * @remote_addr: operations on the peer's memory: address
 * @swap: atomics: swap value
 * @flush: FLUSH: enum sroce_flush_type and enum sroce_flush_level
 * @compare_add: atomics: compare value, or addend
 * @rkey: operations on the peer's memory: key
 * @srqn: XRC: the peer's SRQ
 * @bind: operands of a memory window bind or of REG_MR
 * @ud: datagrams.  @ah is the number of a process's address handle.  A kernel
 *	user passes the address vector @av instead, and for the GSI @pkey_index
 * @key_end: LOCAL_INV: one past the index of the last earlier request with an SGE of the
 *	key; @head or before it if there is none
 * @imm: immediate data, network byte order
 * @invalidate: key to invalidate, instead of @imm
 * @length: length of the message, bytes.  FLUSH: length of the range of the
 *	peer's memory
 * @psn: first PSN; valid once @started
 * @packets: number of PSNs used: of request packets, or for a READ of response
 *	packets; 1 for FLUSH, 0 for local operations
 * @opcode: enum sroce_op; the copy ensures that no other value occurs
 * @flags: enum sroce_op_flags
 * @started: a packet was sent, or the local operation was executed
 * @parts: READ: a request for a part of the missing data was sent
 * @status: enum sroce_status.  If not 0, the request cannot be sent, and fails
 *	with this status once it is the oldest
 * @num_sge: number of SGEs, or of bytes with SROCE_INLINE.  The driver keeps
 *	the SGEs next to this structure
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
		u32 key_end;
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

/* Does the response contain data? */
static inline bool sroce_wr_fetches(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->traits & SROCE_TRAIT_FETCHES;
}

/*
 * Does it have its own response, which takes a responder resource?  This
 * includes atomic WRITE and FLUSH (annex A19): READ responses without data.
 */
static inline bool sroce_wr_reads(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->response;
}

/* Executed by this host, in order, without a packet. */
static inline bool sroce_wr_local(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->traits & SROCE_TRAIT_LOCAL;
}

static inline bool sroce_wr_atomic(const struct sroce_wr *wr)
{
	return sroce_wr_row(wr)->response == SROCE_KIND_ATOMIC_ACK;
}

/**
 * struct sroce_inflight - requests copied from the send ring, not completed
 * @wrs: ring of @mask + 1 entries, a power of two
 * @mask: number of entries - 1
 * @head: index of the oldest request
 * @next: index of the request to send from
 * @tail: one past the index of the newest request
 *
 * Indices are not reduced by @mask and may wrap: @head <= @next <= @tail.
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
 * sroce_inflight_find() - find the request that a PSN belongs to
 * @f: the requests
 * @psn: PSN; not before the first PSN of the oldest request
 *
 * Return: index of the started request that covers @psn; otherwise that of the
 * first request that has not started, or @f->tail.
 */
u32 sroce_inflight_find(const struct sroce_inflight *f, u32 psn);

#endif /* SROCE_INFLIGHT_H */
