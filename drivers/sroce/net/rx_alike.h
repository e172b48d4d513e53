/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_ALIKE_H
#define SROCE_RX_ALIKE_H

#include "../mem/sgl.h"

/**
 * sroce_rx_store_alike() - store the payload of middle packets like the last one
 * @reader: at the trailer of the last packet; moved to that of the last one stored
 * @bth: copy of the last packet's BTH
 * @payload: bytes of each packet
 * @most: number of intact packets of the same length that follow
 * @to: memory for their payload, contiguous or not
 *
 * Stops at the first packet whose BTH differs in more than the next PSN (a request for an
 * ACK, too), and at payload that crosses from one piece of @to to the next.  The caller
 * handles that packet alone.
 *
 * Context: bottom halves off; the lock that protects the cache of @to.
 * Return: number of packets stored.
 */
u32 sroce_rx_store_alike(struct sroce_reader *reader, const u8 *bth, u32 payload, u32 most,
			 struct sroce_sgl_iter *to);

#endif /* SROCE_RX_ALIKE_H */
