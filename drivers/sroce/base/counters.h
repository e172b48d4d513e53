/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COUNTERS_H
#define SROCE_COUNTERS_H

#include <linux/percpu.h>
#include <rdma/ib_verbs.h>

/*
 * hw_counters of the port, in this order: each row is a constant and its name.
 * Counters that mlx5 has, too, use its names, because dashboards know them.
 */
#define SROCE_FOR_EACH_COUNTER(X)					\
	X(TX_PACKETS, tx_packets)					\
	X(TX_BYTES, tx_bytes)						\
	X(TX_BURSTS, tx_bursts)						\
	X(RX_PACKETS, rx_packets)					\
	X(RX_BYTES, rx_bytes)						\
	X(RX_BURSTS, rx_bursts)						\
	X(TX_ACKS, tx_acks)						\
	X(RX_ACKS, rx_acks)						\
	X(RX_WRITE_REQUESTS, rx_write_requests)	/* messages */		\
	X(RX_READ_REQUESTS, rx_read_requests)				\
	X(RX_ATOMIC_REQUESTS, rx_atomic_requests)			\
	X(TX_NAK_SEQUENCE, tx_nak_sequence)	/* gaps seen by the responder */	\
	X(TX_NAK_RNR, tx_nak_rnr)					\
	X(TX_NAK_INVALID, tx_nak_invalid)				\
	X(TX_NAK_OPERATION, tx_nak_operation)				\
	X(RESP_REMOTE_ACCESS_ERRORS, resp_remote_access_errors)		\
	X(RESP_LOCAL_LENGTH_ERROR, resp_local_length_error)		\
	X(DUPLICATE_REQUEST, duplicate_request)				\
	X(OUT_OF_SEQUENCE, out_of_sequence)	/* packets, all of them */	\
	X(OUT_OF_BUFFER, out_of_buffer)	/* no receive WQE */		\
	X(PACKET_SEQ_ERR, packet_seq_err)	/* NAKs that caused a retransmission */	\
	X(IMPLIED_NAK_SEQ_ERR, implied_nak_seq_err)	/* likewise for gaps in responses */	\
	X(RNR_NAK_RETRY_ERR, rnr_nak_retry_err)				\
	X(LOCAL_ACK_TIMEOUT_ERR, local_ack_timeout_err)			\
	X(REQ_TRANSPORT_RETRIES_EXCEEDED, req_transport_retries_exceeded)	\
	X(REQ_RNR_RETRIES_EXCEEDED, req_rnr_retries_exceeded)		\
	X(REQ_REMOTE_INVALID_REQUEST, req_remote_invalid_request)	\
	X(REQ_REMOTE_ACCESS_ERRORS, req_remote_access_errors)		\
	X(REQ_REMOTE_OPERATION_ERRORS, req_remote_operation_errors)	\
	X(REQ_CQE_ERROR, req_cqe_error)	/* completions with an error */	\
	X(REQ_CQE_FLUSH_ERROR, req_cqe_flush_error)	/* the flushed ones among them */	\
	X(RESP_CQE_ERROR, resp_cqe_error)				\
	X(RESP_CQE_FLUSH_ERROR, resp_cqe_flush_error)			\
	X(TX_RETRANSMITS, tx_retransmits)	/* retransmissions of a requester */	\
	X(TX_PROBES, tx_probes)	/* probes for a lost tail */		\
	X(TX_LOCAL_DROPS, tx_local_drops)	/* dropped by this host's transmit queue */	\
	X(RX_ICRC_ENCAPSULATED, rx_icrc_encapsulated)			\
	X(RX_MALFORMED, rx_malformed)					\
	X(RX_BAD_QPN, rx_bad_qpn)					\
	X(RX_BAD_ADDRESS, rx_bad_address)				\
	X(RX_BAD_PKEY, rx_bad_pkey)					\
	X(RX_BAD_QKEY, rx_bad_qkey)					\
	X(RX_BAD_TRANSPORT, rx_bad_transport)				\
	X(RX_BAD_STATE, rx_bad_state)					\
	X(RX_PAGED_OUT, rx_paged_out)	/* deferred or dropped to page in memory */	\
	X(RX_IGNORED, rx_ignored)	/* responses and requests without effect */	\
	X(CQ_OVERFLOWS, cq_overflows)					\
	X(BAD_WQES, bad_wqes)						\
	X(KICKS, kicks)

enum sroce_counter {
#define SROCE_COUNTER(constant, name) SROCE_##constant,
	SROCE_FOR_EACH_COUNTER(SROCE_COUNTER)
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
 * Context: bottom halves off if @owner is a QP, because its counters may be
 * replaced.
 */
#define sroce_count(owner, counter) sroce_count_add(owner, counter, 1)
#define sroce_count_add(owner, counter, n) \
	this_cpu_add(READ_ONCE((owner)->counters)->value[counter], n)

#endif /* SROCE_COUNTERS_H */
