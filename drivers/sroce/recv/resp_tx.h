/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_RESP_TX_H
#define SROCE_RESP_TX_H

#include "../queue/qp.h"

/**
 * sroce_resp_send() - send pending responses and acknowledgments
 * @qp: QP of any type, rq.lock held
 */
void sroce_resp_send(struct sroce_qp *qp);

/**
 * sroce_resp_send_last() - send the pending ACK or NAK of a QP that has failed, or is about
 *	to end or to be reset
 * @qp: QP of any type, rq.lock held
 */
void sroce_resp_send_last(struct sroce_qp *qp);

#endif /* SROCE_RESP_TX_H */
