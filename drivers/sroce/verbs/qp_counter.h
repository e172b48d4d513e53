/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_QP_COUNTER_H
#define SROCE_QP_COUNTER_H

#include <rdma/rdma_counter.h>
#include "../base/counters.h"

struct sroce_device;

/*
 * ib_device_ops: counters of chosen QPs ("rdma statistic qp").  What such a QP
 * counts is not in the port's own counters; the RDMA core adds it there.
 */
struct rdma_hw_stats *sroce_counter_alloc_stats(struct rdma_counter *counter);
int sroce_counter_update_stats(struct rdma_counter *counter);
void sroce_counter_init(struct rdma_counter *counter);
int sroce_counter_bind_qp(struct rdma_counter *counter,
			  struct ib_qp *SROCE_IBQP_AND_PORT);
int sroce_counter_unbind_qp(struct ib_qp *SROCE_IBQP_AND_PORT);
int sroce_counter_dealloc(struct rdma_counter *counter);

/**
 * sroce_qp_counter_total() - everything that a device has counted
 * @dev: the device
 * @total: of all its QPs, those that are counted by themselves as well
 */
void sroce_qp_counter_total(struct sroce_device *dev,
			    struct sroce_counters *total);

/* The same, or as it was up to 10 ms ago: for those who may ask at any rate. */
void sroce_qp_counter_recent(struct sroce_device *dev,
			     struct sroce_counters *total);

#endif /* SROCE_QP_COUNTER_H */
