/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COUNTERS_H
#define SROCE_COUNTERS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

/*
 * hw_counters of the port; verbs/hw_stats.c has their names in this order.
 * Counters that mlx5 has, too, use its names, because dashboards know them.
 */
enum sroce_counter {
	SROCE_TX_PACKETS,
	SROCE_TX_BYTES,
	SROCE_TX_BURSTS,
	SROCE_RX_PACKETS,
	SROCE_RX_BYTES,
	SROCE_RX_BURSTS,
	SROCE_TX_ACKS,
	SROCE_RX_ACKS,
	SROCE_RX_WRITE_REQUESTS,	/* messages */
	SROCE_RX_READ_REQUESTS,
	SROCE_RX_ATOMIC_REQUESTS,
	SROCE_TX_NAK_SEQUENCE,		/* gaps seen by the responder */
	SROCE_TX_NAK_RNR,
	SROCE_TX_NAK_INVALID,
	SROCE_TX_NAK_OPERATION,
	SROCE_RESP_REMOTE_ACCESS_ERRORS,
	SROCE_RESP_LOCAL_LENGTH_ERROR,
	SROCE_DUPLICATE_REQUEST,
	SROCE_OUT_OF_SEQUENCE,		/* packets, all of them */
	SROCE_OUT_OF_BUFFER,		/* no receive WQE */
	SROCE_PACKET_SEQ_ERR,		/* NAKs that caused a retransmission */
	SROCE_IMPLIED_NAK_SEQ_ERR,	/* likewise for gaps in responses */
	SROCE_RNR_NAK_RETRY_ERR,
	SROCE_LOCAL_ACK_TIMEOUT_ERR,
	SROCE_REQ_TRANSPORT_RETRIES_EXCEEDED,
	SROCE_REQ_RNR_RETRIES_EXCEEDED,
	SROCE_REQ_REMOTE_INVALID_REQUEST,
	SROCE_REQ_REMOTE_ACCESS_ERRORS,
	SROCE_REQ_REMOTE_OPERATION_ERRORS,
	SROCE_REQ_CQE_ERROR,		/* completions with an error */
	SROCE_REQ_CQE_FLUSH_ERROR,	/* the flushed ones among them */
	SROCE_RESP_CQE_ERROR,
	SROCE_RESP_CQE_FLUSH_ERROR,
	SROCE_TX_RETRANSMITS,		/* retransmissions of a requester */
	SROCE_TX_PROBES,		/* probes for a lost tail */
	SROCE_TX_LOCAL_DROPS,		/* dropped by this host's transmit queue */
	SROCE_RX_ICRC_ENCAPSULATED,
	SROCE_RX_MALFORMED,
	SROCE_RX_BAD_QPN,
	SROCE_RX_BAD_ADDRESS,
	SROCE_RX_BAD_PKEY,
	SROCE_RX_BAD_QKEY,
	SROCE_RX_BAD_TRANSPORT,
	SROCE_RX_BAD_STATE,
	SROCE_RX_PAGED_OUT,		/* deferred or dropped to page in memory */
	SROCE_RX_IGNORED,		/* responses and requests without effect */
	SROCE_CQ_OVERFLOWS,
	SROCE_BAD_WQES,
	SROCE_KICKS,
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
 * Context: bottom halves off if @owner is a QP, because its counters may be
 * replaced.
 */
#define sroce_count(owner, counter) sroce_count_add(owner, counter, 1)
#define sroce_count_add(owner, counter, n) \
	this_cpu_add(READ_ONCE((owner)->counters)->value[counter], n)

#endif /* SROCE_COUNTERS_H */
