// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bursts: building packets of one destination in one GSO skb. */
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/netdevice.h>
#include <linux/page_ref.h>
#include <linux/udp.h>
#include <net/dst.h>
#include "../core/params.h"
#include "burst.h"
#include "route.h"
#include "uso.h"

/*
 * Memory for headers, trailers and copied payload.  Used with bottom halves
 * off, never in a hard interrupt.
 */
static DEFINE_PER_CPU(struct page_frag, hdr_frag);

/**
 * struct used_frags - ring of pages that are full
 * @pages: pages; once all packets of a page have been freed, it is used again
 *	without being cleared
 * @oldest: index of the page that was filled first
 */
struct used_frags {
	struct page_frag pages[SROCE_FRAG_PAGES - 1];
	u32 oldest;
};

static DEFINE_PER_CPU(struct used_frags, used_frags);

static void free_page_frag(struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
	frag->page = NULL;
}

void sroce_burst_exit(void)
{
	u32 i;
	int cpu;

	for_each_possible_cpu(cpu) {
		free_page_frag(per_cpu_ptr(&hdr_frag, cpu));
		for (i = 0; i < SROCE_FRAG_PAGES - 1; i++)
			free_page_frag(&per_cpu_ptr(&used_frags, cpu)->pages[i]);
	}
}

/* Packets */

/*
 * True if the skb has fragments left for a packet: its header, trailer and the
 * pages of the payload, plus one.
 */
static bool has_frags(const struct sk_buff *skb, u32 payload)
{
	return skb_shinfo(skb)->nr_frags + 3 + DIV_ROUND_UP(payload, PAGE_SIZE)
	       <= MAX_SKB_FRAGS;
}

/*
 * GRO at the receiver skips a frame that Ethernet pads, so it can overtake
 * earlier packets there.  It is sent alone, without a UDP checksum.
 */
#define SHORTEST	(ETH_ZLEN - ETH_HLEN - sizeof(struct iphdr) - \
			 sizeof(struct udphdr))

bool sroce_burst_fits(const struct sroce_burst *burst,
		      const struct sroce_pkt *pkt)
{
	u32 bytes = sroce_pkt_bytes(pkt);

	if (sroce_burst_empty(burst))
		return true;
	return burst->bytes == burst->packets * burst->size &&
	       bytes <= burst->size && bytes >= SHORTEST &&
	       burst->packets < burst->most_packets &&
	       burst->bytes + bytes <= burst->most_bytes &&
	       (burst->chains || has_frags(burst->tail, pkt->payload));
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
	burst->uso = burst->av->ipv4 && dev->features & NETIF_F_GSO_UDP_L4;
	burst->most_packets = min_t(u32, SROCE_BURST_PACKETS,
				    READ_ONCE(dev->gso_max_segs));
	if (burst->uso && sroce_uso_spoils(dev, burst->av))
		burst->most_packets = 1;
	/* A burst of one packet ignores the limit. */
	burst->most_bytes = bytes <= headroom ? 0 :
			    min_t(u32, SROCE_BURST_BYTES, bytes - headroom - 1);
}

/*
 * True if the last fragment of @skb ends where the free bytes of @frag begin.
 */
static bool is_adjacent(const struct sk_buff *skb, const struct page_frag *frag)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);
	const skb_frag_t *last;

	if (!shared->nr_frags)
		return false;
	last = &shared->frags[shared->nr_frags - 1];
	return skb_frag_page(last) == frag->page &&
	       skb_frag_off(last) + skb_frag_size(last) == frag->offset;
}

/*
 * If no large page is free the kernel returns a small one, which may be too
 * short.
 */
static bool refill_frag(struct page_frag *frag, u32 len)
{
	struct used_frags *f = this_cpu_ptr(&used_frags);

	swap(*frag, f->pages[f->oldest]);
	f->oldest = (f->oldest + 1) % (SROCE_FRAG_PAGES - 1);
	if (skb_page_frag_refill(len, frag, GFP_ATOMIC | __GFP_NOWARN))
		return frag->offset + len <= frag->size;
	/* The page has been released; mark @frag as empty. */
	frag->size = 0;
	return false;
}

/* An skb with @bytes of tailroom, whose memory is in @hdr_frag. */
static struct sk_buff *alloc_skb_in_frag(u32 bytes)
{
	u32 size = SKB_DATA_ALIGN(bytes) +
		   SKB_DATA_ALIGN(sizeof(struct skb_shared_info));
	struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	struct sk_buff *skb;

	if (unlikely(SKB_DATA_ALIGN(frag->offset) + size > frag->size) &&
	    !refill_frag(frag, SMP_CACHE_BYTES + size))
		return NULL;
	frag->offset = SKB_DATA_ALIGN(frag->offset);
	skb = napi_build_skb(page_address(frag->page) + frag->offset, size);
	if (unlikely(!skb))
		return NULL;
	get_page(frag->page);
	frag->offset += size;
	return skb;
}

static void limit_looped(struct sroce_burst *burst)
{
	burst->chains = true;
	burst->uso = false;
	burst->most_packets = SROCE_BURST_PACKETS;
	burst->most_bytes = SROCE_LOOPBACK_BYTES;
}

/* The tailroom holds short packets, which then need one allocation only. */
static int open_burst(struct sroce_burst *burst)
{
	u32 headroom = sroce_network_bytes(burst->av) + sizeof(struct udphdr);
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
	}
	burst->head = alloc_skb_in_frag(headroom + SROCE_COPY_BREAK);
	if (!burst->head)
		return -ENOMEM;
	skb_reserve(burst->head, headroom);
	burst->tail = burst->head;
	return 0;
}

static int add_frag_list(struct sroce_burst *burst)
{
	struct sk_buff *skb = alloc_skb_in_frag(SROCE_MAX_HEADER);

	if (!skb)
		return -ENOMEM;
	if (burst->tail == burst->head)
		skb_shinfo(burst->head)->frag_list = skb;
	else
		burst->tail->next = skb;
	burst->tail = skb;
	return 0;
}

/* Append the next bytes of @hdr_frag to @skb, to which they are adjacent. */
static __always_inline void grow_last_frag(struct sk_buff *skb, u32 bytes)
{
	struct skb_shared_info *shared = skb_shinfo(skb);

	skb_frag_size_add(&shared->frags[shared->nr_frags - 1], bytes);
	sroce_skb_grow(skb, bytes);
	this_cpu_ptr(&hdr_frag)->offset += bytes;
}

/* Append @len contiguous bytes to the burst. */
static void *burst_put(struct sk_buff *skb, u32 len)
{
	struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	struct skb_shared_info *shared = skb_shinfo(skb);
	void *p;

	if (!shared->nr_frags && len <= skb_tailroom(skb))
		return skb_put(skb, len);
	if (unlikely(frag->offset + len > frag->size) && !refill_frag(frag, len))
		return NULL;
	p = page_address(frag->page) + frag->offset;
	if (is_adjacent(skb, frag)) {
		grow_last_frag(skb, len);
		return p;
	}
	if (shared->nr_frags == MAX_SKB_FRAGS)
		return NULL;
	get_page(frag->page);
	sroce_skb_add_frag(skb, frag->page, frag->offset, len);
	frag->offset += len;
	return p;
}

/* Bytes left in the current page, or the size of a new one. */
static u32 frag_left(u32 len)
{
	const struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	u32 left = frag->size - frag->offset;

	return min_t(u32, len, left ?: PAGE_SIZE);
}

/*
 * True if @from is in the region that was used last, which stays in use when its bytes are
 * looked up: while the cache holds the region, its key names nothing else.  On-demand
 * memory stays present only until the next piece is looked up.
 */
static bool in_same_region(const struct sroce_mr_cache *cache, const struct sroce_sgl *from)
{
	const struct sroce_mr *mr = cache->mr;

	return mr && !mr->odp && from->num_sge == 1 && mr->key == from->sge->lkey;
}

/* The payload of packet @i is copied when its ICRC is computed. */
static __always_inline void copy_later(struct sroce_burst *burst, u32 i, const void *from)
{
	burst->uncopied.packets |= BIT_ULL(i);
	burst->uncopied.from[i] = from;
}

/*
 * If the payload of the next packet is contiguous, and in the region of the last packet, it
 * is copied to @p later, when its ICRC is computed.
 */
static noinline int load_long(struct sroce_burst *burst, const struct sroce_sgl *from, u32 at,
			      u8 *p, u32 len)
{
	const void *found;

	if (!burst->packets || burst->av->loopback || !in_same_region(&burst->cache, from))
		return sroce_sgl_load(&burst->cache, from, at, p, len);
	found = sroce_sgl_find(&burst->cache, from, at, len);
	if (IS_ERR(found))
		return PTR_ERR(found);
	if (!found)
		return sroce_sgl_load(&burst->cache, from, at, p, len);
	copy_later(burst, burst->packets, found);
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

static int fill_pieces(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at)
{
	u32 left = pkt->payload;
	u8 *p = burst_put(burst->tail, sroce_opcodes[pkt->opcode].length);
	int err;
	u32 n;

	if (!p)
		return -ENOMEM;
	burst->bth = p;
	sroce_build(p, pkt);
	for (; left; left -= n, at += n) {
		n = frag_left(left);
		p = burst_put(burst->tail, n);
		if (!p)
			return -ENOMEM;
		err = sroce_sgl_load(&burst->cache, from, at, p, n);
		if (err)
			return err;
	}
	p = burst_put(burst->tail, pkt->pad + SROCE_ICRC_BYTES);
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
		return fill_pieces(burst, pkt, from, at);
	p = burst_put(burst->tail, sroce_pkt_bytes(pkt));
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

static int attach_frag(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at)
{
	struct sk_buff *skb = burst->tail;
	u8 *p = burst_put(skb, sroce_opcodes[pkt->opcode].length);
	int err;

	if (!p)
		return -ENOMEM;
	burst->bth = p;
	sroce_build(p, pkt);
	err = sroce_sgl_attach(skb, &burst->cache, from, at, pkt->payload, 1);
	if (err)
		return err;
	p = burst_put(skb, pkt->pad + SROCE_ICRC_BYTES);
	if (!p)
		return -ENOMEM;
	memset(p, 0, pkt->pad);
	return 0;
}

/*
 * Not pskb_trim(): it may move the bytes that remain, and @bth points at them.
 */
static void trim_packet(struct sk_buff *skb, u32 len)
{
	struct skb_shared_info *shared = skb_shinfo(skb);

	while (skb->len > len && shared->nr_frags) {
		skb_frag_t *last = &shared->frags[shared->nr_frags - 1];
		u32 n = min(skb->len - len, skb_frag_size(last));

		skb_frag_size_sub(last, n);
		skb->len -= n;
		skb->data_len -= n;
		skb->truesize -= n;
		if (!skb_frag_size(last)) {
			shared->nr_frags--;
			put_page(skb_frag_page(last));
		}
	}
	if (skb->len > len)
		__skb_trim(skb, len);
}

static void remove_frag_list(struct sroce_burst *burst, struct sk_buff *tail)
{
	kfree_skb(burst->tail);
	if (tail == burst->head)
		skb_shinfo(tail)->frag_list = NULL;
	else
		tail->next = NULL;
	burst->tail = tail;
}

/* Restore the state in which @tail was the last skb with @len bytes. */
static void undo_packet(struct sroce_burst *burst, struct sk_buff *tail, u32 len)
{
	if (!burst->packets)
		sroce_burst_drop(burst);
	else if (burst->tail != tail)
		remove_frag_list(burst, tail);
	else
		trim_packet(tail, len);
}

static int add_packet(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		      const struct sroce_sgl *from, u32 at,
		      const void *data, bool copy)
{
	struct sk_buff *tail = burst->tail;
	u32 len = burst->head ? tail->len : 0;
	u8 *bth = burst->bth;
	bool copied;
	int err = 0;

	if (!burst->head)
		err = open_burst(burst);
	else if (!has_frags(tail, pkt->payload))
		err = add_frag_list(burst);
	if (unlikely(err))
		return err;
	/*
	 * Without a frag_list, attached payload fills the skb after a few
	 * packets.
	 */
	copied = copy || !burst->chains;
	err = copied ? fill_payload(burst, pkt, from, at, data) :
		       attach_frag(burst, pkt, from, at);
	if (unlikely(err)) {
		undo_packet(burst, tail, len);
		burst->bth = bth;
		return err;
	}
	if (!burst->packets)
		burst->size = sroce_pkt_bytes(pkt);
	burst->packets++;
	burst->bytes += sroce_pkt_bytes(pkt);
	burst->attached = !copied;
	burst->repeats = !copy;
	return 0;
}

/*
 * Fast path of add_packet() for a packet in one piece behind the last one.  It
 * becomes part of the burst when it is complete, so there is nothing to undo.
 */
static bool add_behind(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       const struct sroce_sgl *from, u32 at, const void *data)
{
	const struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	u32 bytes = sroce_pkt_bytes(pkt);
	u8 *bth, *p;

	if (!burst->packets || bytes > SROCE_LINEAR_BYTES ||
	    frag->offset + bytes > frag->size ||
	    !is_adjacent(burst->tail, frag))
		return false;
	bth = page_address(frag->page) + frag->offset;
	p = bth + sroce_build(bth, pkt);
	if (from && load_payload(burst, from, at, p, pkt->payload))
		return false;
	if (!from && pkt->payload)
		memcpy(p, data, pkt->payload);
	/* Clears the pad; the remaining bytes belong to the ICRC. */
	put_unaligned(0, (u32 *)(p + pkt->payload));
	grow_last_frag(burst->tail, bytes);
	burst->bth = bth;
	burst->packets++;
	burst->bytes += bytes;
	burst->attached = false;
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

/* burst_put(), with a fast path for bytes behind the last packet, which is contiguous. */
static __always_inline u8 *put_behind(struct sroce_burst *burst, u32 bytes)
{
	const struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	u8 *p = burst->bth + burst->size;

	if (unlikely(p != page_address(frag->page) + frag->offset ||
		     frag->offset + bytes > frag->size))
		return burst_put(burst->tail, bytes);
	grow_last_frag(burst->tail, bytes);
	return p;
}

/*
 * Append a packet with the last one's @header bytes of headers, except for the PSN.  The
 * payload is missing.
 */
static __always_inline bool append_alike(struct sroce_burst *burst, u32 header)
{
	u8 *bth = put_behind(burst, burst->size);

	if (!bth)
		return false;
	memcpy(bth, burst->bth, header);
	/* The last word of the BTH is the PSN, because only the end of a burst has AckReq. */
	put_unaligned_be32(sroce_psn_add(get_unaligned_be32(bth + 8), 1), bth + 8);
	burst->bth = bth;
	burst->packets++;
	burst->bytes += burst->size;
	return true;
}

bool sroce_burst_add_alike(struct sroce_burst *burst, const struct sroce_sge *from)
{
	u32 bytes = burst->size, index = burst->packets;
	const void *data;
	u8 *p;

	if (!index || index >= burst->most_packets || burst->bytes != index * bytes ||
	    burst->bytes + bytes > burst->most_bytes || bytes < SHORTEST ||
	    bytes > SROCE_LINEAR_BYTES)
		return false;
	data = sroce_mr_cache_peek(&burst->cache, from->lkey, 0, from->addr, from->length) ?:
	       sroce_mr_cache_seek(&burst->cache, from->lkey, 0, from->addr, from->length);
	if (!data)
		return false;
	if (!append_alike(burst, SROCE_DATAGRAM_BYTES))
		return false;
	p = burst->bth + SROCE_DATAGRAM_BYTES;
	/* Clears the pad; the remaining bytes belong to the ICRC. */
	put_unaligned(0, (u32 *)(p + from->length));
	if (burst->av->loopback)	/* no ICRC */
		memcpy(p, data, from->length);
	else
		copy_later(burst, index, data);
	return true;
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
	burst->attached = false;
	burst->repeats = false;
	return true;
}

/* Another packet follows, so the first one needs an skb, too. */
static int end_loop_packet(struct sroce_burst *burst)
{
	struct sroce_looped *looped = burst->looped;
	int err;

	sroce_burst_reset(burst);
	err = add_packet(burst, &looped->rx.pkt, NULL, 0, looped->data, true);
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

	if (burst->uncopied.packets && from && !in_same_region(&burst->cache, from))
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
	err = add_packet(burst, pkt, from, at, data, copy);
	if (err == -E2BIG || err == -EOPNOTSUPP)
		err = add_packet(burst, pkt, from, at, data, true);
	return err;
}

/*
 * Append a packet like the last one; false, with the burst unchanged, on
 * failure.
 */
static bool repeat_packet(struct sroce_burst *burst, struct sroce_sgl_iter *walk,
			  u32 payload)
{
	struct sk_buff *tail = burst->tail;
	u32 psn = get_unaligned_be32(burst->bth + 8);
	u32 len = tail->len;
	u8 *bth;

	if (!has_frags(tail, payload) && add_frag_list(burst))
		return false;
	bth = burst_put(burst->tail, SROCE_BTH_BYTES);
	if (!bth || sroce_sgl_attach_next(burst->tail, walk, payload, 1) ||
	    !burst_put(burst->tail, SROCE_ICRC_BYTES)) {
		undo_packet(burst, tail, len);
		return false;
	}
	memcpy(bth, burst->bth, 8);
	put_unaligned_be32((psn + 1) & SROCE_PSN_MASK, bth + 8);
	burst->bth = bth;
	burst->packets++;
	burst->bytes += burst->size;
	return true;
}

/* Bytes between the payloads of two packets: an ICRC and a BTH. */
#define BETWEEN	(SROCE_ICRC_BYTES + SROCE_BTH_BYTES)

/* Number of packets like the last one that the burst has room for. */
static u32 packets_left(const struct sroce_burst *burst)
{
	if (burst->bytes != burst->packets * burst->size ||
	    burst->bytes >= burst->most_bytes ||
	    burst->packets >= burst->most_packets)
		return 0;
	return min((burst->most_bytes - burst->bytes) / burst->size,
		   burst->most_packets - burst->packets);
}

/* True if the next payload can be attached, and one more fragment after it. */
static bool can_attach_next(struct sroce_sgl_iter *walk, u32 payload, u32 frags)
{
	return sroce_sgl_iter_has(walk, payload) && sroce_sgl_iter_pinned(walk) &&
	       frags + PFN_UP(offset_in_page(walk->p) + payload) <
	       MAX_SKB_FRAGS;
}

/* Attach the payload at @walk; returns the next fragment. */
static skb_frag_t *attach_payload(skb_frag_t *frag, struct sroce_sgl_iter *walk,
				  u32 payload)
{
	u32 left, n;

	for (left = payload; left; left -= n) {
		n = sroce_skb_attach_page(frag++, walk->p, left);
		walk->p += n;
	}
	walk->left -= payload;
	return frag;
}

/*
 * Does what repeat_packet() does, for up to @more packets at once: in the same
 * skb, if the last trailer ends at the free bytes of @hdr_frag.  Trailers and
 * headers then alternate in these bytes.
 */
static u32 repeat_here(struct sroce_burst *burst, struct sroce_sgl_iter *walk,
		       u32 payload, u32 more)
{
	struct page_frag *frag = this_cpu_ptr(&hdr_frag);
	struct skb_shared_info *shared = skb_shinfo(burst->tail);
	u32 psn = get_unaligned_be32(burst->bth + 8);
	u64 start = get_unaligned((u64 *)burst->bth);
	skb_frag_t *last;
	u8 *bth;
	u32 n;

	if (!is_adjacent(burst->tail, frag))
		return 0;
	last = &shared->frags[shared->nr_frags - 1];
	more = min(more, (frag->size - frag->offset) / BETWEEN);
	bth = page_address(frag->page) + frag->offset;
	for (n = 0; n < more &&
	     can_attach_next(walk, payload, last - shared->frags + 1); n++) {
		skb_frag_size_add(last, SROCE_BTH_BYTES);
		last = attach_payload(last + 1, walk, payload);
		skb_frag_fill_page_desc(last, frag->page,
					frag->offset + SROCE_BTH_BYTES,
					SROCE_ICRC_BYTES);
		frag->offset += BETWEEN;
		psn = (psn + 1) & SROCE_PSN_MASK;
		put_unaligned(start, (u64 *)bth);
		put_unaligned_be32(psn, bth + 8);
		burst->bth = bth;
		bth += BETWEEN;
	}
	page_ref_add(compound_head(frag->page), n);
	shared->nr_frags = last - shared->frags + 1;
	sroce_skb_grow(burst->tail, n * burst->size);
	burst->packets += n;
	burst->bytes += n * burst->size;
	return n;
}

/*
 * Fast path of repeat_copy(), up to the first packet whose payload is not contiguous.  It is
 * copied when its ICRC is computed.
 */
static u32 repeat_later(struct sroce_burst *burst, const struct sroce_pkt *pkt, u32 more,
			const struct sroce_sgl *from, u32 at)
{
	struct sroce_sgl_iter walk;
	u32 n;

	if (!in_same_region(&burst->cache, from) || sroce_pkt_bytes(pkt) != burst->size ||
	    sroce_opcodes[pkt->opcode].length != SROCE_BTH_BYTES ||
	    !sroce_sgl_iter_init(&walk, &burst->cache, from, at, more * pkt->payload))
		return 0;
	more = min(more, packets_left(burst));
	for (n = 0; n < more && sroce_sgl_iter_has(&walk, pkt->payload); n++) {
		if (!append_alike(burst, SROCE_BTH_BYTES))
			break;
		copy_later(burst, burst->packets - 1, walk.p);
		walk.p += pkt->payload;
		walk.left -= pkt->payload;
	}
	return n;
}

/* Stops at an error, which the caller finds again with the next packet. */
static u32 repeat_copy(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       u32 more, const struct sroce_sgl *from, u32 at)
{
	struct sroce_pkt next = *pkt;
	u32 n = 0;

	for (;;) {
		n += repeat_later(burst, pkt, more - n, from, at + n * pkt->payload);
		next.psn = sroce_psn_add(pkt->psn, n + 1);
		if (n == more || !sroce_burst_fits(burst, &next) ||
		    add_packet(burst, &next, from, at + n * pkt->payload, NULL, false))
			return n;
		n++;
	}
}

u32 sroce_burst_repeat(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       u32 more, const struct sroce_sgl *from, u32 at)
{
	struct sroce_sgl_iter walk;
	u32 n;

	if (burst->repeats && !burst->attached)
		return repeat_copy(burst, pkt, more, from, at);
	/* An XRC request has more than a BTH. */
	if (!burst->attached || sroce_pkt_bytes(pkt) != burst->size ||
	    sroce_opcodes[pkt->opcode].length != SROCE_BTH_BYTES ||
	    !sroce_sgl_iter_init(&walk, &burst->cache, from, at,
				 more * pkt->payload))
		return 0;
	more = min(more, packets_left(burst));
	for (n = 0; n < more; n++) {
		n += repeat_here(burst, &walk, pkt->payload, more - n);
		if (n == more || !sroce_burst_fits(burst, pkt) ||
		    !repeat_packet(burst, &walk, pkt->payload))
			break;
	}
	return n;
}

void sroce_burst_drop(struct sroce_burst *burst)
{
	sroce_mr_cache_drop(&burst->cache);
	kfree_skb(burst->head);
	sroce_burst_reset(burst);
}
