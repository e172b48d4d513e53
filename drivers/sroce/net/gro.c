// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * GRO: joins packets of one flow that a NAPI poll delivers into a burst, as a
 * virtual device would have passed it on.  The stack is then traversed once per
 * burst.  The UDP layer calls these functions for our sockets as it does for
 * tunnels.  It has checked that the IP header has no options, and the UDP
 * checksum if there is one.
 */
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/gro.h>
#include "../core/params.h"
#include "../core/wire.h"
#include "burst.h"
#include "gro.h"
#include "gso.h"

static const struct udphdr *udp_of(const u8 *ip)
{
	return (const struct udphdr *)(ip + sroce_ip_bytes(sroce_ip_is_v4(ip)));
}

static bool same_addresses(const u8 *a, const u8 *b)
{
	if (sroce_ip_is_v4(a))
		return !memcmp(&((const struct iphdr *)a)->saddr,
			       &((const struct iphdr *)b)->saddr, 8);
	return !memcmp(&((const struct ipv6hdr *)a)->saddr,
		       &((const struct ipv6hdr *)b)->saddr, 32);
}

static bool same_ports(const struct udphdr *a, const struct udphdr *b)
{
	return a->source == b->source && a->dest == b->dest;
}

/*
 * Find the held packet of the same flow.  The UDP layer's same_flow is not
 * suitable: it separates packets with a checksum from those without.  sroce
 * sends both, because segmentation needs a checksum, and they must not overtake
 * each other.
 */
static struct sk_buff *find_held(struct list_head *held,
				 const struct sk_buff *skb, const u8 *ip)
{
	struct sk_buff *p;

	list_for_each_entry(p, held, list) {
		const u8 *other = skb_network_header(p);

		if (p->dev == skb->dev && p->protocol == skb->protocol &&
		    skb_network_offset(p) == skb_network_offset(skb) &&
		    skb_headlen(p) >= skb_gro_offset(skb) &&
		    same_addresses(ip, other) &&
		    same_ports(udp_of(ip), udp_of(other)))
			return p;
	}
	return NULL;
}

/*
 * Step of the IPv4 identification within a burst: 1, as segmentation does it,
 * or 0.  The headers of joined packets stay in front of their data.
 */
static u16 id_step(const struct sk_buff *p, u16 next)
{
	const struct sk_buff *second = skb_shinfo(p)->frag_list;

	if (second)
		next = ntohs(ip_hdr(second)->id);
	return next - ntohs(ip_hdr(p)->id);
}

/*
 * Software that segments the burst again keeps the identification constant only
 * for packets with DF.
 */
static bool id_follows(const struct sk_buff *p, u16 id)
{
	u16 step = id_step(p, id);

	if (!step && !(ip_hdr(p)->frag_off & htons(IP_DF)))
		return false;
	return step <= 1 && id == (u16)(ntohs(ip_hdr(p)->id) +
					NAPI_GRO_CB(p)->count * step);
}

/*
 * The burst keeps only the first IP header, so the fields that all packets
 * share must be equal.
 */
static bool ip_follows(const struct sk_buff *p, const u8 *a, const u8 *b)
{
	if (sroce_ip_is_v4(a)) {
		const struct iphdr *x = (const struct iphdr *)a;
		const struct iphdr *y = (const struct iphdr *)b;

		return x->tos == y->tos && x->ttl == y->ttl &&
		       x->frag_off == y->frag_off &&
		       id_follows(p, ntohs(y->id));
	} else {
		const struct ipv6hdr *x = (const struct ipv6hdr *)a;
		const struct ipv6hdr *y = (const struct ipv6hdr *)b;

		return !memcmp(x, y, 4) && x->hop_limit == y->hop_limit;
	}
}

/*
 * GRO has stored the first packet's payload length in gso_size.  A packet that
 * is too short to be valid is not joined.
 */
static bool packet_follows(struct sk_buff *p, struct sk_buff *skb, const u8 *ip)
{
	u32 bytes = skb_gro_len(skb);

	return NAPI_GRO_CB(p)->same_flow && !NAPI_GRO_CB(p)->flush &&
	       !NAPI_GRO_CB(skb)->flush && !skb_cloned(p) &&
	       !skb_zcopy(p) && !skb_zcopy(skb) &&
	       !skb_sec_path(p) && !skb_sec_path(skb) &&
	       bytes >= SROCE_BTH_BYTES + SROCE_ICRC_BYTES &&
	       bytes <= skb_shinfo(p)->gso_size &&
	       bytes + sizeof(struct udphdr) == ntohs(udp_of(ip)->len) &&
	       p->len + bytes <= U16_MAX &&
	       ip_follows(p, skb_network_header(p), ip);
}

/* Packets of a virtual device may have an owner; IP would orphan them anyway. */
static void append_packet(struct sk_buff *p, struct sk_buff *skb)
{
	skb_orphan(p);
	skb_orphan(skb);
	if (NAPI_GRO_CB(p)->last == p)
		skb_shinfo(p)->frag_list = skb;
	else
		NAPI_GRO_CB(p)->last->next = skb;
	NAPI_GRO_CB(p)->last = skb;
	NAPI_GRO_CB(p)->count++;
	p->len += skb->len;
	p->data_len += skb->len;
	p->truesize += skb->truesize;
	skb_shinfo(p)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	NAPI_GRO_CB(skb)->same_flow = 1;
}

/*
 * Find the IP header directly before the UDP header; NULL if there is something
 * between.  A socket has one address family.
 */
static const u8 *find_ip(const struct sock *sk, struct sk_buff *skb)
{
	u32 n = sroce_ip_bytes(sk->sk_family == AF_INET);
	u32 offset = skb_network_offset(skb);

	if (skb_gro_offset(skb) != offset + n + sizeof(struct udphdr))
		return NULL;
	return skb_gro_header(skb, skb_gro_offset(skb), offset);
}

/*
 * Our sockets are not bound to an address.  Packets that this host forwards
 * must not be joined: the receiver may not understand a burst.
 */
static bool is_local(const struct sk_buff *skb, const u8 *ip)
{
	struct net *net = dev_net(skb->dev);

	if (sroce_ip_is_v4(ip))
		return __ip_dev_find(net, ((const struct iphdr *)ip)->daddr,
				     false);
	/* The netdev says which VRF's addresses count. */
	return ipv6_chk_addr(net, &((const struct ipv6hdr *)ip)->daddr, skb->dev,
			     0);
}

struct sk_buff *sroce_gro_receive(struct sock *sk, struct list_head *held,
				  struct sk_buff *skb)
{
	const u8 *ip = find_ip(sk, skb);
	struct sk_buff *p;
	bool last;

	p = ip ? find_held(held, skb, ip) : NULL;
	if (!p) {
		if (!ip || !is_local(skb, ip))
			NAPI_GRO_CB(skb)->flush = 1;
		return NULL;
	}
	if (!packet_follows(p, skb, ip))
		return p;
	last = skb_gro_len(skb) < skb_shinfo(p)->gso_size;
	if (!pskb_pull(skb, skb_gro_offset(skb)))
		return p;
	append_packet(p, skb);
	return last || NAPI_GRO_CB(p)->count == SROCE_BURST_PACKETS ? p : NULL;
}

int sroce_gro_complete(struct sock *sk, struct sk_buff *skb, int offset)
{
	struct skb_shared_info *shared = skb_shinfo(skb);
	u8 *udp = skb->data + offset - sizeof(struct udphdr);
	const u8 *ip = skb_network_header(skb);

	/*
	 * The UDP layer has set a tunnel bit; without SKB_GSO_UDP_L4 as well it
	 * would segment this again (udp_unexpected_gso()).  There is no inner
	 * packet.
	 */
	shared->gso_type |= SKB_GSO_UDP_L4;
	shared->gso_segs = NAPI_GRO_CB(skb)->count;
	skb->encapsulation = 0;
	if (sroce_ip_is_v4(ip) && !id_step(skb, 0))
		shared->gso_type |= SKB_GSO_TCP_FIXEDID;
	/* In case this is forwarded, and therefore segmented again. */
	sroce_gso_start_checksum(skb, ip, (struct udphdr *)udp);
	return 0;
}
