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
#include "ooo.h"

static struct sroce_ooo_packet *packet_of(const struct rb_node *node)
{
	return rb_entry(node, struct sroce_ooo_packet, node);
}

static int compare_packets(struct rb_node *one, const struct rb_node *other)
{
	return sroce_psn_diff(packet_of(one)->pkt.psn, packet_of(other)->pkt.psn);
}

/* Most packets follow the last one: no search, and the time of the gap is known. */
static bool follows_last(const struct sroce_ooo_queue *q, const struct sroce_pkt *pkt)
{
	return q->last && pkt->psn == sroce_psn_add(q->last->pkt.psn, 1);
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
	if (--q->packets == 0)
		q->last = NULL;
	q->bytes -= held->size;
	atomic_long_sub(held->size, &dev->ooo_bytes);
}

bool sroce_ooo_add(struct sroce_ooo_queue *q, struct sroce_device *dev,
		   const struct sroce_pkt *pkt,
		   const struct sroce_reader *payload)
{
	struct sroce_reader reader = *payload;
	struct sroce_ooo_packet *held;
	u32 size = roundup_pow_of_two(struct_size(held, payload, pkt->payload));

	if (!READ_ONCE(dev->settings.hold) || !charge_packet(q, dev, size))
		return false;
	held = kmalloc(size, GFP_ATOMIC | __GFP_NOWARN);
	if (!held)
		goto err_charge;
	held->pkt = *pkt;
	held->size = size;
	if (!sroce_reader_copy(&reader, held->payload, pkt->payload))
		goto err_packet;
	if (likely(follows_last(q, pkt)))
		append_held(q, held);
	else if (!insert_held(q, held))
		goto err_packet;
	q->packets++;
	q->bytes += size;
	return true;

err_packet:
	kfree(held);
err_charge:
	atomic_long_sub(size, &dev->ooo_bytes);
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
