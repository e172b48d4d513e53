/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WMEM_H
#define SROCE_WMEM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

/* A burst is charged in units of this many bytes. */
#define SROCE_WMEM_UNIT		4096

/**
 * struct sroce_wmem_waiter - waiter for room
 * @list: entry in &sroce_wmem.waiting; protected by the lock in mem/wmem.c
 * @wake: called under that lock when there may be room; any context
 */
struct sroce_wmem_waiter {
	struct list_head list;
	void (*wake)(struct sroce_wmem_waiter *waiter);
};

/* Resources of a device that all users share; each user has a limit. */
enum sroce_shared {
	SROCE_SHARED_AHS,
	SROCE_SHARED_DM_PAGES,
	SROCE_SHARED_MEMBERS,
	SROCE_SHARED_JOINS,
	SROCE_SHARED_COMP_CNTRS,
	SROCE_SHARED_LIMITS,
};

/**
 * struct sroce_wmem - bytes of packets in this host's queues
 * @ref: one for each context, QP or other object that is charged to it, and for @wake while
 *	it is queued.  User's object: one for each context's object, and for each QP without a
 *	context
 * @bytes: bytes charged
 * @limit: QPs wait from here on
 * @user: the user's object; NULL if this is one
 * @waiting: list of struct sroce_wmem_waiter in order of arrival
 * @wake: wakes the waiters
 * @node: user's object: entry in the table, by @uid
 * @used: user's object: units used of each shared resource, on all devices
 * @looped: user's object, per CPU: bursts in the queue of net/loopback.c;
 *	protected by that queue's lock
 * @privileged: context's object: no limit below that of the device
 * @uid: user
 */
struct sroce_wmem {
	refcount_t ref;
	atomic_long_t bytes;
	long limit;
	struct sroce_wmem *user;
	struct list_head waiting;
	struct delayed_work wake;
	struct hlist_node node;
	kuid_t uid;
	atomic_long_t used[SROCE_SHARED_LIMITS];
	u32 __percpu *looped;
	bool privileged;
};

/* Context: loading the module.  Return: 0 or ENOMEM. */
int sroce_wmem_init(void);
/* After sroce_qp_drain(). */
void sroce_wmem_exit(void);

/* User to which resources of the calling process are accounted. */
kuid_t sroce_owner_uid(void);

/*
 * Get the calling user's object.  Context: process.  Return: a reference, or
 * NULL.
 */
struct sroce_wmem *sroce_wmem_user(void);
/*
 * Allocate an object for a new context of the calling user.  Same context and
 * return value.
 */
struct sroce_wmem *sroce_wmem_context(void);

static inline struct sroce_wmem *sroce_wmem_get(struct sroce_wmem *w)
{
	refcount_inc(&w->ref);
	return w;
}

/* Drop a reference; @w may be NULL.  Context: any. */
void sroce_wmem_put(struct sroce_wmem *w);

/* True if more may be sent.  Kernel users (@w is NULL) have no limit. */
static inline bool sroce_wmem_room(const struct sroce_wmem *w)
{
	for (; w; w = w->user)
		if (unlikely(atomic_long_read(&w->bytes) >= w->limit))
			return false;
	return true;
}

/* True if UD packets, which do not wait forever, are dropped as well. */
static inline bool sroce_wmem_exhausted(const struct sroce_wmem *w)
{
	for (; w; w = w->user)
		if (unlikely(atomic_long_read(&w->bytes) >= 2 * w->limit))
			return true;
	return false;
}

static inline void sroce_wmem_charge(struct sroce_wmem *w, u32 units)
{
	for (; w; w = w->user)
		atomic_long_add(units * SROCE_WMEM_UNIT, &w->bytes);
}

/* Context: any, also an skb destructor. */
void sroce_wmem_uncharge(struct sroce_wmem *w, u32 units);

static inline void sroce_wmem_waiter_init(struct sroce_wmem_waiter *waiter,
					  void (*wake)(struct sroce_wmem_waiter *))
{
	INIT_LIST_HEAD(&waiter->list);
	waiter->wake = wake;
}

/* The user's object of a context's object; NULL for the kernel. */
static inline struct sroce_wmem *sroce_wmem_owner(struct sroce_wmem *w)
{
	return w && w->user ? w->user : w;
}

/* Share of @limit that a user may have: half, so that some is left for others. */
static inline long sroce_wmem_share(const struct sroce_wmem *w, long limit)
{
	return !w || w->privileged ? limit : limit / 2;
}

/**
 * sroce_wmem_take() - take units of a shared resource
 * @w: object of the process's context; NULL: do not count
 * @what: the resource
 * @n: number of units
 * @limit: number of units that a device has
 *
 * Context: any.  Return: false if it is more than the user's share.
 */
bool sroce_wmem_take(struct sroce_wmem *w, enum sroce_shared what, long n,
		     long limit);
/* Undo sroce_wmem_take(). */
void sroce_wmem_give_back(struct sroce_wmem *w, enum sroce_shared what, long n);

/**
 * sroce_wmem_wait() - wait for room
 * @w: object that packets are charged to, or NULL
 * @waiter: waiter, which may be waiting already
 *
 * Context: any.  Return: false if there is room already.
 */
bool sroce_wmem_wait(struct sroce_wmem *w, struct sroce_wmem_waiter *waiter);

/*
 * Stop waiting.  When this returns, the waiter's wake function is not running.
 * Context: any.
 */
void sroce_wmem_forget(struct sroce_wmem_waiter *waiter);

#endif /* SROCE_WMEM_H */
