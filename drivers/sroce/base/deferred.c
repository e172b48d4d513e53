// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Work that needs process context, and is not accounted to a user. */
#include "deferred.h"

static struct workqueue_struct *queue;

int sroce_deferred_init(void)
{
	queue = alloc_workqueue("sroce_deferred", WQ_UNBOUND, 0);
	return queue ? 0 : -ENOMEM;
}

void sroce_deferred_exit(void)
{
	destroy_workqueue(queue);
}

void sroce_defer(struct work_struct *work)
{
	queue_work(queue, work);
}

void sroce_defer_for(struct delayed_work *work, unsigned long delay)
{
	mod_delayed_work(queue, work, delay);
}
