/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESPONDER_H
#define SROCE_RESPONDER_H

#include "errors.h"
#include "resp_res.h"

/**
 * struct sroce_responder - receiving side of a connected QP
 * @epsn: PSN expected next
 * @last: PSN of the last packet executed that has no answer but an ACK
 * @msn: messages completed
 * @mtu: path MTU, bytes
 * @permissions: enum sroce_permission: what the connection lets its peer do
 * @transport: SROCE_RC, SROCE_UC or SROCE_XRC
 * @kind: of the message in progress, SROCE_KIND_NONE between messages
 * @nak_sent: the peer was told that @epsn is missing; silence until it comes
 * @rnr_sent: if @nak_sent, it was not lost, but no receive request was there
 * @taken: the message in progress has taken a receive request
 * @rkey: of the WRITE in progress
 * @va: where the next payload of the WRITE in progress goes
 * @left: bytes the WRITE in progress still has to bring
 * @srqn: XRC: the SRQ that the message in progress names
 * @done: bytes of the message in progress that have arrived
 * @log: READ, atomic, atomic WRITE and FLUSH requests (RC, XRC)
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
	bool taken;
	u32 rkey;
	u64 va;
	u32 left;
	u32 srqn;
	u32 done;
	struct sroce_resp_res log;
};

/* Are its packets acknowledged, and sent again if they are not? */
static inline bool sroce_responder_reliable(const struct sroce_responder *r)
{
	return r->transport != SROCE_UC;
}

enum sroce_request_verdict {
	SROCE_EXECUTE,		/* in order: do it, then sroce_responder_done() */
	SROCE_RESEND_ACK,	/* duplicate SEND or WRITE */
	SROCE_RESEND_RESPONSE,	/* duplicate of one in the log, to be answered */
	SROCE_IGNORE,
	SROCE_NAK_SEQ,	/* NAK-sequence, once per gap */
	SROCE_DROP_OOO,	/* the gap has been reported: silence */
	SROCE_REFUSE,		/* the request is wrong: see the reason */
};

/**
 * struct sroce_request - what a request packet asks for
 * @reason: enum sroce_resp_error if refused
 * @take: the next receive request has to be taken for it
 * @begins: first packet of its message
 * @completes: last packet of its message
 * @receives: the message completes a receive request
 * @rights: enum sroce_permission that the memory has to have, too
 * @rkey: key of the memory to access, but for SEND
 * @va: address of this packet's payload
 * @offset: of this packet's payload in the message, bytes
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
 * sroce_responder_check() - judge one request packet
 * @r: state; of it change @nak_sent, @rnr_sent and the log's cursors, of UC @kind
 *	and @epsn
 * @pkt: a packet that sroce_parse() accepted, of the QP's transport, of a
 *	kind below SROCE_KIND_RESPONSES
 * @req: result
 *
 * Return: enum sroce_request_verdict.
 */
enum sroce_request_verdict sroce_responder_check(struct sroce_responder *r,
						 const struct sroce_pkt *pkt,
						 struct sroce_request *req);

/**
 * sroce_responder_done() - the packet has been executed
 * @r: state
 * @pkt: the packet
 * @req: what sroce_responder_check() said
 * @original: for an atomic, what it found in memory
 */
void sroce_responder_done(struct sroce_responder *r,
			  const struct sroce_pkt *pkt,
			  const struct sroce_request *req, u64 original);

/**
 * sroce_responder_predicts() - is this the middle packet that comes next?
 * @r: state
 * @bth: base transport header, of the QP's own packets; behind it that of XRC
 * @payload: bytes
 *
 * Most packets of long messages are, and need no parsing and judging (Van
 * Jacobson's header prediction): the driver stores the payload at @r->va, or
 * @r->done bytes into the receive request, and calls sroce_responder_advance().
 * For everything else, or if that fails, there is sroce_responder_check().
 *
 * Return: true if it is, and all its checks would pass.
 */
bool sroce_responder_predicts(const struct sroce_responder *r, const u8 *bth,
			      u32 payload);

/* The predicted packet has been stored. */
static inline void sroce_responder_advance(struct sroce_responder *r,
					   u32 payload)
{
	r->nak_sent = false;
	r->last = r->epsn;
	r->epsn = sroce_psn_add(r->epsn, 1);
	r->va += payload;
	r->done += payload;
	r->left -= payload;
}

/* The first packet will have this PSN. */
static inline void sroce_responder_expect(struct sroce_responder *r, u32 psn)
{
	r->epsn = psn;
	r->last = sroce_psn_add(psn, -1);
}

/**
 * sroce_responder_acked() - the PSN that an ACK names
 * @r: state
 *
 * Not that of a READ, atomic and so on: their answers stand for them.  A peer
 * that has lost such an answer must not take an ACK for it, as rxe does, which
 * completes the request without the data.
 */
static inline u32 sroce_responder_acked(const struct sroce_responder *r)
{
	/* What is as far behind as PSNs can tell is of nothing outstanding. */
	return sroce_psn_before(r->last, r->epsn) ? r->last :
						    sroce_psn_add(r->epsn, -1);
}

/**
 * sroce_responder_rnr() - no receive request to take: RNR NAK
 * @r: state
 *
 * Later packets are met with silence until the peer comes back to this one.
 */
static inline void sroce_responder_rnr(struct sroce_responder *r)
{
	r->nak_sent = true;
	r->rnr_sent = true;
}

#endif /* SROCE_RESPONDER_H */
