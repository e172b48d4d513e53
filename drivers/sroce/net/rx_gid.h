/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RX_GID_H
#define SROCE_RX_GID_H

#include <net/ipv6.h>
#include "../base/sroce.h"
#include "rx_packet.h"

/*
 * Link-local addresses are unique per link only.  If a host has the same one on
 * several links, the netdev tells them apart.
 */
static inline bool sroce_rx_link_local(const struct in6_addr *addr)
{
	return ipv6_addr_type(addr) & IPV6_ADDR_LINKLOCAL;
}

/* Destination of a packet; an IPv4 address is mapped to IPv6.  Context: any. */
void sroce_rx_daddr(const struct sroce_rx *rx, struct in6_addr *daddr);

/*
 * Is it the netdev of the device, or one above that?  The addresses of these are the GIDs of
 * the device.  Context: any; @ndev stays.
 */
bool sroce_is_above(const struct sroce_device *dev, struct net_device *ndev);

/* Netdev that has the address, below a VRF; NULL if it is gone.  Context: RCU. */
struct net_device *sroce_rx_ndev(const struct sroce_rx *rx);

/**
 * sroce_gid_first() - find the first GID of an address and a netdev
 * @ibdev: the device
 * @addr: address
 * @net_cookie: the namespace
 * @ndev: the netdev, or NULL for any; only compared
 *
 * Context: RCU.
 * Return: the GID, to be released by rdma_put_gid_attr(); or an ERR_PTR(): EXDEV if it is of
 * another namespace.
 */
const struct ib_gid_attr *sroce_gid_first(struct ib_device *ibdev, const struct in6_addr *addr,
					  u64 net_cookie, struct net_device *ndev);

/**
 * struct sroce_gid_link - where a GID leads to
 * @ifindex: its netdev
 * @l3mdev: the VRF of that, or 0
 * @vlan_id: the VLAN, or SROCE_NO_VLAN
 */
struct sroce_gid_link {
	int ifindex;
	int l3mdev;
	u16 vlan_id;
};

/* Context: RCU.  @ndev: the netdev of the GID. */
struct sroce_gid_link sroce_gid_link(const struct ib_gid_attr *attr, struct net_device *ndev);

/*
 * Does the GID have the same netdev, or one of the same VRF and VLAN?  In the namespace of
 * @link.  Context: RCU.
 */
bool sroce_gid_on_link(const struct ib_gid_attr *attr, const struct sroce_gid_link *link);

/**
 * sroce_gid_find_link() - find the GID of an address on a link
 * @ibdev: the device
 * @addr: address
 * @net_cookie: the namespace
 * @link: the link
 *
 * It may read all GIDs, if the address exists on another link only.
 *
 * Context: RCU.
 * Return: the GID, to be released by rdma_put_gid_attr(); NULL if there is none.
 */
const struct ib_gid_attr *sroce_gid_find_link(struct ib_device *ibdev, const struct in6_addr *addr,
					      u64 net_cookie, const struct sroce_gid_link *link);

/**
 * sroce_gid_find() - find the GID of an address in a network namespace
 * @ibdev: the device; its netdev may have VLANs in several namespaces, with equal addresses
 * @addr: address
 * @net_cookie: the namespace
 * @near: netdev that probably has the address, or NULL; saves time if there are equal ones
 *
 * Context: RCU.
 * Return: the GID, to be released by rdma_put_gid_attr(); NULL if there is none.
 */
const struct ib_gid_attr *sroce_gid_find(struct ib_device *ibdev, const struct in6_addr *addr,
					 u64 net_cookie, struct net_device *near);

/* Is the packet sent to an address of the device in its namespace?  Context: any. */
bool sroce_rx_is_ours(struct sroce_device *dev, const struct sroce_rx *rx);

/**
 * sroce_rx_vlan() - VLAN ID of the GID, with which the RDMA core finds it for a response
 * @dev: the device
 * @rx: the packet
 *
 * The tag of the packet is not suitable: a bridge or macvlan above the VLAN may have the
 * GID.
 *
 * Context: any.
 * Return: VLAN ID or SROCE_NO_VLAN.
 */
u16 sroce_rx_vlan(struct sroce_device *dev, const struct sroce_rx *rx);

#endif /* SROCE_RX_GID_H */
