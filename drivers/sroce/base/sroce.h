/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_SROCE_H
#define SROCE_SROCE_H

#include <linux/rhashtable.h>
#include <linux/xarray.h>
#include <rdma/ib_addr.h>
#include <rdma/ib_verbs.h>
#include "counters.h"

/* Limits, like those of a large NIC. */
#define SROCE_PORT		1
#define SROCE_MAX_QP		0x100000
#define SROCE_MAX_QP_WR		0x10000
#define SROCE_MAX_SRQ		0x100000
#define SROCE_MAX_SRQ_WR	0x10000
#define SROCE_MAX_CQ		0x100000
#define SROCE_MAX_CQE		0x400000
#define SROCE_MAX_MR		0x400000
#define SROCE_MAX_FAST_PAGES	4096
#define SROCE_MAX_AH		0x100000
#define SROCE_MAX_PD		0x100000
#define SROCE_MAX_COMP_CNTR	0x10000
#define SROCE_MAX_MCAST_ATTACH	0x4000
#define SROCE_MAX_MCAST_QP	64
/* Limit for one context of a process. */
#define SROCE_MAX_MCAST_CONTEXT	0x400
/* Limit of joins by netdevs: each membership has one or more. */
#define SROCE_MAX_MCAST_JOINS	0x10000
#define SROCE_MAX_RD_ATOMIC	128
#define SROCE_GID_TABLE		1024
#ifdef SROCE_OUT_OF_TREE
/* The administrator fills the table (net/pkey.c). */
#define SROCE_PKEY_TABLE	32
#else
#define SROCE_PKEY_TABLE	1
#endif

/**
 * struct sroce_udp_sock_id - identifies a socket
 * @net: network namespace
 * @l3mdev: index of the VRF that it is bound to, or 0.  An unbound socket
 *	receives no packets from VRFs, unless udp_l3mdev_accept is set.
 * @ipv4: IPv4, else IPv6
 */
struct sroce_udp_sock_id {
	struct net *net;
	int l3mdev;
	bool ipv4;
};

/**
 * struct sroce_listener - reference that keeps a socket open
 * @list: in the list of all listeners, or empty without a socket; verbs/listener.c's
 *	lock protects all members
 * @ndev: netdev of the GID or device
 * @socket: the socket; its namespace is NULL after @ndev has left it, and for IPv6 on a
 *	host without IPv6
 */
struct sroce_listener {
	struct list_head list;
	const struct net_device *ndev;
	struct sroce_udp_sock_id socket;
};

/**
 * struct sroce_settings - settings of the administrator (verbs/settings.c)
 * @ecn: mark data packets of connected QPs as ECN capable, ECT(0)
 * @hold: keep packets that are ahead of a missing one (queue/ooo.c)
 *
 * Written and read at any time, without a lock: use READ_ONCE().
 */
struct sroce_settings {
	bool ecn;
	bool hold;
};

/**
 * struct sroce_device - one ib_device on one netdev
 * @ib: the RDMA core's part; first member
 * @ndev: netdev; the device is unregistered before it (verbs/main.c's notifier)
 * @ndev_tracker: tracks the reference to @ndev
 * @counters: per CPU
 * @qp_counters: counters of QPs that are bound to an rdma_counter, by number
 *	(verbs/qp_counter.c)
 * @retired: sum of the counters that were removed from @qp_counters; protected
 *	by its lock
 * @recent: cached sum of all counters for PMA queries; protected by
 *	@qp_counters' lock
 * @recent_until: expiry of @recent, jiffies
 * @num_qps: QPs, up to SROCE_MAX_QP (queue/qp.c)
 * @num_srqs: SRQs, up to SROCE_MAX_SRQ (queue/srq.c)
 * @mrs: struct sroce_mr by key index (mem/mr.c)
 * @dm_pages: pages of device memory in use (mem/mr_dm.c)
 * @ooo_bytes: memory of packets behind a gap (queue/ooo.c)
 * @ahs: struct sroce_av by the number that user space uses (net/ah.c); RCU
 * @pkeys: P_Key table; the data path reads it without a lock (net/pkey.c)
 * @ah_next: where the search for a free number continues
 * @num_members: memberships in multicast groups; protected by net/mcast.c's
 *	lock
 * @settings: see above
 * @port_up: port state of the last event; rtnl
 * @ipv4: keeps the IPv4 UDP port open, with or without addresses
 * @ipv6: likewise for IPv6
 */
struct sroce_device {
	struct ib_device ib;
	struct net_device *ndev;
	netdevice_tracker ndev_tracker;
	struct sroce_counters __percpu *counters;
	struct xarray qp_counters;
	struct sroce_counters retired;
	struct sroce_counters recent;
	unsigned long recent_until;
	atomic_t num_qps;
	atomic_t num_srqs;
	struct rhashtable mrs;
	atomic_long_t dm_pages;
	atomic_long_t ooo_bytes;
	struct xarray ahs;
	u16 pkeys[SROCE_PKEY_TABLE];
	u32 ah_next;
	u32 num_members;
	struct sroce_settings settings;
	bool port_up;
	struct sroce_listener ipv4;
	struct sroce_listener ipv6;
};

static inline struct sroce_device *sroce_device(struct ib_device *ibdev)
{
	return container_of(ibdev, struct sroce_device, ib);
}

/*
 * For memory of a process whose size the process chooses.  It is charged to the memory
 * cgroup.  A size over the limit is an error and must not invoke the OOM killer.
 */
#define SROCE_GFP_SIZED	(GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/*
 * Largest path MTU that a netdev can carry now.  iboe_get_mtu() returns 0 if
 * the netdev is too small for any; no IB MTU expresses that.
 */
static inline enum ib_mtu sroce_netdev_mtu(const struct net_device *ndev)
{
	return iboe_get_mtu(READ_ONCE(ndev->mtu)) ?: IB_MTU_256;
}

/* That of the device's netdev.  A netdev above it that has a GID may carry less. */
static inline enum ib_mtu sroce_device_mtu(const struct sroce_device *dev)
{
	return sroce_netdev_mtu(dev->ndev);
}

#endif /* SROCE_SROCE_H */
