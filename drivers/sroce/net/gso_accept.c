// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bursts that arrive whole: from a virtual device, from virtio-net with the
 * feature GUEST_USO, or from a NIC that joins packets.  For a socket with an
 * encap_rcv, UDP segments them again, because most tunnels cannot take them
 * (udp_unexpected_gso()).  UDP has no flag for a socket that can, only the
 * tunnel bit that its own GRO sets for such sockets.  A netfilter hook sets this
 * bit after routing and firewall, when the packet can only go to the socket, so
 * no driver sees it.
 *
 * Without netfilter (CONFIG_NETFILTER), bursts are segmented.
 */
#include <linux/netfilter.h>
#include <linux/skbuff.h>
#include "gso_accept.h"
#include "roce_port.h"

#define MARKS	(SKB_GSO_UDP_TUNNEL | SKB_GSO_UDP_TUNNEL_CSUM)

/*
 * True for a UDP burst that UDP would segment.  Packets that a forwarding netdev has joined
 * with rx-gro-list (SKB_GSO_FRAGLIST) each have an IP header.  UDP has to segment them, because
 * the ICRCs cover identifications that may have any distance.
 */
static bool is_unmarked(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       (skb_shinfo(skb)->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST | MARKS)) ==
	       SKB_GSO_UDP_L4;
}

/*
 * A clone shares the bit, and may be on its way to a driver.  Another user's
 * socket, inside or outside a VRF, may use the same port.  UDP segments the burst
 * for that socket, because only a socket with udp_allow_gso() accepts bursts.
 */
unsigned int sroce_gso_accept(void *priv, struct sk_buff *skb,
			      const struct nf_hook_state *state)
{
	if (unlikely(is_unmarked(skb)) &&
	    sroce_to_roce_port(skb, state->pf == NFPROTO_IPV4) &&
	    !skb_unclone(skb, GFP_ATOMIC))
		skb_shinfo(skb)->gso_type |= SKB_GSO_UDP_TUNNEL;
	return NF_ACCEPT;
}
