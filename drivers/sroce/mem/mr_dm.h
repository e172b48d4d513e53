/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MR_DM_H
#define SROCE_MR_DM_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/*
 * Maximum size of one object, and of all objects of a device together, bytes.
 */
u64 sroce_dm_limit(void);

/* Method that queries device memory, for ib_device.driver_def. */
extern const struct uapi_definition sroce_dm_defs[];

/* ib_device_ops */
struct ib_dm *sroce_alloc_dm(struct ib_device *ibdev,
			     struct ib_ucontext *ucontext,
			     struct ib_dm_alloc_attr *attr,
			     struct uverbs_attr_bundle *attrs);
int sroce_dealloc_dm(struct ib_dm *ibdm, struct uverbs_attr_bundle *attrs);
struct ib_mr *sroce_reg_dm_mr(struct ib_pd *pd, struct ib_dm *ibdm,
			      struct ib_dm_mr_attr *attr,
			      struct uverbs_attr_bundle *attrs);

#endif /* SROCE_MR_DM_H */
