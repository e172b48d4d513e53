/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ICRC_H
#define SROCE_ICRC_H

#include <linux/types.h>
#include "../core/icrc.h"
#include "../mem/skb_reader.h"

/* Choose how CRCs are computed, if nobody has.  Context: loading the module. */
void sroce_icrc_init(void);

/**
 * sroce_icrc_write() - write the ICRC of each packet, as it will be on the wire
 * @icrc: from sroce_icrc_begin() for the burst
 * @r: at the BTH of the first packet; each trailer lies in one piece and is
 *	the caller's to write
 * @size: bytes of each packet but the last, from the BTH to the end of the
 *	trailer
 * @left: bytes of all
 *
 * Context: bottom halves off.
 */
void sroce_icrc_write(struct sroce_icrc *icrc, struct sroce_reader r, u32 size,
		      u32 left);

/**
 * sroce_icrc_check() - which packets have the right ICRC?
 * @icrc: as above
 * @index: of the first packet in the burst
 * @r: as above, but may be anything
 * @size: as above
 * @left: as above, of 64 packets at most
 *
 * Context: bottom halves off.
 * Return: a bit each, the first packet's lowest.
 */
u64 sroce_icrc_check(struct sroce_icrc *icrc, u32 index, struct sroce_reader r,
		     u32 size, u32 left);

#endif /* SROCE_ICRC_H */
