/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESPONDER_H
#define SROCE_RESPONDER_H

#include "errors.h"
#include "params.h"
#include "reorder.h"
#include "resp_res.h"

/**
 * struct sroce_responder - receiving side of a connected QP
 * @epsn: PSN expected next
 * @last: PSN of the last packet executed whose only response is an ACK
 * @msn: message sequence number: messages completed, modulo 2^24
 * @mtu: path MTU, bytes
 * @permissions: enum sroce_permission that the peer has on this connection
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @kind: kind of the message in progress; SROCE_KIND_NONE between messages
 * @nak_sent: a NAK for @epsn was sent; send no more until @epsn arrives
 * @rnr_sent: valid if @nak_sent: the NAK was an RNR NAK
 * @rwqe_taken: a receive WQE was taken; kept if UC loses the message
 * @reorder: tells a late packet from a lost one
 * @repeated: one past the PSN of the latest duplicate; at first no PSN
 * @rkey: rkey of the WRITE in progress
 * @va: address of the next payload of the WRITE in progress
 * @left: bytes of the WRITE in progress that have not arrived
 * @srqn: XRC: SRQ number of the message in progress
 * @done: bytes of the message in progress that have arrived
 * @res: responder resources (RC, XRC)
 */
struct sroce_responder {
	u32 epsn;
	u32 last;
	u32 msn;
	u32 mtu;
	u16 permissions;
	u8 transport;
	u8 kind;
	bool nak_sent;
	bool rnr_sent;
	bool rwqe_taken;
	struct sroce_reorder reorder;
	u32 repeated;
	u32 rkey;
	u64 va;
	u32 left;
	u32 srqn;
	u32 done;
	struct sroce_resp_res res;
};

/* RC and XRC: does the peer expect ACKs, and retransmit? */
static inline bool sroce_responder_reliable(const struct sroce_responder *r)
{
	return r->transport != SROCE_UC;
}

enum sroce_request_verdict {
	SROCE_EXECUTE,		/* execute it, then sroce_responder_done() */
	SROCE_RESEND_ACK,	/* duplicate SEND or WRITE */
	SROCE_RESEND_RESPONSE,	/* duplicate of a request in @res */
	SROCE_IGNORE,
	SROCE_AHEAD,		/* an earlier packet is missing: hold it or drop it */
	SROCE_REFUSE,		/* invalid, see @reason */
};

/**
 * struct sroce_request - result of the check of a request packet
 * @reason: enum sroce_resp_error, for SROCE_REFUSE
 * @take: take the next receive WQE
 * @begins: first packet of its message
 * @completes: last packet of its message
 * @receives: complete the receive WQE
 * @rights: enum sroce_permission that the memory must grant
 * @rkey: key of the memory to access; not valid for SEND
 * @va: address of this packet's payload; not valid for SEND
 * @offset: offset of this packet's payload in the message, bytes
 */
struct sroce_request {
	u8 reason;
	bool take;
	bool begins;
	bool completes;
	bool receives;
	u16 rights;
	u32 rkey;
	u64 va;
	u32 offset;
};

/**
 * sroce_responder_check() - check one request packet
 * @r: state; changes @nak_sent, @rnr_sent and @res, for UC @kind and @epsn
 * @pkt: packet that sroce_parse() accepted, of the QP's transport; its kind is
 *	below SROCE_KIND_RESPONSES
 * @req: result
 *
 * Return: what to do with it
 */
enum sroce_request_verdict sroce_responder_check(struct sroce_responder *r,
						 const struct sroce_pkt *pkt,
						 struct sroce_request *req);

/**
 * sroce_responder_done() - the packet has been executed
 * @r: state
 * @pkt: the packet
 * @req: from sroce_responder_check()
 * @original: atomics: the value before the operation
 */
void sroce_responder_done(struct sroce_responder *r,
			  const struct sroce_pkt *pkt,
			  const struct sroce_request *req, u64 original);

/**
 * sroce_responder_predicts() - is this the expected middle packet?
 * @r: state
 * @bth: base transport header of a packet for this QP; for XRC the XRCETH
 *	follows
 * @payload: bytes
 *
 * Most packets of long messages are middle packets and need no parsing (Van
 * Jacobson's header prediction).  The driver stores the payload at @r->va, or
 * @r->done bytes into the receive buffer, and calls sroce_responder_advance().
 * In all other cases, and if the store fails, it calls sroce_responder_check().
 *
 * Return: true if it is, and all checks would pass.
 */
bool sroce_responder_predicts(const struct sroce_responder *r, const u8 *bth,
			      u32 payload);

/**
 * sroce_responder_predicts_more() - are the next packets expected middle packets?
 * @r: state
 * @pkt: a middle packet that has been executed
 * @n: number of packets that follow it; their headers differ in the PSN only
 *
 * Like sroce_responder_predicts(), for all of them.
 *
 * Return: true if they are, and all checks would pass.
 */
bool sroce_responder_predicts_more(const struct sroce_responder *r,
				   const struct sroce_pkt *pkt, u32 n);

/**
 * sroce_responder_predicts_alike() - how many packets like the last one are expected?
 * @r: state
 * @bth: base transport header of a predicted packet that has been executed
 * @payload: bytes of each packet
 * @most: number of packets that are there
 *
 * Return: @most or fewer, possibly 0, for which sroce_responder_predicts() would be true if
 * their headers differed in the PSN only.
 */
u32 sroce_responder_predicts_alike(const struct sroce_responder *r, const u8 *bth,
				   u32 payload, u32 most);

/**
 * sroce_responder_advance() - the payload of predicted packets has been stored
 * @r: state
 * @payload: bytes of each packet
 * @packets: their number, not 0
 */
static inline void sroce_responder_advance(struct sroce_responder *r, u32 payload,
					   u32 packets)
{
	u32 bytes = payload * packets;

	r->nak_sent = false;
	r->last = sroce_psn_add(r->epsn, packets - 1);
	r->epsn = sroce_psn_add(r->epsn, packets);
	r->va += bytes;
	r->done += bytes;
	r->left -= bytes;
}

/**
 * sroce_responder_predicts_write() - is this the expected WRITE of one packet?
 * @r: state
 * @headers: BTH and RETH of a packet for this QP
 * @payload: bytes
 *
 * Like sroce_responder_predicts().  The driver stores the payload at the address
 * in the RETH, and calls sroce_responder_wrote().
 *
 * Return: true if it is, and all checks would pass.
 */
bool sroce_responder_predicts_write(const struct sroce_responder *r,
				    const u8 *headers, u32 payload);

/* Call after the payload of such a WRITE has been stored. */
static inline void sroce_responder_wrote(struct sroce_responder *r)
{
	r->nak_sent = false;
	r->msn = (r->msn + 1) & SROCE_MSN_MASK;
	r->last = r->epsn;
	r->epsn = sroce_psn_add(r->epsn, 1);
	r->done = 0;
}

/* Set the PSN of the first packet. */
static inline void sroce_responder_expect(struct sroce_responder *r, u32 psn)
{
	r->epsn = psn;
	r->last = sroce_psn_add(psn, -1);
	r->repeated = ~0;
}

/**
 * sroce_responder_acked() - PSN to put into an ACK
 * @r: state
 *
 * Never the PSN of a request with its own response.  If the response is lost,
 * rxe accepts an ACK in its place and completes the request without the data.
 *
 * Return: the PSN
 */
static inline u32 sroce_responder_acked(const struct sroce_responder *r)
{
	/* If @last is half the PSN space old, it appears to be ahead. */
	return sroce_psn_before(r->last, r->epsn) ? r->last :
						    sroce_psn_add(r->epsn, -1);
}

/* May a packet that is SROCE_AHEAD be kept, or is it too far ahead to be the peer's? */
static inline bool sroce_responder_may_hold(const struct sroce_responder *r, u32 psn)
{
	return sroce_psn_diff(psn, r->epsn) <= SROCE_MAX_AHEAD;
}

/**
 * sroce_responder_gap() - the packet at @r->epsn is missing, later ones are not
 * @r: state
 * @since: time of the first packet behind the gap, ns
 * @now: the time
 *
 * In a network that does not keep the order, the packet may only be late.  The
 * driver calls this again at sroce_responder_deadline().
 *
 * Return: true if a sequence NAK has to be sent.  It is sent once per gap
 * (vol. 1, 9.7.5.2.8).
 */
static inline bool sroce_responder_gap(struct sroce_responder *r, u64 since,
				       u64 now)
{
	if (r->nak_sent || !sroce_reorder_gap(&r->reorder, r->epsn, since, now))
		return false;
	r->nak_sent = true;
	r->rnr_sent = false;
	return true;
}

/* When the missing packet counts as lost, ns.  0: no packet is missing, or late. */
static inline u64 sroce_responder_deadline(const struct sroce_responder *r)
{
	return !r->nak_sent && r->reorder.psn == r->epsn ?
	       sroce_reorder_deadline(&r->reorder) : 0;
}

/**
 * sroce_responder_answers() - is this duplicate SEND or WRITE acknowledged?
 * @r: state
 * @pkt: the duplicate
 *
 * A peer may repeat everything it has sent, and ask with the last packet.  That one
 * may be lost, time after time, so the first one is acknowledged, too.
 *
 * Return: true if it is
 */
static inline bool sroce_responder_answers(struct sroce_responder *r,
					   const struct sroce_pkt *pkt)
{
	bool follows = pkt->psn == r->repeated;

	r->repeated = sroce_psn_add(pkt->psn, 1);
	return pkt->ack_req || !follows;
}

/**
 * sroce_responder_rnr() - note an RNR NAK: no receive WQE is available
 * @r: state
 *
 * Later packets are ignored until the peer sends this one again.
 */
static inline void sroce_responder_rnr(struct sroce_responder *r)
{
	r->nak_sent = true;
	r->rnr_sent = true;
}

#endif /* SROCE_RESPONDER_H */
