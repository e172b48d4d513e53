// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* hw_counters of the port. */
#include "../base/sroce.h"
#include "hw_stats.h"

static const struct rdma_stat_desc names[] = {
	[SROCE_TX_PACKETS] = { .name = "tx_packets" },
	[SROCE_TX_BYTES] = { .name = "tx_bytes" },
	[SROCE_TX_BURSTS] = { .name = "tx_bursts" },
	[SROCE_RX_PACKETS] = { .name = "rx_packets" },
	[SROCE_RX_BYTES] = { .name = "rx_bytes" },
	[SROCE_RX_BURSTS] = { .name = "rx_bursts" },
	[SROCE_TX_ACKS] = { .name = "tx_acks" },
	[SROCE_RX_ACKS] = { .name = "rx_acks" },
	[SROCE_RX_WRITE_REQUESTS] = { .name = "rx_write_requests" },
	[SROCE_RX_READ_REQUESTS] = { .name = "rx_read_requests" },
	[SROCE_RX_ATOMIC_REQUESTS] = { .name = "rx_atomic_requests" },
	[SROCE_TX_NAK_SEQUENCE] = { .name = "tx_nak_sequence" },
	[SROCE_TX_NAK_RNR] = { .name = "tx_nak_rnr" },
	[SROCE_TX_NAK_INVALID] = { .name = "tx_nak_invalid" },
	[SROCE_TX_NAK_OPERATION] = { .name = "tx_nak_operation" },
	[SROCE_RESP_REMOTE_ACCESS_ERRORS] = {
		.name = "resp_remote_access_errors"
	},
	[SROCE_RESP_LOCAL_LENGTH_ERROR] = { .name = "resp_local_length_error" },
	[SROCE_DUPLICATE_REQUEST] = { .name = "duplicate_request" },
	[SROCE_OUT_OF_SEQUENCE] = { .name = "out_of_sequence" },
	[SROCE_OUT_OF_BUFFER] = { .name = "out_of_buffer" },
	[SROCE_PACKET_SEQ_ERR] = { .name = "packet_seq_err" },
	[SROCE_IMPLIED_NAK_SEQ_ERR] = { .name = "implied_nak_seq_err" },
	[SROCE_RNR_NAK_RETRY_ERR] = { .name = "rnr_nak_retry_err" },
	[SROCE_LOCAL_ACK_TIMEOUT_ERR] = { .name = "local_ack_timeout_err" },
	[SROCE_REQ_TRANSPORT_RETRIES_EXCEEDED] = {
		.name = "req_transport_retries_exceeded"
	},
	[SROCE_REQ_RNR_RETRIES_EXCEEDED] = {
		.name = "req_rnr_retries_exceeded"
	},
	[SROCE_REQ_REMOTE_INVALID_REQUEST] = {
		.name = "req_remote_invalid_request"
	},
	[SROCE_REQ_REMOTE_ACCESS_ERRORS] = {
		.name = "req_remote_access_errors"
	},
	[SROCE_REQ_REMOTE_OPERATION_ERRORS] = {
		.name = "req_remote_operation_errors"
	},
	[SROCE_REQ_CQE_ERROR] = { .name = "req_cqe_error" },
	[SROCE_REQ_CQE_FLUSH_ERROR] = { .name = "req_cqe_flush_error" },
	[SROCE_RESP_CQE_ERROR] = { .name = "resp_cqe_error" },
	[SROCE_RESP_CQE_FLUSH_ERROR] = { .name = "resp_cqe_flush_error" },
	[SROCE_TX_RETRANSMITS] = { .name = "tx_retransmits" },
	[SROCE_TX_PROBES] = { .name = "tx_probes" },
	[SROCE_TX_LOCAL_DROPS] = { .name = "tx_local_drops" },
	[SROCE_RX_ICRC_ENCAPSULATED] = { .name = "rx_icrc_encapsulated" },
	[SROCE_RX_MALFORMED] = { .name = "rx_malformed" },
	[SROCE_RX_BAD_QPN] = { .name = "rx_bad_qpn" },
	[SROCE_RX_BAD_ADDRESS] = { .name = "rx_bad_address" },
	[SROCE_RX_BAD_PKEY] = { .name = "rx_bad_pkey" },
	[SROCE_RX_BAD_QKEY] = { .name = "rx_bad_qkey" },
	[SROCE_RX_BAD_TRANSPORT] = { .name = "rx_bad_transport" },
	[SROCE_RX_BAD_STATE] = { .name = "rx_bad_state" },
	[SROCE_RX_PAGED_OUT] = { .name = "rx_paged_out" },
	[SROCE_RX_IGNORED] = { .name = "rx_ignored" },
	[SROCE_CQ_OVERFLOWS] = { .name = "cq_overflows" },
	[SROCE_BAD_WQES] = { .name = "bad_wqes" },
	[SROCE_KICKS] = { .name = "kicks" },
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
