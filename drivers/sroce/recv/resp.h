/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_H
#define SROCE_RESP_H

#include "../net/rx_alike.h"
#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * sroce_resp_request() - handle a request packet
 * @qp: QP of any type, rq.lock held; sroce_resp_send() must follow
 * @rx: packet with a verified ICRC
 */
void sroce_resp_request(struct sroce_qp *qp, const struct sroce_rx *rx);

/**
 * sroce_resp_run() - continue with held packets, then sroce_resp_send()
 * @qp: QP of any type, rq.lock held
 */
void sroce_resp_run(struct sroce_qp *qp);

/**
 * sroce_resp_predicted() - fast path for the expected middle packet, or a
 *	WRITE of one packet like the last one
 * @qp: QP of any type, rq.lock held; sroce_resp_send() must follow
 * @headers: headers of a middle packet, from a packet with a valid ICRC for
 *	this QP and its transport; room for SROCE_RETH_BYTES after the BTH
 * @reader: behind @headers; moved to the trailer on success
 * @len: bytes from there to the trailer
 *
 * Return: false if another packet was expected; then call sroce_resp_request().
 */
bool sroce_resp_predicted(struct sroce_qp *qp, u8 *headers,
			  struct sroce_reader *reader, u32 len);

/**
 * sroce_resp_alike() - the same for packets like the last one
 * @qp: as above, right after sroce_resp_predicted()
 * @alike: the packets behind the one that was predicted; see sroce_rx_store_alike()
 *
 * Return: number of packets handled.
 */
u32 sroce_resp_alike(struct sroce_qp *qp, struct sroce_rx_alike *alike);

#endif /* SROCE_RESP_H */
