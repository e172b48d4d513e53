// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Receive path from the UDP socket or net/loopback.c to the QP.  An skb
 * contains a packet or a burst.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/dsfield.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/net_namespace.h>
#include "../net/gso.h"
#include "../net/icrc.h"
#include "../net/loopback.h"
#include "../net/rx_alike.h"
#include "../net/rx_gid.h"
#include "../net/rx_headers.h"
#include "../net/rx_route.h"
#include "../net/tx.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../recv/resp.h"
#include "../send/response.h"
#include "qp_work.h"
#include "rx.h"
#include "rx_run.h"

/* Most packets whose ICRCs are checked at once. */
#define BATCH	64

/**
 * struct arrival - a received skb: packets that follow one another
 * @net: namespace of the socket, or of the device if @looped
 * @skb: the skb; names the netdev
 * @reader: at the next packet
 * @size: bytes of each packet except the last, which may be shorter
 * @left: bytes from @reader on
 * @index: index of the next packet
 * @id_step: step of the IPv4 identification from packet to packet
 * @looped: from net/loopback.c, without ICRCs
 * @resets: if @looped: sroce_qp_resets when it was sent
 * @eager: check the ICRCs of middle packets at once, because they are not stored in a row
 * @checked: number of packets from @reader on whose ICRCs were checked
 * @good: mask of those that are right; bit 0 is the next packet
 * @alike: bytes of the last packet, if it was an accepted datagram; else 0
 * @datagram: headers of that datagram
 * @icrc: masked headers; not set if @looped
 * @run: the last packets, which are for one QP
 */
struct arrival {
	struct net *net;
	const struct sk_buff *skb;
	struct sroce_reader reader;
	u32 size;
	u32 left;
	u32 index;
	u16 id_step;
	bool looped;
	u64 resets;
	bool eager;
	u32 checked;
	u64 good;
	u32 alike;
	u8 datagram[SROCE_DATAGRAM_BYTES];
	struct sroce_icrc icrc;
	struct sroce_rx_run run;
};

/*
 * Number of packets to check at once.  Middle packets that follow one are checked when they
 * are stored (deliver_rest()).  The opcode is only a hint, because it is not checked yet.
 */
static u32 packets_to_check(struct arrival *a)
{
	if (a->eager || a->left < 3 * a->size || !sroce_reader_refill(&a->reader))
		return BATCH;
	switch (sroce_opcodes[*a->reader.p].pos) {
	case SROCE_MIDDLE:
		return 1;
	case SROCE_FIRST:
		return 2;
	default:
		return BATCH;
	}
}

/* Check the ICRCs of the next packets. */
static void check_icrcs(struct arrival *a)
{
	a->checked = a->looped ? BATCH : packets_to_check(a);
	a->good = ~0ull;
	if (!a->looped)
		a->good = sroce_icrc_check(&a->icrc, a->index, a->reader, a->size,
					   min(a->left, a->checked * a->size));
}

/* A packet of @skb, at @reader; the headers are not parsed yet. */
static void set_rx(struct sroce_rx *rx, struct net *net, const struct sk_buff *skb,
		   struct sroce_reader *reader, u32 len)
{
	rx->payload = reader;
	rx->net = net;
	rx->ndev = skb->dev;
	rx->skb = skb;
	rx->looped = false;
	rx->ip = skb_network_header(skb);
	rx->ipv4 = sroce_ip_is_v4(rx->ip);
	rx->id_ahead = 0;
	rx->len = len;
}

/* The next packet of @a. */
static void set_next_rx(struct sroce_rx *rx, const struct arrival *a,
			struct sroce_reader *reader, u32 len)
{
	set_rx(rx, a->net, a->skb, reader, len);
	rx->looped = a->looped;
	rx->resets = a->resets;
	rx->id_ahead = a->index * a->id_step;
}

/*
 * Checking the ICRCs of a burst takes time.  Take the lock first, so that
 * packets that another CPU receives meanwhile cannot overtake.
 */
static void check_order(struct arrival *a)
{
	struct sroce_reader reader = a->reader;
	struct sroce_rx rx __uninitialized;

	/* Another QP may be found. */
	a->alike = 0;
	if (a->looped || a->left <= a->size)
		return;
	set_next_rx(&rx, a, &reader, a->size);
	sroce_rx_run_lock(&a->run, &rx);
}

/* Packets behind the next one that are intact. */
static u32 intact_packets(const struct arrival *a)
{
	return ~a->good ? __ffs64(~a->good) - 1 : BATCH - 1;
}

/*
 * Fast path of deliver_predicted() for packets like the last one, a middle one.  @reader is
 * at its trailer, and is moved past the packets handled.  If only the last one was checked,
 * they are checked, too.
 */
static noinline void deliver_rest(struct arrival *a, const u8 *bth, struct sroce_reader *reader)
{
	struct sroce_rx_run *run = &a->run;
	struct sroce_rx_alike alike = {
		.bth = bth,
		.reader = reader,
		.payload = a->size - SROCE_BTH_BYTES - SROCE_ICRC_BYTES,
		.most = a->left / a->size - 1,
		.icrc = a->looped || a->checked > 1 ? NULL : &a->icrc,
		.index = a->index,
	};
	u32 n;

	if (!alike.icrc)
		alike.most = min(alike.most, intact_packets(a));
	/* Each packet has its own event. */
	if (!alike.most || run->header != SROCE_BTH_BYTES || trace_sroce_packet_in_enabled())
		n = 0;
	else
		n = run->responses ? sroce_req_alike(run->qp, &alike) :
				     sroce_resp_alike(run->qp, &alike);
	a->eager = !n;
	a->index += n;
	a->left -= n * a->size;
	if (!alike.icrc) {
		a->good >>= n;
		a->checked -= n;
	}
	run->marked += n * run->ce;
	run->packets += n;
	run->bytes += n * a->size;
}

/*
 * Fast path for a packet like the last one, for the same side of the same QP, and those like
 * it that follow.  On success @reader is moved to the trailer of the last one.
 */
static bool deliver_predicted(struct arrival *a, struct sroce_reader *reader, u32 len)
{
	struct sroce_rx_run *run = &a->run;
	u32 rest = len - run->header - SROCE_ICRC_BYTES;
	u8 bth[SROCE_BTH_BYTES + SROCE_RETH_BYTES] __uninitialized;

	if (!run->locked || !run->accepted || !run->header ||
	    len < run->header + SROCE_ICRC_BYTES)
		return false;
	if (!sroce_headers_copy(reader, bth, run->header) ||
	    !sroce_rx_pkey_matches(run->qp, sroce_bth_pkey(bth)) ||
	    sroce_bth_qpn(bth) != run->qpn)
		return false;
	if (!(run->responses ?
	      sroce_req_predicted(run->qp, bth, reader, rest) :
	      sroce_resp_predicted(run->qp, bth, reader, rest)))
		return false;
	trace_sroce_packet_in(run->qp, bth[0], sroce_bth_psn(bth), len);
	/* Middle packets of connections are data. */
	run->marked += run->ce;
	run->packets++;
	run->bytes += len;
	if (!sroce_opcodes[bth[0]].pos && a->left >= 2 * len)
		deliver_rest(a, bth, reader);
	return true;
}

/*
 * Remember the headers of a datagram that was accepted, if more packets follow.  They are
 * built from the values that were checked, because the packet may have changed.
 */
static void note_datagram(struct arrival *a, const struct sroce_rx *rx)
{
	if (rx->pkt.op->length != SROCE_DATAGRAM_BYTES || a->left <= rx->len ||
	    a->run.qp->type != IB_QPT_UD)
		return;
	sroce_build(a->datagram, &rx->pkt);
	a->alike = rx->len;
}

/* Do all bytes of the headers agree but those that differ from packet to packet? */
static bool same_datagram(const u8 *one, const u8 *other)
{
	return !memcmp(one, other, 8) &&
	       !memcmp(one + SROCE_BTH_BYTES, other + SROCE_BTH_BYTES, SROCE_DETH_BYTES);
}

/*
 * Fast path for a datagram like the last one, whose values are in @rx: same QP, same
 * sender, same length.  Its ICRC is right.
 */
static bool deliver_alike(struct arrival *a, struct sroce_rx *rx, u32 len)
{
	u8 headers[SROCE_DATAGRAM_BYTES] __uninitialized;
	struct sroce_reader reader = a->reader;

	if (len != a->alike || !sroce_reader_copy(&reader, headers, sizeof(headers)))
		return false;
	barrier_data(headers);
	if (!same_datagram(headers, a->datagram))
		return false;
	rx->payload = &reader;
	rx->id_ahead = a->index * a->id_step;
	trace_sroce_packet_in(a->run.qp, headers[0], sroce_bth_psn(headers), len);
	a->run.packets++;
	a->run.bytes += len;
	sroce_resp_request(a->run.qp, rx);
	return true;
}

/* Deliver the packet at @a->reader, which stays there. */
static void deliver_next(struct arrival *a, struct sroce_rx *rx, bool intact, u32 len)
{
	struct sroce_reader reader = a->reader;

	a->alike = 0;
	set_next_rx(rx, a, &reader, len);
	if (sroce_rx_run_deliver(&a->run, rx, intact))
		note_datagram(a, rx);
}

static void deliver_all(struct arrival *a)
{
	struct sroce_rx rx __uninitialized;

	for (; a->left; a->index++, a->checked--, a->good >>= 1) {
		u32 len = min(a->left, a->size);
		struct sroce_reader reader;
		bool intact;

		if (!a->checked) {
			if (!a->run.locked)
				check_order(a);
			check_icrcs(a);
		}
		reader = a->reader;
		intact = a->good & 1;
		if (intact && deliver_predicted(a, &reader, len)) {
			a->reader = reader;
			sroce_reader_copy(&a->reader, NULL, SROCE_ICRC_BYTES);
		} else {
			if (!intact || !deliver_alike(a, &rx, len))
				deliver_next(a, &rx, intact, len);
			sroce_reader_copy(&a->reader, NULL, len);
			/* A middle packet that was checked alone, but does not come next. */
			a->eager |= a->checked == 1;
		}
		a->left -= len;
	}
	sroce_rx_run_end(&a->run);
}

/*
 * True for a burst: passed whole by a virtual device, joined by net/gro.c, or
 * from net/loopback.c.  A frag_list alone (from reassembly, or a driver) is one
 * packet.  UDP segments those with SKB_GSO_FRAGLIST before.
 */
static bool is_burst(const struct sk_buff *skb)
{
	return skb_is_gso(skb) &&
	       (skb_shinfo(skb)->gso_type & (SKB_GSO_UDP_L4 | SKB_GSO_FRAGLIST)) ==
	       SKB_GSO_UDP_L4;
}

/*
 * False if the CPU cannot read the data, as in a receive queue bound to device
 * memory.
 */
static bool is_readable(const struct sk_buff *skb)
{
	const struct sk_buff *frag;

	if (!skb_frags_readable(skb))
		return false;
	skb_walk_frags(skb, frag)
		if (!skb_frags_readable(frag))
			return false;
	return true;
}

/* Congestion experienced (RFC 3168). */
static bool is_marked(const u8 *ip)
{
	return INET_ECN_is_ce(sroce_ip_is_v4(ip) ?
			      ipv4_get_dsfield((const struct iphdr *)ip) :
			      ipv6_get_dsfield((const struct ipv6hdr *)ip));
}

/*
 * True for a short packet in one piece, as from a QP that sends one message at a
 * time.
 */
static bool is_short(const struct sk_buff *skb)
{
	const u8 *ip = skb_network_header(skb);

	return !skb_is_nonlinear(skb) && !skb_is_gso(skb) && sroce_ip_is_v4(ip) &&
	       skb->data - ip == sizeof(struct iphdr) &&
	       sroce_icrc_is_short(skb->len - sizeof(struct udphdr));
}

/* Does what receive_skb() does, for such a packet. */
static void receive_short(struct net *net, struct sk_buff *skb)
{
	const u8 *ip = skb_network_header(skb), *bth = skb->data + sizeof(struct udphdr);
	u32 len = skb->len - sizeof(struct udphdr);
	struct sroce_reader reader = sroce_reader_of(bth, len);
	struct sroce_rx_run run = { .ce = is_marked(ip) };
	__le32 right = sroce_icrc_alone(ip, len);
	struct sroce_rx rx __uninitialized;

	set_rx(&rx, net, skb, &reader, len);
	sroce_rx_run_deliver(&run, &rx,
			     !memcmp(bth + len - sizeof(right), &right, sizeof(right)));
	sroce_rx_run_end(&run);
}

static void count_malformed(const struct arrival *a)
{
	struct sroce_rx rx __uninitialized;

	set_rx(&rx, a->net, a->skb, NULL, a->left);
	rx.looped = a->looped;
	sroce_rx_count_stray(&rx, SROCE_RX_MALFORMED);
}

/* Handle an skb that begins with the UDP header. */
static void receive_skb(struct net *net, struct sk_buff *skb, bool looped)
{
	const u8 *ip = skb_network_header(skb);
	struct arrival a __uninitialized;

	a.net = net;
	a.skb = skb;
	a.looped = looped;
	a.resets = looped ? sroce_looped_cb(skb)->resets : 0;
	a.left = skb->len - sizeof(struct udphdr);
	a.index = 0;
	a.eager = false;
	a.checked = 0;
	a.run = (struct sroce_rx_run) { .ce = is_marked(ip) };
	if (!is_readable(skb)) {
		count_malformed(&a);
		return;
	}
	a.size = is_burst(skb) ? skb_shinfo(skb)->gso_size : a.left;
	/* Headers between IP and UDP are not in the format of annex A17. */
	if (skb->data - ip != sroce_ip_bytes(sroce_ip_is_v4(ip)) ||
	    a.size < SROCE_BTH_BYTES + SROCE_ICRC_BYTES) {
		count_malformed(&a);
		return;
	}
	sroce_reader_begin(&a.reader, skb, sizeof(struct udphdr));
	a.id_step = sroce_gso_id_step(skb);
	if (!looped)
		sroce_icrc_begin(&a.icrc, ip, a.id_step);
	deliver_all(&a);
}

/*
 * With udp_l3mdev_accept a multicast packet of a VRF arrives through two
 * sockets: the VRF's and the unbound one.
 */
static bool for_other_socket(const struct sock *sk, const struct sk_buff *skb)
{
	if (sk->sk_bound_dev_if)
		return false;
	if (sk->sk_family == AF_INET)
		return inet_sdif(skb) &&
		       ipv4_is_multicast(ip_hdr(skb)->daddr);
	return inet6_sdif(skb) && ipv6_addr_is_multicast(&ipv6_hdr(skb)->daddr);
}

int sroce_rx_receive(struct sock *sk, struct sk_buff *skb)
{
	bool mine = sroce_softirq_begin();

	sroce_rx_route_note(skb);
	if (skb->len >= sizeof(struct udphdr) && !for_other_socket(sk, skb)) {
		if (is_short(skb))
			receive_short(sock_net(sk), skb);
		else
			receive_skb(sock_net(sk), skb, false);
	}
	napi_consume_skb(skb, 1);
	if (mine)
		sroce_softirq_end();
	return 0;
}

/* sroce_loopback_run() calls these two. */

static void receive_looped_packet(struct sroce_looped *looped)
{
	struct sroce_rx *rx = &looped->rx;
	bool mine = sroce_softirq_begin();
	struct sroce_rx_run run = {};

	/* Not when it is sent: the netdev may leave a namespace that ends meanwhile. */
	rx->net = dev_net(rx->ndev);
	sroce_rx_run_deliver_parsed(&run, rx);
	sroce_rx_run_end(&run);
	sroce_looped_done(looped);
	if (mine)
		sroce_softirq_end();
}

static void receive_looped(struct sk_buff *skb)
{
	struct net_device *ndev = skb->dev;
	bool mine = sroce_softirq_begin();

	__skb_pull(skb, skb_transport_offset(skb));
	receive_skb(dev_net(ndev), skb, true);
	napi_consume_skb(skb, 1);
	dev_put(ndev);
	if (mine)
		sroce_softirq_end();
}

int sroce_rx_init(void)
{
	static const struct sroce_loopback_ops ops = {
		.skb = receive_looped,
		.packet = receive_looped_packet,
	};

	return sroce_loopback_init(&ops);
}
