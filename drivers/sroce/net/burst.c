// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bursts: building packets of one destination in one GSO skb. */
#include <linux/netdevice.h>
#include <linux/udp.h>
#include <net/dst.h>
#include "../core/params.h"
#include "burst.h"
#include "burst_skb.h"
#include "route.h"
#include "uso.h"

bool sroce_burst_fits(const struct sroce_burst *burst,
		      const struct sroce_pkt *pkt)
{
	u32 bytes = sroce_pkt_bytes(pkt);

	if (sroce_burst_empty(burst))
		return true;
	return burst->bytes == burst->packets * burst->size &&
	       bytes <= burst->size && bytes >= SROCE_BURST_SHORTEST &&
	       burst->packets < burst->most_packets &&
	       burst->bytes + bytes <= burst->most_bytes &&
	       (burst->chains || sroce_skb_has_frags(burst->tail, pkt->payload));
}

/*
 * True if the packets may be chained in a frag_list.  False for a device with
 * hardware segmentation, because the stack would segment the skb.  A virtual device
 * that passes the skb on has GSO_FRAGLIST as well.
 */
static bool takes_chains(const struct net_device *dev)
{
	const netdev_features_t whole = NETIF_F_FRAGLIST | NETIF_F_GSO_FRAGLIST;

	return (dev->features & whole) == whole ||
	       !(dev->features & NETIF_F_GSO_UDP_L4);
}

/*
 * Beyond its limits the stack would segment the burst for the device.
 * @headroom: bytes in front of the first BTH, at most
 */
static void limit_burst(struct sroce_burst *burst, const struct net_device *dev,
			u32 headroom)
{
	u32 bytes = sroce_gso_max_size(dev, burst->av->ipv4);

	burst->chains = takes_chains(dev);
	burst->uso = dev->features & NETIF_F_GSO_UDP_L4;
	burst->most_packets = min_t(u32, SROCE_BURST_PACKETS,
				    READ_ONCE(dev->gso_max_segs));
	if (burst->uso && (burst->lone || sroce_uso_spoils(dev, burst->av)))
		burst->most_packets = 1;
	burst->lone = false;
	/* A burst of one packet ignores the limit. */
	burst->most_bytes = bytes <= headroom ? 0 :
			    min_t(u32, SROCE_BURST_BYTES, bytes - headroom - 1);
}

static void limit_looped(struct sroce_burst *burst)
{
	burst->chains = true;
	burst->uso = false;
	burst->most_packets = SROCE_BURST_PACKETS;
	burst->most_bytes = SROCE_LOOPBACK_BYTES;
}

/*
 * Let all payload be copied, as for a device without frag_lists, while repeats are recent.
 * Bursts without long payload, such as ACKs, do not count.
 */
static void copy_after_repeat(struct sroce_burst *burst, bool copy)
{
	burst->chains = false;
	if (!copy)
		burst->path->copies--;
}

/*
 * The tailroom holds short packets, which then need one allocation only.
 * @copy: as of sroce_burst_append()
 */
static int open_burst(struct sroce_burst *burst, bool copy)
{
	u32 headroom = sroce_ip_bytes(burst->av->ipv4) + sizeof(struct udphdr);
	struct dst_entry *dst;

	lockdep_assert_in_softirq();
	if (burst->av->loopback) {
		limit_looped(burst);
	} else {
		dst = sroce_path_dst(burst->path, burst->av);
		if (IS_ERR(dst))
			return -ENETUNREACH;
		headroom += LL_RESERVED_SPACE(dst->dev);
		limit_burst(burst, dst->dev, headroom);
		if (unlikely(burst->path->copies))
			copy_after_repeat(burst, copy);
	}
	burst->head = sroce_skb_alloc(headroom + SROCE_COPY_BREAK);
	if (!burst->head)
		return -ENOMEM;
	skb_reserve(burst->head, headroom);
	burst->tail = burst->head;
	return 0;
}

/* Append @len contiguous bytes to the burst. */
static void *burst_put(struct sroce_burst *burst, u32 len)
{
	return sroce_skb_put(burst->tail, len);
}

/*
 * If the payload of the next packet is contiguous, and in the region of the last packet, it
 * is copied to @p later, when its ICRC is computed.
 */
static noinline int load_long(struct sroce_burst *burst, const struct sroce_sgl *from, u32 at,
			      u8 *p, u32 len)
{
	const void *found;

	if (!burst->packets || burst->av->loopback || !sroce_sgl_in_region(&burst->cache, from))
		return sroce_sgl_load(&burst->cache, from, at, p, len);
	found = sroce_sgl_find(&burst->cache, from, at, len);
	if (IS_ERR(found))
		return PTR_ERR(found);
	if (!found)
		return sroce_sgl_load(&burst->cache, from, at, p, len);
	sroce_burst_copy_later(burst, burst->packets, found);
	return 0;
}

/* Load the payload of the next packet, which must not fail after this. */
static __always_inline int load_payload(struct sroce_burst *burst,
					const struct sroce_sgl *from, u32 at, u8 *p, u32 len)
{
	if (len > SROCE_COPY_BREAK)
		return load_long(burst, from, at, p, len);
	return sroce_sgl_load(&burst->cache, from, at, p, len);
}

/* Append payload in pieces: what is left of a page may be too short for all of it. */
static int load_frags(struct sroce_burst *burst, const struct sroce_sgl *from, u32 at,
		      u32 left)
{
	int err;
	u32 n;
	u8 *p;

	for (; left; left -= n, at += n) {
		n = sroce_skb_frag_left(left);
		p = burst_put(burst, n);
		if (!p)
			return -ENOMEM;
		err = sroce_sgl_load(&burst->cache, from, at, p, n);
		if (err)
			return err;
	}
	return 0;
}

/* Append a packet whose payload need not be contiguous: pages, or copied pieces. */
static __always_inline int fill_frags(struct sroce_burst *burst,
				      const struct sroce_pkt *pkt,
				      const struct sroce_sgl *from, u32 at, bool attach)
{
	u8 *p = burst_put(burst, sroce_opcodes[pkt->opcode].length);
	int err;

	if (!p)
		return -ENOMEM;
	burst->bth = p;
	sroce_build(p, pkt);
	err = attach ? sroce_sgl_attach(burst->tail, &burst->cache, from, at, pkt->payload, 1) :
		       load_frags(burst, from, at, pkt->payload);
	if (err)
		return err;
	p = burst_put(burst, pkt->pad + SROCE_ICRC_BYTES);
	if (!p)
		return -ENOMEM;
	memset(p, 0, pkt->pad);
	return 0;
}

static int fill_payload(struct sroce_burst *burst, const struct sroce_pkt *pkt,
			const struct sroce_sgl *from, u32 at, const void *data)
{
	int err = 0;
	u8 *p;

	if (from && sroce_pkt_bytes(pkt) > SROCE_LINEAR_BYTES)
		return fill_frags(burst, pkt, from, at, false);
	p = burst_put(burst, sroce_pkt_bytes(pkt));
	if (!p)
		return -ENOMEM;
	burst->bth = p;
	p += sroce_build(p, pkt);
	if (from)
		err = load_payload(burst, from, at, p, pkt->payload);
	else if (pkt->payload)
		memcpy(p, data, pkt->payload);
	memset(p + pkt->payload, 0, pkt->pad);
	return err;
}

/* Restore the state in which @tail was the last skb with @len bytes. */
static void undo_packet(struct sroce_burst *burst, struct sk_buff *tail, u32 len)
{
	if (!burst->packets)
		sroce_burst_drop(burst);
	else
		sroce_skb_undo(burst->head, &burst->tail, tail, len);
}

int sroce_burst_append(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at, const void *data,
		       bool copy)
{
	struct sk_buff *tail = burst->tail;
	u32 len = burst->head ? tail->len : 0;
	u8 *bth = burst->bth;
	int err = 0;

	if (!burst->head)
		err = open_burst(burst, copy);
	else if (!sroce_skb_has_frags(tail, pkt->payload))
		err = sroce_skb_chain(burst->head, &burst->tail);
	if (unlikely(err))
		return err;
	/*
	 * Without a frag_list, attached payload fills the skb after a few
	 * packets.
	 */
	err = copy || !burst->chains ? fill_payload(burst, pkt, from, at, data) :
				       fill_frags(burst, pkt, from, at, true);
	if (unlikely(err)) {
		undo_packet(burst, tail, len);
		burst->bth = bth;
		return err;
	}
	if (!burst->packets)
		burst->size = sroce_pkt_bytes(pkt);
	burst->packets++;
	burst->bytes += sroce_pkt_bytes(pkt);
	burst->repeats = !copy;
	return 0;
}

/*
 * Fast path of sroce_burst_append() for a packet in one piece behind the last one.  It
 * becomes part of the burst when it is complete, so there is nothing to undo.
 */
static bool add_behind(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at, const void *data)
{
	const struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	u32 bytes = sroce_pkt_bytes(pkt);
	u8 *bth, *p;

	if (!burst->packets || bytes > SROCE_LINEAR_BYTES ||
	    frag->offset + bytes > frag->size ||
	    !sroce_skb_is_adjacent(burst->tail, frag))
		return false;
	bth = page_address(frag->page) + frag->offset;
	p = bth + sroce_build(bth, pkt);
	if (from && load_payload(burst, from, at, p, pkt->payload))
		return false;
	if (!from && pkt->payload)
		memcpy(p, data, pkt->payload);
	/* Clears the pad; the remaining bytes belong to the ICRC. */
	put_unaligned(0, (u32 *)(p + pkt->payload));
	sroce_skb_extend(burst->tail, bytes);
	burst->bth = bth;
	burst->packets++;
	burst->bytes += bytes;
	burst->repeats = false;
	return true;
}

static void copy_packet(const struct sroce_burst *burst, u8 *bth, u32 i, u32 len)
{
	memcpy(bth + sroce_header_bytes(bth), burst->uncopied.from[i],
	       sroce_payload_bytes(bth, len));
}

void sroce_burst_copy(struct sroce_burst *burst)
{
	u64 packets = burst->uncopied.packets;
	u32 i, len, left = burst->bytes;
	struct sroce_reader reader;

	burst->uncopied.packets = 0;
	i = burst->packets - 1;
	if (packets == BIT_ULL(i)) {
		copy_packet(burst, burst->bth, i, left - i * burst->size);
		return;
	}
	sroce_reader_begin(&reader, burst->head, 0);
	for (i = 0; packets; i++, packets >>= 1, left -= len) {
		len = min(left, burst->size);
		if (packets & 1)
			copy_packet(burst, (u8 *)sroce_reader_take(&reader, len, NULL), i,
				    len);
		else
			sroce_reader_copy(&reader, NULL, len);
	}
}

/*
 * A short message from a device to itself, alone so far, needs no skb.  A datagram
 * does, because its receiver gets the IP header.
 */
static bool loop_packet(struct sroce_burst *burst, const struct sroce_pkt *pkt,
			const struct sroce_sgl *from, u32 at, const void *data)
{
	const struct sroce_opcode *op = &sroce_opcodes[pkt->opcode];
	struct sroce_looped *looped;

	if (op->pos != SROCE_ONLY || op->headers & SROCE_DETH ||
	    pkt->payload > sizeof(looped->data))
		return false;
	looped = sroce_loopback_slot();
	if (!looped)
		return false;
	if (from && pkt->payload &&
	    sroce_sgl_load(&burst->cache, from, at, looped->data, pkt->payload)) {
		/* Callers do not send an empty burst, so it must not use a region. */
		sroce_mr_cache_drop(&burst->cache);
		return false;
	}
	if (!from && pkt->payload)
		memcpy(looped->data, data, pkt->payload);
	looped->rx.pkt = *pkt;
	looped->rx.pkt.op = op;
	limit_looped(burst);
	burst->looped = looped;
	burst->packets = 1;
	burst->size = sroce_pkt_bytes(pkt);
	burst->bytes = burst->size;
	burst->repeats = false;
	return true;
}

/* Another packet follows, so the first one needs an skb, too. */
static int end_loop_packet(struct sroce_burst *burst)
{
	struct sroce_looped *looped = burst->looped;
	int err;

	sroce_burst_reset(burst);
	err = sroce_burst_append(burst, &looped->rx.pkt, NULL, 0, looped->data, true);
	if (err) {
		burst->looped = looped;
		burst->packets = 1;
		burst->bytes = burst->size;
	}
	return err;
}

int sroce_burst_add(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		    const struct sroce_sgl *from, u32 at, const void *data,
		    bool copy)
{
	int err;

	if (burst->uncopied.packets && from && !sroce_sgl_in_region(&burst->cache, from))
		sroce_burst_copy(burst);
	if (burst->av->loopback) {
		if (sroce_burst_empty(burst) &&
		    loop_packet(burst, pkt, from, at, data))
			return 0;
		err = burst->looped ? end_loop_packet(burst) : 0;
		if (err)
			return err;
	}
	if (!from || pkt->payload <= SROCE_COPY_BREAK)
		copy = true;
	if (copy && add_behind(burst, pkt, from, at, data))
		return 0;
	err = sroce_burst_append(burst, pkt, from, at, data, copy);
	if (err == -E2BIG || err == -EOPNOTSUPP)
		err = sroce_burst_append(burst, pkt, from, at, data, true);
	return err;
}

void sroce_burst_drop(struct sroce_burst *burst)
{
	sroce_mr_cache_drop(&burst->cache);
	kfree_skb(burst->head);
	sroce_burst_reset(burst);
}
