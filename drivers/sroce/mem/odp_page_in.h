/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_PAGE_IN_H
#define SROCE_ODP_PAGE_IN_H

#include <linux/errno.h>
#include <linux/types.h>

struct sroce_odp;

/* Purpose of a page-in. */
enum sroce_odp_why {
	/* For the data path, up to SROCE_ODP_AHEAD: */
	SROCE_ODP_READ,			/* read payload to send */
	SROCE_ODP_WRITE,		/* write payload that has arrived */
	SROCE_ODP_AHEAD,		/* payload that may follow; not from a userfaultfd */
	SROCE_ODP_PREFETCH,		/* ibv_advise_mr(): for reading, */
	SROCE_ODP_PREFETCH_WRITE,	/* for writing, */
	SROCE_ODP_PREFETCH_PRESENT,	/* or only pages that are mapped already */
};

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

/**
 * sroce_odp_fault() - page memory in
 * @odp: address space, held
 * @va: address
 * @length: bytes
 * @why: enum sroce_odp_why
 *
 * Pages may be removed again as soon as this returns.
 *
 * Context: process; takes the mmap_lock of @odp's process, and may wait for
 * disk I/O or for a userfaultfd, mostly without that lock.
 * Return: 0; EFAULT or EPERM if no memory is mapped there, or the mapping does
 * not allow the access; EBUSY, EAGAIN, ENOMEM or EINTR if paging in failed for
 * now.
 */
int sroce_odp_fault(struct sroce_odp *odp, u64 va, u64 length,
		    enum sroce_odp_why why);

#else /* the kernel has no on-demand paging, so no region uses it */

static inline int sroce_odp_fault(struct sroce_odp *odp, u64 va, u64 length,
				  enum sroce_odp_why why)
{
	return -EFAULT;
}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */
#endif /* SROCE_ODP_PAGE_IN_H */
