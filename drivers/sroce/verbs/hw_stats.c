// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* hw_counters of the port. */
#include "../base/sroce.h"
#include "hw_stats.h"

static const struct rdma_stat_desc names[] = {
#define SROCE_COUNTER(constant, text) { .name = #text },
#include "../base/counter_list.h"
#undef SROCE_COUNTER
};

static_assert(ARRAY_SIZE(names) == SROCE_COUNTERS);

void sroce_counters_sum(struct sroce_counters __percpu *counters, u64 *values)
{
	int cpu, i;

	memset(values, 0, SROCE_COUNTERS * sizeof(*values));
	for_each_possible_cpu(cpu)
		for (i = 0; i < SROCE_COUNTERS; i++)
			/* other CPUs may be counting */
			values[i] += READ_ONCE(per_cpu_ptr(counters, cpu)->value[i]);
}

struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port)
{
	return rdma_alloc_hw_stats_struct(names, SROCE_COUNTERS,
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index)
{
	/* Port 0 means the device, which has no counters. */
	if (port != SROCE_PORT)
		return -EINVAL;
	sroce_counters_sum(sroce_device(ibdev)->counters, stats->value);
	return SROCE_COUNTERS;
}
