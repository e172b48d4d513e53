/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_AH_H
#define SROCE_AH_H

#include <linux/in6.h>
#include <linux/refcount.h>
#include <rdma/ib_verbs.h>
#include "../base/sroce.h"

/**
 * struct sroce_av - address vector: how packets get to a peer
 * @sgid_attr: our end; referenced
 * @net_cookie: of our end's network namespace, or 0
 * @pd: of the address handle; NULL in a QP
 * @ipv4: IPv4, else IPv6
 * @loopback: the peer is on the same device: its address is ours
 * @saddr: our address; an IPv4 address is in its mapped form
 * @daddr: the peer's
 * @flow_label: IPv6, host order, 20 bits
 * @sport: UDP source port, host order
 * @tclass: traffic class
 * @hop_limit: not 0
 * @sl: service level, becomes skb priority
 * @ref: lookups pin it
 * @rcu: it is found by number under RCU
 */
struct sroce_av {
	const struct ib_gid_attr *sgid_attr;
	u64 net_cookie;
	struct ib_pd *pd;
	bool ipv4;
	bool loopback;
	struct in6_addr saddr;
	struct in6_addr daddr;
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
 * @ib: what the RDMA core sees
 * @av: what it says
 * @attr: the same as it was given, for query_ah()
 * @number: how a process's requests name it; 0 of a kernel user
 */
struct sroce_ah {
	struct ib_ah ib;
	struct sroce_av *av;
	struct rdma_ah_attr attr;
	u32 number;
};

static inline struct sroce_ah *sroce_ah(struct ib_ah *ibah)
{
	return container_of(ibah, struct sroce_ah, ib);
}

/**
 * sroce_av_create() - check an address and make an address vector of it
 * @attr: with sgid_attr filled in by the RDMA core
 * @qpn: spreads UDP source ports where there is no flow label, as does
 * @dest_qpn: the peer's
 *
 * Context: process, may sleep.
 * Return: an address vector with one reference, or an ERR_PTR(): EINVAL for a
 * wrong port, no GRH, a GID that is not RoCE v2, or ends of different
 * families.
 */
struct sroce_av *sroce_av_create(const struct rdma_ah_attr *attr, u32 qpn,
				 u32 dest_qpn);
/* Drop a reference; the last one gives back the GID, too.  Context: any. */
void sroce_av_put(struct sroce_av *av);

/**
 * sroce_av_get() - find a user's address handle
 * @dev: the device
 * @pd: protection domain of the QP that names it
 * @number: as user space gave it
 *
 * Context: any.  Return: referenced address vector, or NULL.
 */
struct sroce_av *sroce_av_get(struct sroce_device *dev, struct ib_pd *pd,
			      u32 number);

/**
 * sroce_av_ndev() - the netdev that has our end's address
 * @av: address vector
 *
 * An address that went and came back has another GID entry than the one that
 * @av was made with; it will do.
 *
 * Context: RCU read side.  Return: netdev, or NULL while nobody has it.
 */
struct net_device *sroce_av_ndev(const struct sroce_av *av);

/* ib_device_ops */
int sroce_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *init,
		    struct ib_udata *udata);
int sroce_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr);
int sroce_destroy_ah(struct ib_ah *ibah, u32 flags);

#endif /* SROCE_AH_H */
