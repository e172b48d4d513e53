/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DEFERRED_H
#define SROCE_DEFERRED_H

#include <linux/workqueue.h>

/* Context: loading the module.  Return: 0 or ENOMEM. */
int sroce_deferred_init(void);
/* Wait for all work items.  No delayed work may be pending.  Context: unloading the module. */
void sroce_deferred_exit(void);

/* Run @work in process context.  Context: any. */
void sroce_defer(struct work_struct *work);
/*
 * Run @work after @delay jiffies.  If it is pending, this delay replaces the earlier one.
 * Context: any.
 */
void sroce_defer_for(struct delayed_work *work, unsigned long delay);

#endif /* SROCE_DEFERRED_H */
