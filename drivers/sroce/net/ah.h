/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_AH_H
#define SROCE_AH_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "../base/sroce.h"
#include "rx_gid.h"

/**
 * struct sroce_av - address vector: path to a peer
 * @sgid_attr: local GID, referenced
 * @net_cookie: cookie of the local GID's network namespace
 * @ndev: netdev of the local GID when @sgid_attr was found; only compared, because it may be
 *	gone
 * @link: where the local GID led to then
 * @pd: PD of the address handle; NULL for a QP's address vector
 * @ipv4: IPv4, else IPv6
 * @loopback: the peer uses the same address of the same device
 * @saddr: local address; an IPv4 address in IPv4-mapped form
 * @daddr: peer's address
 * @hash: of the flow, for queueing disciplines, transmit queues and RPS, as that of a
 *	socket; not 0
 * @flow_label: IPv6 flow label, host order, 20 bits
 * @sport: UDP source port, host order
 * @tclass: traffic class
 * @hop_limit: not 0
 * @sl: service level, used as skb priority
 * @ref: held by lookups
 * @rcu: lookups by number use RCU
 */
struct sroce_av {
	const struct ib_gid_attr *sgid_attr;
	u64 net_cookie;
	struct net_device *ndev;
	struct sroce_gid_link link;
	struct ib_pd *pd;
	bool ipv4;
	bool loopback;
	struct in6_addr saddr;
	struct in6_addr daddr;
	u32 hash;
	u32 flow_label;
	u16 sport;
	u8 tclass;
	u8 hop_limit;
	u8 sl;
	refcount_t ref;
	struct rcu_head rcu;
};

/**
 * struct sroce_ah - address handle
 * @ib: the RDMA core's part
 * @av: address vector
 * @attr: attributes as given, for query_ah()
 * @number: number that a process's work requests use; 0 for kernel users
 * @wmem: account of the context, which outlives the handle
 */
struct sroce_ah {
	struct ib_ah ib;
	struct sroce_av *av;
	struct rdma_ah_attr attr;
	u32 number;
	struct sroce_wmem *wmem;
};

static inline struct sroce_ah *sroce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ah, ib);
}

/**
 * sroce_av_create() - check attributes and create an address vector
 * @attr: with sgid_attr filled in by the RDMA core
 * @qpn: QP number; selects the UDP source port if there is no flow label
 * @dest_qpn: peer's QP number, likewise
 *
 * Context: process, may sleep.
 * Return: an address vector with one reference, or an ERR_PTR(): EINVAL for a
 * wrong port, no GRH, a GID that is not RoCE v2, or addresses of different
 * families; ENODEV for a GID that was just deleted.
 */
struct sroce_av *sroce_av_create(const struct rdma_ah_attr *attr, u32 qpn,
				 u32 dest_qpn);
/* Drop a reference; the last one also releases the GID.  Context: any. */
void sroce_av_put(struct sroce_av *av);

/**
 * sroce_av_get() - find an address handle of a process
 * @dev: the device
 * @pd: protection domain of the QP
 * @number: number from the work request
 *
 * Context: any.  Return: address vector with a reference, or NULL.
 */
struct sroce_av *sroce_av_get(struct sroce_device *dev, struct ib_pd *pd,
			      u32 number);

/**
 * sroce_av_ndev() - netdev that has the local address
 * @av: address vector
 *
 * An address that was removed and added again has a different GID entry than
 * the one @av was created with.  It is accepted on the same netdev, or on another one of the
 * VRF and the VLAN in which it was.
 *
 * Context: RCU read side.  Return: netdev, or NULL if no netdev has the
 * address.
 */
struct net_device *sroce_av_ndev(const struct sroce_av *av);

/* ib_device_ops */
int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* SROCE_AH_H */
