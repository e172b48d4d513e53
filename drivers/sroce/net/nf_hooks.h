/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_NF_HOOKS_H
#define SROCE_NF_HOOKS_H

#include <net/net_namespace.h>

#ifdef CONFIG_NETFILTER

/**
 * sroce_nf_hooks_add() - register the netfilter hooks of sockets
 * @net: their namespace
 * @ipv4: their address family
 *
 * Only once per namespace and family, whatever VRFs the sockets are in: each packet
 * would pass a second set, too.
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_nf_hooks_add(struct net *net, bool ipv4);
/* Same context.  Hooks may run until the end of an RCU grace period. */
void sroce_nf_hooks_remove(struct net *net, bool ipv4);

#else

static inline int sroce_nf_hooks_add(struct net *net, bool ipv4)
{
	return 0;
}

static inline void sroce_nf_hooks_remove(struct net *net, bool ipv4)
{
}

#endif /* CONFIG_NETFILTER */

#endif /* SROCE_NF_HOOKS_H */
