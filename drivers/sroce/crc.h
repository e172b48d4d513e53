/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

#include <linux/types.h>
#include "core/icrc.h"
#include "reader.h"

void sroce_crc_init(void);

/**
 * sroce_crc_begin() - before the CRCs of a burst
 * @bytes: how much it is in all
 *
 * Saving the caller's vector registers costs more than the CRC of a short
 * packet, so it is done once a burst, and only if there is enough to do.
 *
 * Context: bottom halves off; preemption is off until sroce_crc_end(), and
 * nothing may be called that uses vector registers itself.
 * Return: to be given to sroce_crc_packet() and sroce_crc_end().
 */
bool sroce_crc_begin(u32 bytes);
void sroce_crc_end(bool fast);

/**
 * sroce_crc_packet() - the invariant CRC of a packet
 * @fast: from sroce_crc_begin()
 * @icrc: from sroce_icrc_begin() for the burst
 * @index: of the packet in the burst
 * @r: at the packet's BTH; out: at its trailer
 * @len: from the BTH to the end of the trailer, bytes
 * @trailer: what the trailer has to be
 *
 * Return: false if the packet is too short to have one.
 */
bool sroce_crc_packet(bool fast, struct sroce_icrc *icrc, u32 index,
		      struct sroce_reader *r, u32 len, __le32 *trailer);

#endif /* SROCE_CRC_H */
