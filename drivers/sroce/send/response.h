/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESPONSE_H
#define SROCE_RESPONSE_H

#include "../net/rx_alike.h"
#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * sroce_req_response() - a response or acknowledgment has arrived
 * @qp: RC or XRC; sq.lock held; sroce_req_run() follows
 * @rx: the packet, its ICRC verified
 */
void sroce_req_response(struct sroce_qp *qp, const struct sroce_rx *rx);

/**
 * sroce_req_refused() - the peer has refused the oldest request
 * @qp: RC or XRC; sq.lock held
 * @status: enum sroce_status, as its NAK says
 *
 * Counts the refusal, and fails the request and the QP.
 */
void sroce_req_refused(struct sroce_qp *qp, u8 status);

/**
 * sroce_req_predicted() - fast path for the expected READ data
 * @qp: any type; sq.lock held; sroce_req_run() follows
 * @bth: base transport header of an intact packet for this QP and transport
 * @payload: reader at its payload; moved behind it on success
 * @len: length of the payload and pad, bytes
 *
 * Return: false if another packet was expected; then call sroce_req_response().
 */
bool sroce_req_predicted(struct sroce_qp *qp, const u8 *bth,
			 struct sroce_reader *payload, u32 len);

/* The same for packets like the last one; see sroce_resp_alike(). */
u32 sroce_req_alike(struct sroce_qp *qp, struct sroce_rx_alike *alike);

#endif /* SROCE_RESPONSE_H */
