/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_COUNTER_H
#define SROCE_QP_COUNTER_H

#include <rdma/rdma_counter.h>
#include "../base/counters.h"

struct sroce_device;

/*
 * ib_device_ops: counters of selected QPs ("rdma statistic qp").  Such a QP
 * does not count in the port's own counters; the RDMA core adds them.
 */
struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter);
int sroce_counter_update_stats(struct rdma_counter *counter);
void sroce_counter_init(struct rdma_counter *counter);
int sroce_counter_bind_qp(struct rdma_counter *counter,
			  struct ib_qp *SROCE_IBQP_AND_PORT);
int sroce_counter_unbind_qp(struct ib_qp *SROCE_IBQP_AND_PORT);
int sroce_counter_dealloc(struct rdma_counter *counter);

/**
 * sroce_qp_counter_recent() - sum of all counters of a device, at most 10 ms ago
 * @dev: the device
 * @total: out: sum over all QPs, with and without a counter of their own
 *
 * Any process may ask as often as it likes, and adding up takes long on large machines.
 */
void sroce_qp_counter_recent(struct sroce_device *dev,
			     struct sroce_counters *total);

#endif /* SROCE_QP_COUNTER_H */
