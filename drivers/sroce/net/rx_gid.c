// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses of a received packet, and the GID that it was sent to. */
#include <linux/netdevice.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "rx_gid.h"

void sroce_rx_addresses(const struct sroce_rx *rx, struct in6_addr *from,
			struct in6_addr *to)
{
	if (rx->ipv4) {
		const struct iphdr *ip = (const struct iphdr *)rx->ip;

		ipv6_addr_set_v4mapped(ip->saddr, from);
		ipv6_addr_set_v4mapped(ip->daddr, to);
	} else {
		const struct ipv6hdr *ip = (const struct ipv6hdr *)rx->ip;

		*from = ip->saddr;
		*to = ip->daddr;
	}
}

struct net_device *sroce_rx_ndev(const struct sroce_rx *rx)
{
	int slave = 0;

	if (!rx->looped)
		slave = rx->ipv4 ? inet_sdif(rx->skb) : inet6_sdif(rx->skb);
	return slave ? dev_get_by_index_rcu(rx->net, slave) : rx->ndev;
}

static bool in_namespace(const struct ib_gid_attr *attr, const struct net *net)
{
	struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);

	return !IS_ERR(ndev) && net_eq(dev_net(ndev), net);
}

/*
 * Find the device's GID with address @to in the namespace of the packet.
 * Returns a reference or NULL.  Context: RCU.
 */
static const struct ib_gid_attr *find_gid(struct sroce_device *dev,
					  const struct sroce_rx *rx,
					  const struct in6_addr *to)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev = NULL;

	if (sroce_rx_link_local(to)) {
		ndev = sroce_rx_ndev(rx);
		/* With NULL any netdev would match. */
		if (!ndev)
			return NULL;
	}
	attr = rdma_find_gid_by_port(&dev->ib, (const union ib_gid *)to,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, SROCE_PORT,
				     ndev);
	if (IS_ERR(attr))
		return NULL;
	if (in_namespace(attr, rx->net))
		return attr;
	rdma_put_gid_attr(attr);
	return NULL;
}

bool sroce_rx_is_ours(struct sroce_device *dev, const struct sroce_rx *rx)
{
	const struct ib_gid_attr *attr;
	struct in6_addr from, to;

	sroce_rx_addresses(rx, &from, &to);
	rcu_read_lock();
	attr = find_gid(dev, rx, &to);
	if (attr)
		rdma_put_gid_attr(attr);
	rcu_read_unlock();
	return attr;
}

u16 sroce_rx_vlan(struct sroce_device *dev, const struct sroce_rx *rx)
{
	const struct ib_gid_attr *attr;
	u16 vlan_id = SROCE_NO_VLAN;
	struct in6_addr from, to;

	sroce_rx_addresses(rx, &from, &to);
	rcu_read_lock();
	attr = find_gid(dev, rx, &to);
	if (attr) {
		if (rdma_read_gid_l2_fields(attr, &vlan_id, NULL))
			vlan_id = SROCE_NO_VLAN;
		rdma_put_gid_attr(attr);
	}
	rcu_read_unlock();
	return vlan_id;
}
