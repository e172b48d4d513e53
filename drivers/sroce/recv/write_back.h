/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_WRITE_BACK_H
#define SROCE_WRITE_BACK_H

#include "../core/errors.h"
#include "../core/packet.h"
#include "../queue/qp.h"

/**
 * sroce_write_back() - execute a FLUSH to persistent memory
 * @qp: connected QP, rq.lock held
 * @pkt: the FLUSH, whose key has been checked
 * @addr: first byte, as the key names it
 * @length: bytes
 *
 * Return: SROCE_NO_ERROR; SROCE_PAGED_OUT if it takes longer.
 */
enum sroce_resp_error sroce_write_back(struct sroce_qp *qp, const struct sroce_pkt *pkt,
				       u64 addr, u64 length);

/**
 * sroce_write_back_more() - continue with a FLUSH that takes longer, if there is one
 * @qp: QP, rq.lock held
 */
void sroce_write_back_more(struct sroce_qp *qp);

#endif /* SROCE_WRITE_BACK_H */
