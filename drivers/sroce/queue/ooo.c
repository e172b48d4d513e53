// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that have arrived before an earlier one: requests at the responder, and
 * the responses to a READ at the requester.
 */
#include <linux/ktime.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include "../core/params.h"
#include "../core/psn.h"
#include "../core/wire.h"
#include "ooo.h"

static struct sroce_ooo_packet *packet_of(const struct rb_node *node)
{
	return rb_entry(node, struct sroce_ooo_packet, node);
}

/* @one is a single packet.  Packets with the same PSN are equal. */
static int compare_packets(struct rb_node *one, const struct rb_node *other)
{
	const struct sroce_ooo_packet *p = packet_of(other);
	s32 ahead = sroce_psn_diff(packet_of(one)->pkt.psn, p->pkt.psn);

	return ahead >= 0 && ahead < p->count ? 0 : ahead;
}

static u32 next_psn(const struct sroce_ooo_packet *held)
{
	return sroce_psn_add(held->pkt.psn, held->count);
}

/* Most packets follow the last one: no search, and the time of the gap is known. */
static bool follows_last(const struct sroce_ooo_queue *q, const struct sroce_pkt *pkt)
{
	return q->last && pkt->psn == next_psn(q->last);
}

/*
 * Packets to allocate memory for.  The second one behind a gap, if it is a middle packet
 * of a request, is likely to be followed by more.
 */
static u32 expected_packets(const struct sroce_ooo_queue *q, const struct sroce_pkt *pkt)
{
	if (!follows_last(q, pkt) || pkt->op->pos & (SROCE_FIRST | SROCE_LAST) ||
	    pkt->op->kind >= SROCE_KIND_RESPONSES || pkt->ack_req || !pkt->payload)
		return 1;
	return max_t(u32, 1, (SROCE_OOO_RUN_BYTES - sizeof(struct sroce_ooo_packet)) /
			     pkt->payload);
}

static void append_held(struct sroce_ooo_queue *q, struct sroce_ooo_packet *held)
{
	held->arrived = q->last->arrived;
	rb_link_node(&held->node, &q->last->node, &q->last->node.rb_right);
	rb_insert_color_cached(&held->node, &q->tree, false);
	q->last = held;
}

/* Returns false if a packet with this PSN is there. */
static bool insert_held(struct sroce_ooo_queue *q, struct sroce_ooo_packet *held)
{
	if (rb_find_add(&held->node, &q->tree.rb_root, compare_packets))
		return false;
	if (!rb_prev(&held->node))
		q->tree.rb_leftmost = &held->node;
	if (!rb_next(&held->node))
		q->last = held;
	held->arrived = ktime_get_ns();
	return true;
}

static bool charge_packet(struct sroce_ooo_queue *q, struct sroce_device *dev, u32 size)
{
	long used = atomic_long_add_return(size, &dev->ooo_bytes);

	if (q->packets < SROCE_MAX_WINDOW &&
	    (long)(q->bytes + size) <= SROCE_OOO_BYTES - used)
		return true;
	atomic_long_sub(size, &dev->ooo_bytes);
	return false;
}

static void remove_packet(struct sroce_ooo_queue *q, struct sroce_device *dev,
			  struct sroce_ooo_packet *held)
{
	rb_erase_cached(&held->node, &q->tree);
	q->packets -= held->count;
	if (!q->packets)
		q->last = NULL;
	q->bytes -= held->size;
	atomic_long_sub(held->size, &dev->ooo_bytes);
}

/* Is there memory beside the last packet for one with this opcode, PSN and length? */
static bool fits_beside(const struct sroce_ooo_queue *q, u8 opcode, u32 psn, u32 len)
{
	const struct sroce_ooo_packet *held = q->last;

	return held && held->count < held->most && q->packets < SROCE_MAX_WINDOW &&
	       opcode == held->pkt.opcode && psn == next_psn(held) &&
	       len == held->pkt.payload;
}

static bool copy_beside(struct sroce_ooo_queue *q, struct sroce_reader *payload)
{
	struct sroce_ooo_packet *held = q->last;
	struct sroce_reader reader = *payload;
	u32 len = held->pkt.payload;

	if (!sroce_reader_copy(&reader, held->payload + held->count * len, len))
		return false;
	*payload = reader;
	held->count++;
	q->packets++;
	return true;
}

/* All packets of one allocation have the headers of the first one. */
static bool continues_last(const struct sroce_ooo_queue *q, const struct sroce_pkt *pkt)
{
	return fits_beside(q, pkt->opcode, pkt->psn, pkt->payload) && !pkt->ack_req &&
	       pkt->pad == q->last->pkt.pad &&
	       (!(pkt->op->headers & SROCE_XRCETH) || pkt->srqn == q->last->pkt.srqn);
}

static bool bth_continues_last(const struct sroce_ooo_queue *q, const u8 *bth, u32 len)
{
	const struct sroce_pkt *pkt = &q->last->pkt;
	u32 psn = sroce_bth_psn(bth);

	return fits_beside(q, bth[0], psn, len) && !(bth[8] & SROCE_BTH_ACKREQ) &&
	       !pkt->pad && sroce_bth_is(bth, pkt->opcode, psn) &&
	       (!(pkt->op->headers & SROCE_XRCETH) || sroce_bth_srqn(bth) == pkt->srqn);
}

bool sroce_ooo_append(struct sroce_ooo_queue *q, const u8 *bth,
		      struct sroce_reader *payload, u32 len)
{
	return bth_continues_last(q, bth, len) && copy_beside(q, payload);
}

static struct sroce_ooo_packet *alloc_held(struct sroce_ooo_queue *q,
					   struct sroce_device *dev, u32 payload, u32 most)
{
	struct sroce_ooo_packet *held;
	u32 size = roundup_pow_of_two(struct_size(held, payload, most * payload));

	if (!charge_packet(q, dev, size))
		return NULL;
	held = kmalloc(size, GFP_ATOMIC | __GFP_NOWARN);
	if (!held) {
		atomic_long_sub(size, &dev->ooo_bytes);
		return NULL;
	}
	held->size = size;
	held->count = 1;
	held->most = most;
	return held;
}

bool sroce_ooo_add(struct sroce_ooo_queue *q, struct sroce_device *dev,
		   const struct sroce_pkt *pkt,
		   const struct sroce_reader *payload)
{
	struct sroce_reader reader = *payload;
	struct sroce_ooo_packet *held;
	u32 most;

	if (!READ_ONCE(dev->settings.hold))
		return false;
	if (continues_last(q, pkt))
		return copy_beside(q, &reader);
	most = expected_packets(q, pkt);
	held = alloc_held(q, dev, pkt->payload, most);
	/* There may be memory for one of them. */
	if (!held && most > 1)
		held = alloc_held(q, dev, pkt->payload, 1);
	if (!held)
		return false;
	held->pkt = *pkt;
	if (!sroce_reader_copy(&reader, held->payload, pkt->payload))
		goto err_packet;
	if (likely(follows_last(q, pkt)))
		append_held(q, held);
	else if (!insert_held(q, held))
		goto err_packet;
	q->packets++;
	q->bytes += held->size;
	return true;

err_packet:
	atomic_long_sub(held->size, &dev->ooo_bytes);
	kfree(held);
	return false;
}

struct sroce_ooo_packet *sroce_ooo_take(struct sroce_ooo_queue *q,
					struct sroce_device *dev, u32 psn)
{
	struct sroce_ooo_packet *held;
	struct rb_node *node;

	while ((node = rb_first_cached(&q->tree))) {
		held = packet_of(node);
		if (sroce_psn_before(psn, held->pkt.psn))
			break;
		remove_packet(q, dev, held);
		if (held->pkt.psn == psn)
			return held;
		kfree(held);
	}
	return NULL;
}

const struct sroce_ooo_packet *sroce_ooo_first(const struct sroce_ooo_queue *q)
{
	const struct rb_node *node = rb_first_cached(&q->tree);

	return node ? packet_of(node) : NULL;
}

void sroce_ooo_drop(struct sroce_ooo_queue *q, struct sroce_device *dev)
{
	struct sroce_ooo_packet *held;
	struct rb_node *node;

	while ((node = rb_first_cached(&q->tree))) {
		held = packet_of(node);
		remove_packet(q, dev, held);
		kfree(held);
	}
}
