// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work items that wait for memory of a user, which that user may keep them
 * waiting for: each user has some at a time, and keeps nobody else's from
 * running.
 */
#include <linux/cred.h>
#include <linux/hashtable.h>
#include <linux/slab.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "turns.h"

/* Of a user at a time; a queue runs WQ_MAX_ACTIVE, 512 or more. */
static const u32 most[] = {
	[SROCE_TURN_FAULT] = 64,
	[SROCE_TURN_ADVICE] = 4,
};

/**
 * struct sroce_turns - the work items of a user
 * @node: among all that there are
 * @uid: the user
 * @users: address spaces, and work items that have or wait for a turn
 * @running: how many of a kind are on their queue
 * @waiting: struct sroce_turn.list of the others
 */
struct sroce_turns {
	struct hlist_node node;
	kuid_t uid;
	u32 users;
	u32 running[SROCE_TURN_KINDS];
	struct list_head waiting[SROCE_TURN_KINDS];
};

/* Protects all there is; for a moment, and paging in takes long. */
static DEFINE_SPINLOCK(lock);
static DEFINE_HASHTABLE(all, 8);

/*
 * Who answers for the caller: in a user namespace who has made it, or the
 * outermost of them, for in it there are as many users as one likes.
 */
static kuid_t payer(void)
{
	const struct user_namespace *ns = current_user_ns();
	kuid_t uid = current_uid();

	for (; ns != &init_user_ns; ns = ns->parent)
		uid = ns->owner;
	return uid;
}

static struct sroce_turns *find(kuid_t uid)
{
	struct sroce_turns *turns;

	lockdep_assert_held(&lock);
	hash_for_each_possible(all, turns, node, __kuid_val(uid))
		if (uid_eq(turns->uid, uid))
			return turns;
	return NULL;
}

struct sroce_turns *sroce_turns_get(void)
{
	struct sroce_turns *new = kzalloc_obj(*new, GFP_KERNEL_ACCOUNT);
	struct sroce_turns *turns;
	u32 i;

	if (!new)
		return NULL;
	new->uid = payer();
	for (i = 0; i < SROCE_TURN_KINDS; i++)
		INIT_LIST_HEAD(&new->waiting[i]);
	spin_lock_bh(&lock);
	turns = find(new->uid);
	if (!turns) {
		turns = new;
		hash_add(all, &new->node, __kuid_val(new->uid));
	}
	turns->users++;
	spin_unlock_bh(&lock);
	if (turns != new)
		kfree(new);
	return turns;
}

static void put(struct sroce_turns *turns)
{
	lockdep_assert_held(&lock);
	if (--turns->users)
		return;
	hash_del(&turns->node);
	kfree(turns);
}

void sroce_turns_put(struct sroce_turns *turns)
{
	if (!turns)
		return;
	spin_lock_bh(&lock);
	put(turns);
	spin_unlock_bh(&lock);
}

void sroce_turn_init(struct sroce_turn *turn, struct workqueue_struct *queue,
		     enum sroce_turn_kind kind, work_func_t func)
{
	INIT_WORK(&turn->work, func);
	INIT_LIST_HEAD(&turn->list);
	turn->queue = queue;
	turn->kind = kind;
}

void sroce_turn_take(struct sroce_turn *turn, struct sroce_turns *turns)
{
	spin_lock_bh(&lock);
	turn->turns = turns;
	turns->users++;
	if (turns->running[turn->kind] < most[turn->kind]) {
		turns->running[turn->kind]++;
		queue_work(turn->queue, &turn->work);
	} else {
		list_add_tail(&turn->list, &turns->waiting[turn->kind]);
	}
	spin_unlock_bh(&lock);
}

bool sroce_turn_cancel(struct sroce_turn *turn)
{
	bool waiting;

	spin_lock_bh(&lock);
	waiting = !list_empty(&turn->list);
	if (waiting) {
		list_del_init(&turn->list);
		put(turn->turns);
	}
	spin_unlock_bh(&lock);
	return waiting;
}

/* Unloading relies on who waits being queued by who runs: it drains queues. */
void sroce_turn_over(struct sroce_turn *turn)
{
	struct sroce_turns *turns = turn->turns;
	struct sroce_turn *next;

	spin_lock_bh(&lock);
	next = list_first_entry_or_null(&turns->waiting[turn->kind],
					struct sroce_turn, list);
	if (next) {
		list_del_init(&next->list);
		queue_work(next->queue, &next->work);
	} else {
		turns->running[turn->kind]--;
	}
	put(turns);
	spin_unlock_bh(&lock);
}
