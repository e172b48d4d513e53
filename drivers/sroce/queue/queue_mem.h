/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QUEUE_MEM_H
#define SROCE_QUEUE_MEM_H

#include <rdma/ib_verbs.h>
#include <sroce_ring.h>
#include "../mem/mmap.h"

/**
 * struct sroce_queue_mem - memory of a ring or a doorbell page
 * @mapping: entry for mmap(); not inserted for a kernel user
 * @ucontext: context of the process, or NULL
 * @mem: the memory, from vmap() or vzalloc(); vfree() frees it
 * @size: bytes, whole pages
 *
 * Outlives its owner while an mmap() of it is in progress.
 */
struct sroce_queue_mem {
	struct sroce_mmap_entry mapping;
	struct ib_ucontext *ucontext;
	void *mem;
	u32 size;
};

/**
 * struct sroce_recv_ring - receive WQEs of a QP or an SRQ; protected by its lock
 * @mem: entries as user space or verbs/post.c writes them; NULL without a ring
 * @slot: doorbell words; the ring uses the receive words
 * @stride: bytes per entry
 * @entries: a power of two; 0 without a ring
 * @head: number of entries taken
 * @max_sge: maximum number of SGEs in an entry
 * @broken: user space has written an impossible tail; take no more entries
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

/* Result of taking the next entry. */
enum sroce_fetched {
	SROCE_FETCHED,
	SROCE_FETCHED_NONE,
	SROCE_FETCHED_BAD,	/* malformed, but wr_id is valid */
	SROCE_FETCHED_BROKEN,	/* impossible tail; no entry taken */
};

/* Set the ring's dimensions.  No effect if @max_wr is 0. */
void sroce_recv_ring_size(struct sroce_recv_ring *ring, u32 max_wr,
			  u32 max_sge);

/* Address of an entry; @index may exceed the ring. */
static inline void *sroce_recv_ring_at(const struct sroce_recv_ring *ring,
				       u32 index)
{
	return ring->mem + (size_t)(index & (ring->entries - 1)) * ring->stride;
}

/**
 * sroce_queue_mem_alloc() - allocate memory for a ring
 * @ucontext: context of the process that may map it; NULL for a kernel user
 * @size: bytes, rounded up to pages
 *
 * Context: process, may sleep.
 * Return: the memory or an ERR_PTR().
 */
struct sroce_queue_mem *sroce_queue_mem_alloc(struct ib_ucontext *ucontext, size_t size);

/**
 * sroce_queue_mem_free() - free memory of a ring
 * @memory: may be NULL
 *
 * Pages that a process has mapped stay until it unmaps them.
 */
void sroce_queue_mem_free(struct sroce_queue_mem *memory);

/* Offset for mmap(); 0 for a kernel user. */
u64 sroce_queue_mem_offset(struct sroce_queue_mem *memory);

#endif /* SROCE_QUEUE_MEM_H */
