// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/delay.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <rdma/ib_cache.h>
#include "core/icrc.h"
#include "crc.h"
#include "tx.h"
#include "worker.h"

/* skbs with our destructor, in all of the module. */
static atomic_t under_way = ATOMIC_INIT(0);

static u32 network_bytes(const struct sroce_av *av)
{
	return av->ipv4 ? sizeof(struct iphdr) : sizeof(struct ipv6hdr);
}

/* Routes */

static struct dst_entry *route_ipv4(const struct sroce_av *av,
				    struct net_device *ndev)
{
	struct flowi4 fl = {
		.flowi4_oif = ndev->ifindex,
		.flowi4_tos = av->tclass & IPTOS_RT_MASK,
		.flowi4_proto = IPPROTO_UDP,
		.daddr = av->daddr.s6_addr32[3],
		.saddr = av->saddr.s6_addr32[3],
		.fl4_sport = htons(av->sport),
		.fl4_dport = htons(SROCE_UDP_PORT),
	};
	struct rtable *rt = ip_route_output_key(dev_net(ndev), &fl);

	return IS_ERR(rt) ? ERR_CAST(rt) : &rt->dst;
}

static struct dst_entry *route_ipv6(const struct sroce_av *av,
				    struct net_device *ndev)
{
	struct flowi6 fl = {
		.flowi6_oif = ndev->ifindex,
		.flowi6_proto = IPPROTO_UDP,
		.daddr = av->daddr,
		.saddr = av->saddr,
		.flowlabel = ip6_make_flowinfo(av->tclass,
					       cpu_to_be32(av->flow_label)),
		.fl6_sport = htons(av->sport),
		.fl6_dport = htons(SROCE_UDP_PORT),
	};

	return ipv6_stub->ipv6_dst_lookup_flow(dev_net(ndev), NULL, &fl, NULL);
}

static struct dst_entry *route(const struct sroce_av *av)
{
	struct dst_entry *dst = ERR_PTR(-ENETUNREACH);
	struct net_device *ndev;

	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(av->sgid_attr);
	if (!IS_ERR(ndev))
		dst = av->ipv4 ? route_ipv4(av, ndev) : route_ipv6(av, ndev);
	rcu_read_unlock();
	return dst;
}

void sroce_path_release(struct sroce_path *path)
{
	dst_release(path->dst);
	path->dst = NULL;
}

static struct dst_entry *path_dst(struct sroce_path *path,
				  const struct sroce_av *av)
{
	struct dst_entry *dst = path->dst;

	if (likely(dst && dst_check(dst, path->cookie)))
		return dst;
	sroce_path_release(path);
	dst = route(av);
	if (IS_ERR(dst))
		return dst;
	path->dst = dst;
	path->cookie = av->ipv4 ? 0 : rt6_get_cookie((struct rt6_info *)dst);
	return dst;
}

/* Back-pressure */

static void tx_done(struct sk_buff *skb)
{
	struct sroce_qp *qp = skb_shinfo(skb)->destructor_arg;

	if (atomic_dec_return(&qp->tx_bursts) <= SROCE_TX_LIMIT / 2 &&
	    READ_ONCE(qp->tx_full) && cmpxchg(&qp->tx_full, true, false))
		sroce_worker_wake(qp, BIT(SROCE_TODO_SEND) |
				      BIT(SROCE_TODO_ANSWER));
	kref_put(&qp->mem, sroce_qp_free);
	atomic_dec(&under_way);
}

bool sroce_tx_in_order(struct sroce_qp *qp, int *cpu)
{
	int here = smp_processor_id();

	if (*cpu != here && atomic_read(&qp->tx_bursts)) {
		WRITE_ONCE(qp->tx_full, true);
		/* As in sroce_tx_wait(). */
		smp_mb();
		if (atomic_read(&qp->tx_bursts))
			return false;
	}
	*cpu = here;
	return true;
}

bool sroce_tx_wait(struct sroce_qp *qp)
{
	WRITE_ONCE(qp->tx_full, true);
	/* Against tx_done(): it sees the flag, or we see the room it made. */
	smp_mb();
	return !sroce_tx_ready(qp);
}

void sroce_tx_drain(void)
{
	while (atomic_read(&under_way))
		msleep(20);
}

/* Packets */

static struct sk_buff *alloc_packet(u32 headroom, u32 linear)
{
	struct sk_buff *skb = alloc_skb(headroom + linear,
					GFP_ATOMIC | __GFP_NOWARN);

	if (skb)
		skb_reserve(skb, headroom);
	return skb;
}

/* Pad and ICRC in a fragment of their own, behind attached pages. */
static int add_trailer(struct sk_buff *skb, u32 pad)
{
	u32 len = pad + SROCE_ICRC_BYTES;
	void *p = netdev_alloc_frag(2 * SROCE_ICRC_BYTES);
	struct page *page;

	if (!p)
		return -ENOMEM;
	memset(p, 0, len);
	page = virt_to_head_page(p);
	skb_add_rx_frag(skb, skb_shinfo(skb)->nr_frags, page,
			p - page_address(page), len, 2 * SROCE_ICRC_BYTES);
	return 0;
}

static void add_linear_trailer(struct sk_buff *skb, u32 pad)
{
	memset(skb_put(skb, pad + SROCE_ICRC_BYTES), 0, pad + SROCE_ICRC_BYTES);
}

static int attach(struct sk_buff *skb, struct sroce_burst *burst,
		  const struct sroce_pkt *pkt, const struct sroce_memory *from,
		  u32 at)
{
	int err = sroce_attach(skb, &burst->grip, from, at, pkt->payload, 1);

	return err ?: add_trailer(skb, pkt->pad);
}

static int fill(struct sk_buff *skb, struct sroce_burst *burst,
		const struct sroce_pkt *pkt, const struct sroce_memory *from,
		u32 at, const void *data)
{
	void *to = skb_put(skb, pkt->payload);
	int err = 0;

	if (from)
		err = sroce_load_bytes(&burst->grip, from, at, to, pkt->payload);
	else if (pkt->payload)
		memcpy(to, data, pkt->payload);
	add_linear_trailer(skb, pkt->pad);
	return err;
}

static void append(struct sroce_burst *burst, struct sk_buff *skb)
{
	if (burst->last)
		burst->last->next = skb;
	else
		burst->head = skb;
	burst->last = skb;
	burst->packets++;
	burst->bytes += skb->len;
}

static int add_packet(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		      const struct sroce_memory *from, u32 at,
		      const void *data, bool copy)
{
	/*
	 * skb_segment_list() gives each packet the MAC header that the first
	 * one has by then, without a look at the room, and VLAN tags are added
	 * on the way: leave as much as a received packet has.
	 */
	u32 headroom = max_t(u32, LL_RESERVED_SPACE(burst->path->dst->dev),
			     NET_SKB_PAD);
	struct sk_buff *skb;
	int err;

	skb = alloc_packet(headroom +
			   network_bytes(burst->av) + sizeof(struct udphdr),
			   SROCE_MAX_HEADER + 2 * SROCE_ICRC_BYTES +
			   (copy ? pkt->payload : 0));
	if (unlikely(!skb))
		return -ENOMEM;
	skb_put(skb, sroce_build(skb->data, pkt));
	err = copy ? fill(skb, burst, pkt, from, at, data) :
		     attach(skb, burst, pkt, from, at);
	if (unlikely(err))
		kfree_skb(skb);
	else
		append(burst, skb);
	return err;
}

int sroce_burst_add(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		    const struct sroce_memory *from, u32 at, const void *data,
		    bool copy)
{
	int err;

	if (!burst->head) {
		struct dst_entry *dst = path_dst(burst->path, burst->av);

		if (IS_ERR(dst))
			return -ENETUNREACH;
	}
	if (!from || pkt->payload <= SROCE_COPY_BREAK)
		copy = true;
	err = add_packet(burst, pkt, from, at, data, copy);
	if (err == -E2BIG || err == -EOPNOTSUPP)
		err = add_packet(burst, pkt, from, at, data, true);
	return err;
}

static void push_udp(struct sk_buff *skb, const struct sroce_av *av)
{
	struct udphdr *udp = skb_push(skb, sizeof(*udp));

	udp->source = htons(av->sport);
	udp->dest = htons(SROCE_UDP_PORT);
	udp->len = htons(skb->len);
	udp->check = 0;
	skb_reset_transport_header(skb);
}

static void push_ipv4(struct sk_buff *skb, const struct sroce_av *av, u16 id)
{
	struct iphdr *ip = skb_push(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = av->tclass & ~INET_ECN_MASK;
	ip->tot_len = htons(skb->len);
	ip->id = htons(id);
	ip->frag_off = htons(IP_DF);
	ip->ttl = av->hop_limit;
	ip->protocol = IPPROTO_UDP;
	ip->check = 0;
	ip->saddr = av->saddr.s6_addr32[3];
	ip->daddr = av->daddr.s6_addr32[3];
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IP);
}

static void push_ipv6(struct sk_buff *skb, const struct sroce_av *av)
{
	u16 payload = skb->len;
	struct ipv6hdr *ip = skb_push(skb, sizeof(*ip));

	ip6_flow_hdr(ip, av->tclass & ~INET_ECN_MASK,
		     cpu_to_be32(av->flow_label));
	ip->payload_len = htons(payload);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = av->hop_limit;
	ip->saddr = av->saddr;
	ip->daddr = av->daddr;
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
}

static void write_icrc(struct sk_buff *skb, u32 crc)
{
	__le32 icrc = sroce_icrc_final(crc);
	u32 frags = skb_shinfo(skb)->nr_frags;
	void *end;

	if (frags) {
		const skb_frag_t *last = &skb_shinfo(skb)->frags[frags - 1];

		end = skb_frag_address(last) + skb_frag_size(last);
	} else {
		end = skb_tail_pointer(skb);
	}
	memcpy(end - SROCE_ICRC_BYTES, &icrc, SROCE_ICRC_BYTES);
}

/* Headers and ICRC: the packet as it will be on the wire. */
static void finish(struct sk_buff *skb, const struct sroce_av *av, u16 id)
{
	u32 bth, crc;

	push_udp(skb, av);
	if (av->ipv4)
		push_ipv4(skb, av, id);
	else
		push_ipv6(skb, av);
	bth = network_bytes(av) + sizeof(struct udphdr);
	crc = sroce_icrc_headers(skb_network_header(skb), skb->data + bth,
				 skb->len - network_bytes(av));
	crc = sroce_crc_skb(crc, skb, bth + SROCE_BTH_BYTES,
			    skb->len - bth - SROCE_BTH_BYTES -
			    SROCE_ICRC_BYTES);
	write_icrc(skb, crc);
}

/*
 * Make one skb of all: the form that a GRO list has, which the stack carries
 * whole through virtual devices and splits for others.  The UDP_TUNNEL bit lets
 * an encapsulation socket receive it whole (udp_unexpected_gso()).
 */
static void join(struct sroce_burst *burst)
{
	struct sk_buff *head = burst->head;
	u32 headers = network_bytes(burst->av) + sizeof(struct udphdr);
	struct skb_shared_info *shared = skb_shinfo(head);
	struct sk_buff *skb;

	shared->gso_size = head->len - headers;
	shared->gso_segs = burst->packets;
	shared->gso_type = SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST |
			   SKB_GSO_UDP_TUNNEL;
	shared->frag_list = head->next;
	for (skb = head->next; skb; skb = skb->next) {
		__skb_pull(skb, headers);
		head->len += skb->len;
		head->data_len += skb->len;
		head->truesize += skb->truesize;
		shared->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	}
	head->next = NULL;
	/* The length of the whole, or UDP on the other side would refuse it. */
	udp_hdr(head)->len = htons(head->len - network_bytes(burst->av));
}

static int transmit(struct sroce_burst *burst, struct sk_buff *skb)
{
	struct dst_entry *dst = burst->path->dst;
	struct net *net = dev_net(dst->dev);

	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->priority = burst->av->sl;
	skb_set_hash(skb, burst->av->sport, PKT_HASH_TYPE_L4);
	skb_dst_set(skb, dst_clone(dst));
	skb_shinfo(skb)->destructor_arg = burst->qp;
	skb->destructor = tx_done;
	kref_get(&burst->qp->mem);
	atomic_inc(&burst->qp->tx_bursts);
	atomic_inc(&under_way);
	if (burst->av->ipv4)
		return ip_local_out(net, NULL, skb);
	return ip6_local_out(net, NULL, skb);
}

static void count(struct sroce_burst *burst, int err)
{
	struct sroce_device *dev = burst->qp->dev;

	if (err) {
		sroce_count(dev, SROCE_TX_LOCAL_DROPS);
		return;
	}
	sroce_count(dev, SROCE_TX_BURSTS);
	sroce_count_add(dev, SROCE_TX_PACKETS, burst->packets);
	sroce_count_add(dev, SROCE_TX_BYTES, burst->bytes);
}

int sroce_burst_send(struct sroce_burst *burst)
{
	struct sk_buff *skb = burst->head;
	int err;

	sroce_grip_drop(&burst->grip);
	if (!skb)
		return 0;
	for (; skb; skb = skb->next)
		finish(skb, burst->av, burst->path->ip_id++);
	if (burst->packets > 1)
		join(burst);
	err = transmit(burst, burst->head);
	count(burst, net_xmit_eval(err));
	burst->head = NULL;
	burst->last = NULL;
	burst->packets = 0;
	burst->bytes = 0;
	return err == NET_XMIT_DROP || err == -ENOBUFS ? -ENOBUFS : 0;
}

void sroce_burst_drop(struct sroce_burst *burst)
{
	sroce_grip_drop(&burst->grip);
	kfree_skb_list(burst->head);
	burst->head = NULL;
	burst->last = NULL;
	burst->packets = 0;
	burst->bytes = 0;
}
