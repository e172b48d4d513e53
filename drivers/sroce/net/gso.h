/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GSO_H
#define SROCE_GSO_H

#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/skbuff.h>
#include <linux/udp.h>
#include <net/ip6_checksum.h>
#include "../core/wire.h"

/**
 * sroce_gso_start_checksum() - start the checksum of a UDP packet that will be
 *   segmented
 * @skb: the packet
 * @ip: its IP header
 * @udp: its UDP header, in the head of @skb, with the total length
 *
 * Writes the checksum of the pseudo header; segmentation completes it.  The
 * ICRC does not cover the UDP checksum.
 */
static inline void sroce_gso_start_checksum(struct sk_buff *skb, const u8 *ip,
					    struct udphdr *udp)
{
	u32 len = ntohs(udp->len);

	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = (u8 *)udp - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (sroce_ip_is_v4(ip)) {
		const struct iphdr *h = (const struct iphdr *)ip;

		udp->check = ~csum_tcpudp_magic(h->saddr, h->daddr, len,
						IPPROTO_UDP, 0);
	} else {
		const struct ipv6hdr *h = (const struct ipv6hdr *)ip;

		udp->check = ~csum_ipv6_magic(&h->saddr, &h->daddr, len,
					      IPPROTO_UDP, 0);
	}
}

/**
 * sroce_gso_id_step() - step of the IPv4 identification in a burst
 * @skb: skb received from the stack
 *
 * Return: 1, or 0 if all packets have the same.
 */
static inline u16 sroce_gso_id_step(const struct sk_buff *skb)
{
	return !(skb_shinfo(skb)->gso_type & SKB_GSO_TCP_FIXEDID);
}

#endif /* SROCE_GSO_H */
