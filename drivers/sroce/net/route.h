/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ROUTE_H
#define SROCE_ROUTE_H

#include <net/netns/generic.h>
#include "../queue/qp.h"

/**
 * struct sroce_route_net - what is kept of a network namespace
 * @asked: a QP has asked it for a route; it stays so
 */
struct sroce_route_net {
	bool asked;
};

/* For the pernet_operations, which are net/udp_sock.c's */
extern unsigned int sroce_route_net_id;

/*
 * May QPs have routes of the namespace?  Context: its netdevs are gone, and a
 * grace period has passed, so that nobody begins to look for one.
 */
bool sroce_route_asked(const struct net *net);

/**
 * sroce_path_dst() - the route to a peer
 * @path: where it is kept; the lock of its side is held
 * @av: the peer
 *
 * Return: a route that belongs to @path, or an ERR_PTR().
 */
struct dst_entry *sroce_path_dst(struct sroce_path *path,
				 const struct sroce_av *av);
/* Forget the route.  Context: the lock of its side, or its last user. */
void sroce_path_release(struct sroce_path *path);

/**
 * sroce_route_forget() - a network namespace goes away
 * @net: it has no netdevs any more
 *
 * Context: process, may sleep.
 */
void sroce_route_forget(const struct net *net);

#endif /* SROCE_ROUTE_H */
