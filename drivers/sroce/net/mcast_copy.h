/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_MCAST_COPY_H
#define SROCE_MCAST_COPY_H

#include "rx_packet.h"

/**
 * sroce_mcast_first() - find the netdev that has received the first copy of a packet
 * @rx: multicast packet, intact
 * @in: netdev that has received it, below a VRF
 *
 * Context: RCU read side.  A lock is taken that is a leaf.
 * Return: @in if this is the first copy; or else another netdev, only to be compared, because
 * it may be gone.
 */
const struct net_device *sroce_mcast_first(const struct sroce_rx *rx, struct net_device *in);

#endif /* SROCE_MCAST_COPY_H */
