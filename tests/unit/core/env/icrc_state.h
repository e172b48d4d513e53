/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_TEST_ICRC_STATE_H
#define SROCE_TEST_ICRC_STATE_H

#include "icrc.h"

/* CRC over the headers of the packet number @index of a burst. */
static inline u32 icrc_state(const u8 *ip, u32 index, const u8 *bth,
			     u16 udp_len)
{
	struct sroce_icrc icrc;

	sroce_icrc_begin(&icrc, ip, 1);
	sroce_icrc_head(&icrc, index, bth, udp_len);
	return sroce_crc32(SROCE_ICRC_AFTER_LRH, icrc.head + icrc.ip,
			   SROCE_ICRC_END - icrc.ip);
}

#endif /* SROCE_TEST_ICRC_STATE_H */
