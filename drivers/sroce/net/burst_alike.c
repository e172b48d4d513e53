// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Packets alike: those that differ from the last one of a burst in PSN and payload only. */
#include <linux/page_ref.h>
#include "../core/params.h"
#include "../core/psn.h"
#include "burst.h"
#include "burst_skb.h"

/* sroce_skb_put(), with a fast path for bytes behind the last packet, which is contiguous. */
static __always_inline u8 *put_behind(struct sroce_burst *burst, u32 bytes)
{
	const struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	u8 *p = burst->bth + burst->size;

	if (unlikely(p != page_address(frag->page) + frag->offset ||
		     frag->offset + bytes > frag->size))
		return sroce_skb_put(burst->tail, bytes);
	sroce_skb_extend(burst->tail, bytes);
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
	put_unaligned_be32(sroce_psn_add(sroce_bth_psn(bth), 1), bth + 8);
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
	    burst->bytes + bytes > burst->most_bytes || bytes < SROCE_BURST_SHORTEST ||
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
		sroce_burst_copy_later(burst, index, data);
	return true;
}

/*
 * Append a packet like the last one; false, with the burst unchanged, on
 * failure.
 */
static bool repeat_packet(struct sroce_burst *burst, struct sroce_sgl_iter *walk,
			  u32 payload)
{
	struct sk_buff *tail = burst->tail;
	u32 psn = sroce_bth_psn(burst->bth);
	u32 len = tail->len;
	u8 *bth;

	if (!sroce_skb_has_frags(tail, payload) && sroce_skb_chain(burst->head, &burst->tail))
		return false;
	bth = sroce_skb_put(burst->tail, SROCE_BTH_BYTES);
	if (!bth || sroce_sgl_attach_next(burst->tail, walk, payload, 1) ||
	    !sroce_skb_put(burst->tail, SROCE_ICRC_BYTES)) {
		sroce_skb_undo(burst->head, &burst->tail, tail, len);
		return false;
	}
	memcpy(bth, burst->bth, 8);
	put_unaligned_be32(sroce_psn_add(psn, 1), bth + 8);
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

/*
 * Begin to append up to @more packets like the last one, whose payload is at @walk then.
 * Returns the number that the burst has room for; 0 if @pkt is not like the last one.
 */
static __always_inline u32 repeat_begin(struct sroce_burst *burst,
					const struct sroce_pkt *pkt, u32 more,
					const struct sroce_sgl *from, u32 at,
					struct sroce_sgl_iter *walk)
{
	/* An XRC request has more than a BTH. */
	if (sroce_pkt_bytes(pkt) != burst->size ||
	    sroce_opcodes[pkt->opcode].length != SROCE_BTH_BYTES ||
	    !sroce_sgl_iter_init(walk, &burst->cache, from, at, more * pkt->payload))
		return 0;
	return min(more, packets_left(burst));
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
 * skb, if the last trailer ends at the free bytes of @sroce_hdr_frag.  Trailers and
 * headers then alternate in these bytes.
 */
static u32 repeat_here(struct sroce_burst *burst, struct sroce_sgl_iter *walk,
		       u32 payload, u32 more)
{
	struct page_frag *frag = this_cpu_ptr(&sroce_hdr_frag);
	struct skb_shared_info *shared = skb_shinfo(burst->tail);
	u32 psn = sroce_bth_psn(burst->bth);
	u64 start = get_unaligned((u64 *)burst->bth);
	skb_frag_t *last;
	u8 *bth;
	u32 n;

	if (!sroce_skb_is_adjacent(burst->tail, frag))
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
		psn = sroce_psn_add(psn, 1);
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

	if (!sroce_sgl_in_region(&burst->cache, from))
		return 0;
	more = repeat_begin(burst, pkt, more, from, at, &walk);
	for (n = 0; n < more && sroce_sgl_iter_has(&walk, pkt->payload); n++) {
		if (!append_alike(burst, SROCE_BTH_BYTES))
			break;
		sroce_burst_copy_later(burst, burst->packets - 1, walk.p);
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
		    sroce_burst_append(burst, &next, from, at + n * pkt->payload, NULL, false))
			return n;
		n++;
	}
}

u32 sroce_burst_repeat(struct sroce_burst *burst, const struct sroce_pkt *pkt,
		       u32 more, const struct sroce_sgl *from, u32 at)
{
	struct sroce_sgl_iter walk;
	u32 n;

	if (!burst->repeats)
		return 0;
	if (!burst->chains)
		return repeat_copy(burst, pkt, more, from, at);
	more = repeat_begin(burst, pkt, more, from, at, &walk);
	for (n = 0; n < more; n++) {
		n += repeat_here(burst, &walk, pkt->payload, more - n);
		if (n == more || !sroce_burst_fits(burst, pkt) ||
		    !repeat_packet(burst, &walk, pkt->payload))
			break;
	}
	return n;
}
