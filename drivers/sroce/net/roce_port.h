/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ROCE_PORT_H
#define SROCE_ROCE_PORT_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include "../core/wire.h"

/*
 * Is it a datagram to the UDP port of RoCE?  For netfilter hooks at LOCAL_IN,
 * LOCAL_OUT and POST_ROUTING, where the transport header is set.  Packets with IPv6
 * extension headers are not: entry/rx.c does not accept them.
 */
static inline bool sroce_to_roce_port(const struct sk_buff *skb, bool ipv4)
{
	u8 protocol = ipv4 ? ip_hdr(skb)->protocol : ipv6_hdr(skb)->nexthdr;
	const struct udphdr *udp;
	struct udphdr copy;

	if (protocol != IPPROTO_UDP)
		return false;
	udp = skb_header_pointer(skb, skb_transport_offset(skb), sizeof(copy),
				 &copy);
	return udp && udp->dest == htons(SROCE_UDP_PORT);
}

#endif /* SROCE_ROCE_PORT_H */
