// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies of multicast packets.  A macvlan or ipvlan gets a copy of what the netdev below it
 * receives, and a QP may have joined on both.  It is to get the datagram once.  Which copies
 * arrive depends on reverse path filters, firewalls and the sender, which may be a macvlan
 * beside.  So the first one that is here counts, and later ones are recognized.
 */
#include <linux/hash.h>
#include <linux/ip.h>
#include <linux/jiffies.h>
#include <linux/netdevice.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <net/ipv6.h>
#include <net/rtnetlink.h>
#include "mcast_copy.h"

/* The macvlan driver delays up to 1000 packets, unless told otherwise. */
#define FIRST_COPIES 1024
/* A macvlan delivers its copy from a work item, which may be late on a busy host. */
#define LATEST_COPY (10 * HZ)

/**
 * struct first_copy - first copy of a packet
 * @id: of the packet
 * @in: netdev that received it; only compared, because it may be gone
 * @when: jiffies
 */
struct first_copy {
	u64 id;
	const struct net_device *in;
	unsigned long when;
};

/* Packets of one sender that follow each other have different places. */
static struct first_copy first_copies[FIRST_COPIES];
static DEFINE_SPINLOCK(copies_lock);

/**
 * struct packet_name - what the copies of a packet have in common, and no other packet has
 * @saddr: source address; IPv4 in IPv4-mapped form
 * @link: netdev below, so that a packet from another network is never taken for a copy
 * @src_qpn: source QP
 * @psn: PSN
 * @icrc: of the last packet in the skb, so that a forged packet with the next PSN does not
 *	take the place of the genuine one
 * @zero: 0
 */
struct packet_name {
	struct in6_addr saddr;
	u64 link;
	u32 src_qpn;
	u32 psn;
	u32 icrc;
	u32 zero;
} __aligned(SIPHASH_ALIGNMENT);

/* Strangers cannot choose packets with one hash. */
static u64 packet_id(const struct packet_name *name)
{
	static siphash_key_t key __read_mostly;

	net_get_random_once(&key, sizeof(key));
	return siphash(name, sizeof(*name), &key);
}

/* By its kind: the kernel has no function that knows an ipvlan. */
static bool gets_copies(const struct net_device *ndev)
{
	const struct rtnl_link_ops *ops = ndev->rtnl_link_ops;

	return ops && (!strcmp(ops->kind, "macvlan") || !strcmp(ops->kind, "ipvlan"));
}

/* Netdev that receives the packets from the wire. */
static struct net_device *link_of(struct net_device *ndev)
{
	struct net_device *below = ndev;
	struct list_head *iter;

	while (below && gets_copies(below)) {
		ndev = below;
		iter = &ndev->adj_list.lower;
		below = netdev_next_lower_dev_rcu(ndev, &iter);
	}
	return below ?: ndev;
}

/* A netdev with a macvlan or an ipvlan above it has a handler of received packets. */
static bool may_be_copied(const struct sroce_rx *rx, const struct net_device *in)
{
	return rx->pkt.op->headers & SROCE_DETH &&
	       (rcu_access_pointer(in->rx_handler) || gets_copies(in));
}

/* Returns false if the packet is too short, which an intact one is not. */
static bool name_packet(struct packet_name *name, const struct sroce_rx *rx,
			struct net_device *in)
{
	int last = (int)rx->skb->len - (int)sizeof(name->icrc);

	if (rx->ipv4)
		ipv6_addr_set_v4mapped(((const struct iphdr *)rx->ip)->saddr, &name->saddr);
	else
		name->saddr = ((const struct ipv6hdr *)rx->ip)->saddr;
	name->link = (unsigned long)link_of(in);
	name->src_qpn = rx->pkt.src_qpn;
	name->psn = rx->pkt.psn;
	name->zero = 0;
	return last >= 0 && !skb_copy_bits(rx->skb, last, &name->icrc, sizeof(name->icrc));
}

const struct net_device *sroce_mcast_first(const struct sroce_rx *rx, struct net_device *in)
{
	const struct net_device *first = in;
	struct packet_name name;
	struct first_copy *copy;
	u64 id;

	if (likely(!may_be_copied(rx, in)) || !name_packet(&name, rx, in))
		return in;
	id = packet_id(&name);
	copy = &first_copies[(hash_32(name.src_qpn, 32) + name.psn) % FIRST_COPIES];
	spin_lock_bh(&copies_lock);
	if (copy->in && copy->id == id && time_before(jiffies, copy->when + LATEST_COPY))
		first = copy->in;
	else
		*copy = (struct first_copy) { .id = id, .in = in, .when = jiffies };
	spin_unlock_bh(&copies_lock);
	return first;
}
