/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CRC_H
#define SROCE_CRC_H

#include <linux/types.h>

struct sk_buff;

int sroce_crc_init(void);
void sroce_crc_exit(void);

/**
 * sroce_crc_skb() - continue a CRC-32 over bytes of a packet
 * @crc: state
 * @skb: packet; the bytes lie in its linear part and its page fragments, not
 *	in its frag_list
 * @offset: first byte, from skb->data
 * @len: bytes
 *
 * Context: any with bottom halves off.  Return: the new state.
 */
u32 sroce_crc_skb(u32 crc, const struct sk_buff *skb, u32 offset, u32 len);

#endif /* SROCE_CRC_H */
