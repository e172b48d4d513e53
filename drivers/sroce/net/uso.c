// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netdevs that spoil bursts: their segmentation offload does not increment the IPv4
 * identification, or loses packets.  See core/uso.h.
 */
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>
#include <linux/xarray.h>
#include <net/dst.h>
#include "../core/uso.h"
#include "../queue/qp.h"
#include "ah.h"
#include "uso.h"

/* The peers that reported a netdev.  Readers use RCU, so an entry does not change. */
struct spoiler {
	struct sroce_uso_peers peers;
	struct rcu_head rcu;
};

/* By the address of the device; empty on almost every host. */
static DEFINE_XARRAY_FLAGS(spoilers, XA_FLAGS_LOCK_BH);

/* Peers with the same value get single packets together. */
static u32 peer_address(const struct sroce_av *av)
{
	const __be32 *words = av->daddr.s6_addr32;

	return (__force u32)(words[0] ^ words[1] ^ words[2] ^ words[3]);
}

bool sroce_uso_spoils(const struct net_device *dev, const struct sroce_av *av)
{
	const struct spoiler *spoiler;
	bool spoils;

	if (likely(xa_empty(&spoilers)))
		return false;
	rcu_read_lock();
	spoiler = xa_load(&spoilers, (unsigned long)dev);
	spoils = spoiler && sroce_uso_peers_include(&spoiler->peers, peer_address(av),
						    ktime_get_ns());
	rcu_read_unlock();
	return spoils;
}

static void log_spoiler(struct net_device *dev, const struct sroce_av *av, bool all)
{
	const char *others = all ? " and all others" : "";

	if (av->ipv4)
		netdev_warn(dev, "sroce: UDP segmentation offload spoils or loses packets; sending single packets to %pI4%s\n",
			    &av->daddr.s6_addr32[3], others);
	else
		netdev_warn(dev, "sroce: UDP segmentation offload loses packets; sending single packets to %pI6c%s\n",
			    &av->daddr, others);
}

/*
 * Replace the entry of @dev by a copy with one more peer.  Without memory for it, the next
 * spoiled bursts add it.  Returns false if the peer was known.
 */
static bool add_peer(struct net_device *dev, u32 addr, bool *all)
{
	struct spoiler *old = xa_load(&spoilers, (unsigned long)dev);
	struct spoiler *spoiler;
	u64 now = ktime_get_ns();
	bool added;

	lockdep_assert_held(&spoilers.xa_lock);
	spoiler = kzalloc_obj(*spoiler, GFP_ATOMIC | __GFP_NOWARN);
	if (!spoiler)
		return false;
	if (old)
		spoiler->peers = old->peers;
	added = sroce_uso_peers_add(&spoiler->peers, addr, now);
	*all = sroce_uso_peers_all(&spoiler->peers, now);
	if (xa_is_err(__xa_store(&spoilers, (unsigned long)dev, spoiler,
				 GFP_ATOMIC | __GFP_NOWARN))) {
		kfree(spoiler);
		return false;
	}
	if (old)
		kfree_rcu(old, rcu);
	return added;
}

/* The lock keeps a device that is going away from being added after its removal. */
void sroce_uso_found(const struct sroce_path *path, const struct sroce_av *av)
{
	struct dst_entry *dst = path->dst;
	bool added = false, all;
	struct net_device *dev;

	if (!dst)
		return;
	/* Becomes blackhole_netdev when the route goes.  Bottom halves are off. */
	dev = READ_ONCE(dst->dev);
	xa_lock_bh(&spoilers);
	if (READ_ONCE(dev->reg_state) == NETREG_REGISTERED)
		added = add_peer(dev, peer_address(av), &all);
	xa_unlock_bh(&spoilers);
	if (added)
		log_spoiler(dev, av, all);
}

void sroce_uso_forget(const struct net_device *dev)
{
	struct spoiler *spoiler;

	if (xa_empty(&spoilers))
		return;
	spoiler = xa_erase_bh(&spoilers, (unsigned long)dev);
	if (spoiler)
		kfree_rcu(spoiler, rcu);
}
