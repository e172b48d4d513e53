/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_KICK_H
#define SROCE_KICK_H

#include "../queue/qp.h"

/**
 * sroce_qp_kick() - process new WQEs of a QP
 * @qp: referenced
 *
 * Context: process, may sleep.  For a kernel user's QP, whose memory is
 * allocated already: any context with interrupts enabled.  Transmits in the
 * caller's context.
 */
void sroce_qp_kick(struct sroce_qp *qp);

/* Kick file, for ib_device.driver_def */
extern const struct uapi_definition sroce_kick_defs[];

#endif /* SROCE_KICK_H */
