// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The port: state, speed and events. */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <rdma/ib_mad.h>
#include "../core/wire.h"
#include "port.h"
#include "qp_counter.h"

bool sroce_port_is_up(const struct sroce_device *dev)
{
	return netif_running(dev->ndev) && netif_carrier_ok(dev->ndev);
}

/* Ethernet speeds (Mb/s, ascending) in the terms of the RDMA core. */
static const struct {
	u32 mbps;
	u16 speed;
	u8 width;
} speeds[] = {
	{ SPEED_10, IB_SPEED_SDR, IB_WIDTH_1X },
	{ SPEED_5000, IB_SPEED_DDR, IB_WIDTH_1X },
	{ SPEED_10000, IB_SPEED_FDR10, IB_WIDTH_1X },
	{ SPEED_20000, IB_SPEED_DDR, IB_WIDTH_4X },
	{ SPEED_25000, IB_SPEED_EDR, IB_WIDTH_1X },
	{ SPEED_40000, IB_SPEED_FDR10, IB_WIDTH_4X },
	{ SPEED_50000, IB_SPEED_HDR, IB_WIDTH_1X },
	{ SPEED_56000, IB_SPEED_FDR, IB_WIDTH_4X },
	{ SPEED_100000, IB_SPEED_EDR, IB_WIDTH_4X },
	{ SPEED_200000, IB_SPEED_HDR, IB_WIDTH_4X },
	{ SPEED_400000, IB_SPEED_NDR, IB_WIDTH_4X },
	{ 2 * SPEED_400000, IB_SPEED_NDR, IB_WIDTH_8X },
};

/*
 * Speed of the netdev, Mb/s.  Not ib_get_eth_speed(), which logs a message for
 * each netdev without a speed, such as dummy and virtio.
 */
static u32 netdev_mbps(struct net_device *ndev)
{
	struct ethtool_link_ksettings settings;
	u32 mbps = SPEED_1000;

	rtnl_lock();
	/*
	 * A netdev that is being unregistered may have freed what its
	 * ethtool_ops use.
	 */
	if (ndev->reg_state == NETREG_REGISTERED &&
	    !__ethtool_get_link_ksettings(ndev, &settings) &&
	    settings.base.speed != (u32)SPEED_UNKNOWN)
		mbps = settings.base.speed;
	rtnl_unlock();
	return mbps;
}

static void query_speed(struct net_device *ndev, struct ib_port_attr *attr)
{
	u32 mbps = netdev_mbps(ndev);
	int i;

	for (i = ARRAY_SIZE(speeds) - 1; i && mbps < speeds[i].mbps; i--)
		;
	attr->active_speed = speeds[i].speed;
	attr->active_width = speeds[i].width;
}

/* These counters saturate. */
static void query_violations(struct sroce_device *dev,
			     struct ib_port_attr *attr)
{
	struct sroce_counters now;

	sroce_qp_counter_recent(dev, &now);
	attr->bad_pkey_cntr = min_t(u64, now.value[SROCE_RX_BAD_PKEY], U32_MAX);
	attr->qkey_viol_cntr = min_t(u64, now.value[SROCE_RX_BAD_QKEY],
				     U32_MAX);
}

/* A netdev that is up without carrier reports polling. */
static u8 phys_state(const struct sroce_device *dev, bool up)
{
	if (up)
		return IB_PORT_PHYS_STATE_LINK_UP;
	return netif_running(dev->ndev) ? IB_PORT_PHYS_STATE_POLLING :
					  IB_PORT_PHYS_STATE_DISABLED;
}

int sroce_query_port(struct ib_device *ibdev, u32 port,
		     struct ib_port_attr *attr)
{
	struct sroce_device *dev = sroce_device(ibdev);
	bool up = sroce_port_is_up(dev);

	attr->state = up ? IB_PORT_ACTIVE : IB_PORT_DOWN;
	attr->phys_state = phys_state(dev, up);
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = sroce_device_mtu(dev);
	attr->gid_tbl_len = SROCE_GID_TABLE;
	attr->ip_gids = true;
	attr->port_cap_flags = IB_PORT_CM_SUP;
	attr->max_msg_sz = SROCE_MAX_MSG;
	attr->pkey_tbl_len = SROCE_PKEY_TABLE;
	query_violations(dev, attr);
	attr->max_vl_num = 1;
	query_speed(dev->ndev, attr);
	return 0;
}

int sroce_query_port_speed(struct ib_device *ibdev, u32 port, u64 *speed)
{
	*speed = netdev_mbps(sroce_device(ibdev)->ndev) / SPEED_100;
	return 0;
}

void sroce_port_event(struct ib_device *ibdev, struct net_device *ndev,
		      unsigned long event)
{
	struct sroce_device *dev = sroce_device(ibdev);
	bool up = sroce_port_is_up(dev);
	struct ib_event ib_event = {
		.device = ibdev,
		.element.port_num = SROCE_PORT,
		.event = up ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR,
	};

	ASSERT_RTNL();
	if (up == dev->port_up)
		return;
	dev->port_up = up;
	ib_dispatch_event(&ib_event);
}
