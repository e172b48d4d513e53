/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PORT_H
#define SROCE_PORT_H

#include "../base/sroce.h"

/* True if the netdev is up and has a carrier. */
bool sroce_port_is_up(const struct sroce_device *dev);

/* ib_device_ops */
int sroce_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr);
/* @speed: out: speed of the netdev, in units of 100 Mb/s */
int sroce_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed);

/**
 * sroce_port_event() - dispatch an event if the port has come up or gone
 *   down
 * @ibdev: a device
 * @ndev: its netdev
 * @event: unused; the state of the netdev counts
 *
 * The RDMA core's op of this name skips netdevs of link aggregation, so the
 * module's notifier calls it as well.
 *
 * Context: rtnl held.
 */
void sroce_port_event(struct ib_device *ibdev, struct net_device *ndev,
		      unsigned long event);

#endif /* SROCE_PORT_H */
