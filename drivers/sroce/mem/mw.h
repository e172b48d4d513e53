/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MW_H
#define SROCE_MW_H

#include "../core/inflight.h"
#include "mr.h"

struct sroce_mw_slot;

/**
 * struct sroce_mw - memory window
 * @ib: the RDMA core's part; first member
 * @slot: entry of its key in the table, with the current binding (mem/mw.c)
 */
struct sroce_mw {
	struct ib_mw ib;
	struct sroce_mw_slot *slot;
};

/**
 * sroce_mw_bind() - execute a bind request
 * @pd: protection domain of the QP
 * @qpn: QP number
 * @wr: the request
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_mw_bind(struct ib_pd *pd, u32 qpn, const struct sroce_wr *wr);

/**
 * sroce_mw_invalidate() - invalidate the key of a type 2 window
 * @pd: protection domain of the QP
 * @qpn: QP number
 * @key: key of a window that is bound to this QP
 *
 * Context: bottom halves off.  Return: 0 or enum sroce_status.
 */
u8 sroce_mw_invalidate(struct ib_pd *pd, u32 qpn, u32 key);

/* ib_device_ops */
int sroce_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata);
int sroce_dealloc_mw(struct ib_mw *ibmw);

#endif /* SROCE_MW_H */
