/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packet sequence numbers are modulo 2^24 (IBTA vol. 1, 9.7.1).  Half of the
 * space is ahead of any PSN and half behind it.  Two PSNs can be ordered as
 * long as fewer than 2^23 packets are unacknowledged.
 */
#ifndef SROCE_PSN_H
#define SROCE_PSN_H

#include "env.h"

#define SROCE_PSN_MASK		0xffffffu

static inline u32 sroce_psn_add(u32 psn, u32 n)
{
	return (psn + n) & SROCE_PSN_MASK;
}

/* Distance of @a from @b; negative if @a is behind. */
static inline s32 sroce_psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

static inline bool sroce_psn_before(u32 a, u32 b)
{
	return sroce_psn_diff(a, b) < 0;
}

#endif /* SROCE_PSN_H */
