/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CNP_H
#define SROCE_CNP_H

#include "../queue/qp.h"

/**
 * sroce_cnp_send() - tell the peer that its packets were marked
 * @qp: connected QP that may send; the lock of the side of @path is held
 * @path: of either side
 *
 * Sends at most one congestion notification packet per SROCE_CNP_INTERVAL_NS.  A
 * packet that this host's queue refuses is not sent again, because the next marked
 * packet has the same effect.
 */
void sroce_cnp_send(struct sroce_qp *qp, struct sroce_path *path);

#endif /* SROCE_CNP_H */
