/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_UD_SEND_H
#define SROCE_UD_SEND_H

#include "../queue/qp.h"

/**
 * sroce_ud_send() - send the requests of a UD or GSI QP
 * @qp: the QP, sq.lock held
 *
 * Return: enum sroce_next.
 */
enum sroce_next sroce_ud_send(struct sroce_qp *qp);

#endif /* SROCE_UD_SEND_H */
