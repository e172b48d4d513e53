/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_REF_H
#define SROCE_REF_H

#include <linux/completion.h>
#include <linux/refcount.h>

/**
 * struct sroce_ref - users of an object that lookups may still find
 * @users: one for the object's existence, one for each user; 0 once it is
 *	drained
 * @idle: completed when @users becomes 0
 */
struct sroce_ref {
	refcount_t users;
	struct completion idle;
};

static inline void sroce_ref_init(struct sroce_ref *ref)
{
	refcount_set(&ref->users, 1);
	init_completion(&ref->idle);
}

/**
 * sroce_ref_get() - become a user
 * @ref: references to an object that RCU or a lock keeps allocated
 *
 * Reads of the object after this find everything stored before
 * sroce_ref_revive().
 *
 * Context: any.
 * Return: false if the object is drained.
 */
static inline bool sroce_ref_get(struct sroce_ref *ref)
{
	if (!refcount_inc_not_zero(&ref->users))
		return false;
	/* Pairs with the smp_wmb() in sroce_ref_revive(). */
	smp_acquire__after_ctrl_dep();
	return true;
}

/* Context: any. */
static inline void sroce_ref_put(struct sroce_ref *ref)
{
	if (refcount_dec_and_test(&ref->users))
		complete(&ref->idle);
}

/**
 * sroce_ref_drain() - wait for the last user
 * @ref: references to an object that exists
 *
 * New users are refused when there is no user left.  Those that overlap could delay
 * this for any time, so lookups should not find the object any more.
 *
 * Context: process, may sleep.
 */
static inline void sroce_ref_drain(struct sroce_ref *ref)
{
	sroce_ref_put(ref);
	wait_for_completion(&ref->idle);
}

/**
 * sroce_ref_try_drain() - drain if there is no user
 * @ref: references to an object that exists
 *
 * Context: any.
 * Return: false, without an effect, if there is a user.
 */
static inline bool sroce_ref_try_drain(struct sroce_ref *ref)
{
	if (!refcount_dec_if_one(&ref->users))
		return false;
	/* After all that its users have done. */
	smp_acquire__after_ctrl_dep();
	return true;
}

/**
 * sroce_ref_revive() - allow users again
 * @ref: drained
 *
 * A new user finds everything that was stored before.
 */
static inline void sroce_ref_revive(struct sroce_ref *ref)
{
	reinit_completion(&ref->idle);
	/* Store the object before @users; pairs with sroce_ref_get(). */
	smp_wmb();
	refcount_set(&ref->users, 1);
}

#endif /* SROCE_REF_H */
