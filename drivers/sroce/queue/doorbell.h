/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DOORBELL_H
#define SROCE_DOORBELL_H

#include <sroce_ring.h>
#include "../base/ucontext.h"

struct sroce_qp;

/**
 * struct sroce_doorbell - a doorbell slot
 * @mem: 128 bytes, zeroed: struct sroce_qp_slot or struct sroce_cq_slot
 * @number: slot number, unique in the context
 * @page_offset: mmap offset of its page
 */
struct sroce_doorbell {
	void *mem;
	u32 number;
	u64 page_offset;
};

/**
 * sroce_doorbell_alloc() - take a free doorbell slot of a context
 * @ctx: context of the process
 * @slot: result
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_doorbell_alloc(struct sroce_ucontext *ctx, struct sroce_doorbell *slot);

/* Free a slot.  The kernel must not access it any more.  May sleep. */
void sroce_doorbell_free(struct sroce_ucontext *ctx, struct sroce_doorbell *slot);

/*
 * Set the QP that kicks of @slot find; NULL for none.  May sleep.  Return: 0 or
 * an errno.
 */
int sroce_doorbell_set_qp(struct sroce_ucontext *ctx, struct sroce_doorbell *slot,
			  struct sroce_qp *qp);

/* Prepare a new context for sroce_doorbell_alloc(). */
void sroce_doorbells_init(struct sroce_ucontext *ctx);
/* Free the pages.  No slot may be in use. */
void sroce_doorbells_exit(struct sroce_ucontext *ctx);

#endif /* SROCE_DOORBELL_H */
