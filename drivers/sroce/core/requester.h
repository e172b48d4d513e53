/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_REQUESTER_H
#define SROCE_REQUESTER_H

#include "cc.h"
#include "gaps.h"
#include "inflight.h"
#include "packet.h"

/* With more PSNs outstanding, a new PSN would look like an old one. */
#define SROCE_PSN_WINDOW	((1u << 23) - 1)

/* READs: at most this many ends of partial READ requests are remembered. */
#define SROCE_PARTS		8

/* Treatment of packets behind a gap by the responder. */
enum sroce_peer {
	SROCE_PEER_UNKNOWN,
	SROCE_PEER_HOLDS,	/* executes them when the gap is filled */
	SROCE_PEER_DROPS,	/* they have to be sent again */
};

/**
 * struct sroce_repair - retransmission of single packets
 * @gaps: gaps in the response to the oldest outstanding READ
 * @end: valid if @active: one past the last packet to repeat
 * @resume: valid if @active: where to continue then
 * @repeated: one past the last packet that was repeated, since the latest NAK, probe or
 *	rewind
 * @repeated_ever: packets from @una up to this PSN may have been repeated
 * @count: packets repeated for the latest NAK; doubles while losses are dense
 * @recover: @sent of the requester when the recovery began; it ends with the
 *	acknowledgment of everything before this PSN
 * @flight: unacknowledged packets then
 * @losses: packets repeated in this recovery
 * @naks: number of NAKs since the peer was found to drop packets
 * @retest: number of these NAKs after which the peer is tested again; grows
 * @peer: enum sroce_peer
 * @probed: a probe has repeated the packet before @repeated
 * @active: the requester is within the packets to repeat
 * @asking: valid if @active: they are the responses of one of @gaps
 * @waits: send no new packet until the peer has responded to the repeated ones
 * @recovering: between a loss and @recover
 * @slowed: the window was reduced in this recovery
 */
struct sroce_repair {
	struct sroce_gaps gaps;
	u32 end;
	u32 resume;
	u32 repeated;
	u32 repeated_ever;
	u32 count;
	u32 recover;
	u32 flight;
	u32 losses;
	u32 naks;
	u32 retest;
	u8 peer;
	bool probed;
	bool active;
	bool asking;
	bool waits;
	bool recovering;
	bool slowed;
};

/**
 * struct sroce_requester - sending side of a connected QP
 * @in: requests in flight
 * @psn: PSN of the next packet to send
 * @una: oldest PSN that is not acknowledged
 * @sent: one past the highest PSN ever sent
 * @packet: next packet within the request @in.next
 * @mtu: path MTU, bytes
 * @cc: congestion control.  READ responses use the window of READs; after
 *	losses they use the window of all requests
 * @flight: unacknowledged packets when the latest new one was sent
 * @reduced_psn: @sent when sroce_requester_congested() last reduced the window
 * @group: while @una is before it, and @psn is not, no READ starts: the next ones
 *	leave together
 * @read_packets: sum of the PSNs of the requests that @reads counts
 * @ends: PSNs at which outstanding partial READ requests end, descending
 * @repair: retransmission of missing packets only
 * @refused: PSN of the request that the peer refused; valid if @refusal is set
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @parts: entries of @ends
 * @reads: requests started and not completed for which sroce_wr_reads() holds
 * @max_reads: max_rd_atomic; with 0 such requests fail
 * @retry_count: attribute of the QP
 * @retry_left: retries left until the next progress
 * @rnr_retry: attribute of the QP; 7 means no limit
 * @rnr_left: RNR retries left until the next progress
 * @rnr_waits: RNR NAKs since the last progress; stops at 255
 * @refusal: enum sroce_status, or 0.  If set, the peer has sent a fatal NAK
 *	and sends no further responses, but the response to a READ or atomic
 *	before @refused is missing
 * @rnr_wait: the delay of an RNR NAK has not elapsed
 * @rewound: rewound after a loss, without progress since; further NAKs and
 *	gaps report the same loss
 * @drain: QP is in SQD: start no request
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
	u32 reduced_psn;
	u32 group;
	u32 read_packets;
	u32 ends[SROCE_PARTS];
	struct sroce_repair repair;
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
	bool drain;
};

/* Set the PSN of the first packet. */
static inline void sroce_requester_begin(struct sroce_requester *r, u32 psn)
{
	r->psn = psn;
	r->una = psn;
	r->sent = psn;
	r->reduced_psn = psn;
	r->group = psn;
	r->repair.repeated = psn;
	r->repair.repeated_ever = psn;
}

enum sroce_next {
	SROCE_NEXT_PACKET,	/* send @pkt of struct sroce_outgoing */
	SROCE_NEXT_NOTHING,	/* no request is waiting */
	SROCE_NEXT_WINDOW,	/* wait for acknowledgments */
	SROCE_NEXT_FENCE,	/* wait for earlier READs and atomics */
	SROCE_NEXT_READS,	/* max_rd_atomic reached */
	SROCE_NEXT_RNR,		/* wait for the RNR timer */
	SROCE_NEXT_HOLD,	/* the queue is drained */
	SROCE_NEXT_FAULT,	/* cannot be sent: the request has a status */
	SROCE_NEXT_LOCAL,	/* execute it here, unless it is @started */
	SROCE_NEXT_KEY,		/* wait for earlier requests that use the key */
};

/**
 * struct sroce_outgoing - a packet to be built
 * @pkt: headers, except destination QP, P_Key and acknowledge request
 * @wr: request that the packet belongs to
 * @index: index of @wr
 * @offset: offset of the payload in the message, bytes
 * @count: packets built: this one and the middle packets of the same message
 *	that follow it.  READ: response packets requested
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
 * @r: state; not changed, but a request that may no longer start gets a status
 * @out: filled in for SROCE_NEXT_PACKET; only @wr for SROCE_NEXT_LOCAL
 *
 * Return: what to send, or why nothing is sent
 */
enum sroce_next sroce_requester_next(const struct sroce_requester *r,
				     struct sroce_outgoing *out);

/**
 * sroce_requester_more() - how many packets like this one may follow it?
 * @r: state
 * @out: from sroce_requester_next()
 *
 * Return: number of further middle packets that the window allows.  Their
 * headers differ from @out only in the PSN.
 */
u32 sroce_requester_more(const struct sroce_requester *r,
			 const struct sroce_outgoing *out);

/**
 * sroce_requester_sent() - advance past packets that have been built
 * @r: state
 * @out: from sroce_requester_next().  The caller may add to @count, at most
 *	what sroce_requester_more() returned
 */
void sroce_requester_sent(struct sroce_requester *r,
			  const struct sroce_outgoing *out);

/**
 * sroce_requester_done() - advance past a local request
 * @r: state
 *
 * After a rewind sroce_requester_next() returns the request again; it must not
 * be executed twice.
 */
void sroce_requester_done(struct sroce_requester *r);

/**
 * sroce_requester_finished() - is the oldest request done?
 * @r: state
 *
 * Return: true if all its packets were sent and acknowledged.  The driver then
 * writes the completion and calls sroce_requester_retire().
 */
static inline bool sroce_requester_finished(const struct sroce_requester *r)
{
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, r->in.head);

	return r->in.head != r->in.next &&
	       sroce_psn_diff(r->una, wr->psn) >= (s32)wr->packets;
}

/**
 * sroce_requester_retire() - remove the oldest request
 * @r: state
 */
void sroce_requester_retire(struct sroce_requester *r);

/**
 * sroce_requester_next_gap() - go to the next gap, or behind the repair
 * @r: state; packets are being repeated, or a gap has not been requested again
 */
void sroce_requester_next_gap(struct sroce_requester *r);

/**
 * sroce_requester_gaps_end() - end of the response that has the gaps
 * @r: state; sroce_requester_holds() is true
 *
 * Return: one past its last PSN, of those that were requested: the peer takes a
 * later part of the READ for a new request.
 */
u32 sroce_requester_gaps_end(const struct sroce_requester *r);

/* Are packets of a READ response held?  If not, the driver drops its copies. */
static inline bool sroce_requester_holds(const struct sroce_requester *r)
{
	return r->repair.gaps.count;
}

/**
 * sroce_requester_resume() - continue at a given packet, in the request that covers it
 * @r: state
 * @psn: from @r->una on; before @r->psn to send a probe
 */
void sroce_requester_resume(struct sroce_requester *r, u32 psn);

/* Is it a retransmission?  Call it before sroce_requester_sent(). */
static inline bool sroce_requester_again(const struct sroce_requester *r,
					 const struct sroce_outgoing *out)
{
	return sroce_psn_before(out->pkt.psn, r->sent);
}

/* Is any packet unacknowledged? */
static inline bool sroce_requester_waits(const struct sroce_requester *r)
{
	return r->una != r->sent;
}

/*
 * Has every request that was started been completed?  Between two bursts of a message with
 * a rate limit nothing is unacknowledged, but the message is not complete.
 */
static inline bool sroce_requester_drained(const struct sroce_requester *r)
{
	return !sroce_requester_waits(r) && !r->packet && r->in.head == r->in.next;
}

#endif /* SROCE_REQUESTER_H */
