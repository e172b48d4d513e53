/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_GSO_ACCEPT_H
#define SROCE_GSO_ACCEPT_H

#include <net/net_namespace.h>

/**
 * sroce_gso_accept_begin() - let bursts reach sockets whole
 * @net: namespace of a socket
 * @ipv4: its address family
 *
 * Each call needs its own sroce_gso_accept_end().
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_gso_accept_begin(struct net *net, bool ipv4);
/* Same context.  The module stays for an RCU grace period. */
void sroce_gso_accept_end(struct net *net, bool ipv4);

#endif /* SROCE_GSO_ACCEPT_H */
