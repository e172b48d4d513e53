/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_WQ_H
#define SROCE_ODP_WQ_H

#include <linux/workqueue.h>

/**
 * struct sroce_odp_wq - workqueues that page in memory of a user
 * @faults: work items of QPs
 * @advice: prefetches; QPs do not wait for these
 *
 * A user can delay a page-in at will, for instance by serving the file with FUSE.  Each user
 * therefore has workqueues with a limited number of threads, and cannot delay other users.
 */
struct sroce_odp_wq {
	struct workqueue_struct *faults;
	struct workqueue_struct *advice;
};

/* Waits for all work items.  Context: unloading the module; all devices are gone. */
void sroce_odp_wq_exit(void);

/**
 * sroce_odp_wq_get() - get the workqueues of the calling user
 *
 * Context: process.  Return: a reference, or NULL if memory is short.
 */
struct sroce_odp_wq *sroce_odp_wq_get(void);
/*
 * Drop the reference; @queues may be NULL.  Context: process, also a work item
 * of these workqueues.
 */
void sroce_odp_wq_put(struct sroce_odp_wq *queues);

#endif /* SROCE_ODP_WQ_H */
