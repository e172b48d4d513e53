/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DEVICE_H
#define SROCE_DEVICE_H

#include "../base/sroce.h"

/**
 * sroce_device_add() - create and register a device
 * @name: of the ib_device
 * @ndev: netdev to use, in any network namespace
 *
 * Context: process, may sleep; several may run at a time.
 * Return: 0, EEXIST if @ndev has a sroce device, EADDRINUSE if UDP port 4791
 * is taken in its namespace (by rxe, for one), or another errno; nothing is
 * left behind on failure.
 */
int sroce_device_add(const char *name, struct net_device *ndev);

/* The device on @ndev, with a reference for ib_device_put(), or NULL. */
struct sroce_device *sroce_device_get_by_netdev(struct net_device *ndev);

/**
 * sroce_device_port_event() - tell users if the port has come up or gone down
 * @ibdev: a device
 * @ndev: its netdev
 * @event: what happened to it; the netdev itself is asked
 *
 * Context: rtnl held.  The RDMA core's verb of this name passes over netdevs of
 * link aggregation, so that the module's notifier calls it as well.
 */
void sroce_device_port_event(struct ib_device *ibdev, struct net_device *ndev,
			     unsigned long event);

/**
 * sroce_device_netdev_gone() - a netdev leaves its network namespace
 * @ndev: any netdev: a GID may belong to one above the device's own
 *
 * Closes the sockets that its GIDs hold, before the namespace can go.  The
 * RDMA core deletes the GIDs later.
 *
 * Context: rtnl held, after the netdev was taken off the namespace's list.
 */
void sroce_device_netdev_gone(struct net_device *ndev);

/**
 * sroce_device_netdev_moved() - a netdev has joined or left a VRF
 * @ndev: any netdev, as above
 *
 * Its packets come by that VRF's socket from now on.
 *
 * Context: rtnl held.
 */
void sroce_device_netdev_moved(struct net_device *ndev);

#endif /* SROCE_DEVICE_H */
