// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listeners: the UDP sockets that the GIDs and the devices keep open.
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/slab.h>
#include <net/l3mdev.h>
#include <net/net_namespace.h>
#include <rdma/ib_cache.h>
#include "../net/mcast.h"
#include "../net/rx_gid.h"
#include "../net/udp_sock.h"
#include "bond_gid.h"
#include "listener.h"

/*
 * Listeners of all devices.  The lock is taken with and without rtnl;
 * net/udp_sock.c's lock nests inside.
 */
static LIST_HEAD(listeners);
static DEFINE_MUTEX(listeners_lock);

/*
 * Namespace of a netdev, or NULL if it is leaving it.  A netdev that leaves is
 * first removed from the namespace's list; after a grace period
 * sroce_listener_netdev_gone() takes listeners_lock.  If the netdev is still
 * listed while we hold the lock, that call comes later and finds our listener.
 */
static struct net *net_of_listed(struct net_device *ndev)
{
	struct net *net;

	lockdep_assert_held(&listeners_lock);
	rcu_read_lock();
	net = dev_net(ndev);
	if (dev_get_by_index_rcu(net, ndev->ifindex) != ndev)
		net = NULL;
	rcu_read_unlock();
	return net;
}

/*
 * On a host without IPv6 a listener for IPv6 has no socket.  The RDMA core adds the
 * default GID there, too, and programs may depend on its index.
 */
static int listener_open(struct sroce_listener *l, struct net_device *ndev,
			 bool ipv4)
{
	struct sroce_udp_sock_id id = { .ipv4 = ipv4 };
	int err = -ENODEV;

	INIT_LIST_HEAD(&l->list);
	mutex_lock(&listeners_lock);
	id.net = net_of_listed(ndev);
	id.l3mdev = l3mdev_master_ifindex(ndev);
	if (id.net)
		err = sroce_udp_sock_get(&id);
	if (!err) {
		l->socket = id;
		l->ndev = ndev;
		list_add(&l->list, &listeners);
	}
	mutex_unlock(&listeners_lock);
	return err == -EAFNOSUPPORT ? 0 : err;
}

static void listener_close(struct sroce_listener *l)
{
	lockdep_assert_held(&listeners_lock);
	if (l->socket.net)
		sroce_udp_sock_put(&l->socket);
	l->socket.net = NULL;
}

/* Switch to the socket of the VRF that the netdev belongs to now. */
static void listener_follow(struct sroce_listener *l, struct net_device *ndev)
{
	struct sroce_udp_sock_id id = l->socket;
	int err;

	lockdep_assert_held(&listeners_lock);
	id.l3mdev = l3mdev_master_ifindex(ndev);
	if (!id.net || id.l3mdev == l->socket.l3mdev)
		return;
	err = sroce_udp_sock_get(&id);
	if (err) {
		/* Keep the old socket until the netdev moves again. */
		netdev_err(ndev, "sroce: no socket for UDP port %d in this VRF, error %d\n",
			   ROCE_V2_UDP_DPORT, err);
		return;
	}
	sroce_udp_sock_put(&l->socket);
	l->socket = id;
}

static void listener_remove(struct sroce_listener *l)
{
	mutex_lock(&listeners_lock);
	listener_close(l);
	list_del_init(&l->list);
	mutex_unlock(&listeners_lock);
}

static int gid_open(struct sroce_listener *l, const struct ib_gid_attr *attr,
		    struct net_device *ndev)
{
	bool ipv4 = rdma_gid_attr_network_type(attr) == RDMA_NETWORK_IPV4;
	struct sroce_device *dev = sroce_device(attr->device);
	int err;

	/*
	 * The RDMA core offers a device on a VLAN the addresses of the netdev below and of
	 * other VLANs, too.  Programs that take the first GID would then leave by the wrong
	 * netdev.
	 */
	if (!ndev || !sroce_is_above(dev, ndev))
		return -ENODEV;
	err = listener_open(l, ndev, ipv4);
	if (err)
		return err;
	err = sroce_mcast_netdev_new(dev, ndev);
	if (err)
		listener_remove(l);
	return err;
}

int sroce_add_gid(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_listener *l;
	struct net_device *ndev;
	int err;

	if (attr->gid_type != IB_GID_TYPE_ROCE_UDP_ENCAP)
		return -EOPNOTSUPP;
	l = kzalloc_obj(*l, GFP_KERNEL);
	if (!l)
		return -ENOMEM;

	rcu_read_lock();
	ndev = rcu_dereference(attr->ndev);
	dev_hold(ndev);
	rcu_read_unlock();
	err = gid_open(l, attr, ndev);
	dev_put(ndev);
	if (err)
		kfree(l);
	else
		*context = l;
	return err;
}

int sroce_del_gid(const struct ib_gid_attr *attr, void **context)
{
	struct sroce_device *dev = sroce_device(attr->device);

	listener_remove(*context);
	kfree(*context);
	sroce_bond_gid_deleted(dev, attr->index);
	return 0;
}

void sroce_listener_netdev_gone(struct net_device *ndev)
{
	struct sroce_listener *l;

	ASSERT_RTNL();
	mutex_lock(&listeners_lock);
	list_for_each_entry(l, &listeners, list)
		if (l->ndev == ndev)
			listener_close(l);
	mutex_unlock(&listeners_lock);
}

void sroce_listener_netdev_moved(struct net_device *ndev)
{
	struct sroce_listener *l;

	ASSERT_RTNL();
	mutex_lock(&listeners_lock);
	list_for_each_entry(l, &listeners, list)
		if (l->ndev == ndev)
			listener_follow(l, ndev);
	mutex_unlock(&listeners_lock);
}

/*
 * Keep the port open even if the device has no address.  Otherwise any process
 * could take the port before an address is added.
 */
int sroce_listener_open_ports(struct sroce_device *dev, struct net_device *ndev)
{
	int err;

	err = listener_open(&dev->ipv4, ndev, true);
	if (err)
		goto err;
	err = listener_open(&dev->ipv6, ndev, false);
	if (!err)
		return 0;
	listener_remove(&dev->ipv4);
err:
	if (err == -EADDRINUSE)
		netdev_err(ndev, "sroce: UDP port %d is in use in this network namespace; is rxe loaded?\n",
			   ROCE_V2_UDP_DPORT);
	return err;
}

void sroce_listener_close_ports(struct sroce_device *dev)
{
	listener_remove(&dev->ipv6);
	listener_remove(&dev->ipv4);
}
