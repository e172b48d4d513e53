/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RTT_H
#define SROCE_RTT_H

#include "env.h"

/**
 * struct sroce_rtt - how long answers take
 * @smooth: moving average, nanoseconds; 0 before the first sample
 * @deviation: from that, moving average, nanoseconds
 * @least: of all samples: how far away the peer is, without queues
 * @last: the latest sample
 */
struct sroce_rtt {
	u32 smooth;
	u32 deviation;
	u32 least;
	u32 last;
};

/**
 * sroce_rtt_add() - an answer came
 * @rtt: state
 * @ns: after so many nanoseconds; what is longer than a second counts as one
 *
 * The moving averages of RFC 6298.
 */
void sroce_rtt_add(struct sroce_rtt *rtt, s64 ns);

/**
 * sroce_rtt_probe() - when has an answer become unlikely?
 * @rtt: state
 *
 * Return: nanoseconds without a sign of life; a guess if nothing is known yet.
 */
u64 sroce_rtt_probe(const struct sroce_rtt *rtt);

#endif /* SROCE_RTT_H */
