/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PMA_H
#define SROCE_PMA_H

#include <rdma/ib_verbs.h>

/*
 * ib_device_ops: performance management agent (IBTA 16.1), for class 4 MADs to
 * the GSI QP and the files in "counters" in sysfs.
 */
int sroce_process_mad(struct ib_device *ibdev, int flags, u32 port,
		      const struct ib_wc *wc, const struct ib_grh *grh,
		      const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index);

#endif /* SROCE_PMA_H */
