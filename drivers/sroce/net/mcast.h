/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MCAST_H
#define SROCE_MCAST_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>
#include "../queue/qp.h"

/**
 * sroce_mcast_for_each() - call a function for each QP that a multicast packet
 *   is for
 * @in: netdev that received it, below a VRF
 * @first: netdev that received the first copy of it, by sroce_mcast_first()
 * @group: destination address; IPv4 in IPv4-mapped form
 * @deliver: called for each QP; takes ownership of a reference
 * @arg: for @deliver
 *
 * Context: RCU read side; no lock held that @deliver takes.
 * Return: number of QPs, with those that received the first copy.
 */
u32 sroce_mcast_for_each(const struct net_device *in,
			 const struct net_device *first,
			 const struct in6_addr *group,
			 void (*deliver)(struct sroce_qp *qp, void *arg),
			 void *arg);

/**
 * sroce_mcast_netdev_new() - a netdev gets an address of a device
 * @dev: the device
 * @ndev: the netdev; the caller has a reference
 *
 * It joins the groups of the device's QPs, some time later.
 *
 * Context: process, may sleep; with or without the rtnl.
 * Return: 0 or ENOMEM.
 */
int sroce_mcast_netdev_new(struct sroce_device *dev, struct net_device *ndev);

/**
 * sroce_mcast_netdev_gone() - a netdev leaves its network namespace
 * @ndev: any netdev
 *
 * The netdev leaves its groups itself.
 *
 * Context: rtnl held.
 */
void sroce_mcast_netdev_gone(const struct net_device *ndev);

/**
 * sroce_mcast_uppers_changed() - a netdev has left a bridge, a bond or the like
 *
 * The members leave the groups of netdevs that are not above that of their device any more.
 *
 * Context: rtnl held.
 */
void sroce_mcast_uppers_changed(void);

/**
 * sroce_mcast_mtu_changed() - the MTU of a netdev has changed
 * @ndev: any netdev
 *
 * With an MTU below 1280 it has no IPv6, below 68 no IPv4.  When it has them again, it joins
 * the groups again.
 *
 * Context: rtnl held; IP has been notified before.
 */
void sroce_mcast_mtu_changed(const struct net_device *ndev);

/* ib_device_ops */
int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* SROCE_MCAST_H */
