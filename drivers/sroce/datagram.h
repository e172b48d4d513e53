/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_DATAGRAM_H
#define SROCE_DATAGRAM_H

#include "qp.h"
#include "rx.h"

/**
 * sroce_datagram_run() - send the requests of a UD or GSI QP
 * @qp: the QP, sq.lock held
 *
 * Return: enum sroce_next.
 */
enum sroce_next sroce_datagram_run(struct sroce_qp *qp);

/**
 * sroce_datagram_receive() - a datagram has arrived
 * @qp: UD or GSI, rq.lock held
 * @rx: the packet, its ICRC verified
 */
void sroce_datagram_receive(struct sroce_qp *qp, const struct sroce_rx *rx);

#endif /* SROCE_DATAGRAM_H */
