// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Per-user workqueues for paging in, because a user can delay page-ins at will.
 */
#include <linux/hashtable.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/wait.h>
#include "../base/deferred.h"
#include "../core/params.h"
#include "odp_wq.h"
#include "wmem.h"

/**
 * struct user_wq - workqueues of a user
 * @queues: the workqueues
 * @node: in @user_wqs
 * @uid: the user
 * @users: number of address spaces
 * @close: frees the user_wq some time after its last address space
 */
struct user_wq {
	struct sroce_odp_wq queues;
	struct hlist_node node;
	kuid_t uid;
	u32 users;
	struct delayed_work close;
};

/* Protects each user_wq, @user_wqs and @leaving. */
static DEFINE_MUTEX(user_wqs_lock);
static DEFINE_HASHTABLE(user_wqs, 8);
static bool leaving;

static DECLARE_WAIT_QUEUE_HEAD(gone);
static u32 num_user_wqs;

void sroce_odp_wq_exit(void)
{
	struct user_wq *user_wq;
	u32 i;

	mutex_lock(&user_wqs_lock);
	leaving = true;
	hash_for_each(user_wqs, i, user_wq, node)
		sroce_defer_for(&user_wq->close, 0);
	mutex_unlock(&user_wqs_lock);
	wait_event(gone, !READ_ONCE(num_user_wqs));
}

static void free_user_wq(struct user_wq *user_wq)
{
	if (user_wq->queues.faults)
		destroy_workqueue(user_wq->queues.faults);
	if (user_wq->queues.advice)
		destroy_workqueue(user_wq->queues.advice);
	kfree(user_wq);
}

static bool is_unused(struct user_wq *user_wq)
{
	lockdep_assert_held(&user_wqs_lock);
	/* If it was used again meanwhile, a later run frees it. */
	return !user_wq->users && !delayed_work_pending(&user_wq->close);
}

static void close_user_wq(struct work_struct *work)
{
	struct user_wq *user_wq = container_of(to_delayed_work(work),
					       struct user_wq, close);
	bool idle;

	mutex_lock(&user_wqs_lock);
	idle = is_unused(user_wq);
	if (idle)
		hash_del(&user_wq->node);
	mutex_unlock(&user_wqs_lock);
	if (!idle)
		return;
	free_user_wq(user_wq);
	mutex_lock(&user_wqs_lock);
	WRITE_ONCE(num_user_wqs, num_user_wqs - 1);
	mutex_unlock(&user_wqs_lock);
	wake_up(&gone);
}

static struct user_wq *make_user_wq(kuid_t uid)
{
	struct user_wq *user_wq = kzalloc_obj(*user_wq, GFP_KERNEL_ACCOUNT);
	struct sroce_odp_wq *queues;

	lockdep_assert_held(&user_wqs_lock);
	if (!user_wq)
		return NULL;
	queues = &user_wq->queues;
	queues->faults = alloc_workqueue("sroce_fault/%u", WQ_UNBOUND,
					 SROCE_FAULT_THREADS, __kuid_val(uid));
	queues->advice = alloc_workqueue("sroce_advice/%u", WQ_UNBOUND,
					 SROCE_ADVICE_THREADS, __kuid_val(uid));
	if (!queues->faults || !queues->advice) {
		free_user_wq(user_wq);
		return NULL;
	}
	user_wq->uid = uid;
	INIT_DELAYED_WORK(&user_wq->close, close_user_wq);
	hash_add(user_wqs, &user_wq->node, __kuid_val(uid));
	WRITE_ONCE(num_user_wqs, num_user_wqs + 1);
	return user_wq;
}

static struct user_wq *find_user_wq(kuid_t uid)
{
	struct user_wq *user_wq;

	lockdep_assert_held(&user_wqs_lock);
	hash_for_each_possible(user_wqs, user_wq, node, __kuid_val(uid))
		if (uid_eq(user_wq->uid, uid))
			return user_wq;
	return NULL;
}

struct sroce_odp_wq *sroce_odp_wq_get(void)
{
	kuid_t uid = sroce_owner_uid();
	struct user_wq *user_wq;

	mutex_lock(&user_wqs_lock);
	user_wq = find_user_wq(uid) ?: make_user_wq(uid);
	if (user_wq)
		user_wq->users++;
	mutex_unlock(&user_wqs_lock);
	return user_wq ? &user_wq->queues : NULL;
}

void sroce_odp_wq_put(struct sroce_odp_wq *queues)
{
	struct user_wq *user_wq;

	if (!queues)
		return;
	user_wq = container_of(queues, struct user_wq, queues);
	mutex_lock(&user_wqs_lock);
	/* Not freed here: the caller may be a work item of this workqueue. */
	if (!--user_wq->users)
		sroce_defer_for(&user_wq->close,
				leaving ? 0 : (SROCE_ODP_WQ_LINGER_S * HZ));
	mutex_unlock(&user_wqs_lock);
}
