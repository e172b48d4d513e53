// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Netdevs that spoil bursts: their segmentation offload does not increment the IPv4
 * identification.  See core/uso.h.
 */
#include <linux/xarray.h>
#include <net/dst.h>
#include "../queue/qp.h"
#include "uso.h"

/* By the address of the device; empty on almost every host. */
static DEFINE_XARRAY_FLAGS(spoilers, XA_FLAGS_LOCK_BH);

bool sroce_uso_spoils(const struct net_device *dev)
{
	return unlikely(!xa_empty(&spoilers)) &&
	       xa_load(&spoilers, (unsigned long)dev);
}

/* The lock keeps a device that is going away from being added after its removal. */
static bool add_spoiler(struct net_device *dev)
{
	bool added = false;

	xa_lock_bh(&spoilers);
	if (READ_ONCE(dev->reg_state) == NETREG_REGISTERED &&
	    !xa_load(&spoilers, (unsigned long)dev))
		added = !__xa_insert(&spoilers, (unsigned long)dev,
				     xa_mk_value(1), GFP_ATOMIC | __GFP_NOWARN);
	xa_unlock_bh(&spoilers);
	return added;
}

void sroce_uso_found(const struct sroce_path *path)
{
	struct dst_entry *dst = path->dst;

	if (dst && add_spoiler(dst->dev))
		netdev_warn(dst->dev,
			    "sroce: UDP segmentation offload does not count IPv4 identifications; sending single packets\n");
}

void sroce_uso_forget(const struct net_device *dev)
{
	if (sroce_uso_spoils(dev))
		xa_erase_bh(&spoilers, (unsigned long)dev);
}
