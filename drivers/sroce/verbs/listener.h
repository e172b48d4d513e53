/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_LISTENER_H
#define SROCE_LISTENER_H

#include <rdma/ib_verbs.h>
#include "../base/sroce.h"

/**
 * sroce_listener_open_ports() - open the UDP port of a new device
 * @dev: the device, not yet registered
 * @ndev: its netdev
 *
 * Context: process, may sleep.
 * Return: 0, ENODEV if @ndev is leaving its namespace, EADDRINUSE if the port is
 * in use there, or another errno; nothing is open then.  Without IPv6 support,
 * the IPv4 port alone is enough.
 */
int sroce_listener_open_ports(struct sroce_device *dev,
			      struct net_device *ndev);

/**
 * sroce_listener_close_ports() - undo sroce_listener_open_ports()
 * @dev: the device, unregistered or about to be; the second call does nothing
 *
 * Context: process, may sleep.
 */
void sroce_listener_close_ports(struct sroce_device *dev);

/* Ops of struct ib_device_ops; @context is a struct sroce_listener. */
int sroce_add_gid(const struct ib_gid_attr *attr, void **context);
int sroce_del_gid(const struct ib_gid_attr *attr, void **context);

/**
 * sroce_listener_netdev_gone() - netdev leaves its network namespace
 * @ndev: any netdev: a GID may belong to a netdev above the device's own
 *
 * Closes the sockets of the netdev's GIDs before the namespace can be freed.
 * The RDMA core deletes the GIDs later.
 *
 * Context: rtnl held, after the netdev was removed from the namespace's list.
 */
void sroce_listener_netdev_gone(struct net_device *ndev);

/**
 * sroce_listener_netdev_moved() - netdev has joined or left a VRF
 * @ndev: any netdev; see sroce_listener_netdev_gone()
 *
 * Its packets arrive through the socket of that VRF from now on.
 *
 * Context: rtnl held.
 */
void sroce_listener_netdev_moved(struct net_device *ndev);

#endif /* SROCE_LISTENER_H */
