/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PORT_GUARD_H
#define SROCE_PORT_GUARD_H

#include <net/net_namespace.h>

/**
 * sroce_port_guard_begin() - keep unprivileged processes from sending to the port
 *   of RoCE
 * @net: namespace of a socket
 * @ipv4: its address family
 *
 * Each call needs its own sroce_port_guard_end().
 *
 * Context: process, may sleep.  Return: 0 or an errno.
 */
int sroce_port_guard_begin(struct net *net, bool ipv4);
/* Same context.  The module stays for an RCU grace period. */
void sroce_port_guard_end(struct net *net, bool ipv4);

#endif /* SROCE_PORT_GUARD_H */
