/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COPY_H
#define SROCE_COPY_H

#include <rdma/sroce-abi.h>
#include "mr.h"

struct sk_buff;

/**
 * struct sroce_grip - the memory region used last
 * @mr: referenced, or NULL
 *
 * Lives while a lock is held or a burst is built, so that a key is looked up
 * once per burst and not per packet.  sroce_grip_drop() at the end.
 */
struct sroce_grip {
	struct sroce_mr *mr;
};

/**
 * struct sroce_memory - a list of pieces of registered memory
 * @pd: protection domain of the QP
 * @sge: private copy of the list; for remote access one made from the RETH
 * @num_sge: its entries
 * @access: enum ib_access_flags needed
 */
struct sroce_memory {
	struct ib_pd *pd;
	const struct sroce_sge *sge;
	u32 num_sge;
	int access;
};

static inline void sroce_grip_drop(struct sroce_grip *grip)
{
	if (grip->mr)
		sroce_mr_put(grip->mr);
	grip->mr = NULL;
}

/**
 * sroce_store_skb() - packet to memory
 * @grip: cache
 * @to: memory
 * @at: offset in the list, bytes
 * @skb: packet
 * @offset: first byte, from skb->data
 * @len: bytes
 *
 * Context: any with bottom halves off.
 * Return: 0; EMSGSIZE if the list is too short; EFAULT if a key is refused.
 */
int sroce_store_skb(struct sroce_grip *grip, const struct sroce_memory *to,
		    u32 at, const struct sk_buff *skb, u32 offset, u32 len);

/* The same from a buffer. */
int sroce_store_bytes(struct sroce_grip *grip, const struct sroce_memory *to,
		      u32 at, const void *from, u32 len);

/* Memory to a buffer; errors as above. */
int sroce_load_bytes(struct sroce_grip *grip, const struct sroce_memory *from,
		     u32 at, void *to, u32 len);

/**
 * sroce_attach() - append memory to a packet without copying
 * @skb: gets page fragments, each with a reference
 * @grip: cache
 * @from: memory
 * @at: offset in the list, bytes
 * @len: bytes
 * @spare: fragments to leave free
 *
 * Return: as above, or E2BIG or EOPNOTSUPP if it must be copied instead, with
 * @skb as it was.
 */
int sroce_attach(struct sk_buff *skb, struct sroce_grip *grip,
		 const struct sroce_memory *from, u32 at, u32 len, u32 spare);

/**
 * sroce_atomic() - 8 byte atomic operation on memory
 * @grip: cache
 * @on: one piece of 8 bytes, its address a multiple of 8
 * @compare: replace only this value, if not NULL; else add
 * @value: new value or addend
 * @original: what was there
 *
 * Atomic against every CPU.  Return: 0; EFAULT if the key is refused.
 */
int sroce_atomic(struct sroce_grip *grip, const struct sroce_memory *on,
		 const u64 *compare, u64 value, u64 *original);

#endif /* SROCE_COPY_H */
