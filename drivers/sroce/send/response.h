/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESPONSE_H
#define SROCE_RESPONSE_H

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
 * Counts that, and fails the request and the QP.
 */
void sroce_req_refused(struct sroce_qp *qp, u8 status);

/**
 * sroce_req_predicted() - take the READ data that was to come next
 * @qp: any type; sq.lock held; sroce_req_run() follows
 * @bth: base transport header of an intact packet for this QP and transport
 * @payload: reads its payload; moved behind it if that was taken
 * @len: length of the payload and pad, bytes
 *
 * Return: false if it is something else: then it is sroce_req_response()'s.
 */
bool sroce_req_predicted(struct sroce_qp *qp, const u8 *bth,
			 struct sroce_reader *payload, u32 len);

#endif /* SROCE_RESPONSE_H */
