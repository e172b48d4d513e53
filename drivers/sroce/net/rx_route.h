/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_ROUTE_H
#define SROCE_RX_ROUTE_H

#include <linux/netfilter.h>
#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

#ifdef CONFIG_NETFILTER

/* Netfilter hook at PRE_ROUTING, IPv4, that gives a packet a cached route. */
unsigned int sroce_rx_route_set(void *priv, struct sk_buff *skb,
				const struct nf_hook_state *state);

/**
 * sroce_rx_route_forget() - release the routes of a namespace
 * @net: namespace; only compared
 *
 * Context: any but hard interrupt; an RCU grace period after sroce_nf_hooks_remove(),
 * and after the socket was closed.
 */
void sroce_rx_route_forget(const struct net *net);

/* The last packet at PRE_ROUTING that had no cached route, or NULL.  It may be freed. */
DECLARE_PER_CPU(const struct sk_buff *, sroce_rx_route_missed);

/* Slow path of sroce_rx_route_note(). */
void sroce_rx_route_add(const struct sk_buff *skb);

/**
 * sroce_rx_route_note() - cache the route of a received packet
 * @skb: packet at the socket, beginning with the UDP header
 *
 * Context: receive softirq, RCU.
 */
static inline void sroce_rx_route_note(const struct sk_buff *skb)
{
	if (unlikely(this_cpu_read(sroce_rx_route_missed) == skb))
		sroce_rx_route_add(skb);
}

#else

static inline void sroce_rx_route_forget(const struct net *net)
{
}

static inline void sroce_rx_route_note(const struct sk_buff *skb)
{
}

#endif /* CONFIG_NETFILTER */

#endif /* SROCE_RX_ROUTE_H */
