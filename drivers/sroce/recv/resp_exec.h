/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_EXEC_H
#define SROCE_RESP_EXEC_H

#include "../core/errors.h"
#include "../core/responder.h"
#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * sroce_resp_execute() - execute a request packet
 * @qp: connected QP, rq.lock held
 * @rx: packet, which sroce_responder_check() wants executed
 * @req: what it does; a receive WQE that it needs has been taken
 * @original: out: value of the memory before an atomic
 *
 * Checks the key, stores the payload, and counts the message with its first
 * packet.  A READ is only checked: recv/resp_tx.c sends its data.
 *
 * Return: SROCE_NO_ERROR; SROCE_PAGED_OUT if memory is being paged in or written back;
 * SROCE_PACKET_TOO_SHORT, as if the packet was lost; or why it is refused.
 */
enum sroce_resp_error sroce_resp_execute(struct sroce_qp *qp, const struct sroce_rx *rx,
					 const struct sroce_request *req, u64 *original);

#endif /* SROCE_RESP_EXEC_H */
