/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DEVICE_H
#define SROCE_DEVICE_H

#include <rdma/rdma_netlink.h>
#include "../base/sroce.h"

/* "rdma link add", whose calls may run in parallel, and "rdma link delete" */
extern struct rdma_link_ops sroce_link_ops;

/**
 * sroce_dellink() - close the UDP ports that "rdma link add" has opened
 * @ibdev: a device that is about to be unregistered
 *
 * The sockets of its GIDs stay open until the RDMA core deletes the GIDs, so
 * that clients can close their connections.
 *
 * Context: process, may sleep; the netdev may be unregistered in parallel.
 * Return: 0.
 */
int sroce_dellink(struct ib_device *ibdev);

/*
 * Find the device on @ndev; returns a reference for ib_device_put(), or NULL.
 */
struct sroce_device *sroce_device_get_by_netdev(struct net_device *ndev);

#endif /* SROCE_DEVICE_H */
