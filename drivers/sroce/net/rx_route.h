/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_ROUTE_H
#define SROCE_RX_ROUTE_H

#include <linux/percpu.h>
#include <linux/skbuff.h>
#include <net/net_namespace.h>

/**
 * sroce_rx_route_begin() - cache the routes of packets that a socket receives
 * @net: namespace of the socket
 *
 * IPv4 only.  Each call needs its own sroce_rx_route_end().
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_rx_route_begin(struct net *net);
/* Stop using cached routes; sroce_rx_route_forget() must follow.  Same context. */
void sroce_rx_route_end(struct net *net);

/**
 * sroce_rx_route_forget() - release the routes of a namespace
 * @net: namespace
 *
 * Context: process; an RCU grace period after sroce_rx_route_end(), and after
 * the last packet of that socket.
 */
void sroce_rx_route_forget(const struct net *net);

struct sroce_rx_route;

/* Entry to fill for the current packet, which had no cached route; or NULL. */
DECLARE_PER_CPU(struct sroce_rx_route *, sroce_rx_route_missed);

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
	if (unlikely(this_cpu_read(sroce_rx_route_missed)))
		sroce_rx_route_add(skb);
}

#endif /* SROCE_RX_ROUTE_H */
