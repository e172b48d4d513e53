/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Access to the completion ring, for ibv_poll_cq() and ibv_start_poll(). */
#ifndef LIBSROCE_CQE_H
#define LIBSROCE_CQE_H

#include <sched.h>

#include "sroce.h"

/* Empty polls before sched_yield(). */
#define SROCE_EMPTY_POLLS 256

/* Flags of enum sroce_cqe_flags that verbs defines, with equal values. */
#define SROCE_CQE_WC_FLAGS (SROCE_CQE_GRH | SROCE_CQE_WITH_IMM | \
			    SROCE_CQE_WITH_INV)

SROCE_SAME(SROCE_CQE_GRH, IBV_WC_GRH);
SROCE_SAME(SROCE_CQE_WITH_IMM, IBV_WC_WITH_IMM);
SROCE_SAME(SROCE_CQE_WITH_INV, IBV_WC_WITH_INV);

static inline const struct sroce_cqe *cqe_at(const struct sroce_cq *cq,
					     uint32_t index)
{
	return &cq->ring[index & (cq->entries - 1)];
}

/* Take the completion at @cq->head; NULL if there is none. */
static inline const struct sroce_cqe *cq_take(struct sroce_cq *cq)
{
	const struct sroce_cqe *cqe = cqe_at(cq, cq->head);

	if (!sroce_cqe_ready(cqe, cq->head, cq->entries))
		return NULL;
	sroce_store(&cq->head, cq->head + 1);
	__builtin_prefetch(cqe_at(cq, cq->head));
	return cqe;
}

/* Let the kernel reuse the entries that were taken.  (J) */
static inline void cq_release(struct sroce_cq *cq)
{
	sroce_store_release(&cq->slot->head, cq->head);
}

/*
 * A poll has found nothing; the lock is not held.  Completions may be delivered by
 * a thread (ksoftirqd) of the same processor.  A program that polls would keep this
 * thread waiting for a whole time slice.
 */
static inline void cq_was_empty(struct sroce_cq *cq)
{
	uint32_t polls = sroce_load(&cq->empty_polls) + 1;

	sroce_store(&cq->empty_polls, polls);
	if (polls % SROCE_EMPTY_POLLS == 0)
		sched_yield();
}

#endif /* LIBSROCE_CQE_H */
