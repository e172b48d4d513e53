/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OOO_H
#define SROCE_OOO_H

#include <linux/rbtree.h>
#include "../base/sroce.h"
#include "../core/packet.h"
#include "../mem/skb_reader.h"

/**
 * struct sroce_ooo_queue - packets behind a gap (out of order), by PSN
 * @tree: struct sroce_ooo_packet
 * @last: the one with the highest PSN; NULL if there is none
 * @packets: number of packets
 * @bytes: memory that they take, bytes
 *
 * Protected by the lock of its side of the QP.
 */
struct sroce_ooo_queue {
	struct rb_root_cached tree;
	struct sroce_ooo_packet *last;
	u32 packets;
	u32 bytes;
};

/**
 * struct sroce_ooo_packet - copy of a packet that has passed all checks of the
 *	receive path, or of several middle packets of a message
 * @node: entry in the queue
 * @pkt: parsed headers; those of all packets differ in the PSN only
 * @arrived: time at which the gap before it was noticed, ns.  A packet that follows
 *	the last one of the queue has the same gap before it, and the same time
 * @size: memory that it takes, bytes
 * @count: packets; the PSN of @pkt is that of the first
 * @most: packets that fit
 * @payload: payloads, one after the other.  Their memory in the skb may belong to the
 *	sender, who could change it later
 */
struct sroce_ooo_packet {
	struct rb_node node;
	struct sroce_pkt pkt;
	u64 arrived;
	u32 size;
	u16 count;
	u16 most;
	u8 payload[];
};

/**
 * sroce_ooo_add() - keep a copy of a packet
 * @q: queue
 * @dev: device that the memory is charged to
 * @pkt: parsed headers
 * @payload: reader at the payload; not moved
 *
 * The memory of a QP may not exceed what is still free of the device's limit (SROCE_OOO_BYTES),
 * so no peer can use up all of it.
 *
 * Context: softirq; the queue's lock is held.  Return: false, and the caller drops
 * the packet, if it is in the queue already, if it would exceed a limit, if there
 * is no memory, or if the setting hold_out_of_order is off.
 */
bool sroce_ooo_add(struct sroce_ooo_queue *q, struct sroce_device *dev,
		   const struct sroce_pkt *pkt,
		   const struct sroce_reader *payload);

/**
 * sroce_ooo_append() - keep a copy of a packet that continues the last one of the queue
 * @q: queue, not empty
 * @bth: base transport header of a packet for this QP; for XRC the XRCETH follows
 * @payload: reader at the payload; moved past it on success
 * @len: bytes of payload
 *
 * Needs neither parsing nor an allocation.
 *
 * Context: as sroce_ooo_add().  Return: false, and nothing has changed, unless it is the
 * next middle packet of the same message, requests no ACK, and there is room beside the
 * last packet.
 */
bool sroce_ooo_append(struct sroce_ooo_queue *q, const u8 *bth,
		      struct sroce_reader *payload, u32 len);

/**
 * sroce_ooo_take() - take a packet, and those with it, out
 * @q: queue
 * @dev: device of sroce_ooo_add()
 * @psn: PSN of the packet; packets before it are dropped
 *
 * Context: as sroce_ooo_add().  Return: the packet, for kfree(); or NULL if it is
 * not in the queue.
 */
struct sroce_ooo_packet *sroce_ooo_take(struct sroce_ooo_queue *q,
					struct sroce_device *dev, u32 psn);

/* The packet with the lowest PSN; NULL if the queue is empty. */
const struct sroce_ooo_packet *sroce_ooo_first(const struct sroce_ooo_queue *q);

/* Drop all packets.  Context: as sroce_ooo_add(). */
void sroce_ooo_drop(struct sroce_ooo_queue *q, struct sroce_device *dev);

/* A reader at the payloads of @held. */
static inline struct sroce_reader
sroce_ooo_reader(const struct sroce_ooo_packet *held)
{
	return sroce_reader_of(held->payload, held->count * held->pkt.payload);
}

#endif /* SROCE_OOO_H */
