// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* GIDs that are deleted while kernel users have them. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_cache.h>
#include "fabric.h"

static bool is_deleted(const struct ib_gid_attr *gid)
{
	bool deleted;

	rcu_read_lock();
	deleted = IS_ERR(rdma_read_gid_attr_ndev_rcu(gid));
	rcu_read_unlock();
	return deleted;
}

/* The RDMA core deletes all GIDs of the netdev, and adds them again with other entries. */
static void delete_gid(const struct ib_gid_attr *gid)
{
	int tries;

	rtnl_lock();
	call_netdevice_notifiers(NETDEV_CHANGEADDR, rtnl_dereference(gid->ndev));
	rtnl_unlock();
	for (tries = 0; tries < 500 && !is_deleted(gid); tries++)
		msleep(20);
	CHECK(is_deleted(gid));
}

/* As if it were deleted after the RDMA core has found it, and before the driver reads it. */
static void ah_refuses_deleted_gid(void)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_ROCE };
	struct ib_ah *ah;

	delete_gid(near.gid);
	rdma_ah_set_port_num(&attr, 1);
	rdma_ah_set_grh(&attr, (union ib_gid *)&far.gid->gid, 0, near.gid->index, 64, 0);
	attr.grh.sgid_attr = near.gid;
	ether_addr_copy(attr.roce.dmac, far.mac);
	ah = rdma_create_ah(near.pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
	if (!EQUAL(PTR_ERR_OR_ZERO(ah), -ENODEV) && !IS_ERR(ah))
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}

/* Comes last, because the GID is lost. */
void test_gids(void)
{
	RUN(ah_refuses_deleted_gid);
}
