/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_H
#define SROCE_ODP_H

#include <linux/err.h>
#include <linux/types.h>

struct mm_struct;
struct sroce_odp;
struct sroce_odp_chunk;
struct sroce_odp_wq;

/**
 * struct sroce_odp_piece - memory that is present
 * @p: kernel address of its first byte
 * @bytes: contiguous bytes at @p
 * @block: the next page is @block[1], and so on
 * @beyond: bytes in those next pages that are present
 */
struct sroce_odp_piece {
	void *p;
	u64 bytes;
	void **block;
	u64 beyond;
};

/**
 * struct sroce_odp_stats - counters of a region, in pages
 * @faults: paged in because the data path needed them
 * @prefetches: paged in because of advice
 * @invalidations: removed by the notifier
 */
struct sroce_odp_stats {
	u64 faults;
	u64 prefetches;
	u64 invalidations;
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/**
 * sroce_odp_open() - start on-demand access to the caller's memory
 *
 * Pages nothing in.  Addresses need not be mapped before they are used.
 *
 * Context: process.  Return: a reference, for sroce_odp_close(), or an errno.
 */
struct sroce_odp *sroce_odp_open(void);

/**
 * sroce_odp_close() - end on-demand access
 * @odp: reference to drop, or NULL
 *
 * Afterwards no page is present or can become present.  Waits until
 * sroce_odp_put() has been called for all that sroce_odp_get() returned.
 */
void sroce_odp_close(struct sroce_odp *odp);

/*
 * Workqueues of the user that opened @odp; valid as long as @odp is held.
 * Context: any.
 */
struct sroce_odp_wq *sroce_odp_queues(const struct sroce_odp *odp);

/* Take a reference to the structure only: it keeps no page present. */
void sroce_odp_hold(struct sroce_odp *odp);
/*
 * Drop a reference of sroce_odp_hold(); sroce_odp_close() does it itself.  The
 * last one also drops the mm_struct of the process.  Context: process.
 */
void sroce_odp_release(struct sroce_odp *odp);
/* sroce_odp_release() from a work item.  Context: any. */
void sroce_odp_release_later(struct sroce_odp *odp);

/**
 * sroce_odp_get() - find and hold memory that is present
 * @odp: the address space
 * @va: address in it
 * @most: maximum number of bytes to find, not 0
 * @write: the memory will be written to
 * @piece: result
 *
 * The pages stay mapped in the process until the reference is dropped.  Reclaim,
 * munmap() and others wait for it, so hold it briefly.
 *
 * Context: any, with bottom halves off until sroce_odp_put().
 * Return: a reference, or NULL if the byte at @va is not present.
 */
struct sroce_odp_chunk *sroce_odp_get(struct sroce_odp *odp, u64 va, u64 most,
				      bool write,
				      struct sroce_odp_piece *piece);
/* Drop the reference of sroce_odp_get(); same context. */
void sroce_odp_put(struct sroce_odp_chunk *chunk);

/* True if all of these bytes are present.  Context: bottom halves off. */
bool sroce_odp_present(struct sroce_odp *odp, u64 va, u64 length, bool write);

/* Read the counters.  Context: any; they may change meanwhile. */
void sroce_odp_stats(const struct sroce_odp *odp,
		     struct sroce_odp_stats *stats);

#else /* the kernel has no on-demand paging, so no region uses it */

static inline struct sroce_odp *sroce_odp_open(void)
{
	return ERR_PTR(-EOPNOTSUPP);
}

static inline void sroce_odp_close(struct sroce_odp *odp)
{
}

static inline struct sroce_odp_wq *sroce_odp_queues(const struct sroce_odp *odp)
{
	return NULL;
}

static inline void sroce_odp_hold(struct sroce_odp *odp)
{
}

static inline void sroce_odp_release(struct sroce_odp *odp)
{
}

static inline void sroce_odp_release_later(struct sroce_odp *odp)
{
}

static inline struct sroce_odp_chunk *
sroce_odp_get(struct sroce_odp *odp, u64 va, u64 most, bool write,
	      struct sroce_odp_piece *piece)
{
	return NULL;
}

static inline void sroce_odp_put(struct sroce_odp_chunk *chunk)
{
}

static inline bool sroce_odp_present(struct sroce_odp *odp, u64 va, u64 length,
				     bool write)
{
	return false;
}

static inline void sroce_odp_stats(const struct sroce_odp *odp,
				   struct sroce_odp_stats *stats)
{
}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */
#endif /* SROCE_ODP_H */
