/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UD_RECV_H
#define SROCE_UD_RECV_H

#include "../net/rx_packet.h"
#include "../queue/qp.h"

/**
 * sroce_ud_recv() - handle a UD packet
 * @qp: UD or GSI QP, rq.lock held
 * @rx: packet with a verified ICRC
 */
void sroce_ud_recv(struct sroce_qp *qp, const struct sroce_rx *rx);

#endif /* SROCE_UD_RECV_H */
