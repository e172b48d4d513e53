// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address and GID that a received packet was sent to. */
#include <linux/netdevice.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "rx_gid.h"

void sroce_rx_daddr(const struct sroce_rx *rx, struct in6_addr *daddr)
{
	if (rx->ipv4)
		ipv6_addr_set_v4mapped(((const struct iphdr *)rx->ip)->daddr, daddr);
	else
		*daddr = ((const struct ipv6hdr *)rx->ip)->daddr;
}

/*
 * Index of that netdev, or 0.  IPv6 also knows it for a packet between two addresses of this
 * host, which arrives on lo.
 */
static int ndev_index(const struct sroce_rx *rx)
{
	return rx->ipv4 ? inet_sdif(rx->skb) : IP6CB(rx->skb)->iif;
}

bool sroce_is_above(const struct sroce_device *dev, struct net_device *ndev)
{
	bool above;

	rcu_read_lock();
	above = ndev == dev->ndev || netdev_has_upper_dev_all_rcu(dev->ndev, ndev);
	rcu_read_unlock();
	return above;
}

struct net_device *sroce_rx_ndev(const struct sroce_rx *rx)
{
	int index = rx->looped ? 0 : ndev_index(rx);

	if (!index || index == rx->ndev->ifindex)
		return rx->ndev;
	return dev_get_by_index_rcu(rx->net, index);
}

static bool in_namespace(const struct ib_gid_attr *attr, u64 net_cookie)
{
	struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);

	return !IS_ERR(ndev) && dev_net(ndev)->net_cookie == net_cookie;
}

static u16 gid_vlan(const struct ib_gid_attr *attr)
{
	u16 vlan_id = SROCE_NO_VLAN;

	return rdma_read_gid_l2_fields(attr, &vlan_id, NULL) ? SROCE_NO_VLAN : vlan_id;
}

struct sroce_gid_link sroce_gid_link(const struct ib_gid_attr *attr, struct net_device *ndev)
{
	return (struct sroce_gid_link) {
		.ifindex = ndev->ifindex,
		.l3mdev = l3mdev_master_ifindex_rcu(ndev),
		.vlan_id = gid_vlan(attr),
	};
}

bool sroce_gid_on_link(const struct ib_gid_attr *attr, const struct sroce_gid_link *link)
{
	struct net_device *ndev = rdma_read_gid_attr_ndev_rcu(attr);
	struct sroce_gid_link own;

	if (IS_ERR(ndev))
		return false;
	own = sroce_gid_link(attr, ndev);
	return own.ifindex == link->ifindex ||
	       (own.l3mdev == link->l3mdev && own.vlan_id == link->vlan_id);
}

/*
 * The RDMA core finds the first GID of an address only, which is of another namespace or
 * link.  @link: NULL for any.
 */
static const struct ib_gid_attr *find_later_gid(struct ib_device *ibdev,
						const struct in6_addr *addr, u64 net_cookie,
						const struct sroce_gid_link *link)
{
	const struct ib_gid_attr *attr;
	int i;

	for (i = 0; i < SROCE_GID_TABLE; i++) {
		attr = rdma_get_gid_attr(ibdev, SROCE_PORT, i);
		if (IS_ERR(attr))
			continue;
		if (attr->gid_type == IB_GID_TYPE_ROCE_UDP_ENCAP &&
		    ipv6_addr_equal((const struct in6_addr *)&attr->gid, addr) &&
		    in_namespace(attr, net_cookie) &&
		    (!link || sroce_gid_on_link(attr, link)))
			return attr;
		rdma_put_gid_attr(attr);
	}
	return NULL;
}

const struct ib_gid_attr *sroce_gid_first(struct ib_device *ibdev, const struct in6_addr *addr,
					  u64 net_cookie, struct net_device *ndev)
{
	const struct ib_gid_attr *attr;

	attr = rdma_find_gid_by_port(ibdev, (const union ib_gid *)addr,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, SROCE_PORT, ndev);
	if (IS_ERR(attr) || in_namespace(attr, net_cookie))
		return attr;
	rdma_put_gid_attr(attr);
	return ERR_PTR(-EXDEV);
}

const struct ib_gid_attr *sroce_gid_find(struct ib_device *ibdev, const struct in6_addr *addr,
					 u64 net_cookie, struct net_device *near)
{
	const struct ib_gid_attr *attr = sroce_gid_first(ibdev, addr, net_cookie, NULL);

	if (attr != ERR_PTR(-EXDEV))
		return IS_ERR(attr) ? NULL : attr;
	/* Strangers choose the rate of such packets, and there may be a thousand GIDs. */
	if (near)
		attr = sroce_gid_first(ibdev, addr, net_cookie, near);
	return IS_ERR(attr) ? find_later_gid(ibdev, addr, net_cookie, NULL) : attr;
}

const struct ib_gid_attr *sroce_gid_find_link(struct ib_device *ibdev, const struct in6_addr *addr,
					      u64 net_cookie, const struct sroce_gid_link *link)
{
	const struct ib_gid_attr *attr = sroce_gid_first(ibdev, addr, net_cookie, NULL);

	/* Usually no netdev has the address. */
	if (IS_ERR(attr) && attr != ERR_PTR(-EXDEV))
		return NULL;
	if (!IS_ERR(attr))
		rdma_put_gid_attr(attr);
	return find_later_gid(ibdev, addr, net_cookie, link);
}

/*
 * Find the device's GID that the packet was sent to, in the namespace of the packet.
 * Returns a reference or NULL.  Context: RCU.
 */
static const struct ib_gid_attr *find_gid(struct sroce_device *dev,
					  const struct sroce_rx *rx)
{
	struct net_device *ndev = sroce_rx_ndev(rx);
	const struct ib_gid_attr *attr;
	struct in6_addr daddr;

	sroce_rx_daddr(rx, &daddr);
	if (!sroce_rx_link_local(&daddr))
		return sroce_gid_find(&dev->ib, &daddr, rx->net->net_cookie, ndev);
	/* With NULL any netdev would match. */
	if (!ndev)
		return NULL;
	attr = sroce_gid_first(&dev->ib, &daddr, rx->net->net_cookie, ndev);
	return IS_ERR(attr) ? NULL : attr;
}

bool sroce_rx_is_ours(struct sroce_device *dev, const struct sroce_rx *rx)
{
	const struct ib_gid_attr *attr;

	rcu_read_lock();
	attr = find_gid(dev, rx);
	if (attr)
		rdma_put_gid_attr(attr);
	rcu_read_unlock();
	return attr;
}

u16 sroce_rx_vlan(struct sroce_device *dev, const struct sroce_rx *rx)
{
	const struct ib_gid_attr *attr;
	u16 vlan_id = SROCE_NO_VLAN;

	rcu_read_lock();
	attr = find_gid(dev, rx);
	if (attr) {
		vlan_id = gid_vlan(attr);
		rdma_put_gid_attr(attr);
	}
	rcu_read_unlock();
	return vlan_id;
}
