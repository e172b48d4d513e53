/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QUEUE_MEM_H
#define SROCE_QUEUE_MEM_H

#include <rdma/ib_verbs.h>
#include <sroce_ring.h>
#include "../mem/mmap.h"

/**
 * struct sroce_queue_mem - memory behind a ring or a doorbell page
 * @mapping: how a process maps it; unused if the kernel is the user
 * @ucontext: the process's context, or NULL
 * @mem: vfree() takes it back
 * @size: bytes, whole pages
 *
 * Outlives its owner while a mmap() of it is under way.
 */
struct sroce_queue_mem {
	struct sroce_mmap_entry mapping;
	struct ib_ucontext *ucontext;
	void *mem;
	u32 size;
};

/**
 * struct sroce_recv_ring - receive requests of a QP or an SRQ; its lock
 * @mem: entries as user space or verbs/post.c writes them; NULL without a ring
 * @slot: doorbell words, of which this is the receive half
 * @stride: bytes of an entry
 * @entries: a power of two; 0 without a ring
 * @head: entries taken
 * @max_sge: longest SGE list of an entry
 * @broken: the tail has been impossible; look at it no more
 */
struct sroce_recv_ring {
	void *mem;
	struct sroce_qp_slot *slot;
	u32 stride;
	u32 entries;
	u32 head;
	u16 max_sge;
	bool broken;
};

/* What comes of taking the next one */
enum sroce_fetched {
	SROCE_FETCHED,
	SROCE_FETCHED_NONE,
	SROCE_FETCHED_BAD,	/* malformed; its wr_id is valid */
	SROCE_FETCHED_BROKEN,	/* the tail is impossible: there is none */
};

/* Entries for @max_wr requests of @max_sge pieces each; @max_wr may be 0. */
void sroce_recv_ring_size(struct sroce_recv_ring *ring, u32 max_wr,
			  u32 max_sge);

/* Place of an entry, whatever its index. */
static inline void *sroce_recv_ring_at(const struct sroce_recv_ring *ring,
				       u32 index)
{
	return ring->mem + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/**
 * sroce_queue_mem_alloc() - allocate memory for a ring
 * @ucontext: whose process may map it; NULL for a kernel user
 * @size: bytes, rounded up to pages
 *
 * Context: process, may sleep.
 * Return: the ring or an ERR_PTR().
 */
struct sroce_queue_mem *sroce_queue_mem_alloc(struct ib_ucontext *ucontext, size_t size);

/**
 * sroce_queue_mem_free() - the owner is done with it
 * @ring: may be NULL
 *
 * Mappings that processes have keep their pages.
 */
void sroce_queue_mem_free(struct sroce_queue_mem *ring);

/* The offset for mmap(); 0 for a kernel user. */
u64 sroce_queue_mem_offset(struct sroce_queue_mem *ring);

#endif /* SROCE_QUEUE_MEM_H */
