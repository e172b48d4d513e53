/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_HW_STATS_H
#define SROCE_HW_STATS_H

#include "../base/counters.h"

/* Sum the counters of all CPUs. */
void sroce_counters_sum(struct sroce_counters __percpu *counters, u64 *values);

/* ib_device_ops */
struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port);
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);

#endif /* SROCE_HW_STATS_H */
