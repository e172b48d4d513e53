/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPLETER_H
#define SROCE_COMPLETER_H

#include "errors.h"
#include "requester.h"

enum sroce_ack_verdict {
	SROCE_RESP_IGNORE,	/* old, or matches no outstanding request */
	SROCE_RESP_ACK,		/* acknowledge @up_to only */
	SROCE_RESP_DATA,	/* store the payload, acknowledge @psn */
	SROCE_RESP_ATOMIC,	/* store the original value, acknowledge @psn */
	/* READ data behind a gap: sroce_requester_ahead(), or as RETRY */
	SROCE_RESP_AHEAD,
	SROCE_RESP_ASK,		/* the rest of a READ response is missing */
	SROCE_RESP_REPAIR,	/* repeat the packet, if retries are left */
	SROCE_RESP_RETRY,	/* rewind, if retries are left */
	SROCE_RESP_RNR,		/* wait, then rewind, if retries are left */
	SROCE_RESP_FAIL,	/* the request at @up_to fails with @status */
};

/**
 * struct sroce_ack_result - meaning of a response packet
 * @up_to: all packets before this PSN are acknowledged; handle this first, for
 *	each verdict except SROCE_RESP_IGNORE
 * @psn: one past the PSN of this response
 * @index: request whose buffer receives the data
 * @offset: offset of the payload in that buffer, bytes
 * @status: enum sroce_status of a failure.  Not 0 with SROCE_RESP_RETRY,
 *	SROCE_RESP_ASK or SROCE_RESP_ACK: the peer refuses the request at the
 *	packet's PSN, but the response to an earlier READ or atomic is missing.
 *	The driver stores both in @refusal and @refused of struct
 *	sroce_requester
 * @rnr_timer: code for sroce_rnr_delay()
 */
struct sroce_ack_result {
	u32 up_to;
	u32 psn;
	u32 index;
	u32 offset;
	u8 status;
	u8 rnr_timer;
};

/**
 * sroce_completer_check() - check one response packet of an RC or XRC QP
 * @r: state
 * @pkt: packet that sroce_parse() accepted; its kind is SROCE_KIND_RESPONSES
 *	or above
 * @a: result
 *
 * Return: what to do with it
 */
enum sroce_ack_verdict sroce_completer_check(const struct sroce_requester *r,
					     const struct sroce_pkt *pkt,
					     struct sroce_ack_result *a);

/**
 * sroce_completer_acknowledge() - take what a response acknowledges
 * @r: state
 * @verdict: from sroce_completer_check(), not SROCE_RESP_IGNORE
 * @a: from sroce_completer_check()
 *
 * Like sroce_requester_acknowledge() of @up_to.
 */
void sroce_completer_acknowledge(struct sroce_requester *r, enum sroce_ack_verdict verdict,
				 const struct sroce_ack_result *a);

/**
 * sroce_completer_refused() - can the refused request fail now?
 * @r: state
 * @a: result: @up_to and @status
 *
 * A fatal NAK may overtake the response to an earlier READ, or that response
 * may be lost.  The peer sends the NAK only once.
 *
 * Return: true if all responses before @r->refused have arrived.  The caller
 * acknowledges everything before @a->up_to; then the request at @r->refused
 * fails with @a->status.
 */
bool sroce_completer_refused(const struct sroce_requester *r,
			     struct sroce_ack_result *a);

/**
 * sroce_completer_predicts() - is this the next packet of READ data?
 * @r: state
 * @bth: base transport header of a packet for this QP
 * @payload: bytes
 * @offset: result: offset of the payload in the oldest request, bytes
 *
 * See sroce_responder_predicts().  The driver stores the payload and calls
 * sroce_requester_acknowledge() for the PSN after @r->una.
 *
 * Return: true if it is the expected middle packet of the response to the
 * oldest request.
 */
bool sroce_completer_predicts(const struct sroce_requester *r, const u8 *bth,
			      u32 payload, u32 *offset);

/**
 * sroce_completer_predicts_alike() - how many packets like the last one are expected?
 * @r: state
 * @bth: base transport header of a predicted packet that has been acknowledged
 * @payload: bytes of each packet
 * @most: number of packets that are there
 * @offset: result: offset of the next payload in the oldest request, bytes
 *
 * Return: @most or fewer, possibly 0, for which sroce_completer_predicts() would be true if
 * their headers differed in the PSN only.
 */
u32 sroce_completer_predicts_alike(const struct sroce_requester *r, const u8 *bth,
				   u32 payload, u32 most, u32 *offset);

/**
 * sroce_completer_retry() - use one retry and rewind
 * @r: state
 *
 * Return: false if no retry is left: the request at @r->una fails with
 * SROCE_RETRY_EXC_ERR.
 */
bool sroce_completer_retry(struct sroce_requester *r);

/**
 * sroce_completer_repair() - use one retry and repeat the oldest packet
 * @r: state
 *
 * See sroce_requester_repair().  Return: false if no retry is left.
 */
bool sroce_completer_repair(struct sroce_requester *r);

/**
 * sroce_completer_ask() - request missing packets of a READ response again
 * @r: state; packets behind the gaps are held
 * @rest: everything that has not arrived is missing
 *
 * Return: false if all of it was requested again before.
 */
bool sroce_completer_ask(struct sroce_requester *r, bool rest);

/**
 * sroce_completer_rnr() - use one RNR retry, rewind, and begin to wait
 * @r: state
 *
 * Return: false if no RNR retry is left: the request at @r->una fails with
 * SROCE_RNR_RETRY_EXC_ERR.
 */
bool sroce_completer_rnr(struct sroce_requester *r);

#endif /* SROCE_COMPLETER_H */
