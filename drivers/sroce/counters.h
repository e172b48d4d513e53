/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COUNTERS_H
#define SROCE_COUNTERS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

/* hw_counters of the port; counters.c has their names, in this order. */
enum sroce_counter {
	SROCE_TX_PACKETS,
	SROCE_TX_BYTES,
	SROCE_TX_BURSTS,
	SROCE_RX_PACKETS,
	SROCE_RX_BYTES,
	SROCE_RX_BURSTS,
	SROCE_TX_ACKS,
	SROCE_RX_ACKS,
	SROCE_TX_NAK_SEQUENCE,		/* gaps seen by our responder */
	SROCE_TX_NAK_RNR,
	SROCE_TX_NAK_INVALID,
	SROCE_TX_NAK_ACCESS,
	SROCE_TX_NAK_OPERATION,
	SROCE_RX_NAK_SEQUENCE,
	SROCE_RX_NAK_RNR,
	SROCE_RX_NAK_INVALID,
	SROCE_RX_NAK_ACCESS,
	SROCE_RX_NAK_OPERATION,
	SROCE_RX_DUPLICATES,
	SROCE_RX_OUT_OF_SEQUENCE,
	SROCE_TX_RETRANSMITS,		/* rewinds of a requester */
	SROCE_TX_TIMEOUTS,
	SROCE_TX_LOCAL_DROPS,		/* refused by our own transmit queue */
	SROCE_RX_ICRC_ERRORS,
	SROCE_RX_MALFORMED,
	SROCE_RX_BAD_QPN,
	SROCE_RX_BAD_ADDRESS,
	SROCE_RX_BAD_PKEY,
	SROCE_RX_BAD_QKEY,
	SROCE_RX_BAD_TRANSPORT,
	SROCE_RX_BAD_STATE,
	SROCE_RX_NO_RECEIVE,		/* UC and UD: no receive request, or too small */
	SROCE_RX_PAGED_OUT,		/* put off or dropped, to page in memory */
	SROCE_RX_IGNORED,		/* answers and requests that mean nothing */
	SROCE_CQ_OVERFLOWS,
	SROCE_BAD_WQES,
	SROCE_KICKS,
	SROCE_COUNTERS,
};

struct sroce_counters {
	u64 value[SROCE_COUNTERS];
};

/**
 * sroce_count() - count an event
 * @owner: the QP that it is about, or the device
 * @counter: enum sroce_counter
 *
 * Context: of a QP: bottom halves off, since its counters may change.
 */
#define sroce_count(owner, counter) sroce_count_add(owner, counter, 1)
#define sroce_count_add(owner, counter, n) \
	this_cpu_add(READ_ONCE((owner)->counters)->value[counter], n)

/* Add up those of all processors. */
void sroce_counters_sum(struct sroce_counters __percpu *counters, u64 *values);

struct rdma_hw_stats *sroce_alloc_hw_port_stats(struct ib_device *ibdev,
						u32 port);
int sroce_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats,
		       u32 port, int index);

#endif /* SROCE_COUNTERS_H */
