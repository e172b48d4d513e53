/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_NET_USO_H
#define SROCE_NET_USO_H

#include <linux/netdevice.h>

struct sroce_qp;

/* Is @dev known to spoil bursts?  Its packets have to be sent alone. */
bool sroce_uso_spoils(const struct net_device *dev);

/*
 * The device that the QP sends by spoils bursts: say so in the log, and send
 * single packets from now on.  Context: lock of the send queue held.
 */
void sroce_uso_found(struct sroce_qp *qp);

/* @dev goes, or its offloads have changed. */
void sroce_uso_forget(const struct net_device *dev);

#endif /* SROCE_NET_USO_H */
