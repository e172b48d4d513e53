/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_REQ_H
#define SROCE_REQ_H

#include "../queue/qp.h"

/**
 * sroce_req_run() - send whatever can be sent
 * @qp: any type; sq.lock held
 *
 * Takes new entries out of the ring, builds packets and transmits them.  Requests a
 * kick if nothing else will make it read the ring again.
 */
void sroce_req_run(struct sroce_qp *qp);

/* Forget everything that was posted (RESET); sq.lock held. */
void sroce_req_reset(struct sroce_qp *qp);

#endif /* SROCE_REQ_H */
