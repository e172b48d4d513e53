/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_FAST_H
#define SROCE_MR_FAST_H

#include "../core/inflight.h"
#include "mr.h"

/**
 * sroce_fast_register() - execute a REG_MR work request
 * @pd: protection domain of the QP
 * @wr: the request
 *
 * The caller holds no MR cache; see sroce_invalidate().
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_fast_register(struct ib_pd *pd, const struct sroce_wr *wr);

/**
 * sroce_invalidate() - invalidate a key
 * @pd: protection domain of the QP
 * @qpn: QP number
 * @key: key of a region that REG_MR has registered, or of a type 2 window that
 *	is bound to this QP
 * @remote: the peer requests it: the region must have remote rights
 *
 * Waits until users of the region have finished their burst.  The caller holds
 * no MR cache, so two callers cannot wait for each other.
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote);

/* ib_device_ops */
struct ib_mr *sroce_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_pages);
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n,
		    unsigned int *offset);
/* Deregisters a region of any kind. */
int sroce_dereg_any_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* SROCE_MR_FAST_H */
