/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_FAULT_H
#define SROCE_ODP_FAULT_H

#include <linux/kref.h>
#include <linux/workqueue.h>
#include "sgl.h"

/* Pieces of a message that are paged in together. */
#define SROCE_FAULT_RANGES	8
/* So much of a message is paged in at once, */
#define SROCE_FAULT_BYTES	0x400000u
/* and of one of which it is not known how long it is. */
#define SROCE_FAULT_AHEAD	0x10000u

/**
 * struct sroce_fault_range - memory to page in
 * @odp: where, held; of what has failed only to be compared
 * @va: address
 * @length: bytes
 * @write: it will be written to
 */
struct sroce_fault_range {
	struct sroce_odp *odp;
	u64 va;
	u64 length;
	bool write;
};

/**
 * struct sroce_fault - a half of a QP waits for memory
 * @work: pages in
 * @owner: reference count of the structure that contains this
 * @release: for @owner
 * @resume: called when @work has ended; any context
 * @outdated: what came of the last attempt was before a reset; the half's
 * @busy: @work is at it or waits, and has all below; else it is the half's, by
 *	its lock
 * @count: entries in @ranges
 * @ranges: what is wanted
 * @err: why the last attempt has failed, or 0
 * @failed: where
 * @tries: such attempts for the same in a row
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

/* Prepare @fault.  The parameters are members of struct sroce_fault. */
void sroce_fault_setup(struct sroce_fault *fault, struct kref *owner,
		       void (*release)(struct kref *owner),
		       void (*resume)(struct sroce_fault *fault));

/* Does @fault's half wait?  If not, it has what page_in() has left there. */
static inline bool sroce_fault_busy(const struct sroce_fault *fault)
{
	/* Pairs with page_in(). */
	return smp_load_acquire(&fault->busy);
}

/*
 * The QP begins anew or goes: nothing counts of what there was, and what still
 * waits for a thread is left.  Under the half's lock; the caller has a reference.
 */
void sroce_fault_reset(struct sroce_fault *fault);

/**
 * sroce_fault_start() - have memory paged in
 * @fault: of the half whose lock is held
 * @memory: a list of pieces, of which EAGAIN was said
 * @at: offset of what is wanted, bytes
 * @len: bytes
 *
 * When it is there, or cannot be, the QP's work goes on and tries again.  If it
 * could not be had for the very same a moment ago, that is told here; but if
 * memory is short that may change, and it takes many attempts until it is told.
 *
 * Return: 0, also if that half waits already; EFAULT if a key is refused or
 * the process has no such memory.
 */
int sroce_fault_start(struct sroce_fault *fault,
		      const struct sroce_sgl *memory, u32 at, u32 len);

/* ib_device_ops */
int sroce_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice,
		    u32 flags, struct ib_sge *sges, u32 num_sge,
		    struct uverbs_attr_bundle *attrs);

#endif /* SROCE_ODP_FAULT_H */
