/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_H
#define SROCE_RX_H

#include <linux/types.h>
#include "core/parse.h"
#include "reader.h"

struct net;
struct sock;

/**
 * struct sroce_rx - a packet that has arrived
 * @pkt: its headers
 * @payload: reads it from the first byte of the payload on
 * @net: namespace of the socket that received it, or of the device it is from
 * @skb: what it came in
 * @looped: it has not left its device
 * @ip: IP header of the burst it came in
 * @ipv4: IPv4, else IPv6
 * @ip_id: its own IPv4 identification; that in @ip is of the burst's first
 * @len: from the BTH to the end of the ICRC, bytes
 */
struct sroce_rx {
	struct sroce_pkt pkt;
	struct sroce_reader *payload;
	struct net *net;
	const struct sk_buff *skb;
	const u8 *ip;
	bool looped;
	bool ipv4;
	u16 ip_id;
	u32 len;
};

/**
 * sroce_rx_open() - receive RoCE packets in a network namespace
 * @net: the namespace
 * @ipv4: address family
 *
 * The socket is shared; every call needs its sroce_rx_close().
 *
 * Context: process, may sleep.
 * Return: 0; EADDRINUSE if somebody else has UDP port 4791 there.
 */
int sroce_rx_open(struct net *net, bool ipv4);
/* Undo one sroce_rx_open(); the last closes the socket.  Context: as there. */
void sroce_rx_close(struct net *net, bool ipv4);

/**
 * sroce_rx_sock() - a socket to send by, whatever the path is said to carry
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
struct sock *sroce_rx_sock(const struct net *net, bool ipv4);

/* Context: loading the module.  Return: 0 or an errno. */
int sroce_rx_init(void);
/* Context: unloading it; no device is left. */
void sroce_rx_exit(void);

#endif /* SROCE_RX_H */
