// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "counters.h"
#include "device.h"

static const struct rdma_stat_desc names[] = {
	[SROCE_TX_PACKETS] = { .name = "tx_packets" },
	[SROCE_TX_BYTES] = { .name = "tx_bytes" },
	[SROCE_TX_BURSTS] = { .name = "tx_bursts" },
	[SROCE_RX_PACKETS] = { .name = "rx_packets" },
	[SROCE_RX_BYTES] = { .name = "rx_bytes" },
	[SROCE_RX_BURSTS] = { .name = "rx_bursts" },
	[SROCE_TX_ACKS] = { .name = "tx_acks" },
	[SROCE_RX_ACKS] = { .name = "rx_acks" },
	[SROCE_TX_NAK_SEQUENCE] = { .name = "tx_nak_sequence" },
	[SROCE_TX_NAK_RNR] = { .name = "tx_nak_rnr" },
	[SROCE_TX_NAK_INVALID] = { .name = "tx_nak_invalid" },
	[SROCE_TX_NAK_ACCESS] = { .name = "tx_nak_access" },
	[SROCE_TX_NAK_OPERATION] = { .name = "tx_nak_operation" },
	[SROCE_RX_NAK_SEQUENCE] = { .name = "rx_nak_sequence" },
	[SROCE_RX_NAK_RNR] = { .name = "rx_nak_rnr" },
	[SROCE_RX_NAK_INVALID] = { .name = "rx_nak_invalid" },
	[SROCE_RX_NAK_ACCESS] = { .name = "rx_nak_access" },
	[SROCE_RX_NAK_OPERATION] = { .name = "rx_nak_operation" },
	[SROCE_RX_DUPLICATES] = { .name = "rx_duplicates" },
	[SROCE_RX_OUT_OF_SEQUENCE] = { .name = "rx_out_of_sequence" },
	[SROCE_TX_RETRANSMITS] = { .name = "tx_retransmits" },
	[SROCE_TX_TIMEOUTS] = { .name = "tx_timeouts" },
	[SROCE_TX_LOCAL_DROPS] = { .name = "tx_local_drops" },
	[SROCE_RX_ICRC_ERRORS] = { .name = "rx_icrc_errors" },
	[SROCE_RX_MALFORMED] = { .name = "rx_malformed" },
	[SROCE_RX_BAD_QPN] = { .name = "rx_bad_qpn" },
	[SROCE_RX_BAD_ADDRESS] = { .name = "rx_bad_address" },
	[SROCE_RX_BAD_PKEY] = { .name = "rx_bad_pkey" },
	[SROCE_RX_BAD_QKEY] = { .name = "rx_bad_qkey" },
	[SROCE_RX_BAD_TRANSPORT] = { .name = "rx_bad_transport" },
	[SROCE_RX_BAD_STATE] = { .name = "rx_bad_state" },
	[SROCE_RX_NO_RECEIVE] = { .name = "rx_no_receive" },
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
			values[i] += per_cpu_ptr(counters, cpu)->value[i];
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
	/* Port 0 would be the device, which has no counters. */
	if (port != SROCE_PORT)
		return -EINVAL;
	sroce_counters_sum(sroce_device(ibdev)->counters, stats->value);
	return SROCE_COUNTERS;
}
