// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Transmission of bursts: network headers, ICRC, back-pressure, and completion.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/rcupdate.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip6_checksum.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/sock.h>
#include "../core/params.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "ah.h"
#include "gso.h"
#include "icrc.h"
#include "loopback.h"
#include "tx.h"
#include "udp_sock.h"

/* Back-pressure */

static void tx_done(struct sroce_qp *qp, struct sroce_path *path,
		    const struct sroce_path *other)
{
	u32 left;

	/* Before @bursts: sroce_tx_in_order() reads them the other way around. */
	if (qp->type == IB_QPT_UC)
		WRITE_ONCE(qp->tx_grace, get_state_synchronize_rcu());
	/* Of two concurrent calls the later one sees both decrements. */
	left = atomic_dec_return(&path->bursts);
	if ((!left || left + atomic_read(&other->bursts) <= SROCE_TX_LIMIT / 2) &&
	    READ_ONCE(qp->tx_full) && cmpxchg(&qp->tx_full, true, false))
		sroce_qp_wake(qp, BIT(SROCE_TODO_SEND) |
				      BIT(SROCE_TODO_RESPOND));
}

static void skb_done(struct sroce_qp *qp, struct sroce_path *path,
		     const struct sroce_path *other, u32 units)
{
	tx_done(qp, path, other);
	sroce_wmem_uncharge(qp->wmem, units);
	kref_put(&qp->mem, sroce_qp_free);
}

void sroce_looped_done(struct sroce_looped *looped)
{
	struct sroce_qp *qp = looped->qp;
	bool requests = looped->path == &qp->sq.path;

	dev_put(looped->rx.ndev);
	tx_done(qp, looped->path, requests ? &qp->rq.path : &qp->sq.path);
	kref_put(&qp->mem, sroce_qp_free);
}

/* Drop the reference of force_mtu_sock(). */
static void put_sock(const struct sk_buff *skb)
{
	if (unlikely(skb->sk))
		sock_put(skb->sk);
}

/*
 * The charge of a packet is stored in the low bits of the pointer, because the
 * stack may change the packet's truesize on the way.
 */
#define UNITS	63ul

/* kmalloc() aligns an object to the largest power of two that divides its size. */
static_assert(!(sizeof(struct sroce_qp) % (UNITS + 1)));

static void *tagged_qp(struct sroce_qp *qp, u32 units)
{
	return (void *)((unsigned long)qp | units);
}

static struct sroce_qp *charged_qp(const struct sk_buff *skb, u32 *units)
{
	unsigned long arg = (unsigned long)skb_shinfo(skb)->destructor_arg;

	*units = arg & UNITS;
	return (struct sroce_qp *)(arg & ~UNITS);
}

static u32 charge_burst(struct sroce_qp *qp, const struct sk_buff *skb)
{
	u32 units;

	if (!qp->wmem)
		return 0;
	units = min_t(u32, DIV_ROUND_UP(skb->truesize, SROCE_WMEM_UNIT), UNITS);
	sroce_wmem_charge(qp->wmem, units);
	return units;
}

static void requests_done(struct sk_buff *skb)
{
	u32 units;
	struct sroce_qp *qp = charged_qp(skb, &units);

	put_sock(skb);
	skb_done(qp, &qp->sq.path, &qp->rq.path, units);
}

static void responses_done(struct sk_buff *skb)
{
	u32 units;
	struct sroce_qp *qp = charged_qp(skb, &units);

	put_sock(skb);
	skb_done(qp, &qp->rq.path, &qp->sq.path, units);
}

/*
 * True if the receiver's stack has finished with earlier bursts.  It frees a
 * burst's skb when IP receive begins, and is done when it leaves the RCU read
 * side.  Packets that overtake it in between are lost on UC; RC retransmits
 * them.
 */
static bool peer_has_finished(const struct sroce_qp *qp)
{
	return qp->type != IB_QPT_UC ||
	       poll_state_synchronize_rcu(READ_ONCE(qp->tx_grace));
}

enum sroce_order sroce_tx_in_order(struct sroce_qp *qp,
				   struct sroce_path *path)
{
	int here = smp_processor_id();

	lockdep_assert(lockdep_is_held(&qp->sq.lock) ||
		       lockdep_is_held(&qp->rq.lock));
	if (likely(path->cpu == here))
		return SROCE_ORDER_KEPT;
	if (atomic_read(&path->bursts)) {
		WRITE_ONCE(qp->tx_full, true);
		/* Pairs with tx_done(), as in sroce_tx_wait(). */
		smp_mb();
		if (atomic_read(&path->bursts))
			return SROCE_ORDER_WAKES;
	}
	/*
	 * Pairs with tx_done(), which sets tx_grace before it lowers the count.
	 */
	smp_rmb();
	if (!peer_has_finished(qp)) {
		start_poll_synchronize_rcu();
		return SROCE_ORDER_WAITS;
	}
	path->cpu = here;
	return SROCE_ORDER_KEPT;
}

bool sroce_tx_wait(struct sroce_qp *qp)
{
	WRITE_ONCE(qp->tx_full, true);
	/*
	 * Pairs with tx_done(): either it sees the flag, or we see the room
	 * that it made.
	 */
	smp_mb();
	return !sroce_tx_ready(qp);
}

bool sroce_tx_room(struct sroce_qp *qp, enum sroce_qp_todo todo)
{
	if (!sroce_tx_ready(qp) && sroce_tx_wait(qp))
		return false;
	if (!sroce_wmem_room(qp->wmem) &&
	    sroce_wmem_wait(qp->wmem, &qp->wmem_wait))
		return false;
	if (likely(!qp->av || !qp->av->loopback || !sroce_loopback_full(qp->wmem)))
		return true;
	/* The loopback queue is delivered before the work item runs. */
	sroce_qp_wake(qp, BIT(todo));
	return false;
}

/* Headers */

/* Set the lengths in the head of the complete burst. */
static void set_gso_len(struct sroce_burst *burst)
{
	struct sk_buff *head = burst->head;
	struct skb_shared_info *shared = skb_shinfo(head);
	struct sk_buff *skb;

	skb_walk_frags(head, skb) {
		head->len += skb->len;
		head->data_len += skb->len;
		head->truesize += skb->truesize;
		shared->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	}
}

static void push_udp(struct sk_buff *skb, const struct sroce_av *av)
{
	struct udphdr *udp = __skb_push(skb, sizeof(*udp));

	udp->source = htons(av->sport);
	udp->dest = htons(SROCE_UDP_PORT);
	/* The total length, or the receiver's UDP would drop the burst. */
	udp->len = htons(skb->len);
	udp->check = 0;
	skb_reset_transport_header(skb);
}

/*
 * ECN capable packets are sent only on connections, because a CNP names the QP of
 * a connection.  The packets of a burst are all requests, or all responses to READs, or
 * all responses to atomics.
 */
static u8 ecn_bits(const struct sroce_burst *burst)
{
	const struct sroce_qp *qp = burst->qp;

	if (likely(!READ_ONCE(qp->dev->settings.ecn)) ||
	    !sroce_qp_connected(qp) || !sroce_ecn_capable(burst->bth[0]))
		return INET_ECN_NOT_ECT;
	return INET_ECN_ECT_0;
}

/* The ECN bits of the traffic class belong to the transport. */
static u8 ds_field(const struct sroce_burst *burst)
{
	return (burst->av->tclass & ~INET_ECN_MASK) | ecn_bits(burst);
}

static void push_ipv4(struct sk_buff *skb, const struct sroce_av *av, u8 tos,
		      u16 id)
{
	struct iphdr *ip = __skb_push(skb, sizeof(*ip));

	ip->version = 4;
	ip->ihl = sizeof(*ip) / 4;
	ip->tos = tos;
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

static void push_ipv6(struct sk_buff *skb, const struct sroce_av *av, u8 tclass)
{
	u16 payload = skb->len;
	struct ipv6hdr *ip = __skb_push(skb, sizeof(*ip));

	ip6_flow_hdr(ip, tclass, cpu_to_be32(av->flow_label));
	ip->payload_len = htons(payload);
	ip->nexthdr = IPPROTO_UDP;
	ip->hop_limit = av->hop_limit;
	ip->saddr = av->saddr;
	ip->daddr = av->daddr;
	skb_reset_network_header(skb);
	skb->protocol = htons(ETH_P_IPV6);
}

static void make_gso(struct sroce_burst *burst)
{
	struct skb_shared_info *shared = skb_shinfo(burst->head);

	shared->gso_size = burst->size;
	shared->gso_segs = burst->packets;
	shared->gso_type = SKB_GSO_UDP_L4;
}

static void write_icrcs(struct sroce_burst *burst)
{
	struct sk_buff *skb = burst->head;
	const u8 *ip = skb_network_header(skb);
	struct sroce_icrc icrc __uninitialized;
	struct sroce_reader reader;
	__le32 trailer;

	if (burst->packets == 1 && burst->av->ipv4 && !skb_is_nonlinear(skb) &&
	    sroce_icrc_is_short(burst->bytes)) {
		trailer = sroce_icrc_alone(ip, burst->bytes);
		memcpy(skb_tail_pointer(skb) - sizeof(trailer), &trailer,
		       sizeof(trailer));
		return;
	}
	sroce_reader_begin(&reader, skb, sroce_ip_bytes(burst->av->ipv4) + SROCE_UDP_BYTES);
	sroce_icrc_begin(&icrc, ip, 1);
	/* burst_put() made the trailers contiguous. */
	sroce_icrc_write(&icrc, reader, burst->size, burst->bytes, &burst->uncopied);
}

static void finish_burst(struct sroce_burst *burst)
{
	struct sk_buff *skb = burst->head;

	set_gso_len(burst);
	push_udp(skb, burst->av);
	if (burst->av->ipv4)
		push_ipv4(skb, burst->av, ds_field(burst), burst->path->ip_id);
	else
		push_ipv6(skb, burst->av, ds_field(burst));
	burst->path->ip_id += burst->packets;
	if (burst->packets > 1)
		make_gso(burst);
	if (burst->av->loopback)
		return;
	if (burst->packets > 1)
		sroce_gso_start_checksum(skb, skb_network_header(skb),
					 udp_hdr(skb));
	else
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	write_icrcs(burst);
}

/*
 * Find a socket for a route whose path MTU is less than the netdev's; see
 * sroce_udp_sock_find().  IPv6 uses the skb's socket, which needs a reference.
 */
static struct sock *force_mtu_sock(struct net *net, struct sk_buff *skb, bool ipv4)
{
	struct sock *sk = sroce_udp_sock_find(net, ipv4);

	if (sk && !ipv4) {
		if (!refcount_inc_not_zero(&sk->sk_refcnt))
			return NULL;
		skb->sk = sk;
	}
	return sk;
}

static int transmit_ip(struct sroce_burst *burst, struct sk_buff *skb)
{
	struct dst_entry *dst = burst->path->dst;
	struct net *net = burst->path->net;
	bool ipv4 = burst->av->ipv4;
	struct sock *sk = NULL;
	int err;

	skb->priority = burst->av->sl;
	skb_set_hash(skb, burst->av->hash, PKT_HASH_TYPE_L4);
	skb_dst_set(skb, dst_clone(dst));
	rcu_read_lock();
	if (unlikely(dst_mtu(dst) < READ_ONCE(dst->dev->mtu)))
		sk = force_mtu_sock(net, skb, ipv4);
	err = ipv4 ? ip_local_out(net, sk, skb) : ip6_local_out(net, sk, skb);
	rcu_read_unlock();
	return err;
}

static int transmit_loopback(struct sroce_burst *burst, struct sk_buff *skb)
{
	struct net_device *ndev;
	int err = -ENODEV;

	rcu_read_lock();
	ndev = sroce_av_ndev(burst->av);
	if (ndev) {
		dev_hold(ndev);
		skb->dev = ndev;
		err = sroce_loopback_push(skb, burst->qp->wmem) ? 0 : -ENOBUFS;
	}
	if (err)
		kfree_skb(skb);
	if (err == -ENOBUFS)
		dev_put(ndev);
	rcu_read_unlock();
	return err;
}

/* Only version and addresses are read. */
static void set_looped_ip(struct sroce_looped *looped, const struct sroce_av *av)
{
	looped->rx.ip = (const u8 *)&looped->ipv6;
	looped->rx.ipv4 = av->ipv4;
	if (av->ipv4) {
		looped->ipv4.version = 4;
		looped->ipv4.saddr = av->saddr.s6_addr32[3];
		looped->ipv4.daddr = av->daddr.s6_addr32[3];
	} else {
		looped->ipv6.version = 6;
		looped->ipv6.saddr = av->saddr;
		looped->ipv6.daddr = av->daddr;
	}
}

/* Not charged to the user: it does not hold memory of this host. */
static int transmit_looped(struct sroce_burst *burst)
{
	struct sroce_looped *looped = burst->looped;
	struct sroce_rx *rx = &looped->rx;

	rcu_read_lock();
	rx->ndev = sroce_av_ndev(burst->av);
	dev_hold(rx->ndev);
	rcu_read_unlock();
	if (!rx->ndev)
		return -ENODEV;
	trace_sroce_packet_out(burst->qp, rx->pkt.opcode, rx->pkt.psn, burst->bytes);
	rx->payload = &looped->payload;
	rx->looped = true;
	rx->resets = atomic64_read(&sroce_qp_resets);
	rx->id_ahead = 0;
	rx->len = burst->bytes;
	set_looped_ip(looped, burst->av);
	looped->payload = sroce_reader_of(looped->data, rx->pkt.payload);
	looped->qp = burst->qp;
	looped->path = burst->path;
	kref_get(&burst->qp->mem);
	atomic_inc(&burst->path->bursts);
	sroce_loopback_push_packet();
	return 0;
}

static void trace_packets(const struct sroce_burst *burst)
{
	struct sroce_reader reader;
	u8 bth[SROCE_BTH_BYTES];
	u32 left = burst->bytes;
	u32 len;

	sroce_reader_begin(&reader, burst->head,
			   sroce_ip_bytes(burst->av->ipv4) + SROCE_UDP_BYTES);
	for (; left; left -= len) {
		len = min(left, burst->size);
		sroce_reader_copy(&reader, bth, sizeof(bth));
		sroce_reader_copy(&reader, NULL, len - sizeof(bth));
		trace_sroce_packet_out(burst->qp, bth[0], sroce_bth_psn(bth), len);
	}
}

static int transmit_skb(struct sroce_burst *burst, struct sk_buff *skb)
{
	if (trace_sroce_packet_out_enabled())
		trace_packets(burst);
	skb_shinfo(skb)->destructor_arg =
		tagged_qp(burst->qp, charge_burst(burst->qp, skb));
	skb->destructor = burst->path == &burst->qp->sq.path ? requests_done :
							       responses_done;
	kref_get(&burst->qp->mem);
	atomic_inc(&burst->path->bursts);
	return burst->av->loopback ? transmit_loopback(burst, skb) :
				     transmit_ip(burst, skb);
}

static void count_burst(struct sroce_burst *burst, int err)
{
	struct sroce_qp *qp = burst->qp;

	if (err) {
		sroce_count(qp, SROCE_TX_LOCAL_DROPS);
		return;
	}
	sroce_count(qp, SROCE_TX_BURSTS);
	sroce_count_add(qp, SROCE_TX_PACKETS, burst->packets);
	sroce_count_add(qp, SROCE_TX_BYTES, burst->bytes);
}

int sroce_burst_send(struct sroce_burst *burst)
{
	int err;

	if (sroce_burst_empty(burst)) {
		sroce_mr_cache_drop(&burst->cache);
		return 0;
	}
	if (burst->looped) {
		sroce_mr_cache_drop(&burst->cache);
		count_burst(burst, transmit_looped(burst));
		sroce_burst_reset(burst);
		return 0;
	}
	/*
	 * Compute the ICRC before dropping the MR reference: after
	 * deregistration the owner may overwrite attached pages, and the stale
	 * ICRC makes the peer drop such a packet.
	 */
	finish_burst(burst);
	sroce_mr_cache_drop(&burst->cache);
	err = transmit_skb(burst, burst->head);
	count_burst(burst, net_xmit_eval(err));
	sroce_burst_reset(burst);
	return err == NET_XMIT_DROP || err == -ENOBUFS ? -ENOBUFS : 0;
}
