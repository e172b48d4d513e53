/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_ALIKE_H
#define SROCE_RX_ALIKE_H

#include "../mem/sgl.h"

struct sroce_icrc;

/**
 * struct sroce_rx_alike - packets that follow a middle packet and may be like it
 * @bth: copy of the BTH of the middle packet
 * @reader: at its trailer
 * @payload: bytes of each packet
 * @most: number of packets that may follow
 * @icrc: burst, if their ICRCs have to be checked; else NULL
 * @index: index of the middle packet in the burst
 */
struct sroce_rx_alike {
	const u8 *bth;
	struct sroce_reader *reader;
	u32 payload;
	u32 most;
	struct sroce_icrc *icrc;
	u32 index;
};

/**
 * sroce_rx_store_alike() - store the payload of middle packets like the last one
 * @alike: the packets; its reader is moved to the trailer of the last one stored
 * @most: how many of them are expected
 * @to: memory for their payload, contiguous or not
 *
 * Stops at the first packet whose BTH differs in more than the next PSN (a request for an
 * ACK, too), at a wrong ICRC, and at payload that crosses from one piece of @to to the next.
 * The caller handles that packet alone.
 *
 * Context: bottom halves off; the lock that protects the cache of @to.
 * Return: number of packets stored.
 */
u32 sroce_rx_store_alike(struct sroce_rx_alike *alike, u32 most, struct sroce_sgl_iter *to);

#endif /* SROCE_RX_ALIKE_H */
