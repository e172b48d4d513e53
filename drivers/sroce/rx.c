// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * From the UDP socket to the QP.  What arrives is a packet or a burst of them;
 * runs of packets for the same half of the same QP are handled under one lock
 * and answered once.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/udp.h>
#include <net/net_namespace.h>
#include <net/udp_tunnel.h>
#include <rdma/ib_cache.h>
#include "core/icrc.h"
#include "crc.h"
#include "receive.h"
#include "rx.h"
#include "send.h"

/* Demultiplexing */

/* What is being delivered to: a QP, and one of its locks. */
struct run {
	struct sroce_qp *qp;
	u32 qpn;
	bool answers;
	bool locked;
};

static void run_unlock(struct run *run)
{
	if (!run->locked)
		return;
	if (run->answers) {
		sroce_send_run(run->qp);
		sroce_send_unlock(run->qp);
	} else {
		sroce_receive_answer(run->qp);
		sroce_receive_unlock(run->qp);
	}
	run->locked = false;
}

static void run_lock(struct run *run, bool answers)
{
	if (run->locked && run->answers == answers)
		return;
	run_unlock(run);
	run->answers = answers;
	if (answers)
		sroce_send_lock(run->qp);
	else
		sroce_receive_lock(run->qp);
	run->locked = true;
}

static void run_end(struct run *run)
{
	if (!run->qp)
		return;
	run_unlock(run);
	sroce_qp_put(run->qp);
	run->qp = NULL;
}

static void packet_addresses(const struct sroce_rx *rx, struct in6_addr *from,
			     struct in6_addr *to)
{
	if (rx->ipv4) {
		const struct iphdr *ip = (const struct iphdr *)rx->ip;

		ipv6_addr_set_v4mapped(ip->saddr, from);
		ipv6_addr_set_v4mapped(ip->daddr, to);
	} else {
		const struct ipv6hdr *ip = (const struct ipv6hdr *)rx->ip;

		*from = ip->saddr;
		*to = ip->daddr;
	}
}

/* Is @to an address of the device, in the namespace of the packet? */
static bool is_ours(struct sroce_device *dev, const struct sroce_rx *rx,
		    const struct in6_addr *to)
{
	const struct ib_gid_attr *attr;
	struct net_device *ndev;
	bool found = false;

	attr = rdma_find_gid_by_port(&dev->ib, (const union ib_gid *)to,
				     IB_GID_TYPE_ROCE_UDP_ENCAP, SROCE_PORT,
				     NULL);
	if (IS_ERR(attr))
		return false;
	rcu_read_lock();
	ndev = rdma_read_gid_attr_ndev_rcu(attr);
	if (!IS_ERR(ndev))
		found = net_eq(dev_net(ndev), rx->net);
	rcu_read_unlock();
	rdma_put_gid_attr(attr);
	return found;
}

/* The av of a connected QP is stable from RTR on, under either lock. */
static bool from_peer(const struct sroce_qp *qp, const struct sroce_rx *rx,
		      const struct in6_addr *from, const struct in6_addr *to)
{
	return qp->av && net_eq(qp->net, rx->net) &&
	       ipv6_addr_equal(&qp->av->saddr, to) &&
	       ipv6_addr_equal(&qp->av->daddr, from);
}

static bool address_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct in6_addr from, to;

	packet_addresses(rx, &from, &to);
	if (sroce_qp_connected(qp) ? from_peer(qp, rx, &from, &to) :
				     is_ours(qp->dev, rx, &to))
		return true;
	sroce_count(qp->dev, SROCE_RX_BAD_ADDRESS);
	return false;
}

static bool transport_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	static const u8 transports[] = {
		[IB_QPT_GSI] = SROCE_UD,
		[IB_QPT_RC] = SROCE_RC,
		[IB_QPT_UC] = SROCE_UC,
		[IB_QPT_UD] = SROCE_UD,
	};

	if ((rx->pkt.opcode & SROCE_TRANSPORT_MASK) == transports[qp->type])
		return true;
	sroce_count(qp->dev, SROCE_RX_BAD_TRANSPORT);
	return false;
}

/* One of the two must be a full member; the index is the same (10.9.3). */
static bool pkey_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	const u16 ours = SROCE_PKEY_DEFAULT;

	if (((rx->pkt.pkey ^ ours) & ~SROCE_PKEY_FULL) == 0)
		return true;
	sroce_count(qp->dev, SROCE_RX_BAD_PKEY);
	return false;
}

static bool gsi_matches(struct sroce_qp *qp, void *arg)
{
	const struct sroce_rx *rx = arg;
	struct in6_addr from, to;

	packet_addresses(rx, &from, &to);
	return is_ours(qp->dev, rx, &to);
}

/* Finds the QP of a packet and lets the run be about it. */
static bool aim(struct run *run, struct sroce_rx *rx)
{
	u32 qpn = rx->pkt.qpn;

	if (run->qp && run->qpn == qpn)
		return true;
	run_end(run);
	rcu_read_lock();
	run->qp = qpn == SROCE_QPN_GSI ? sroce_qp_find_gsi(gsi_matches, rx) :
					 sroce_qp_lookup(qpn);
	rcu_read_unlock();
	run->qpn = qpn;
	return run->qp;
}

static bool intact(const struct sroce_rx *rx)
{
	u32 covered = rx->len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES;
	__le32 icrc;
	u32 crc;

	crc = sroce_icrc_headers(rx->ip, rx->header,
				 rx->len + sizeof(struct udphdr));
	crc = sroce_crc_skb(crc, rx->skb, rx->bth + SROCE_BTH_BYTES, covered);
	if (skb_copy_bits(rx->skb, rx->bth + rx->len - SROCE_ICRC_BYTES, &icrc,
			  sizeof(icrc)))
		return false;
	return icrc == sroce_icrc_final(crc);
}

/* Checks by the QP, then what the packet asks for. */
static void accept(struct run *run, struct sroce_rx *rx)
{
	struct sroce_qp *qp = run->qp;

	sroce_count(qp->dev, SROCE_RX_PACKETS);
	sroce_count_add(qp->dev, SROCE_RX_BYTES, rx->len);
	if (!transport_fits(qp, rx) || !pkey_fits(qp, rx))
		return;
	if (!intact(rx)) {
		sroce_count(qp->dev, SROCE_RX_ICRC_ERRORS);
		return;
	}
	run_lock(run, rx->pkt.op->kind >= SROCE_KIND_ANSWERS);
	if (!address_fits(qp, rx))
		return;
	if (run->answers)
		sroce_send_answered(qp, rx);
	else
		sroce_receive_request(qp, rx);
}

static bool deliver(struct run *run, struct sroce_rx *rx)
{
	if (!aim(run, rx))
		return false;
	accept(run, rx);
	return true;
}

/* A packet may be shared with a capture, so nothing is pulled or changed. */
static bool parse(struct sroce_rx *rx, u8 *buffer)
{
	u32 n = min_t(u32, rx->len, SROCE_MAX_HEADER);

	rx->header = skb_header_pointer(rx->skb, rx->bth, n, buffer);
	rx->ip = skb_network_header(rx->skb);
	rx->ipv4 = rx->ip[0] >> 4 == 4;
	/* No IP options: they are not in the format of annex A17. */
	if (!rx->header || (rx->ipv4 && rx->ip[0] != 0x45))
		return false;
	return sroce_parse(&rx->pkt, rx->header, n, rx->len) ==
	       SROCE_WELL_FORMED;
}

static void receive_one(struct run *run, struct sk_buff *skb, struct net *net,
			u32 bth, u32 len)
{
	u8 buffer[SROCE_MAX_HEADER];
	struct sroce_rx rx = {
		.skb = skb,
		.net = net,
		.bth = bth,
		.len = len,
	};

	if (!parse(&rx, buffer))
		sroce_qp_count_stray(net, SROCE_RX_MALFORMED);
	else if (!deliver(run, &rx))
		sroce_qp_count_stray(net, SROCE_RX_BAD_QPN);
}

/*
 * A frag_list is a burst only if GSO says so.  Reassembly and drivers make
 * others, of one packet: those are made linear.
 */
static bool is_burst(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       skb_shinfo(skb)->gso_type & SKB_GSO_FRAGLIST;
}

/*
 * Burst or single packet.  The head has its UDP header in front, the others
 * begin with their BTH; skb_pagelen() is the head without the others.
 */
static int receive(struct sock *sk, struct sk_buff *skb)
{
	struct net *net = sock_net(sk);
	struct run run = {};
	struct sk_buff *next;

	if (skb_has_frag_list(skb) && !is_burst(skb) && skb_linearize(skb)) {
		consume_skb(skb);
		return 0;
	}
	if (skb_pagelen(skb) > sizeof(struct udphdr))
		receive_one(&run, skb, net, sizeof(struct udphdr),
			    skb_pagelen(skb) - sizeof(struct udphdr));
	skb_walk_frags(skb, next)
		if (!skb_has_frag_list(next))
			receive_one(&run, next, net, 0, next->len);
	if (run.qp)
		sroce_count(run.qp->dev, SROCE_RX_BURSTS);
	run_end(&run);
	consume_skb(skb);
	return 0;
}

/* Sockets */

struct rx_socket {
	struct list_head list;
	struct net *net;
	bool ipv4;
	u32 users;
	struct socket *socket;
};

/* Protects the list and everything in it. */
static DEFINE_MUTEX(sockets_lock);
static LIST_HEAD(sockets);

static struct rx_socket *find_socket(struct net *net, bool ipv4)
{
	struct rx_socket *s;

	list_for_each_entry(s, &sockets, list)
		if (s->net == net && s->ipv4 == ipv4)
			return s;
	return NULL;
}

static int open_socket(struct rx_socket *s)
{
	struct udp_port_cfg port = {
		.family = s->ipv4 ? AF_INET : AF_INET6,
		.local_udp_port = htons(SROCE_UDP_PORT),
		.ipv6_v6only = true,
	};
	struct udp_tunnel_sock_cfg tunnel = {
		.encap_type = 1,
		.encap_rcv = receive,
	};
	int err = udp_sock_create(s->net, &port, &s->socket);

	if (err)
		return err;
	setup_udp_tunnel_sock(s->net, s->socket, &tunnel);
	udp_allow_gso(s->socket->sk);
	return 0;
}

static int add_socket(struct net *net, bool ipv4)
{
	struct rx_socket *s = kzalloc(sizeof(*s), GFP_KERNEL);
	int err;

	if (!s)
		return -ENOMEM;
	s->net = net;
	s->ipv4 = ipv4;
	s->users = 1;
	err = open_socket(s);
	if (err)
		kfree(s);
	else
		list_add(&s->list, &sockets);
	return err;
}

static void close_socket(struct rx_socket *s)
{
	list_del(&s->list);
	udp_tunnel_sock_release(s->socket);
	kfree(s);
}

int sroce_rx_open(struct net *net, bool ipv4)
{
	struct rx_socket *s;
	int err = 0;

	mutex_lock(&sockets_lock);
	s = find_socket(net, ipv4);
	if (s)
		s->users++;
	else
		err = add_socket(net, ipv4);
	mutex_unlock(&sockets_lock);
	return err;
}

void sroce_rx_close(struct net *net, bool ipv4)
{
	struct rx_socket *s;

	mutex_lock(&sockets_lock);
	s = find_socket(net, ipv4);
	if (s && !--s->users)
		close_socket(s);
	mutex_unlock(&sockets_lock);
}

/*
 * GIDs go away from a work item of the RDMA core, which a namespace does not
 * wait for if its netdevs move elsewhere: so its sockets go here at the
 * latest.
 */
static void __net_exit net_exit(struct net *net)
{
	struct rx_socket *s, *next;

	mutex_lock(&sockets_lock);
	list_for_each_entry_safe(s, next, &sockets, list)
		if (s->net == net)
			close_socket(s);
	mutex_unlock(&sockets_lock);
}

static struct pernet_operations net_ops = {
	.exit = net_exit,
};

int sroce_rx_init(void)
{
	return register_pernet_subsys(&net_ops);
}

void sroce_rx_exit(void)
{
	unregister_pernet_subsys(&net_ops);
}
