/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MCAST_H
#define SROCE_MCAST_H

#include <linux/in6.h>
#include <rdma/ib_verbs.h>
#include "qp.h"

/**
 * sroce_mcast_for_each() - find the QPs that a multicast packet is for
 * @net: network namespace of the packet
 * @in: netdev that it came in by; and
 * @slave: index of the one below, if @in is a VRF's, else 0
 * @group: its destination; an IPv4 address in its mapped form
 * @deliver: called for each of them, with a reference that it takes over
 * @arg: for @deliver
 *
 * Context: RCU read side, no lock held that @deliver wants.
 * Return: how many there were.
 */
u32 sroce_mcast_for_each(const struct net *net, const struct net_device *in,
			 int slave, const struct in6_addr *group,
			 void (*deliver)(struct sroce_qp *qp, void *arg),
			 void *arg);

/* ib_device_ops */
int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

#endif /* SROCE_MCAST_H */
