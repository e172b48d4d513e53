/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTT_H
#define SROCE_RTT_H

#include "env.h"

/**
 * struct sroce_rtt - round trip time (RFC 6298)
 * @smooth: moving average (SRTT), nanoseconds; 0 before the first sample
 * @deviation: moving average of the deviation from @smooth (RTTVAR),
 *	nanoseconds
 * @least: smallest sample, nanoseconds: the distance without queueing delay
 * @last: latest sample, nanoseconds
 */
struct sroce_rtt {
	u32 smooth;
	u32 deviation;
	u32 least;
	u32 last;
};

/**
 * sroce_rtt_add() - add a sample (RFC 6298)
 * @rtt: state
 * @ns: sample, nanoseconds; limited to SROCE_RTT_MAX_NS
 */
void sroce_rtt_add(struct sroce_rtt *rtt, s64 ns);

/**
 * sroce_rtt_probe() - time without a response after which to send a probe
 * @rtt: state
 *
 * Return: nanoseconds; SROCE_FIRST_PROBE_NS before the first sample.
 */
u64 sroce_rtt_probe(const struct sroce_rtt *rtt);

/**
 * sroce_rtt_repair() - the same while losses are repaired
 * @rtt: state, with a sample
 *
 * Silence is likely to be another loss then, so this is shorter.  Few packets are in
 * front of a repeated one, so the shortest round trip counts more than the usual one.
 *
 * Return: nanoseconds.
 */
u64 sroce_rtt_repair(const struct sroce_rtt *rtt);

#endif /* SROCE_RTT_H */
