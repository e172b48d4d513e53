// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shares of a user in the limits of a device, and limits on the memory that
 * packets of a context, and of a user, hold in this host's queues.  Packets
 * outlive their QP, context and process.  The structures that they are charged
 * to are therefore reference counted, and the limits of a user also cover
 * processes that were killed.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/user_namespace.h>
#include "../base/ref.h"
#include "../core/params.h"
#include "wmem.h"

/* Protects the users table and all waiting lists. */
static DEFINE_SPINLOCK(wmem_lock);
static DEFINE_HASHTABLE(users, 8);
static struct workqueue_struct *queue;
/* One reference per struct sroce_wmem.  Set up when the module is loaded. */
static struct sroce_ref alive;

static void wake_waiting(struct work_struct *work);

int sroce_wmem_init(void)
{
	queue = alloc_workqueue("sroce_wmem", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!queue)
		return -ENOMEM;
	sroce_ref_init(&alive);
	return 0;
}

void sroce_wmem_exit(void)
{
	/* Work items may still be running, even if they have nothing to do. */
	sroce_ref_drain(&alive);
	destroy_workqueue(queue);
}

/*
 * Account to the owner of the outermost user namespace: inside a namespace,
 * uids are unlimited.
 */
kuid_t sroce_owner_uid(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static struct sroce_wmem *alloc_wmem(long limit)
{
	struct sroce_wmem *w = kzalloc_obj(*w, GFP_KERNEL_ACCOUNT);

	if (!w)
		return NULL;
	refcount_set(&w->ref, 1);
	w->limit = limit;
	INIT_LIST_HEAD(&w->waiting);
	INIT_DELAYED_WORK(&w->wake, wake_waiting);
	/* Succeeds: it is drained only after the last allocation. */
	sroce_ref_get(&alive);
	return w;
}

static void free_wmem(struct sroce_wmem *w)
{
	free_percpu(w->looped);
	kfree(w);
	sroce_ref_put(&alive);
}

static struct sroce_wmem *find_wmem(kuid_t uid)
{
	struct sroce_wmem *w;

	lockdep_assert_held(&wmem_lock);
	hash_for_each_possible(users, w, node, __kuid_val(uid))
		if (uid_eq(w->uid, uid))
			return sroce_wmem_get(w);
	return NULL;
}

struct sroce_wmem *sroce_wmem_user(void)
{
	struct sroce_wmem *new = alloc_wmem(SROCE_WMEM_USER), *w;
	unsigned long flags;

	if (!new)
		return NULL;
	new->looped = alloc_percpu_gfp(u32, GFP_KERNEL_ACCOUNT);
	if (!new->looped) {
		free_wmem(new);
		return NULL;
	}
	new->uid = sroce_owner_uid();
	spin_lock_irqsave(&wmem_lock, flags);
	w = find_wmem(new->uid);
	if (!w)
		hash_add(users, &new->node, __kuid_val(new->uid));
	spin_unlock_irqrestore(&wmem_lock, flags);
	if (!w)
		return new;
	free_wmem(new);
	return w;
}

struct sroce_wmem *sroce_wmem_context(void)
{
	struct sroce_wmem *w = alloc_wmem(SROCE_WMEM_CONTEXT);

	if (!w)
		return NULL;
	/* Administrators may have all; a refusal is not worth an audit record. */
	w->privileged = ns_capable_noaudit(&init_user_ns, CAP_SYS_RESOURCE);
	w->user = sroce_wmem_user();
	if (w->user)
		return w;
	free_wmem(w);
	return NULL;
}

void sroce_wmem_put(struct sroce_wmem *w)
{
	struct sroce_wmem *user;
	unsigned long flags;
	bool last;

	for (; w; w = user) {
		user = w->user;
		if (refcount_dec_not_one(&w->ref))
			return;
		spin_lock_irqsave(&wmem_lock, flags);
		last = refcount_dec_and_test(&w->ref);
		if (last && !user)
			hash_del(&w->node);
		spin_unlock_irqrestore(&wmem_lock, flags);
		if (!last)
			return;
		free_wmem(w);
	}
}

bool sroce_wmem_take(struct sroce_wmem *w, enum sroce_shared what, long n,
		     long limit)
{
	struct sroce_wmem *user = sroce_wmem_owner(w);

	if (!w || w->privileged)
		return true;
	if (atomic_long_add_return(n, &user->used[what]) <=
	    sroce_wmem_share(w, limit))
		return true;
	atomic_long_sub(n, &user->used[what]);
	return false;
}

void sroce_wmem_give_back(struct sroce_wmem *w, enum sroce_shared what, long n)
{
	if (w && !w->privileged)
		atomic_long_sub(n, &sroce_wmem_owner(w)->used[what]);
}

/* The caller has a reference; the work item gets its own. */
static void wake_in(struct sroce_wmem *w, unsigned long delay)
{
	refcount_inc(&w->ref);
	if (delay ? !queue_delayed_work(queue, &w->wake, delay) :
		    mod_delayed_work(queue, &w->wake, 0))
		refcount_dec(&w->ref);
}

void sroce_wmem_uncharge(struct sroce_wmem *w, u32 units)
{
	long left;

	for (; w; w = w->user) {
		left = atomic_long_sub_return(units * SROCE_WMEM_UNIT,
					      &w->bytes);
		if (left < w->limit / 2 && !list_empty_careful(&w->waiting))
			wake_in(w, 0);
	}
}

bool sroce_wmem_wait(struct sroce_wmem *w, struct sroce_wmem_waiter *waiter)
{
	unsigned long flags;

	spin_lock_irqsave(&wmem_lock, flags);
	while (w && atomic_long_read(&w->bytes) < w->limit)
		w = w->user;
	if (w) {
		if (list_empty(&waiter->list))
			list_add_tail(&waiter->list, &w->waiting);
		/* The delayed work also covers room that was freed just now. */
		wake_in(w, msecs_to_jiffies(SROCE_WMEM_RETRY_MS));
	}
	spin_unlock_irqrestore(&wmem_lock, flags);
	return w;
}

void sroce_wmem_forget(struct sroce_wmem_waiter *waiter)
{
	unsigned long flags;

	spin_lock_irqsave(&wmem_lock, flags);
	list_del_init(&waiter->list);
	spin_unlock_irqrestore(&wmem_lock, flags);
}

static bool wake_one(struct sroce_wmem *w)
{
	struct sroce_wmem_waiter *waiter;
	unsigned long flags;

	spin_lock_irqsave(&wmem_lock, flags);
	waiter = list_first_entry_or_null(&w->waiting,
					  struct sroce_wmem_waiter, list);
	if (waiter) {
		list_del_init(&waiter->list);
		/* Called under the lock: without it the waiter may be freed. */
		waiter->wake(waiter);
	}
	spin_unlock_irqrestore(&wmem_lock, flags);
	return waiter;
}

/*
 * If half of the limit is free, wake all waiters.  Otherwise wake a few: there may
 * be thousands, and a waiter that finds no room waits again.
 */
static void wake_waiting(struct work_struct *work)
{
	struct sroce_wmem *w = container_of(to_delayed_work(work),
					    struct sroce_wmem, wake);
	long bytes = atomic_long_read(&w->bytes);
	u32 number = bytes < w->limit / 2 ? U32_MAX :
		     bytes < w->limit ? SROCE_WMEM_WAKE : 0;

	while (number-- && wake_one(w))
		cond_resched();
	if (!list_empty_careful(&w->waiting))
		wake_in(w, msecs_to_jiffies(SROCE_WMEM_RETRY_MS));
	sroce_wmem_put(w);
}
