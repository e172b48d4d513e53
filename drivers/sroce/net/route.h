/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ROUTE_H
#define SROCE_ROUTE_H

#include <net/netns/generic.h>
#include "../queue/qp.h"

/**
 * struct sroce_route_net - per network namespace data
 * @asked: a QP has looked up a route in the namespace; never cleared
 * @socket: IPv4 UDP socket that is not bound to a VRF, or NULL; written by
 *	net/udp_sock.c, read under RCU
 * @senders: a UDP socket for IPv6, and one for IPv4, or NULL; the same
 */
struct sroce_route_net {
	bool asked;
	struct sock __rcu *socket;
	struct sock __rcu *senders[2];
};

/* For the pernet_operations in net/udp_sock.c. */
extern unsigned int sroce_route_net_id;

static inline struct sroce_route_net *sroce_route_net(const struct net *net)
{
	return net_generic(net, sroce_route_net_id);
}

/*
 * True if QPs may have routes of the namespace.  Context: its netdevs are gone
 * and a grace period has passed, so no new lookup can begin.
 */
bool sroce_route_asked(const struct net *net);

/**
 * sroce_path_dst() - get the route to a peer
 * @path: cached route; protected by the lock of its side of the QP, which is
 *	held
 * @av: destination
 *
 * Return: a route without a reference of its own, owned by @path, or an
 * ERR_PTR().
 */
struct dst_entry *sroce_path_dst(struct sroce_path *path,
				 const struct sroce_av *av);
/* Drop the cached route.  Context: lock of its side held, or last user. */
void sroce_path_release(struct sroce_path *path);

/**
 * sroce_route_forget() - drop all routes of a network namespace
 * @net: namespace without netdevs
 *
 * Context: process, may sleep.
 */
void sroce_route_forget(const struct net *net);

#endif /* SROCE_ROUTE_H */
