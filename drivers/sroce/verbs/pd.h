/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PD_H
#define SROCE_PD_H

#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

/**
 * struct sroce_pd - protection domain; the RDMA core has all its state
 * @ib: the RDMA core's part
 */
struct sroce_pd {
	struct ib_pd ib;
};

/* PD query method, for ib_device.driver_def */
extern const struct uapi_definition sroce_pd_defs[];

/* ib_device_ops */
int sroce_alloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);
int sroce_dealloc_pd(struct ib_pd *ibpd, struct ib_udata *udata);

#endif /* SROCE_PD_H */
