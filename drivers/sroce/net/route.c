// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Routes to peers: lookup, caching, and release when a network namespace goes.
 */
#include <linux/netdevice.h>
#include <net/addrconf.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/l3mdev.h>
#include <net/route.h>
#include "../core/wire.h"
#include "ah.h"
#include "route.h"

unsigned int sroce_route_net_id;

bool sroce_route_asked(const struct net *net)
{
	return READ_ONCE(sroce_route_net(net)->asked);
}

static struct dst_entry *lookup_ipv4(struct net *net, const struct sroce_av *av,
				     int oif)
{
	struct flowi4 fl = {
		.flowi4_oif = oif,
		SROCE_FLOWI4_DSCP(av->tclass),
		.flowi4_proto = IPPROTO_UDP,
		.daddr = av->daddr.s6_addr32[3],
		.saddr = av->saddr.s6_addr32[3],
		.fl4_sport = htons(av->sport),
		.fl4_dport = htons(SROCE_UDP_PORT),
	};
	struct rtable *rt = ip_route_output_key(net, &fl);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

/*
 * A local address of another netdev is not found with the output interface set
 * to ours.  IPv4 would send the packet out and drop it when it comes back from
 * a local source address.  As for any program, a lookup without an interface,
 * or with the VRF, finds it.  IPv6 finds it either way.
 */
static struct dst_entry *route_ipv4(struct net *net, const struct sroce_av *av,
				    struct net_device *ndev)
{
	struct dst_entry *dst;

	if (inet_addr_type_dev_table(net, ndev,
				     av->daddr.s6_addr32[3]) == RTN_LOCAL) {
		dst = lookup_ipv4(net, av, l3mdev_master_ifindex_rcu(ndev));
		if (!IS_ERR(dst))
			return dst;
	}
	return lookup_ipv4(net, av, ndev->ifindex);
}

/* Only routes of the flow's output interface.  Returns NULL if there is none. */
static struct dst_entry *lookup_ipv6_strict(struct net *net, struct flowi6 *fl)
{
	struct dst_entry *dst = ip6_route_output_flags(net, NULL, fl, RT6_LOOKUP_F_IFACE);

	if (dst->error) {
		dst_release(dst);
		return NULL;
	}
	dst = xfrm_lookup_route(net, dst, flowi6_to_flowi(fl), NULL, 0);
	return IS_ERR(dst) ? NULL : dst;
}

static bool route_is_local(const struct dst_entry *dst)
{
	return dst->dev->flags & IFF_LOOPBACK || netif_is_l3_master(dst->dev);
}

/*
 * For IPv6 an output interface only decides between routes of one metric.  A packet has to
 * leave by the netdev of its GID, as with IPv4, if that has a route.
 */
static struct dst_entry *route_ipv6(struct net *net, const struct sroce_av *av,
				    struct net_device *ndev)
{
	struct flowi6 fl = {
		.flowi6_oif = ndev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = av->daddr,
		.saddr = av->saddr,
		.flowlabel = ip6_make_flowinfo(av->tclass,
					       cpu_to_be32(av->flow_label)),
		.fl6_sport = htons(av->sport),
		.fl6_dport = htons(SROCE_UDP_PORT),
	};
	struct dst_entry *dst, *strict;
	struct flowi6 any = fl;

	/* The device has a GID all the same: the default one. */
	if (!ipv6_mod_enabled())
		return ERR_PTR(-EAFNOSUPPORT);
	dst = sroce_route_ipv6(net, &any);
	if (IS_ERR(dst) || dst->dev == ndev || route_is_local(dst))
		return dst;
	strict = lookup_ipv6_strict(net, &fl);
	if (!strict)
		return dst;
	dst_release(dst);
	return strict;
}

/*
 * Returns the namespace as well: when it is destroyed, the netdev of the route
 * is replaced by one of the initial namespace.
 *
 * The netdev may move to another namespace at any time, so its namespace is read once: it is
 * the one that is asked, and that drops the route when it is destroyed.
 */
static struct dst_entry *lookup_route(const struct sroce_av *av, struct net **net)
{
	struct dst_entry *dst = ERR_PTR(-ENETUNREACH);
	struct net_device *ndev;
	struct net *now;

	rcu_read_lock();
	ndev = sroce_av_ndev(av);
	now = ndev ? dev_net_rcu(ndev) : NULL;
	/* A netdev that has left the namespace may not have lost the GID yet. */
	if (now && now->net_cookie == av->net_cookie) {
		*net = now;
		/*
		 * Set under RCU while the netdev exists; see
		 * sroce_route_asked().
		 */
		WRITE_ONCE(sroce_route_net(now)->asked, true);
		dst = av->ipv4 ? route_ipv4(now, av, ndev) :
				 route_ipv6(now, av, ndev);
	}
	rcu_read_unlock();
	return dst;
}

void sroce_path_release(struct sroce_path *path)
{
	dst_release(path->dst);
	path->dst = NULL;
}

struct dst_entry *sroce_path_dst(struct sroce_path *path,
				 const struct sroce_av *av)
{
	struct dst_entry *dst = path->dst;

	if (likely(dst && dst_check(dst, path->cookie)))
		return dst;
	sroce_path_release(path);
	dst = lookup_route(av, &path->net);
	if (IS_ERR(dst))
		return dst;
	path->dst = dst;
	path->cookie = av->ipv4 ? 0 : rt6_get_cookie((struct rt6_info *)dst);
	return dst;
}

/*
 * A QP that is being destroyed releases its routes before its last reference is
 * dropped, and is found until then.  The lock order is that of
 * sroce_qp_lock_both().  Nothing is posted or completed here, so the plain locks
 * are enough.
 */
static void drop_routes(struct sroce_qp *qp, const void *net)
{
	if (!sroce_qp_get(qp))
		return;
	spin_lock_bh(&qp->rq.lock);
	spin_lock(&qp->sq.lock);
	if (qp->sq.path.net == net)
		sroce_path_release(&qp->sq.path);
	if (qp->rq.path.net == net)
		sroce_path_release(&qp->rq.path);
	spin_unlock(&qp->sq.lock);
	spin_unlock_bh(&qp->rq.lock);
	sroce_qp_put(qp);
}

void sroce_route_forget(const struct net *net)
{
	sroce_qp_for_each(drop_routes, net);
}
