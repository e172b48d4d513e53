/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COUNTERS_H
#define SROCE_COUNTERS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

/* The list is in counter_list.h. */
enum sroce_counter {
#define SROCE_COUNTER(constant, name) SROCE_##constant,
#include "counter_list.h"
#undef SROCE_COUNTER
	SROCE_COUNTERS,
};

/**
 * struct sroce_counters - counters of one CPU, or their sum
 * @value: indexed by enum sroce_counter
 */
struct sroce_counters {
	u64 value[SROCE_COUNTERS];
};

/**
 * sroce_count() - count an event
 * @owner: the QP that the event belongs to, or the device
 * @counter: enum sroce_counter
 *
 * Context: RCU read side or bottom halves off if @owner is a QP, because its
 * counters may be replaced.
 */
#define sroce_count(owner, counter) sroce_count_add(owner, counter, 1)
#define sroce_count_add(owner, counter, n) \
	this_cpu_add(READ_ONCE((owner)->counters)->value[counter], n)

#endif /* SROCE_COUNTERS_H */
