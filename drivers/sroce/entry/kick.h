/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_KICK_H
#define SROCE_KICK_H

#include "../queue/qp.h"

/**
 * sroce_qp_kick() - somebody has posted
 * @qp: referenced
 *
 * Context: process, may sleep; of a kernel user's QP, whose memory is there, any
 * with interrupts on.  Sends in the caller's context.
 */
void sroce_qp_kick(struct sroce_qp *qp);

/* The kick file, for ib_device.driver_def */
extern const struct uapi_definition sroce_kick_defs[];

#endif /* SROCE_KICK_H */
