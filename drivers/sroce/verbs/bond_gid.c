// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The first GID of a device on a bond, which is made of the MAC address.  When another port
 * becomes active, the RDMA core deletes all GIDs.  It adds those of addresses again, but
 * not this one.
 */
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>
#include "../base/deferred.h"
#include "bond_gid.h"

/**
 * struct rescan - the GIDs of a device are to be added again
 * @work: adds them; it takes locks that the caller of del_gid() holds
 * @dev: the device; held
 */
struct rescan {
	struct work_struct work;
	struct sroce_device *dev;
};

static void rescan_gids(struct work_struct *work)
{
	struct rescan *rescan = container_of(work, struct rescan, work);

	rdma_roce_rescan_device(&rescan->dev->ib);
	ib_device_put(&rescan->dev->ib);
	kfree(rescan);
}

void sroce_bond_gid_deleted(struct sroce_device *dev, u32 index)
{
	struct rescan *rescan;

	/* A device that is being unregistered loses all GIDs. */
	if (index || !netif_is_bond_master(dev->ndev) ||
	    dev->ndev->reg_state != NETREG_REGISTERED || !ib_device_try_get(&dev->ib))
		return;
	rescan = kzalloc_obj(*rescan, GFP_KERNEL);
	if (!rescan) {
		ib_device_put(&dev->ib);
		return;
	}
	rescan->dev = dev;
	INIT_WORK(&rescan->work, rescan_gids);
	sroce_defer(&rescan->work);
}
