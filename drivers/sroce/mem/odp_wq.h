/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ODP_WQ_H
#define SROCE_ODP_WQ_H

#include <linux/uidgid.h>
#include <linux/workqueue.h>

/**
 * struct sroce_odp_wq - pages in what a user's memory is wanted for
 * @faults: for QPs, work items
 * @advice: before anybody wants it; QPs do not wait for that
 *
 * A page may be as long in coming as its owner likes, who may serve the file
 * that it is of.  So each user has queues of their own, and so many threads:
 * who has such pages waits for them alone.
 */
struct sroce_odp_wq {
	struct workqueue_struct *faults;
	struct workqueue_struct *advice;
};

/* Context: loading the module.  Return: 0 or ENOMEM. */
int sroce_odp_wq_init(void);
/* Waits for all there are; no device is left. */
void sroce_odp_wq_exit(void);

/**
 * sroce_odp_wq_get() - the calling user's pager
 *
 * Context: process.  Return: a reference, or NULL if memory is short.
 */
struct sroce_odp_wq *sroce_odp_wq_get(void);
/* @pager: or NULL.  Context: process, a work item of its queues, too. */
void sroce_odp_wq_put(struct sroce_odp_wq *pager);

/* The user that what the calling process uses up is counted against. */
kuid_t sroce_owner_uid(void);

/* Run @work, of nobody in particular, in a process.  Context: any. */
void sroce_odp_wq_later(struct work_struct *work);

#endif /* SROCE_ODP_WQ_H */
