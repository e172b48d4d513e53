// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Estimate of the round trip time (RFC 6298). */
#include "params.h"
#include "rtt.h"

void sroce_rtt_add(struct sroce_rtt *rtt, s64 ns)
{
	s32 sample = clamp(ns, (s64)1, (s64)SROCE_RTT_MAX_NS);
	s32 off = sample - (s32)rtt->smooth;

	rtt->last = sample;
	if (!rtt->smooth) {
		rtt->least = sample;
		rtt->smooth = sample;
		rtt->deviation = sample / 2;
		return;
	}
	rtt->least = min(rtt->least, (u32)sample);
	rtt->smooth += off / 8;
	if (off < 0)
		off = -off;
	rtt->deviation += (off - (s32)rtt->deviation) / 4;
}

u64 sroce_rtt_probe(const struct sroce_rtt *rtt)
{
	if (!rtt->smooth)
		return SROCE_FIRST_PROBE_NS;
	return max(2 * (u64)rtt->smooth + 4 * (u64)rtt->deviation,
		   (u64)SROCE_MIN_PROBE_NS);
}

u64 sroce_rtt_repair(const struct sroce_rtt *rtt)
{
	u64 margin = max(rtt->smooth / 4, 2 * rtt->deviation);
	u64 interval = min(rtt->smooth + margin, 2 * (u64)rtt->least);

	return max_t(u64, interval, SROCE_MIN_REPAIR_NS);
}
