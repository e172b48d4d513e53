/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UDP_SOCK_H
#define SROCE_UDP_SOCK_H

#include "../base/sroce.h"

struct sk_buff;
struct sock;

/**
 * sroce_udp_sock_get() - receive RoCE packets in a network namespace or a VRF
 * @id: which socket
 *
 * The socket is shared; every call needs its sroce_udp_sock_put().
 *
 * Context: process, may sleep.
 * Return: 0; EADDRINUSE if somebody else has UDP port 4791 there.
 */
int sroce_udp_sock_get(const struct sroce_udp_sock_id *id);
/* Undo one sroce_udp_sock_get(); the last one closes it.  Context: as there. */
void sroce_udp_sock_put(const struct sroce_udp_sock_id *id);

/**
 * sroce_udp_sock_find() - a socket to send by, whatever the path is said to carry
 * @net: the namespace
 * @ipv4: address family
 *
 * Anybody on the net can make this host believe, by an ICMP message, that only
 * small packets get to a peer.  Ours cannot be made smaller, since the path MTU
 * is agreed upon, and those of hardware ask nobody.  IP takes what the netdev
 * carries with a socket that asks for that (IP_PMTUDISC_INTERFACE).
 *
 * Context: RCU read side, which keeps it.  Return: the socket, or NULL if there
 * is none in that namespace.
 */
struct sock *sroce_udp_sock_find(const struct net *net, bool ipv4);

/**
 * sroce_udp_sock_init() - start
 * @receive: encap_rcv of the sockets
 *
 * Context: loading the module.  Return: 0 or an errno.
 */
int sroce_udp_sock_init(int (*receive)(struct sock *sk, struct sk_buff *skb));
/* Context: unloading it; no device is left. */
void sroce_udp_sock_exit(void);

#endif /* SROCE_UDP_SOCK_H */
