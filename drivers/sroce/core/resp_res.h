/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_RES_H
#define SROCE_RESP_RES_H

#include "packet.h"
#include "psn.h"

/* Packets of one message: half of the range that psn.h can order. */
#define SROCE_MAX_PACKETS	0x400000u

/**
 * sroce_packets() - number of packets of a message
 * @length: bytes
 * @mtu: path MTU, a power of two, bytes
 *
 * Return: at least 1
 */
static inline u32 sroce_packets(u32 length, u32 mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

/**
 * struct sroce_resource - responder resource: an executed request and its
 *	response
 * @va: RETH or AtomicETH address
 * @original: atomics: the value before the operation
 * @rkey: RETH or AtomicETH key
 * @length: READ: bytes requested; otherwise 0
 * @psn: first PSN of the response
 * @packets: packets of the response
 * @msn: message sequence number after the request
 * @srqn: XRC: SRQ number of the request
 * @from: first packet of the response; not 0 only for a duplicate
 * @next: next packet of the response to send; @end if none is left
 * @end: one past the last packet to send; less than @packets only for a
 *	duplicate that requests less
 * @stop: offset in the message at which the response ends, bytes; less than
 *	@length only for a duplicate that requests less
 * @kind: SROCE_KIND_READ, ATOMIC, ATOMIC_WRITE or FLUSH
 * @again: the response is to a duplicate
 * @second: packet that was the second one of a burst which the device segments, and
 *	which begins with this response or directly before it; SROCE_MAX_PACKETS if none
 * @resp_done: the last packet of the response has been sent at least once
 * @ignored: duplicates that were ignored because the key is revoked
 * @lone: nothing of the last response arrived; now its first packet is sent alone
 */
struct sroce_resource {
	u64 va;
	u64 original;
	u32 rkey;
	u32 length;
	u32 psn;
	u32 packets;
	u32 msn;
	u32 srqn;
	u32 from;
	u32 next;
	u32 end;
	u32 stop;
	u32 second;
	u8 kind;
	bool again;
	bool resp_done;
	u8 ignored;
	bool lone;
};

/**
 * struct sroce_resp_res - responder resources of a QP, oldest request first
 * @reads: ring of @size entries
 * @size: max_dest_rd_atomic
 * @first: index of the oldest entry
 * @count: entries in use
 * @waiting: entries whose response is not completely sent
 * @first_pending: index, by age, of the oldest entry whose response may not be
 *	completely sent
 * @mtu: path MTU, bytes
 * @transport: SROCE_RC or SROCE_XRC
 * @spoiled: bursts of which only the first packet arrived; 0 again after a good one
 *
 * Responses are sent in order.  An entry is kept for duplicates until its place
 * is needed (9.7.5.2).  The caller serializes access.
 */
struct sroce_resp_res {
	struct sroce_resource *reads;
	u32 size;
	u32 first;
	u32 count;
	u32 waiting;
	u32 first_pending;
	u32 mtu;
	u8 transport;
	u8 spoiled;
};

/**
 * sroce_resp_res_room() - is there room for one more request?
 * @res: resources
 *
 * Return: false if the peer has more requests outstanding than the QP's
 * max_dest_rd_atomic.
 */
bool sroce_resp_res_room(const struct sroce_resp_res *res);

/**
 * sroce_resp_res_move() - change the number of resources
 * @res: resources
 * @reads: the new ring
 * @size: entries of @reads; keeps the newest @size entries
 *
 * A QP may change max_dest_rd_atomic in SQD, while its peer sends requests.
 *
 * Return: the old ring, which the caller frees.
 */
struct sroce_resource *sroce_resp_res_move(struct sroce_resp_res *res,
					   struct sroce_resource *reads, u32 size);

/**
 * sroce_resp_res_add() - record an executed request
 * @res: resources; sroce_resp_res_room() is true
 * @pkt: request with its own response
 * @original: atomics: the value before the operation
 * @msn: message sequence number after the request
 */
void sroce_resp_res_add(struct sroce_resp_res *res, const struct sroce_pkt *pkt,
			u64 original, u32 msn);

/**
 * sroce_resp_res_repeat() - schedule the response to a duplicate request
 * @res: resources
 * @pkt: request with a PSN before the expected one
 *
 * A partly sent response to a later request is dropped: the peer starts over
 * from here (go-back-N), would treat the rest as another loss, and requests it
 * again.  If the duplicate does not reach the end of the original, all pending
 * responses to later requests are dropped.  Otherwise responses that have not
 * begun stay, because the network may have duplicated the packet.  In that case
 * the peer does not request them again.
 *
 * Return: false if no resource has the request: ignore the duplicate.
 */
bool sroce_resp_res_repeat(struct sroce_resp_res *res, const struct sroce_pkt *pkt);

/**
 * sroce_resp_res_spoiled() - does the device spoil bursts?
 * @res: resources
 *
 * The same as core/uso.h, for responses.  No packet acknowledges them, but the peer
 * requests missing ones again.  If only the first packet of a burst arrived, this
 * request begins with the second packet.  If none arrived, it begins with the first one,
 * which is then sent alone.
 *
 * Return: true, once, if SROCE_USO_SPOILED bursts were spoiled, and none was good.
 */
bool sroce_resp_res_spoiled(struct sroce_resp_res *res);

/**
 * sroce_resp_res_pending() - the request whose response is sent next
 * @res: resources
 *
 * Return: NULL if all responses have been sent.
 */
struct sroce_resource *sroce_resp_res_pending(struct sroce_resp_res *res);

/**
 * sroce_resp_res_covers() - does @psn belong to a recorded request?
 * @res: resources
 * @psn: the PSN
 *
 * Return: true if it does
 */
bool sroce_resp_res_covers(const struct sroce_resp_res *res, u32 psn);

/**
 * sroce_resp_res_next() - fill in the next packet of a response
 * @res: resources
 * @read: from sroce_resp_res_pending()
 * @pkt: result: opcode, PSN, pad, AETH, payload and atomic value, but not the
 *	destination
 *
 * Does not advance; see sroce_resp_res_sent().
 *
 * Return: offset of the payload in the memory of the request, bytes.
 */
u32 sroce_resp_res_next(const struct sroce_resp_res *res,
			const struct sroce_resource *read, struct sroce_pkt *pkt);

/**
 * sroce_resp_res_more() - how many packets like the next one follow it?
 * @read: from sroce_resp_res_pending()
 *
 * Return: number of middle packets after the next one, whose headers differ
 * only in the PSN; 0 if the next one is not a middle packet.
 */
u32 sroce_resp_res_more(const struct sroce_resource *read);

/**
 * sroce_resp_res_sent() - advance past packets of sroce_resp_res_next()
 * @res: resources
 * @read: from sroce_resp_res_pending()
 * @count: packets; or all that are left, if the response is dropped
 */
void sroce_resp_res_sent(struct sroce_resp_res *res, struct sroce_resource *read,
			 u32 count);

#endif /* SROCE_RESP_RES_H */
