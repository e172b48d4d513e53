/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_H
#define SROCE_ODP_H

#include <linux/err.h>
#include <linux/types.h>

struct mm_struct;
struct sroce_odp;
struct sroce_odp_chunk;
struct sroce_odp_wq;

/* Why pages are wanted. */
enum sroce_odp_why {
	SROCE_ODP_READ,			/* for data to be sent */
	SROCE_ODP_WRITE,		/* for data that has arrived */
	SROCE_ODP_PREFETCH,		/* by advice, to be read, */
	SROCE_ODP_PREFETCH_WRITE,	/* to be written to, */
	SROCE_ODP_PREFETCH_PRESENT,	/* or only what the process has now */
};

/**
 * struct sroce_odp_piece - memory that is present
 * @p: its first byte
 * @bytes: that lie in one piece
 * @block: the page behind the piece is @block[1], and so on
 * @beyond: bytes of such pages that are present
 */
struct sroce_odp_piece {
	void *p;
	u64 bytes;
	void **block;
	u64 beyond;
};

/**
 * struct sroce_odp_stats - what has happened to a region, in pages
 * @faults: made present since somebody wanted to use them
 * @prefetches: made present since somebody gave advice
 * @invalidations: taken back
 */
struct sroce_odp_stats {
	u64 faults;
	u64 prefetches;
	u64 invalidations;
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/**
 * sroce_odp_open() - watch the caller's address space
 *
 * Nothing is paged in; addresses need not be mapped before they are used.
 *
 * Context: process.  Return: a reference, for sroce_odp_close(), or an errno.
 */
struct sroce_odp *sroce_odp_open(void);

/**
 * sroce_odp_close() - nothing is present any more, and never will be
 * @odp: or NULL; the reference is dropped
 *
 * Waits for sroce_odp_put() of everything that sroce_odp_get() has found.
 */
void sroce_odp_close(struct sroce_odp *odp);

/* Of the user who has opened it; as long as @odp is held.  Context: any. */
struct sroce_odp_wq *sroce_odp_queues(const struct sroce_odp *odp);

/* References that keep the structure, and nothing but the structure. */
void sroce_odp_hold(struct sroce_odp *odp);
/*
 * Undoes sroce_odp_hold(); sroce_odp_close() does so by itself.  The last one
 * also drops the process's mm_struct.  Context: process.
 */
void sroce_odp_release(struct sroce_odp *odp);
/* The same, later.  Context: any. */
void sroce_odp_release_later(struct sroce_odp *odp);

/**
 * sroce_odp_get() - find memory that is present
 * @odp: the address space
 * @va: address in it
 * @most: bytes that are of interest, not 0
 * @write: they will be written to
 * @piece: result
 *
 * The pages stay the process's as long as the reference is held; whoever takes
 * them from the process waits for it, so it has to be short.
 *
 * Context: any with bottom halves off, until sroce_odp_put().
 * Return: a reference, or NULL if the byte at @va is not present.
 */
struct sroce_odp_chunk *sroce_odp_get(struct sroce_odp *odp, u64 va, u64 most,
				      bool write,
				      struct sroce_odp_piece *piece);
/* Undoes sroce_odp_get(): the pages may be taken back.  Context: as there. */
void sroce_odp_put(struct sroce_odp_chunk *chunk);

/* Are all of these bytes present?  Context: bottom halves off. */
bool sroce_odp_present(struct sroce_odp *odp, u64 va, u64 length, bool write);

/**
 * sroce_odp_fault() - page in
 * @odp: held
 * @va: address
 * @length: bytes
 * @why: enum sroce_odp_why
 *
 * What is present when this returns may be gone a moment later.
 *
 * Context: process; takes the mmap_lock of @odp's process, and may wait for
 * disks.
 * Return: 0; EFAULT or EPERM if there is no memory there, or none of that kind;
 * EBUSY, EAGAIN, ENOMEM or EINTR if it was not to be had now.
 */
int sroce_odp_fault(struct sroce_odp *odp, u64 va, u64 length,
		    enum sroce_odp_why why);

/* What has happened so far.  Context: any; others go on counting meanwhile. */
void sroce_odp_stats(const struct sroce_odp *odp,
		     struct sroce_odp_stats *stats);

#else /* a kernel without it: no region is ever registered so */

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

static inline int sroce_odp_fault(struct sroce_odp *odp, u64 va, u64 length,
				  enum sroce_odp_why why)
{
	return -EFAULT;
}

static inline void sroce_odp_stats(const struct sroce_odp *odp,
				   struct sroce_odp_stats *stats)
{
}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */
#endif /* SROCE_ODP_H */
