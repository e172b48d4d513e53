/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WMEM_H
#define SROCE_WMEM_H

#include <linux/atomic.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/uidgid.h>
#include <linux/workqueue.h>

/*
 * Bytes of packets that a context, and all contexts of a user, may have in this
 * host's queues before their QPs wait.  A local queue that is longer than this
 * makes nothing faster: it is 2.7 ms of 100 Gb/s.
 */
#define SROCE_WMEM_CONTEXT	(32l << 20)
#define SROCE_WMEM_USER		(4 * SROCE_WMEM_CONTEXT)
/* A burst is charged in units of this many bytes. */
#define SROCE_WMEM_UNIT		4096

/**
 * struct sroce_wmem_waiter - somebody waits for room
 * @list: in &sroce_wmem.waiting; mem/wmem.c's lock
 * @wake: called under that lock when there may be room; any context
 */
struct sroce_wmem_waiter {
	struct list_head list;
	void (*wake)(struct sroce_wmem_waiter *waiter);
};

/**
 * struct sroce_wmem - memory of packets in this host's queues
 * @ref: one per context and QP; of a user's, one per context's
 * @bytes: charged
 * @limit: when QPs wait
 * @user: of a context's: its user's; NULL of a user's
 * @waiting: struct sroce_wmem_waiter, the first one to wait first
 * @wake: lets them go on
 * @node: of a user's, by @uid
 * @uid: whose
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
};

/* Context: loading the module.  Return: 0 or ENOMEM. */
int sroce_wmem_init(void);
/* After sroce_tx_drain(). */
void sroce_wmem_exit(void);

/* The calling user's.  Context: process.  Return: a reference, or NULL. */
struct sroce_wmem *sroce_wmem_user(void);
/* A new context's, of the calling user.  Context and return: as above. */
struct sroce_wmem *sroce_wmem_context(void);

static inline struct sroce_wmem *sroce_wmem_get(struct sroce_wmem *w)
{
	refcount_inc(&w->ref);
	return w;
}

/* @w: or NULL.  Context: any. */
void sroce_wmem_put(struct sroce_wmem *w);

/* May more be sent?  Kernel users (@w is NULL) have no limit. */
static inline bool sroce_wmem_room(const struct sroce_wmem *w)
{
	for (; w; w = w->user)
		if (unlikely(atomic_long_read(&w->bytes) >= w->limit))
			return false;
	return true;
}

/* Even datagrams, which do not wait for ever, are not sent any more. */
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

/* Context: any, a packet's destructor. */
void sroce_wmem_uncharge(struct sroce_wmem *w, u32 units);

static inline void sroce_wmem_waiter_init(struct sroce_wmem_waiter *waiter,
					  void (*wake)(struct sroce_wmem_waiter *))
{
	INIT_LIST_HEAD(&waiter->list);
	waiter->wake = wake;
}

/**
 * sroce_wmem_wait() - be woken when there is room again
 * @w: what packets are charged to, or NULL
 * @waiter: may wait already
 *
 * Context: any.  Return: false if there is room already.
 */
bool sroce_wmem_wait(struct sroce_wmem *w, struct sroce_wmem_waiter *waiter);

/* @waiter waits no longer, and is not being woken.  Context: any. */
void sroce_wmem_forget(struct sroce_wmem_waiter *waiter);

#endif /* SROCE_WMEM_H */
