// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Everybody can read the QPNs and PSNs of this host's connections (restrack), and a UDP socket
 * has the host's address.  So the peer would take a datagram of any user for the next packet of
 * somebody else's connection.  A netfilter hook drops datagrams to the UDP port of RoCE from
 * sockets that were opened without CAP_NET_RAW. A process that has this capability can send any
 * packet anyway.
 *
 * A process of a container does not need the host's address if NAT replaces its
 * own by it.  A second hook drops such datagrams, and the first packet of a flow
 * whose replies would be such datagrams.  Nobody misses them: the ICRC covers the
 * addresses, so RoCE does not work through NAT.
 *
 * Without netfilter (CONFIG_NETFILTER), nothing is dropped.
 */
#include <linux/capability.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include <net/addrconf.h>
#include <net/netfilter/nf_conntrack.h>
#include <net/route.h>
#include <net/sock.h>
#include "port_guard.h"
#include "roce_port.h"

/*
 * A closed socket has no file, and sends nothing new.  sk_callback_lock keeps the
 * file until it was examined.
 */
static bool opened_by_stranger(struct sock *sk, const struct net *net)
{
	bool stranger = false;

	read_lock_bh(&sk->sk_callback_lock);
	if (sk->sk_socket && sk->sk_socket->file)
		stranger = !file_ns_capable(sk->sk_socket->file, net->user_ns,
					    CAP_NET_RAW);
	read_unlock_bh(&sk->sk_callback_lock);
	return stranger;
}

/* Packets of kernel sockets, such as this module's, are not of a process. */
static bool is_of_process(const struct sk_buff *skb)
{
	return skb->sk && sk_fullsock(skb->sk) && !skb->sk->sk_kern_sock;
}

unsigned int sroce_port_guard(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (is_of_process(skb) &&
	    sroce_to_roce_port(skb, state->pf == NFPROTO_IPV4) &&
	    opened_by_stranger(skb->sk, state->net))
		return NF_DROP;
	return NF_ACCEPT;
}

/*
 * Other packets have no socket either, for instance this module's.  But those of
 * this host have not arrived on any netdev.  IPv6 does not set IP6SKB_FORWARDED.
 * A bridge names no input netdev here (br_netfilter).  It forwards what one end of a
 * veth has sent to the other end, its port: also packets of this host.
 */
static bool is_routed(const struct sk_buff *skb, const struct nf_hook_state *state)
{
	return skb->skb_iif && state->in;
}

/* The conntrack entry of @skb, or NULL. */
static const struct nf_conn *flow_of(const struct sk_buff *skb)
{
	enum ip_conntrack_info direction;

	return nf_ct_get(skb, &direction);
}

/*
 * An ipvlan in mode L3 or L3S hands on packets of a container as if they were of this
 * host: they have not arrived on any netdev.  But NAT has changed their source.  The same
 * on a bridge.  The sockets of this namespace were checked at LOCAL_OUT.
 */
static bool has_new_source(const struct sk_buff *skb, const struct net *net)
{
	const struct nf_conn *ct = flow_of(skb);

	return ct && ct->status & IPS_SRC_NAT &&
	       !(skb->sk && net_eq(sock_net(skb->sk), net));
}

/*
 * Is it an address of this host on the side of @dev?  Each VRF has addresses of its
 * own, and link-local IPv6 addresses are unique per link only.  Context: RCU.
 */
static bool is_host_address(const struct nf_hook_state *state,
			    const struct net_device *dev, const void *address)
{
	if (state->pf == NFPROTO_IPV4)
		return inet_addr_type_dev_table(state->net, dev,
						*(const __be32 *)address) ==
		       RTN_LOCAL;
	return ipv6_chk_addr(state->net, address, dev, 0);
}

static bool has_local_source(const struct sk_buff *skb,
			     const struct nf_hook_state *state)
{
	if (state->pf == NFPROTO_IPV4)
		return is_host_address(state, state->out, &ip_hdr(skb)->saddr);
	return is_host_address(state, state->out, &ipv6_hdr(skb)->saddr);
}

/*
 * If NAT has replaced a destination that is an address of this host, replies get it
 * as their source.  They need not pass this hook: conntrack confirms the flow after
 * its first packet, and the next one, in either direction, may put both directions
 * into a flow table.  So the first packet is dropped.
 */
static bool lends_source(const struct sk_buff *skb,
			 const struct nf_hook_state *state)
{
	const struct nf_conntrack_tuple *first;
	const struct nf_conn *ct = flow_of(skb);

	if (!ct || !(ct->status & IPS_DST_NAT))
		return false;
	first = &ct->tuplehash[IP_CT_DIR_ORIGINAL].tuple;
	return first->dst.protonum == IPPROTO_UDP &&
	       first->src.u.udp.port == htons(SROCE_UDP_PORT) &&
	       is_host_address(state, state->in, &first->dst.u3);
}

unsigned int sroce_port_guard_forwarded(void *priv, struct sk_buff *skb,
					const struct nf_hook_state *state)
{
	if ((is_routed(skb, state) || has_new_source(skb, state->net)) &&
	    sroce_to_roce_port(skb, state->pf == NFPROTO_IPV4) &&
	    has_local_source(skb, state))
		return NF_DROP;
	return lends_source(skb, state) ? NF_DROP : NF_ACCEPT;
}
