// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Congestion notification packets (CNPs, IBTA annex A17.9.3).
 */
#include <linux/ktime.h>
#include "../core/params.h"
#include "burst.h"
#include "cnp.h"
#include "tx.h"

/* Requester and responder may call this at the same time; one of them succeeds. */
static bool is_due(struct sroce_qp *qp)
{
	s64 last = atomic64_read(&qp->cnp_at);
	s64 now = ktime_get_ns();

	return now - last >= SROCE_CNP_INTERVAL_NS &&
	       atomic64_try_cmpxchg(&qp->cnp_at, &last, now);
}

/* CNPs need no order, so this does not call sroce_tx_in_order(). */
void sroce_cnp_send(struct sroce_qp *qp, struct sroce_path *path)
{
	const struct sroce_pkt pkt = {
		.opcode = SROCE_ANY | SROCE_CNP,
		.qpn = qp->dest_qpn,
		.pkey = READ_ONCE(*qp->pkey),
	};
	struct sroce_burst burst;

	lockdep_assert(lockdep_is_held(&qp->sq.lock) ||
		       lockdep_is_held(&qp->rq.lock));
	if (!sroce_tx_ready(qp) || !is_due(qp))
		return;
	sroce_burst_begin(&burst, qp, qp->av, path);
	if (!sroce_burst_add(&burst, &pkt, NULL, 0, NULL, true) &&
	    !sroce_burst_send(&burst))
		sroce_count(qp, SROCE_NP_CNP_SENT);
}
