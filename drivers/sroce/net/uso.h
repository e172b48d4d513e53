/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_NET_USO_H
#define SROCE_NET_USO_H

#include <linux/netdevice.h>

struct sroce_av;
struct sroce_path;

/* Is @dev known to spoil or lose bursts to the peer of @av?  Then send single packets. */
bool sroce_uso_spoils(const struct net_device *dev, const struct sroce_av *av);

/*
 * Record that the netdev of the route spoils or loses bursts to the peer of @av, and write a
 * message to the kernel log.  Context: lock that protects @path held.
 */
void sroce_uso_found(const struct sroce_path *path, const struct sroce_av *av);

/* @dev is being removed, or its offloads have changed. */
void sroce_uso_forget(const struct net_device *dev);

#endif /* SROCE_NET_USO_H */
