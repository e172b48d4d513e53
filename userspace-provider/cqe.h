/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The completion ring, for both ways of polling.
 */
#ifndef LIBSROCE_CQE_H
#define LIBSROCE_CQE_H

#include "sroce.h"

/* What programs know of enum sroce_cqe_flags, whose numbers are verbs' own. */
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

/* The completion at @cq->head, which moves on, or NULL if none is there. */
static inline const struct sroce_cqe *cq_take(struct sroce_cq *cq)
{
	const struct sroce_cqe *cqe = cqe_at(cq, cq->head);

	if (!sroce_cqe_ready(cqe, cq->head, cq->entries))
		return NULL;
	sroce_store(&cq->head, cq->head + 1);
	__builtin_prefetch(cqe_at(cq, cq->head));
	return cqe;
}

/* Lets the kernel write over what was taken. (J) */
static inline void cq_release(struct sroce_cq *cq)
{
	sroce_store_release(&cq->slot->head, cq->head);
}

#endif /* LIBSROCE_CQE_H */
