/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_REQUESTER_H
#define SROCE_REQUESTER_H

#include "cc.h"
#include "inflight.h"
#include "packet.h"

/* More unacknowledged PSNs than this cannot be told from old ones. */
#define SROCE_PSN_WINDOW	((1u << 23) - 1)

/* A part of a READ may be cut into smaller ones so many times. */
#define SROCE_PARTS		8

/**
 * struct sroce_requester - sending side of a connected QP
 * @in: requests in flight
 * @psn: of the next packet to send
 * @una: oldest PSN that is not acknowledged
 * @sent: one past the highest PSN ever sent
 * @packet: next packet within the request @in.next
 * @mtu: path MTU, bytes
 * @cc: congestion control.  The responses of READs count for its window to
 *	READs, and after losses to all requests
 * @flight: unacknowledged packets when the last one was sent
 * @read_packets: PSNs of the requests in @reads
 * @ends: where parts of READs end that have been asked for and are not
 *	answered: each before the one before it in the array
 * @refused: PSN of the request that the peer refuses, if there is @refusal
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @parts: entries of @ends
 * @reads: requests started and not completed for which sroce_wr_reads() holds
 * @max_reads: max_rd_atomic; with 0 such requests fail
 * @retry_count: attribute of the QP
 * @retry_left: retries left without progress
 * @rnr_retry: attribute of the QP, 7 is without limit
 * @rnr_left: retries left without progress
 * @rnr_waits: RNR NAKs without progress, as far as sroce_rnr_wait() cares
 * @refusal: enum sroce_status, or 0: the peer has failed by that, and answers
 *	no more; but a READ or atomic before @refused lacks its answer
 * @rnr_wait: an RNR NAK's time runs
 * @rewound: sent back by a NAK or gap, and no progress since: more of these
 *	are echoes of the same loss
 * @hold: SQD: start no request
 */
struct sroce_requester {
	struct sroce_inflight in;
	u32 psn;
	u32 una;
	u32 sent;
	u32 packet;
	u32 mtu;
	struct sroce_cc cc;
	u32 flight;
	u32 read_packets;
	u32 ends[SROCE_PARTS];
	u32 refused;
	u8 parts;
	u8 transport;
	u8 reads;
	u8 max_reads;
	u8 retry_count;
	u8 retry_left;
	u8 rnr_retry;
	u8 rnr_left;
	u8 rnr_waits;
	u8 refusal;
	bool rnr_wait;
	bool rewound;
	bool hold;
};

enum sroce_next {
	SROCE_NEXT_PACKET,	/* here is one */
	SROCE_NEXT_NOTHING,	/* no request is waiting */
	SROCE_NEXT_WINDOW,	/* wait for acknowledgments */
	SROCE_NEXT_FENCE,	/* wait for READs and atomics before */
	SROCE_NEXT_READS,	/* max_rd_atomic reached */
	SROCE_NEXT_RNR,		/* wait for the timer */
	SROCE_NEXT_HOLD,	/* the queue is drained */
	SROCE_NEXT_FAULT,	/* the request has a status: it cannot be sent */
	SROCE_NEXT_LOCAL,	/* no packet: do it, unless it has started */
	SROCE_NEXT_ALONE,	/* wait until all before is acknowledged */
};

/**
 * struct sroce_outgoing - a packet to be built
 * @pkt: its headers, but for destination, P_Key and acknowledge request
 * @wr: the request it belongs to
 * @index: of that request
 * @offset: of the payload in the message, bytes
 * @count: packets that were built: this one, and so many middle packets of the
 *	same message behind it; of a READ, those asked for
 */
struct sroce_outgoing {
	struct sroce_pkt pkt;
	struct sroce_wr *wr;
	u32 index;
	u32 offset;
	u32 count;
};

/**
 * sroce_requester_next() - decide what to send
 * @r: state; of it only the status of a request that may not start any more
 *	changes
 * @out: the packet, for SROCE_NEXT_PACKET; its @wr, for SROCE_NEXT_LOCAL
 *
 * Return: enum sroce_next.
 */
enum sroce_next sroce_requester_next(const struct sroce_requester *r,
				     struct sroce_outgoing *out);

/**
 * sroce_requester_more() - how many packets like this one may follow it?
 * @r: state, not changed
 * @out: what sroce_requester_next() returned
 *
 * Return: how many middle packets of the message, whose headers differ from
 * those of @out in the PSN alone, can be sent right behind it.
 */
u32 sroce_requester_more(const struct sroce_requester *r,
			 const struct sroce_outgoing *out);

/**
 * sroce_requester_sent() - the packet has been built, go on behind it
 * @r: state
 * @out: what sroce_requester_next() returned; @count is 1, or more if
 *	sroce_requester_more() said so
 */
void sroce_requester_sent(struct sroce_requester *r,
			  const struct sroce_outgoing *out);

/**
 * sroce_requester_done() - the local request is done, go on behind it
 * @r: state
 *
 * After a rewind it comes by again, but is not to be done again.
 */
void sroce_requester_done(struct sroce_requester *r);

/**
 * sroce_requester_acknowledge() - note that the peer has everything before @psn
 * @r: state
 * @psn: between @r->una and @r->sent, both included
 *
 * The driver then completes requests as long as sroce_requester_finished().
 */
void sroce_requester_acknowledge(struct sroce_requester *r, u32 psn);

/**
 * sroce_requester_finished() - is the oldest request done?
 * @r: state
 *
 * Return: true if all its packets were sent and acknowledged; the driver
 * writes its completion and calls sroce_requester_retire().
 */
bool sroce_requester_finished(const struct sroce_requester *r);

/**
 * sroce_requester_retire() - forget the oldest request
 * @r: state
 */
void sroce_requester_retire(struct sroce_requester *r);

/* Something was lost.  @r: state, before the rewind. */
static inline void sroce_requester_lost(struct sroce_requester *r)
{
	sroce_cc_lost(&r->cc, r->flight);
}

/**
 * sroce_requester_rewind() - go back to the oldest unacknowledged packet
 * @r: state
 */
void sroce_requester_rewind(struct sroce_requester *r);

/**
 * sroce_requester_resume() - go back to a packet that never left this host
 * @r: state
 * @psn: between @r->una and @r->psn
 */
void sroce_requester_resume(struct sroce_requester *r, u32 psn);

/*
 * Has the packet been made before?  Context: before sroce_requester_sent() is
 * told of it.
 */
static inline bool sroce_requester_again(const struct sroce_requester *r,
					 const struct sroce_outgoing *out)
{
	return sroce_psn_before(out->pkt.psn, r->sent);
}

/* Is anything sent that the peer has to acknowledge? */
static inline bool sroce_requester_waits(const struct sroce_requester *r)
{
	return r->una != r->sent;
}

#endif /* SROCE_REQUESTER_H */
