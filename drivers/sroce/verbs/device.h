/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DEVICE_H
#define SROCE_DEVICE_H

#include "../base/sroce.h"

/**
 * sroce_device_add() - create and register a device
 * @name: name of the ib_device
 * @ndev: netdev, in any network namespace
 *
 * Context: process, may sleep; calls may run in parallel.
 * Return: 0, EEXIST if @ndev has a sroce device, EADDRINUSE if UDP port 4791 is
 * in use in its namespace (for instance by rxe), or another errno.
 */
int sroce_device_add(const char *name, struct net_device *ndev);

/*
 * Find the device on @ndev; returns a reference for ib_device_put(), or NULL.
 */
struct sroce_device *sroce_device_get_by_netdev(struct net_device *ndev);

#endif /* SROCE_DEVICE_H */
