// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended reliable connections (IBTA vol. 1, annex A14): what packets find by
 * the number in their XRCETH.
 */
#include <linux/random.h>
#include "qp.h"
#include "udata.h"
#include "xrc.h"

/* The table */

static const struct rhashtable_params table_params = {
	.head_offset = offsetof(struct sroce_srq, node),
	.key_offset = offsetof(struct sroce_srq, number),
	.key_len = sizeof(u32),
	.automatic_shrinking = true,
};

static struct rhashtable table;

int sroce_xrc_table_init(void)
{
	return rhashtable_init(&table, &table_params);
}

void sroce_xrc_table_exit(void)
{
	rhashtable_destroy(&table);
}

/* 0 is what programs take for no number. */
int sroce_xrc_publish(struct sroce_srq *srq)
{
	static atomic64_t serials;
	int err;

	srq->serial = atomic64_inc_return(&serials);
	refcount_set(&srq->ref, 1);
	init_completion(&srq->idle);
	do {
		cond_resched();
		srq->number = get_random_u32() & SROCE_SRQN_MASK;
		err = srq->number ?
		      rhashtable_lookup_insert_fast(&table, &srq->node,
						    table_params) : -EEXIST;
		/* Busy: the table is growing. */
	} while (err == -EEXIST || err == -EBUSY);
	return err;
}

void sroce_xrc_withdraw(struct sroce_srq *srq)
{
	rhashtable_remove_fast(&table, &srq->node, table_params);
	sroce_srq_put(srq);
	wait_for_completion(&srq->idle);
	/* The RDMA core frees it at once: lookups may still look at it. */
	synchronize_rcu();
}

static struct sroce_srq *lookup(u32 number)
{
	struct sroce_srq *srq;

	rcu_read_lock();
	srq = rhashtable_lookup(&table, &number, table_params);
	if (srq && !refcount_inc_not_zero(&srq->ref))
		srq = NULL;
	rcu_read_unlock();
	return srq;
}

/* The SRQ in hand */

struct sroce_srq *sroce_xrc_leave(struct sroce_qp *qp)
{
	struct sroce_srq *srq = qp->srq;

	lockdep_assert_held(&qp->rq.lock);
	if (!srq)
		return NULL;
	/* What it holds was found in this SRQ's protection domain. */
	sroce_grip_drop(&qp->rq.grip);
	qp->srq = NULL;
	qp->rq.cq = NULL;
	qp->rq.pd = NULL;
	return srq;
}

bool sroce_xrc_aim(struct sroce_qp *qp, u32 srqn)
{
	struct sroce_srq *srq = qp->srq;

	lockdep_assert_held(&qp->rq.lock);
	if (likely(srq && srq->number == srqn))
		return true;
	srq = sroce_xrc_leave(qp);
	if (srq) {
		/* A process's: its handler takes no lock of ours. */
		sroce_cq_notify(sroce_cq(srq->ib.ext.cq));
		sroce_srq_put(srq);
	}
	srq = lookup(srqn);
	if (!srq)
		return false;
	if (srq->ib.ext.xrc.xrcd != qp->xrcd) {
		sroce_srq_put(srq);
		return false;
	}
	qp->srq = srq;
	qp->rq.cq = sroce_cq(srq->ib.ext.cq);
	qp->rq.pd = srq->ib.pd;
	return true;
}

bool sroce_xrc_recall(struct sroce_qp *qp)
{
	const struct sroce_responder *r = &qp->rq.resp;

	return sroce_xrc_aim(qp, r->srqn) &&
	       (!r->taken || qp->srq->serial == qp->rq.taken_from);
}

/* Domains */

int sroce_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return sroce_udata_empty(udata);
}

int sroce_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return 0;
}
