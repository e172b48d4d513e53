/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_H
#define SROCE_RESP_H

#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * sroce_resp_request() - a request packet has arrived
 * @qp: any type; rq.lock held; sroce_resp_send() follows
 * @rx: the packet, its ICRC verified
 */
void sroce_resp_request(struct sroce_qp *qp, const struct sroce_rx *rx);

/**
 * sroce_resp_predicted() - take the middle packet that was to come next
 * @qp: any type; rq.lock held; sroce_resp_send() follows
 * @bth: base transport header of an intact packet for this QP and transport
 * @payload: reads its payload; moved behind it if that was taken
 * @len: of the payload and pad, bytes
 *
 * Return: false if it is another one: then it is sroce_resp_request()'s.
 */
bool sroce_resp_predicted(struct sroce_qp *qp, const u8 *bth,
			  struct sroce_reader *payload, u32 len);

#endif /* SROCE_RESP_H */
