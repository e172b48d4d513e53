// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of UD QPs.  The network stack does most of it: the device's
 * netdev joins the IP group, which sets its MAC filter, tells the network, and
 * lets the stack loop what we send back to us.  What is left is to know which
 * QPs a packet is for.
 */
#include <linux/hashtable.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include "context.h"
#include "mcast.h"

/**
 * struct member - a QP in a group
 * @node: in the table, by @group
 * @group: its address; IPv4 in the mapped form
 * @qp: the QP; detached before it is destroyed
 * @ndev: its netdev, which may be gone: to compare with
 * @ifindex: the netdev's
 * @net: namespace that its netdev was in
 * @rcu: packets may still look at it
 */
struct member {
	struct hlist_node node;
	struct in6_addr group;
	struct sroce_qp *qp;
	const struct net_device *ndev;
	int ifindex;
	struct net *net;
	struct rcu_head rcu;
};

/* Members of all groups of all devices; RCU, writers under the lock. */
static DEFINE_HASHTABLE(members, 8);
static DEFINE_SPINLOCK(members_lock);

/* A seed of this boot's: nobody can choose groups that share a bucket. */
static u32 hash(const struct in6_addr *group)
{
	static u32 seed __read_mostly;

	net_get_random_once(&seed, sizeof(seed));
	return jhash2((__force const u32 *)group->s6_addr32,
		      ARRAY_SIZE(group->s6_addr32), seed);
}

/* The same group may be another one on another link. */
static bool is_for(const struct member *m, const struct net *net,
		   const struct net_device *in, int slave,
		   const struct in6_addr *group)
{
	return m->net == net && ipv6_addr_equal(&m->group, group) &&
	       (m->ndev == in || (slave && m->ifindex == slave));
}

u32 sroce_mcast_for_each(const struct net *net, const struct net_device *in,
			 int slave, const struct in6_addr *group,
			 void (*deliver)(struct sroce_qp *qp, void *arg),
			 void *arg)
{
	struct member *m;
	u32 found = 0;

	hash_for_each_possible_rcu(members, m, node, hash(group)) {
		if (!is_for(m, net, in, slave, group) || !sroce_qp_get(m->qp))
			continue;
		deliver(m->qp, arg);
		found++;
	}
	return found;
}

static struct member *find_member(const struct sroce_qp *qp,
				  const struct in6_addr *group)
{
	struct member *m;

	lockdep_assert_held(&members_lock);
	hash_for_each_possible(members, m, node, hash(group))
		if (m->qp == qp && ipv6_addr_equal(&m->group, group))
			return m;
	return NULL;
}

/* The netdev counts how often a group has been joined. */
static int join_ipv4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, group);
	return 0;
}

static void leave_ipv4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, group);
}

static int join(struct member *m)
{
	struct net_device *ndev = m->qp->dev->ndev;
	int err;

	rtnl_lock();
	m->net = dev_net(ndev);
	m->ndev = ndev;
	m->ifindex = ndev->ifindex;
	if (ipv6_addr_v4mapped(&m->group))
		err = join_ipv4(ndev, m->group.s6_addr32[3]);
	else
		err = ipv6_dev_mc_inc(ndev, &m->group);
	rtnl_unlock();
	return err;
}

/* Who has moved to another namespace has left its groups behind. */
static void leave(const struct member *m)
{
	struct net_device *ndev = m->qp->dev->ndev;

	rtnl_lock();
	if (dev_net(ndev) != m->net)
		;
	else if (ipv6_addr_v4mapped(&m->group))
		leave_ipv4(ndev, m->group.s6_addr32[3]);
	else
		ipv6_dev_mc_dec(ndev, &m->group);
	rtnl_unlock();
}

/* Each gets its copy in one softirq: there may not be too many. */
static bool is_full(const struct member *one)
{
	struct member *m;
	u32 n = 0;

	lockdep_assert_held(&members_lock);
	hash_for_each_possible(members, m, node, hash(&one->group))
		n += m->qp->dev == one->qp->dev &&
		     ipv6_addr_equal(&m->group, &one->group);
	return n >= SROCE_MAX_MCAST_QP;
}

/* A process that joins as many as it can leaves some to others. */
static bool may_join(const struct sroce_qp *qp)
{
	lockdep_assert_held(&members_lock);
	return qp->dev->num_members < SROCE_MAX_MCAST_ATTACH &&
	       (!qp->ctx || qp->ctx->num_members < SROCE_MAX_MCAST_CONTEXT);
}

static void count_member(struct sroce_qp *qp, int more)
{
	lockdep_assert_held(&members_lock);
	qp->dev->num_members += more;
	if (qp->ctx)
		qp->ctx->num_members += more;
}

static int publish(struct member *m)
{
	int err = 0;

	spin_lock(&members_lock);
	if (find_member(m->qp, &m->group))
		err = -EEXIST;
	else if (!may_join(m->qp) || is_full(m))
		err = -ENOSPC;
	if (!err) {
		count_member(m->qp, 1);
		hash_add_rcu(members, &m->node, hash(&m->group));
	}
	spin_unlock(&members_lock);
	return err;
}

int sroce_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	struct member *m = kzalloc_obj(*m, GFP_KERNEL_ACCOUNT);
	int err;

	if (!m)
		return -ENOMEM;
	m->qp = sroce_qp(ibqp);
	memcpy(&m->group, gid->raw, sizeof(m->group));
	err = join(m);
	if (err)
		goto err_free;
	err = publish(m);
	if (err)
		goto err_leave;
	return 0;

err_leave:
	leave(m);
err_free:
	kfree(m);
	return err;
}

int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *group = (const struct in6_addr *)gid->raw;
	struct member *m;

	spin_lock(&members_lock);
	m = find_member(sroce_qp(ibqp), group);
	if (m) {
		hash_del_rcu(&m->node);
		count_member(m->qp, -1);
	}
	spin_unlock(&members_lock);
	if (!m)
		return -EINVAL;
	leave(m);
	kfree_rcu(m, rcu);
	return 0;
}
