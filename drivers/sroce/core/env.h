/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The only seam between the protocol core and its surroundings.  The core
 * needs integer types, byte order, memcpy and one CRC; nothing that sleeps,
 * locks, allocates or tells the time.
 */
#ifndef SROCE_ENV_H
#define SROCE_ENV_H

#ifdef __KERNEL__
#include <linux/build_bug.h>
#include <linux/crc32.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <linux/types.h>

/* CRC-32 of IEEE 802.3, reflected, without the inversions. */
static inline u32 sroce_crc32(u32 crc, const void *p, size_t len)
{
	return crc32_le(crc, p, len);
}
#else
/* From tests/unit/core/env, or another native build */
#include <env_native.h>
#endif

#endif /* SROCE_ENV_H */
