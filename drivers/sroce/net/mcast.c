// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast groups of UD QPs.  The network stack does most of the work: the
 * netdevs that have the device's addresses join the IP group.  This sets their
 * MAC filters, informs the network, and makes the stack loop back what the host
 * sends.  This file finds the QPs that a packet is for.
 */
#include <linux/hashtable.h>
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/jhash.h>
#include <linux/rculist.h>
#include <linux/rtnetlink.h>
#include <net/addrconf.h>
#include <net/ipv6.h>
#include <rdma/ib_cache.h>
#include "../base/deferred.h"
#include "../queue/doorbell.h"
#include "mcast.h"
#include "rx_gid.h"

/**
 * struct joined - netdev that has joined a group for a member
 * @node: entry in the list of the member
 * @ndev: netdev; the entry goes when the netdev leaves its namespace, or is not above the
 *	device's any more
 * @lost: the netdev lost its groups with the address family.  Protected by rtnl
 * @rcu: delays freeing until receivers have ended
 */
struct joined {
	struct hlist_node node;
	struct net_device *ndev;
	bool lost;
	struct rcu_head rcu;
};

/**
 * struct member - membership of a QP in a group
 * @node: in the table, by @group
 * @group: group address; IPv4 in IPv4-mapped form
 * @qp: the QP, which is detached before it is destroyed
 * @joined: netdevs through which packets may arrive, list of struct joined.  RCU;
 *	changes under rtnl
 * @rcu: delays freeing until receivers have ended
 */
struct member {
	struct hlist_node node;
	struct in6_addr group;
	struct sroce_qp *qp;
	struct hlist_head joined;
	struct rcu_head rcu;
};

/*
 * Members of all groups of all devices.  Receivers read under RCU.  A writer
 * holds rtnl and members_lock, so holding one of the two is enough to walk.
 */
static DEFINE_HASHTABLE(members, 8);
static DEFINE_SPINLOCK(members_lock);

/* Seeded at boot, so nobody can choose groups that share a bucket. */
static u32 group_hash(const struct in6_addr *group)
{
	static u32 seed __read_mostly;

	net_get_random_once(&seed, sizeof(seed));
	return jhash2((__force const u32 *)group->s6_addr32,
		      ARRAY_SIZE(group->s6_addr32), seed);
}

static bool has_joined(const struct member *m, const struct net_device *ndev)
{
	const struct joined *j;

	hlist_for_each_entry_rcu(j, &m->joined, node, lockdep_rtnl_is_held())
		if (j->ndev == ndev)
			return true;
	return false;
}

u32 sroce_mcast_for_each(const struct net_device *in,
			 const struct net_device *first,
			 const struct in6_addr *group,
			 void (*deliver)(struct sroce_qp *qp, void *arg),
			 void *arg)
{
	struct member *m;
	u32 found = 0;

	hash_for_each_possible_rcu(members, m, node, group_hash(group)) {
		/* The same address may be a different group on another link. */
		if (!ipv6_addr_equal(&m->group, group) || !has_joined(m, in))
			continue;
		/* It has received the first copy. */
		if (first != in && has_joined(m, first)) {
			found++;
			continue;
		}
		if (!sroce_qp_get(m->qp))
			continue;
		deliver(m->qp, arg);
		found++;
	}
	return found;
}

static void free_joined(const struct member *m, struct joined *j)
{
	sroce_wmem_give_back(m->qp->wmem, SROCE_SHARED_JOINS, 1);
	kfree_rcu(j, rcu);
}

static void remove_joined(const struct member *m, struct joined *j)
{
	ASSERT_RTNL();
	hlist_del_rcu(&j->node);
	free_joined(m, j);
}

/* The netdev leaves its groups itself. */
static void forget_netdev(struct member *m, const struct net_device *ndev)
{
	struct hlist_node *next;
	struct joined *j;

	ASSERT_RTNL();
	hlist_for_each_entry_safe(j, next, &m->joined, node)
		if (j->ndev == ndev)
			remove_joined(m, j);
}

void sroce_mcast_netdev_gone(const struct net_device *ndev)
{
	struct member *m;
	int bucket;

	ASSERT_RTNL();
	hash_for_each(members, bucket, m, node)
		forget_netdev(m, ndev);
}

static struct member *find_member(const struct sroce_qp *qp,
				  const struct in6_addr *group)
{
	struct member *m;

	lockdep_assert_held(&members_lock);
	hash_for_each_possible(members, m, node, group_hash(group))
		if (m->qp == qp && ipv6_addr_equal(&m->group, group))
			return m;
	return NULL;
}

static bool is_in_group(const struct in_device *in_dev, __be32 group)
{
	const struct ip_mc_list *im;

	ASSERT_RTNL();
	for (im = rtnl_dereference(in_dev->mc_list); im; im = rtnl_dereference(im->next_rcu))
		if (im->multiaddr == group)
			return true;
	return false;
}

/*
 * The netdev counts the joins of a group.  ip_mc_inc_group() does not say if it had no memory
 * for a new one.  To leave that later would end a join of another program.
 */
static int join_ipv4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (!in_dev)
		return -ENODEV;
	ip_mc_inc_group(in_dev, group);
	return is_in_group(in_dev, group) ? 0 : -ENOMEM;
}

static void leave_ipv4(struct net_device *ndev, __be32 group)
{
	struct in_device *in_dev = __in_dev_get_rtnl(ndev);

	if (in_dev)
		ip_mc_dec_group(in_dev, group);
}

static int join_ip(struct net_device *ndev, const struct in6_addr *group)
{
	if (ipv6_addr_v4mapped(group))
		return join_ipv4(ndev, group->s6_addr32[3]);
	return ipv6_dev_mc_inc(ndev, group);
}

/*
 * The kernel charges nobody for the memory that a join takes in IP.  Each netdev that is made
 * above the device's joins all groups of all members, so a user has a share of the joins.
 */
static struct joined *alloc_joined(const struct member *m)
{
	struct joined *j;

	if (!sroce_wmem_take(m->qp->wmem, SROCE_SHARED_JOINS, 1, SROCE_MAX_MCAST_JOINS))
		return ERR_PTR(-ENOSPC);
	j = kzalloc_obj(*j, GFP_KERNEL_ACCOUNT);
	if (j)
		return j;
	sroce_wmem_give_back(m->qp->wmem, SROCE_SHARED_JOINS, 1);
	return ERR_PTR(-ENOMEM);
}

static int join_by(struct member *m, struct net_device *ndev)
{
	struct joined *j = alloc_joined(m);
	int err;

	ASSERT_RTNL();
	if (IS_ERR(j))
		return PTR_ERR(j);
	err = join_ip(ndev, &m->group);
	if (err) {
		free_joined(m, j);
		return err;
	}
	j->ndev = ndev;
	hlist_add_head_rcu(&j->node, &m->joined);
	return 0;
}

/*
 * Netdev of a GID; NULL without a GID, or if it is being unregistered.  A netdev
 * that is found registered stays so until the caller drops rtnl.  rtnl does not
 * keep one that is being unregistered: it may be freed at any time.
 */
static struct net_device *gid_netdev(struct sroce_device *dev, int index)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;

	attr = rdma_get_gid_attr(&dev->ib, SROCE_PORT, index);
	if (IS_ERR(attr))
		return NULL;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (IS_ERR(ndev) || ndev->reg_state != NETREG_REGISTERED)
		ndev = NULL;
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return ndev;
}

/* These end an attach.  Otherwise one netdev that joins is enough. */
static bool lacks_resources(int err)
{
	return err == -ENOMEM || err == -ENOSPC;
}

/*
 * Verbs do not name a VLAN, so every netdev with an address of the device
 * joins.  The device's own netdev always joins, so that addresses may be added
 * later.
 */
static int join_group(struct member *m)
{
	struct sroce_device *dev = m->qp->dev;
	struct net_device *ndev;
	int err;
	int i;

	ASSERT_RTNL();
	err = join_by(m, dev->ndev);
	for (i = 0; !lacks_resources(err) && i < SROCE_GID_TABLE; i++) {
		ndev = gid_netdev(dev, i);
		/* The GID of a bridge that the netdev has left is deleted later. */
		if (ndev && sroce_is_above(dev, ndev) && !has_joined(m, ndev))
			err = join_by(m, ndev);
	}
	return !lacks_resources(err) && !hlist_empty(&m->joined) ? 0 : err;
}

/**
 * struct new_netdev - netdev with a new address of a device
 * @work: lets the members join; the caller may hold the rtnl
 * @dev: the device; held
 * @ndev: the netdev; held
 * @net_cookie: of its namespace when it got the address
 */
struct new_netdev {
	struct work_struct work;
	struct sroce_device *dev;
	struct net_device *ndev;
	u64 net_cookie;
};

static bool is_there(const struct new_netdev *new)
{
	ASSERT_RTNL();
	return new->ndev->reg_state == NETREG_REGISTERED &&
	       dev_net(new->ndev)->net_cookie == new->net_cookie &&
	       sroce_is_above(new->dev, new->ndev);
}

/* Returns true if a member has joined. */
static bool join_bucket(const struct new_netdev *new, u32 bucket)
{
	bool joined = false;
	struct member *m;

	ASSERT_RTNL();
	hlist_for_each_entry(m, &members[bucket], node)
		if (m->qp->dev == new->dev && !has_joined(m, new->ndev))
			joined |= !join_by(m, new->ndev);
	return joined;
}

/*
 * There may be thousands of members, so others get the rtnl after each bucket whose members
 * join.  A netdev that goes waits for this work.
 */
static void join_new_netdev(struct work_struct *work)
{
	struct new_netdev *new = container_of(work, struct new_netdev, work);
	bool there = true;
	u32 i = 0;

	while (there && i < HASH_SIZE(members)) {
		rtnl_lock();
		there = is_there(new);
		while (there && i < HASH_SIZE(members) && !join_bucket(new, i++))
			;
		rtnl_unlock();
	}
	dev_put(new->ndev);
	ib_device_put(&new->dev->ib);
	kfree(new);
}

int sroce_mcast_netdev_new(struct sroce_device *dev, struct net_device *ndev)
{
	struct new_netdev *new;

	/* A device that is not registered yet has no members. */
	if (!ib_device_try_get(&dev->ib))
		return 0;
	new = kzalloc_obj(*new, GFP_KERNEL);
	if (!new) {
		ib_device_put(&dev->ib);
		return -ENOMEM;
	}
	dev_hold(ndev);
	new->dev = dev;
	new->ndev = ndev;
	rcu_read_lock();
	new->net_cookie = dev_net(ndev)->net_cookie;
	rcu_read_unlock();
	INIT_WORK(&new->work, join_new_netdev);
	sroce_defer(&new->work);
	return 0;
}

static bool has_family(const struct net_device *ndev, const struct in6_addr *group)
{
	return ipv6_addr_v4mapped(group) ? !!__in_dev_get_rtnl(ndev) : !!__in6_dev_get(ndev);
}

/*
 * Below the smallest MTU of an address family the netdev has lost it, with the groups that
 * it had joined.  The family is there again before this is called, but not the groups.
 */
static void follow_mtu(const struct member *m, struct joined *j)
{
	ASSERT_RTNL();
	if (!has_family(j->ndev, &m->group))
		j->lost = true;
	else if (j->lost)
		j->lost = join_ip(j->ndev, &m->group);
}

void sroce_mcast_mtu_changed(const struct net_device *ndev)
{
	struct joined *j;
	struct member *m;
	int bucket;

	ASSERT_RTNL();
	hash_for_each(members, bucket, m, node)
		hlist_for_each_entry(j, &m->joined, node)
			if (j->ndev == ndev)
				follow_mtu(m, j);
}

static void leave_by(const struct member *m, const struct joined *j)
{
	if (j->lost)
		return;
	if (ipv6_addr_v4mapped(&m->group))
		leave_ipv4(j->ndev, m->group.s6_addr32[3]);
	else
		ipv6_dev_mc_dec(j->ndev, &m->group);
}

static void leave_others(struct member *m)
{
	struct hlist_node *next;
	struct joined *j;

	hlist_for_each_entry_safe(j, next, &m->joined, node)
		if (!sroce_is_above(m->qp->dev, j->ndev)) {
			leave_by(m, j);
			remove_joined(m, j);
		}
}

void sroce_mcast_uppers_changed(void)
{
	struct member *m;
	int bucket;

	ASSERT_RTNL();
	hash_for_each(members, bucket, m, node)
		leave_others(m);
}

static void leave_group(const struct member *m)
{
	const struct joined *j;

	ASSERT_RTNL();
	hlist_for_each_entry(j, &m->joined, node)
		leave_by(m, j);
}

static void free_member(struct member *m)
{
	struct hlist_node *next;
	struct joined *j;

	hlist_for_each_entry_safe(j, next, &m->joined, node)
		free_joined(m, j);
	kfree_rcu(m, rcu);
}

/*
 * Each member gets a copy in one softirq, which limits their number.  A user has
 * a share of each group, too.
 */
static bool is_full(const struct member *one)
{
	const struct sroce_wmem *user = sroce_wmem_owner(one->qp->wmem);
	struct member *m;
	u32 n = 0, own = 0;

	lockdep_assert_held(&members_lock);
	hash_for_each_possible(members, m, node, group_hash(&one->group)) {
		if (m->qp->dev != one->qp->dev ||
		    !ipv6_addr_equal(&m->group, &one->group))
			continue;
		n++;
		own += sroce_wmem_owner(m->qp->wmem) == user;
	}
	return n >= SROCE_MAX_MCAST_QP ||
	       own >= sroce_wmem_share(one->qp->wmem, SROCE_MAX_MCAST_QP);
}

/* A context and a user may have a share of the device's memberships. */
static bool count_member(struct sroce_qp *qp)
{
	lockdep_assert_held(&members_lock);
	if (qp->dev->num_members == SROCE_MAX_MCAST_ATTACH ||
	    (qp->ctx && qp->ctx->num_members == SROCE_MAX_MCAST_CONTEXT))
		return false;
	if (!sroce_wmem_take(qp->wmem, SROCE_SHARED_MEMBERS, 1,
			     SROCE_MAX_MCAST_ATTACH))
		return false;
	qp->dev->num_members++;
	if (qp->ctx)
		qp->ctx->num_members++;
	return true;
}

static void uncount_member(struct sroce_qp *qp)
{
	lockdep_assert_held(&members_lock);
	sroce_wmem_give_back(qp->wmem, SROCE_SHARED_MEMBERS, 1);
	qp->dev->num_members--;
	if (qp->ctx)
		qp->ctx->num_members--;
}

static int publish_member(struct member *m)
{
	int err = 0;

	ASSERT_RTNL();
	spin_lock(&members_lock);
	if (find_member(m->qp, &m->group))
		err = -EEXIST;
	else if (is_full(m) || !count_member(m->qp))
		err = -ENOSPC;
	else
		hash_add_rcu(members, &m->node, group_hash(&m->group));
	spin_unlock(&members_lock);
	return err;
}

static int join_and_publish(struct member *m)
{
	int err;

	/*
	 * Publish under rtnl, so that sroce_mcast_netdev_gone() finds the
	 * member.
	 */
	rtnl_lock();
	err = join_group(m);
	if (!err)
		err = publish_member(m);
	if (err)
		leave_group(m);
	rtnl_unlock();
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
	err = join_and_publish(m);
	if (err)
		free_member(m);
	return err;
}

static struct member *unpublish_member(struct sroce_qp *qp,
				       const struct in6_addr *group)
{
	struct member *m;

	ASSERT_RTNL();
	spin_lock(&members_lock);
	m = find_member(qp, group);
	if (m) {
		hash_del_rcu(&m->node);
		uncount_member(qp);
	}
	spin_unlock(&members_lock);
	return m;
}

int sroce_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid)
{
	const struct in6_addr *group = (const struct in6_addr *)gid->raw;
	struct member *m;

	rtnl_lock();
	m = unpublish_member(sroce_qp(ibqp), group);
	if (m)
		leave_group(m);
	rtnl_unlock();
	if (!m)
		return -EINVAL;
	free_member(m);
	return 0;
}
