/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_FAULT_H
#define SROCE_ODP_FAULT_H

#include <linux/kref.h>
#include <linux/workqueue.h>
#include "sgl.h"

/* Maximum ranges of a message that are paged in together. */
#define SROCE_FAULT_RANGES	8

/**
 * struct sroce_fault_range - memory to page in
 * @odp: address space, held; in @failed it is only compared
 * @va: address
 * @length: bytes
 * @ahead: bytes after them, which may be needed soon; they need not be mapped
 * @write: it will be written to
 */
struct sroce_fault_range {
	struct sroce_odp *odp;
	u64 va;
	u64 length;
	u32 ahead;
	bool write;
};

/**
 * struct sroce_fault - page-in for the send or receive side of a QP
 * @work: work item that pages in
 * @owner: reference count of the containing structure
 * @release: release function of @owner
 * @resume: called when @work has finished; any context
 * @outdated: the result of the last attempt is older than a QP reset; protected
 *	by that side's lock
 * @busy: @work is queued or running and owns all members below; otherwise that
 *	side's lock protects them
 * @count: entries in @ranges
 * @ranges: memory to page in
 * @err: error of the last attempt, or 0
 * @failed: range that failed
 * @tries: consecutive failed attempts for that range
 */
struct sroce_fault {
	struct work_struct work;
	struct kref *owner;
	void (*release)(struct kref *owner);
	void (*resume)(struct sroce_fault *fault);
	bool outdated;
	bool busy;
	u8 count;
	struct sroce_fault_range ranges[SROCE_FAULT_RANGES];
	int err;
	struct sroce_fault_range failed;
	u32 tries;
};

/* Initialize @fault; the parameters are described in struct sroce_fault. */
void sroce_fault_setup(struct sroce_fault *fault, struct kref *owner,
		       void (*release)(struct kref *owner),
		       void (*resume)(struct sroce_fault *fault));

/*
 * True while the work item owns @fault.  Otherwise the result of page_in() can
 * be read.
 */
static inline bool sroce_fault_busy(const struct sroce_fault *fault)
{
	/* Pairs with page_in(). */
	return smp_load_acquire(&fault->busy);
}

/*
 * Forget the result of earlier attempts, and cancel a work item that has not
 * started.  For a QP that is reset or destroyed.  Context: lock of that side of
 * the QP held; the caller has a reference.
 */
void sroce_fault_reset(struct sroce_fault *fault);

/**
 * sroce_fault_start() - start paging in memory of a message
 * @fault: page-in of the requester or responder side; that side's lock is held
 * @memory: SGL for which EAGAIN was returned
 * @at: offset in @memory, bytes
 * @len: bytes
 * @ahead: further bytes, which the message may not need: no key or memory is required
 *	for them
 *
 * The QP's work item tries again after success and after failure.  An earlier
 * failure for the same range is returned here.  A failure that may go away,
 * such as lack of memory, is returned after many attempts only.
 *
 * Return: 0, also if a page-in is in progress already; EFAULT if a key is
 * refused or the process has no such memory.
 */
int sroce_fault_start(struct sroce_fault *fault,
		      const struct sroce_sgl *memory, u32 at, u32 len, u32 ahead);

/* ib_device_ops */
int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);

#endif /* SROCE_ODP_FAULT_H */
