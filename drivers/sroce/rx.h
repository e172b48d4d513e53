/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_H
#define SROCE_RX_H

#include <linux/types.h>
#include "core/parse.h"

struct net;
struct sk_buff;

/**
 * struct sroce_rx - a packet that has arrived
 * @pkt: its headers
 * @skb: the packet; of the head of a burst only the packet itself counts, not
 *	its frag_list
 * @net: namespace of the socket that received it
 * @ip: its IP header
 * @header: from the BTH on, as long as the headers go
 * @ipv4: IPv4, else IPv6
 * @bth: offset of the BTH from skb->data
 * @len: from the BTH to the end of the ICRC, bytes
 */
struct sroce_rx {
	struct sroce_pkt pkt;
	struct sk_buff *skb;
	struct net *net;
	const u8 *ip;
	const u8 *header;
	bool ipv4;
	u32 bth;
	u32 len;
};

/* Offset of the payload from skb->data. */
static inline u32 sroce_rx_payload(const struct sroce_rx *rx)
{
	return rx->bth + rx->pkt.op->length;
}

/**
 * sroce_rx_open() - receive RoCE packets in a network namespace
 * @net: the namespace
 * @ipv4: address family
 *
 * The socket is shared; every call needs its sroce_rx_close().
 *
 * Context: process, may sleep.
 * Return: 0; EADDRINUSE if somebody else has UDP port 4791 there.
 */
int sroce_rx_open(struct net *net, bool ipv4);
void sroce_rx_close(struct net *net, bool ipv4);

int sroce_rx_init(void);
void sroce_rx_exit(void);

#endif /* SROCE_RX_H */
