/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UCONTEXT_H
#define SROCE_UCONTEXT_H

#include "../queue/doorbell.h"

/* Driver methods, for ib_device.driver_def */
extern const struct uapi_definition sroce_uapi_defs[];

/* ib_device_ops */
int sroce_alloc_ucontext(struct ib_ucontext *ibctx, struct ib_udata *udata);
int sroce_query_ucontext(struct ib_ucontext *ibctx,
			 struct uverbs_attr_bundle *attrs);
void sroce_dealloc_ucontext(struct ib_ucontext *ibctx);
void sroce_disassociate_ucontext(struct ib_ucontext *ibctx);

/*
 * Destroys an AH.  Datagrams of a process that wait in a doorbell batch are sent
 * before; those of kernel users never wait there.
 */
int sroce_destroy_ah_after_batch(struct ib_ah *ibah, u32 flags);

#endif /* SROCE_UCONTEXT_H */
