/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UDP_SOCK_H
#define SROCE_UDP_SOCK_H

#include "../base/sroce.h"

struct sk_buff;
struct sock;

/**
 * sroce_udp_sock_get() - receive RoCE packets in a network namespace or a VRF
 * @id: socket
 *
 * The socket is shared; each call needs its own sroce_udp_sock_put().
 *
 * Context: process, may sleep.
 * Return: 0; EADDRINUSE if another user has UDP port 4791 there.
 */
int sroce_udp_sock_get(const struct sroce_udp_sock_id *id);
/*
 * Drop one reference; the last one closes the socket, without waiting for packets that are
 * under way.  Same context.
 */
void sroce_udp_sock_put(const struct sroce_udp_sock_id *id);

/**
 * sroce_udp_sock_find() - find a socket that sends without path MTU limits
 * @net: the namespace
 * @ipv4: address family
 *
 * Anybody in the network can make this host believe, by an ICMP message, that
 * only small packets reach a peer.  RoCE packets cannot be made smaller,
 * because the path MTU is negotiated; hardware ignores the message as well.  A
 * socket with IP_PMTUDISC_INTERFACE makes IP use the netdev's MTU.
 *
 * Context: RCU read side, which protects the socket.  Return: the socket, or
 * NULL if the namespace has none.
 */
struct sock *sroce_udp_sock_find(const struct net *net, bool ipv4);

/**
 * sroce_udp_sock_init() - register for network namespaces
 * @receive: encap_rcv of the sockets
 *
 * Context: loading the module.  Return: 0 or an errno.
 */
int sroce_udp_sock_init(int (*receive)(struct sock *sk, struct sk_buff *skb));
/* Context: unloading the module, after all devices are gone. */
void sroce_udp_sock_exit(void);

#endif /* SROCE_UDP_SOCK_H */
