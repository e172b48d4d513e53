/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_EXECUTE_H
#define SROCE_EXECUTE_H

#include "core/errors.h"
#include "qp.h"
#include "rx.h"

/* The remote memory that a request names, as a list of one piece. */
#define SROCE_REMOTE_MEMORY(name, qp, address, bytes, key, rights)	\
	const struct sroce_sge name##_sge = {				\
		.addr = (address), .length = (bytes), .lkey = (key),	\
	};								\
	const struct sroce_memory name = {				\
		.pd = (qp)->rq.pd, .qpn = (qp)->qpn,			\
		.sge = &name##_sge, .num_sge = 1,			\
		.access = (rights),					\
	}

/**
 * sroce_execute() - do what a request asks for that is no SEND and no WRITE
 * @qp: connected; rq.lock held; of XRC its SRQ is found
 * @rx: the packet, its ICRC verified
 * @req: what sroce_responder_check() said
 * @original: for an atomic, what it found in memory
 *
 * Return: SROCE_NO_REASON, why it is refused, SROCE_PAGED_OUT or SROCE_RAN_OUT.
 */
enum sroce_reason sroce_execute(struct sroce_qp *qp, const struct sroce_rx *rx,
				const struct sroce_request *req, u64 *original);

#endif /* SROCE_EXECUTE_H */
