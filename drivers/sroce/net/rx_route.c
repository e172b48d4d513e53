// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Cache of the routes of received packets.  IP looks up a route for each packet, to
 * learn that it is for this host.  TCP and connected UDP sockets cache it (early
 * demux), but the socket of a namespace has many peers.  Here a netfilter hook at
 * the end of PRE_ROUTING gives a packet the route of an earlier packet.  The fields
 * that determine the route must be equal, and the route must still be valid.  So
 * firewalls, policy rules, routes and addresses apply to each packet as before.
 * The packet also gets the socket, as from early demux, so UDP looks up none.
 *
 * Without netfilter (CONFIG_NETFILTER), each packet looks up its route.
 */
#include <linux/filter.h>
#include <linux/hash.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/netfilter_bridge.h>
#include <linux/preempt.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/route.h>
#include <net/sock.h>
#include "../core/params.h"
#include "../core/wire.h"
#include "route.h"
#include "rx_route.h"

/**
 * struct sroce_rx_route - a route, and the fields that determine it
 * @net: namespace
 * @addresses: source and destination
 * @mark: mark of the firewall, for policy rules
 * @iif: index of the netdev
 * @tos: type of service without the ECN bits
 * @rp_filter: setting of the netdev; a change does not make routes invalid
 * @dst: route, referenced; NULL is an empty entry
 *
 * Belongs to a CPU, whose softirqs read and write it.  Only sroce_rx_route_forget()
 * clears @dst from another CPU.
 */
struct sroce_rx_route {
	const struct net *net;
	u64 addresses;
	u32 mark;
	int iif;
	u8 tos;
	u8 rp_filter;
	struct dst_entry *dst;
};

DEFINE_PER_CPU(const struct sk_buff *, sroce_rx_route_missed);

/* The fields of that packet. */
static DEFINE_PER_CPU(struct sroce_rx_route, missed_route);

static DEFINE_PER_CPU(struct sroce_rx_route [1 << SROCE_RX_ROUTE_BITS], routes);

/* The fields of @skb that determine its route; does not set @dst. */
static void get_route_key(struct sroce_rx_route *r, const struct sk_buff *skb,
			  struct in_device *in)
{
	const struct iphdr *ip = ip_hdr(skb);

	r->net = dev_net(skb->dev);
	r->addresses = get_unaligned((const u64 *)&ip->saddr);
	r->mark = skb->mark;
	r->iif = skb->dev->ifindex;
	r->tos = ip->tos & ~INET_ECN_MASK;
	r->rp_filter = IN_DEV_RPFILTER(in);
}

static bool same_route_key(const struct sroce_rx_route *a,
			   const struct sroce_rx_route *b)
{
	return a->net == b->net && a->addresses == b->addresses &&
	       a->mark == b->mark && a->iif == b->iif && a->tos == b->tos &&
	       a->rp_filter == b->rp_filter;
}

static struct sroce_rx_route *slot_of(const struct sroce_rx_route *r)
{
	return this_cpu_ptr(routes) + hash_64(r->addresses, SROCE_RX_ROUTE_BITS);
}

/*
 * True for a complete packet to the RoCE port whose route depends only on the
 * fields of struct sroce_rx_route.  Bridges, VRFs and ipvlans in mode L3S have routes of
 * their own, and IPsec exempts its packets from rp_filter.
 */
static bool is_cacheable(const struct sk_buff *skb)
{
	const struct iphdr *ip = ip_hdr(skb);
	const struct udphdr *udp = (const struct udphdr *)(ip + 1);

	return ip->protocol == IPPROTO_UDP && ip->ihl == sizeof(*ip) / 4 &&
	       skb_headlen(skb) >= sizeof(*ip) + sizeof(*udp) &&
	       udp->dest == htons(SROCE_UDP_PORT) && !ip_is_fragment(ip) &&
	       !skb_sec_path(skb) && !skb_dst(skb) && !skb->sk && skb->pkt_type == PACKET_HOST &&
	       !nf_bridge_in_prerouting(skb) && !netif_is_l3_slave(skb->dev) &&
	       !netif_is_l3_master(skb->dev) && !netif_has_l3_rx_handler(skb->dev);
}

/* With policy rules for ports or protocols the route depends on more fields. */
static bool rules_dissect(const struct net *net)
{
#ifdef CONFIG_IP_MULTIPLE_TABLES
	return READ_ONCE(net->ipv4.fib_rules_require_fldissect);
#else
	return false;
#endif
}

/* Early demux is off on hosts that forward most packets. */
static bool is_allowed(const struct net *net)
{
	return READ_ONCE(net->ipv4.sysctl_ip_early_demux) &&
	       READ_ONCE(net->ipv4.sysctl_udp_early_demux) &&
	       !rules_dissect(net);
}

/*
 * Outside a VRF nobody else can bind the port while this socket has it, so UDP would
 * find the same one, unless a BPF program chooses.  UDP stores the route of such a
 * packet in the socket.  On a host with several addresses the routes would replace
 * each other, so only the packets of one of them get the socket.  It is freed under
 * RCU, and close_socket() clears the pointer first, so the packet needs no reference.
 * Context: RCU read side, as in all hooks of netfilter.
 */
static void set_socket(struct sk_buff *skb, const struct net *net,
		       const struct dst_entry *dst)
{
	struct sock *sk = rcu_dereference(sroce_route_net(net)->socket);
	struct dst_entry *last;

	if (!sk || static_branch_unlikely(&bpf_sk_lookup_enabled))
		return;
	last = rcu_dereference(sk->sk_rx_dst);
	if (last && last != dst && dst_check(last, 0))
		return;
	skb->sk = sk;
	skb->destructor = sock_pfree;
}

unsigned int sroce_rx_route_set(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state)
{
	struct in_device *in = __in_dev_get_rcu(skb->dev);
	struct sroce_rx_route key, *r;
	struct dst_entry *dst;

	/* That one was lost, and this one has its memory. */
	if (unlikely(this_cpu_read(sroce_rx_route_missed) == skb))
		this_cpu_write(sroce_rx_route_missed, NULL);
	/* Outside a softirq a process has returned the verdict on the packet. */
	if (!in || !in_softirq() || !is_cacheable(skb) ||
	    !is_allowed(state->net))
		return NF_ACCEPT;
	get_route_key(&key, skb, in);
	r = slot_of(&key);
	dst = READ_ONCE(r->dst);
	if (likely(dst && same_route_key(r, &key) && dst_check(dst, 0))) {
		skb_dst_set_noref(skb, dst);
		set_socket(skb, state->net, dst);
	} else {
		key.dst = NULL;
		*this_cpu_ptr(&missed_route) = key;
		__this_cpu_write(sroce_rx_route_missed, skb);
	}
	return NF_ACCEPT;
}

/*
 * Stores only a route that IP caches as well, because IP releases the netdev of
 * such a route.  The firewall may have changed the packet since its route was
 * looked up, so the fields are those of PRE_ROUTING.
 */
void sroce_rx_route_add(const struct sk_buff *skb)
{
	const struct sroce_rx_route *found = this_cpu_ptr(&missed_route);
	struct dst_entry *dst = skb_dst(skb);
	struct sroce_rx_route *r = slot_of(found);

	__this_cpu_write(sroce_rx_route_missed, NULL);
	/* IPv6, or of another namespace: it has the memory of a lost packet. */
	if (ip_hdr(skb)->version != 4 || dev_net(skb->dev) != found->net || !dst ||
	    !skb_dst_is_noref(skb) ||
	    skb_rtable(skb)->rt_type != RTN_LOCAL || !dst_hold_safe(dst))
		return;
	dst_release(xchg(&r->dst, NULL));
	*r = *found;
	WRITE_ONCE(r->dst, dst);
}

void sroce_rx_route_forget(const struct net *net)
{
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		struct sroce_rx_route *r = per_cpu_ptr(routes, cpu);

		for (i = 0; i < 1 << SROCE_RX_ROUTE_BITS; i++, r++)
			if (READ_ONCE(r->net) == net)
				dst_release(xchg(&r->dst, NULL));
	}
}
