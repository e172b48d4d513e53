/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_RES_H
#define SROCE_RESP_RES_H

#include "packet.h"
#include "psn.h"

/* The PSNs of one message; half of what psn.h can order. */
#define SROCE_MAX_PACKETS	0x400000u

/**
 * sroce_packets() - packets that a message takes
 * @length: bytes
 * @mtu: path MTU, a power of two, bytes
 */
static inline u32 sroce_packets(u32 length, u32 mtu)
{
	return length ? (length - 1) / mtu + 1 : 1;
}

/**
 * struct sroce_resource - a request with an answer of its own that was executed
 * @va: RETH address
 * @original: what an atomic found in memory
 * @rkey: RETH key
 * @length: of the data that a READ asked for, bytes
 * @psn: first PSN of the answer
 * @packets: PSNs of the answer
 * @msn: message sequence number after it
 * @srqn: XRC: the SRQ that it named
 * @from: packet that the answer begins with; not 0 only for a duplicate
 * @next: next packet of the answer to send
 * @end: packet to stop before: @packets when nothing is left to send
 * @stop: bytes of the message to send; less than @length only for a duplicate
 *	that asked for less
 * @kind: SROCE_KIND_READ, ATOMIC, ATOMIC_WRITE or FLUSH
 * @again: an answer to a duplicate
 * @told: the end of the answer has been sent
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
	u8 kind;
	bool again;
	bool told;
};

/**
 * struct sroce_resp_res - the latest of these requests, oldest first
 * @reads: ring of @size entries
 * @size: max_dest_rd_atomic
 * @first: place of the oldest
 * @count: entries in use
 * @waiting: entries whose answer is not sent completely
 * @settled: so many of the oldest entries are known to be answered
 * @mtu: path MTU, bytes
 * @transport: of the answers: SROCE_RC or SROCE_XRC
 *
 * They are answered in order, and kept for duplicates until the place is
 * needed (9.7.5.2).  Caller's lock.
 */
struct sroce_resp_res {
	struct sroce_resource *reads;
	u32 size;
	u32 first;
	u32 count;
	u32 waiting;
	u32 settled;
	u32 mtu;
	u8 transport;
};

/**
 * sroce_resp_res_room() - is there a place for one more request?
 * @log: the log
 *
 * Return: false if the peer has more requests outstanding than the QP's
 * max_dest_rd_atomic.
 */
bool sroce_resp_res_room(const struct sroce_resp_res *log);

/**
 * sroce_resp_res_move() - change the number of places
 * @log: the log
 * @reads: its places from now on
 * @size: how many; of what is noted the newest so many stay
 *
 * A QP may change this in SQD, while its peer goes on.
 *
 * Return: the places that it had.
 */
struct sroce_resource *sroce_resp_res_move(struct sroce_resp_res *log,
					   struct sroce_resource *reads, u32 size);

/**
 * sroce_resp_res_add() - note a request that has just been executed
 * @log: the log; sroce_resp_res_room() said yes
 * @pkt: a request that has a response
 * @original: the value an atomic found
 * @msn: message sequence number
 */
void sroce_resp_res_add(struct sroce_resp_res *log, const struct sroce_pkt *pkt,
			u64 original, u32 msn);

/**
 * sroce_resp_res_repeat() - answer a duplicate request again
 * @log: the log
 * @pkt: such a request, with a PSN before the expected one
 *
 * The rest of an answer to a later request is dropped: the peer, which starts
 * over from here (go-back-N), would take that for another loss, and asks for it
 * again.  So are all such answers if the peer asks but for a part.  But the
 * network may have made the duplicate, and then nobody asks for what has not
 * been answered at all: that stays.
 *
 * Return: false if no such request is on record; it is ignored then.
 */
bool sroce_resp_res_repeat(struct sroce_resp_res *log, const struct sroce_pkt *pkt);

/**
 * sroce_resp_res_pending() - the request whose answer is to be sent next
 * @log: the log
 *
 * Return: NULL if all are answered.
 */
struct sroce_resource *sroce_resp_res_pending(struct sroce_resp_res *log);

/**
 * sroce_resp_res_covers() - is it the PSN of one in the log?
 * @log: the log
 * @psn: the PSN
 */
bool sroce_resp_res_covers(const struct sroce_resp_res *log, u32 psn);

/**
 * sroce_resp_res_next() - headers of the next packet of an answer
 * @log: the log
 * @read: from sroce_resp_res_pending()
 * @pkt: filled in, but for the destination: opcode, PSN, pad, AETH, payload
 *	and atomic value
 *
 * sroce_resp_res_sent() moves on.
 *
 * Return: offset of the payload in the request's memory, bytes.
 */
u32 sroce_resp_res_next(const struct sroce_resp_res *log,
			const struct sroce_resource *read, struct sroce_pkt *pkt);

/**
 * sroce_resp_res_more() - how many packets like the next one follow it?
 * @read: from sroce_resp_res_pending()
 *
 * Return: how many middle packets are behind the one that is next, if that is
 * a middle packet, too: their headers differ in the PSN alone.
 */
u32 sroce_resp_res_more(const struct sroce_resource *read);

/**
 * sroce_resp_res_sent() - the packet of sroce_resp_res_next() is on its way
 * @log: the log
 * @read: from sroce_resp_res_pending()
 * @count: 1, or more packets, if sroce_resp_res_more() said so
 */
void sroce_resp_res_sent(struct sroce_resp_res *log, struct sroce_resource *read,
			 u32 count);

#endif /* SROCE_RESP_RES_H */
