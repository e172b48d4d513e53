/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Operations on the shared words of include/uapi/rdma/sroce-abi.h, for the
 * module and the provider, with the proof of their memory ordering.
 *
 * Send and receive ring: user produces, kernel consumes
 *
 *	user				kernel
 *	write entries			load tail	(B) acquire
 *	store tail	(A) release	copy entries
 *					...
 *	load head	(D) acquire	store head	(C) release
 *	reuse entries
 *
 *	(A) pairs with (B): a kernel that sees the tail sees the entries below
 *	it.  (C) pairs with (D): the kernel has copied an entry before user
 *	space sees that it is free.  Otherwise the copy of the old entry could
 *	contain parts of the new one.
 *
 * Kick: may the producer skip the system call?
 *
 *	user				kernel, going idle
 *	store tail			store kick = 1
 *	full barrier	(E)		full barrier	(F)
 *	load kick			load tail
 *
 *	This is the store buffering pattern.  With (E) and (F) at least one
 *	side sees the other's store: either the user finds kick set and makes
 *	the call, or the kernel finds the new tail and continues.  Without one
 *	of the barriers both loads may return the old value, and the entry is
 *	not processed until the next post.  SROCE_KICK_LATER needs no such
 *	proof, because a timer reads the tail in any case.  The order of
 *	kick_at and kick does not matter: an old value costs an unnecessary
 *	call, or a wait for the timer.
 *
 * Completion ring: kernel produces, user consumes
 *
 *	kernel				user
 *	load head	(I) acquire	load phase	(H) acquire
 *	write entry			copy entry
 *	store phase	(G) release	store head	(J) release
 *
 *	(G) pairs with (H): a user who sees the phase sees the entry and the
 *	received data.  (J) pairs with (I): the kernel reuses an entry only
 *	after it has been read.
 *
 * Arm: no completion may be missed between polling and sleeping
 *
 *	user				kernel
 *	store arm			store phase
 *	full barrier	(K)		full barrier	(L)
 *	poll again			load arm
 *
 *	Store buffering again: either the second poll finds the entry, or the
 *	kernel finds the new arm word and raises the event.
 */
#ifndef SROCE_RING_H
#define SROCE_RING_H

#include <rdma/sroce-abi.h>

#ifdef __KERNEL__
#include <linux/atomic.h>
#include <asm/barrier.h>
#define sroce_load_acquire(p)		smp_load_acquire(p)	/* pairs above */
#define sroce_store_release(p, v)	smp_store_release(p, v)	/* pairs above */
#define sroce_load(p)			READ_ONCE(*(p))
#define sroce_store(p, v)		WRITE_ONCE(*(p), v)
#define sroce_full_barrier()		smp_mb()		/* pairs above */
#define sroce_replace(p, old, v)	(cmpxchg_relaxed(p, old, v) == (old))
#else
#define sroce_load_acquire(p)		__atomic_load_n(p, __ATOMIC_ACQUIRE)
#define sroce_store_release(p, v)	__atomic_store_n(p, v, __ATOMIC_RELEASE)
#define sroce_load(p)			__atomic_load_n(p, __ATOMIC_RELAXED)
#define sroce_store(p, v)		__atomic_store_n(p, v, __ATOMIC_RELAXED)
#define sroce_full_barrier()		__atomic_thread_fence(__ATOMIC_SEQ_CST)
#define sroce_replace(p, old, v)					\
	__sync_bool_compare_and_swap(p, old, v)
#endif

/* Phase bit of a completion on the pass of @index. */
static inline __u32 sroce_cqe_phase(__u32 index, __u32 entries)
{
	return !(index & entries);
}

/*
 * User: publish send entries up to @tail.  Returns true if a kick is needed.
 * (A) (E)
 */
static inline int sroce_ring_send(struct sroce_qp_slot *slot, __u32 tail)
{
	__u32 kick;

	sroce_store_release(&slot->sq_tail, tail);
	sroce_full_barrier();
	kick = sroce_load(&slot->kick);
	if (kick & SROCE_KICK_LATER)
		return (__s32)(tail - sroce_load(&slot->kick_at)) >= 0;
	return kick & SROCE_KICK_SEND;
}

/*
 * User: publish receive entries up to @tail.  Returns true if a kick is needed:
 * only for a QP in error, to flush them; otherwise the kernel reads the tail
 * when a packet arrives.  (A) (E)
 */
static inline int sroce_ring_recv(struct sroce_qp_slot *slot, __u32 tail)
{
	sroce_store_release(&slot->rq_tail, tail);
	sroce_full_barrier();
	return sroce_load(&slot->kick) & SROCE_KICK_RECV;
}

/*
 * Kernel: announce that it goes idle.  Returns the present tail; if it has
 * moved, there is more to do.  (F) (B)
 */
static inline __u32 sroce_ring_idle(struct sroce_qp_slot *slot)
{
	sroce_store(&slot->kick, SROCE_KICK_SEND);
	sroce_full_barrier();
	return sroce_load_acquire(&slot->sq_tail);
}

/*
 * Kernel: the QP is in error; every new entry needs a kick, to be flushed.  (F)
 */
static inline void sroce_ring_error(struct sroce_qp_slot *slot)
{
	sroce_store(&slot->kick, SROCE_KICK_SEND | SROCE_KICK_RECV);
	sroce_full_barrier();
}

/* Kernel: the tail will be read again, so no kick is needed. */
static inline void sroce_ring_busy(struct sroce_qp_slot *slot)
{
	sroce_store(&slot->kick, 0);
}

/* Kernel: a timer will read the tail; kick when it reaches @tail. */
static inline void sroce_ring_later(struct sroce_qp_slot *slot, __u32 tail)
{
	sroce_store(&slot->kick_at, tail);
	sroce_store(&slot->kick, SROCE_KICK_LATER);
}

/* User: true if the completion at @index has been written.  (H) */
static inline int sroce_cqe_ready(const struct sroce_cqe *cqe, __u32 index,
				  __u32 entries)
{
	return (sroce_load_acquire(&cqe->phase) & 1) ==
	       sroce_cqe_phase(index, entries);
}

/* True if an event for any completion is requested and has not been raised. */
static inline int sroce_cq_armed_for_any(const struct sroce_cq_slot *slot,
					 __u32 arm)
{
	return arm != sroce_load(&slot->served_arm) && !(arm & SROCE_ARM_SOLICITED);
}

/*
 * User: request one event; the caller polls once more afterwards.  (K) The
 * count tells concurrent requests apart, so none undoes another.  A request for
 * any completion is not weakened to a solicited one (IBTA vol.  1, C11-31).  An
 * event that is being raised at this moment serves both.
 */
static inline void sroce_cq_arm(struct sroce_cq_slot *slot, int solicited)
{
	__u32 old, arm;

	do {
		old = sroce_load(&slot->arm);
		if (solicited && sroce_cq_armed_for_any(slot, old))
			break;
		arm = (old | SROCE_ARM_SOLICITED) + 1;
		if (solicited)
			arm |= SROCE_ARM_SOLICITED;
	} while (!sroce_replace(&slot->arm, old, arm));
	sroce_full_barrier();
}

#endif /* SROCE_RING_H */
