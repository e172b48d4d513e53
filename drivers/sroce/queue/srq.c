// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: taking WQEs, and raising events.
 */
#include "qp.h"
#include "srq.h"
#include "wqe.h"

/* Number of posted WQEs; exceeds @ring.entries if the tail is impossible. */
static u32 num_posted(const struct sroce_srq *srq)
{
	return sroce_load_acquire(&srq->ring.slot->rq_tail) - srq->ring.head;
}

bool sroce_srq_limit_reached(struct sroce_srq *srq)
{
	lockdep_assert_held(&srq->lock);
	if (!srq->limit || num_posted(srq) >= srq->limit)
		return false;
	srq->limit = 0;
	return true;
}

enum sroce_fetched sroce_srq_take(struct sroce_srq *srq,
				  struct sroce_recv_wqe *wqe,
				  unsigned long *todo)
{
	enum sroce_fetched fetched;
	bool broken;

	spin_lock(&srq->lock);
	broken = srq->ring.broken;
	fetched = sroce_wqe_fetch_recv(sroce_device(srq->ib.device), &srq->ring,
				       wqe);
	if (srq->ring.broken && !broken)
		*todo |= BIT(SROCE_TODO_SRQ_ERR);
	if (unlikely(sroce_srq_limit_reached(srq)))
		*todo |= BIT(SROCE_TODO_SRQ_LIMIT);
	spin_unlock(&srq->lock);
	return fetched;
}

void sroce_srq_raise(struct sroce_srq *srq, enum ib_event_type type)
{
	struct ib_event event = {
		.device = srq->ib.device,
		.element.srq = &srq->ib,
		.event = type,
	};

	if (srq->ib.event_handler)
		srq->ib.event_handler(&event, srq->ib.srq_context);
}

void sroce_srq_raise_due(struct sroce_srq *srq, unsigned long todo)
{
	if (todo & BIT(SROCE_TODO_SRQ_LIMIT))
		sroce_srq_raise(srq, IB_EVENT_SRQ_LIMIT_REACHED);
	if (todo & BIT(SROCE_TODO_SRQ_ERR))
		sroce_srq_raise(srq, IB_EVENT_SRQ_ERR);
}
