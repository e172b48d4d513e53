// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of netfilter hooks.  Without netfilter none of them is built. */
#include <linux/netfilter_ipv4.h>
#include <linux/netfilter_ipv6.h>
#include "gso_accept.h"
#include "nf_hooks.h"
#include "port_guard.h"
#include "rx_route.h"

/*
 * The hooks run after the firewall and NAT, because these may change the packet.  They run
 * before conntrack, which is last and confirms a new flow.  Packets of a confirmed flow, and
 * replies to them, may take a flow table, and then pass no hook.
 */
#define IPV4_HOOK(function, place) {					\
	.hook = function,						\
	.pf = NFPROTO_IPV4,						\
	.hooknum = NF_INET_##place,					\
	.priority = NF_IP_PRI_LAST - 1,					\
}

#define IPV6_HOOK(function, place) {					\
	.hook = function,						\
	.pf = NFPROTO_IPV6,						\
	.hooknum = NF_INET_##place,					\
	.priority = NF_IP6_PRI_LAST - 1,				\
}

static const struct nf_hook_ops ipv4_hooks[] = {
	IPV4_HOOK(sroce_rx_route_set, PRE_ROUTING),
	IPV4_HOOK(sroce_gso_accept, LOCAL_IN),
	IPV4_HOOK(sroce_port_guard, LOCAL_OUT),
	IPV4_HOOK(sroce_port_guard_forwarded, POST_ROUTING),
};

static const struct nf_hook_ops ipv6_hooks[] = {
	IPV6_HOOK(sroce_gso_accept, LOCAL_IN),
	IPV6_HOOK(sroce_port_guard, LOCAL_OUT),
	IPV6_HOOK(sroce_port_guard_forwarded, POST_ROUTING),
};

int sroce_nf_hooks_add(struct net *net, bool ipv4)
{
	return ipv4 ? nf_register_net_hooks(net, ipv4_hooks,
					    ARRAY_SIZE(ipv4_hooks)) :
		      nf_register_net_hooks(net, ipv6_hooks,
					    ARRAY_SIZE(ipv6_hooks));
}

void sroce_nf_hooks_remove(struct net *net, bool ipv4)
{
	if (ipv4)
		nf_unregister_net_hooks(net, ipv4_hooks,
					ARRAY_SIZE(ipv4_hooks));
	else
		nf_unregister_net_hooks(net, ipv6_hooks,
					ARRAY_SIZE(ipv6_hooks));
}
