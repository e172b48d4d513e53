/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_COMPLETER_H
#define SROCE_COMPLETER_H

#include "errors.h"
#include "requester.h"

enum sroce_ack_verdict {
	SROCE_RESP_IGNORE,	/* old, impossible or an echo */
	SROCE_RESP_ACK,	/* acknowledge, no more */
	SROCE_RESP_DATA,	/* store the payload, acknowledge @psn */
	SROCE_RESP_ATOMIC,	/* store the original value, acknowledge @psn */
	SROCE_RESP_RETRY,	/* rewind, if retries are left */
	SROCE_RESP_RNR,	/* wait, then rewind, if retries are left */
	SROCE_RESP_FAIL,	/* the request at @up_to fails with @status */
};

/**
 * struct sroce_ack_result - what a response or acknowledgment means
 * @up_to: the peer has everything before this PSN: acknowledge that first,
 *	whatever the verdict but SROCE_RESP_IGNORE
 * @psn: one past the PSN that this response answers
 * @index: request whose buffer gets the data
 * @offset: of the payload in that buffer, bytes
 * @status: enum sroce_status of a failure.  With SROCE_RESP_RETRY and _ACK, if
 *	not 0: the peer refuses the request at the packet's PSN, but a READ or
 *	atomic before it lacks its answer; the driver keeps it in @refusal and
 *	@refused of struct sroce_requester
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
 * sroce_completer_check() - judge one response packet of an RC or XRC QP
 * @r: state, not changed
 * @pkt: a packet that sroce_parse() accepted, of a kind from
 *	SROCE_KIND_RESPONSES on
 * @a: result
 *
 * Return: enum sroce_ack_verdict.
 */
enum sroce_ack_verdict sroce_completer_check(const struct sroce_requester *r,
					     const struct sroce_pkt *pkt,
					     struct sroce_ack_result *a);

/**
 * sroce_completer_refused() - has all before a refused request been answered?
 * @r: state, not changed
 * @a: result: @up_to and @status
 *
 * A refusal may overtake the answer to a READ before it, or that may be lost;
 * the peer will not say it again.
 *
 * Return: true if the request at @r->refused fails with @a->status, once
 * everything before @a->up_to is acknowledged.
 */
bool sroce_completer_refused(const struct sroce_requester *r,
			     struct sroce_ack_result *a);

/**
 * sroce_completer_predicts() - is this the READ data that comes next?
 * @r: state
 * @bth: base transport header, of the QP's own packets
 * @payload: bytes
 * @offset: of the payload in the oldest request, bytes
 *
 * See sroce_responder_predicts().  The driver stores the payload and calls
 * sroce_requester_acknowledge() for the PSN behind @r->una.
 *
 * Return: true for a middle packet of the answer to the oldest request.
 */
bool sroce_completer_predicts(const struct sroce_requester *r, const u8 *bth,
			      u32 payload, u32 *offset);

/**
 * sroce_completer_retry() - may the requester try again?
 * @r: state; on true one retry fewer is left
 *
 * Return: false if the retries are used up: the request at @r->una fails with
 * SROCE_RETRY_EXC_ERR.
 */
bool sroce_completer_retry(struct sroce_requester *r);

/**
 * sroce_completer_rnr() - the same after an RNR NAK
 * @r: state
 *
 * Return: false: the request at @r->una fails with SROCE_RNR_RETRY_EXC_ERR.
 */
bool sroce_completer_rnr(struct sroce_requester *r);

#endif /* SROCE_COMPLETER_H */
