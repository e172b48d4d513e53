/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_FAST_H
#define SROCE_MR_FAST_H

#include "../core/inflight.h"
#include "mr.h"

/**
 * sroce_fast_register() - execute a request that registers a region (REG_MR)
 * @pd: protection domain of the QP
 * @wr: the request
 *
 * The caller holds no cache; see sroce_invalidate().
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_fast_register(struct ib_pd *pd, const struct sroce_wr *wr);

/**
 * sroce_invalidate() - a key is to lead nowhere, at once
 * @pd: protection domain of the QP that asks for it, or is asked to
 * @qpn: its number
 * @key: of a region that was registered by a request, or of a window of type
 *	2 that is bound to this QP
 * @remote: the peer asks: the region must have remote rights
 *
 * Waits for those who are using the region, for a burst; so that they cannot
 * wait for each other, the caller holds no cache.
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_invalidate(struct ib_pd *pd, u32 qpn, u32 key, bool remote);

/* ib_device_ops */
struct ib_mr *sroce_alloc_mr(struct ib_pd *pd, enum ib_mr_type type,
			     u32 max_pages);
int sroce_map_mr_sg(struct ib_mr *ibmr, struct scatterlist *sg, int n,
		    unsigned int *offset);
/* Of any kind. */
int sroce_dereg_any_mr(struct ib_mr *ibmr, struct ib_udata *udata);

#endif /* SROCE_MR_FAST_H */
