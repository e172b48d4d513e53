// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended reliable connections (IBTA vol. 1, annex A14): SRQ numbers, and the
 * current SRQ of an XRC target QP.
 */
#include <linux/random.h>
#include <linux/rhashtable.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "../base/ref.h"
#include "../base/udata.h"
#include "../queue/qp.h"
#include "../queue/srq.h"
#include "xrc.h"

/* Table of SRQ numbers */

/**
 * struct sroce_xrc_entry - table entry of an SRQ
 * @node: in the table, by @number
 * @number: SRQ number
 * @ref: one for the table, one per QP that is taking WQEs
 * @srq: the SRQ, valid under @ref; the RDMA core frees it once it is destroyed
 * @rcu: delays freeing until lookups have ended
 */
struct sroce_xrc_entry {
	struct rhash_head node;
	u32 number;
	struct sroce_ref ref;
	struct sroce_srq *srq;
	struct rcu_head rcu;
};

static const struct rhashtable_params table_params = {
	.head_offset = offsetof(struct sroce_xrc_entry, node),
	.key_offset = offsetof(struct sroce_xrc_entry, number),
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

/* Programs take 0 for no number. */
static int insert_entry(struct sroce_xrc_entry *entry)
{
	int err;

	do {
		cond_resched();
		entry->number = get_random_u32() & SROCE_SRQN_MASK;
		/* Lookups may find it from here on. */
		entry->srq->number = entry->number;
		err = entry->number ?
		      rhashtable_lookup_insert_fast(&table, &entry->node,
						    table_params) : -EEXIST;
		/* EBUSY: the table is being resized. */
	} while ((err == -EEXIST || err == -EBUSY) &&
		 !fatal_signal_pending(current));
	return err;
}

int sroce_xrc_publish(struct sroce_srq *srq)
{
	static atomic64_t serials;
	struct sroce_xrc_entry *entry;
	int err;

	entry = kzalloc_obj(*entry, GFP_KERNEL_ACCOUNT);
	if (!entry)
		return -ENOMEM;
	sroce_ref_init(&entry->ref);
	entry->srq = srq;
	srq->serial = atomic64_inc_return(&serials);
	srq->entry = entry;
	err = insert_entry(entry);
	if (err)
		kfree(entry);
	return err;
}

void sroce_xrc_unpublish(struct sroce_srq *srq)
{
	struct sroce_xrc_entry *entry = srq->entry;

	rhashtable_remove_fast(&table, &entry->node, table_params);
	sroce_ref_drain(&entry->ref);
	kfree_rcu(entry, rcu);
}

void sroce_xrc_srq_put(struct sroce_srq *srq)
{
	sroce_ref_put(&srq->entry->ref);
}

static struct sroce_srq *lookup_srq(u32 number)
{
	struct sroce_xrc_entry *entry;
	struct sroce_srq *srq = NULL;

	rcu_read_lock();
	entry = rhashtable_lookup(&table, &number, table_params);
	if (entry && sroce_ref_get(&entry->ref))
		srq = entry->srq;
	rcu_read_unlock();
	return srq;
}

/* Current SRQ of an XRC target */

struct sroce_srq *sroce_xrc_srq_release(struct sroce_qp *qp)
{
	struct sroce_srq *srq = qp->srq;

	lockdep_assert_held(&qp->rq.lock);
	if (!srq)
		return NULL;
	/* The cache belongs to this SRQ's PD. */
	sroce_mr_cache_drop(&qp->rq.cache);
	qp->srq = NULL;
	qp->rq.cq = NULL;
	qp->rq.pd = NULL;
	return srq;
}

bool sroce_xrc_srq_get(struct sroce_qp *qp, u32 srqn)
{
	struct sroce_srq *srq = qp->srq;

	lockdep_assert_held(&qp->rq.lock);
	if (likely(srq && srq->number == srqn))
		return true;
	srq = sroce_xrc_srq_release(qp);
	if (srq) {
		/*
		 * XRC SRQs belong to processes, whose handlers take none of our
		 * locks.
		 */
		sroce_cq_notify(sroce_cq(srq->ib.ext.cq));
		sroce_xrc_srq_put(srq);
	}
	srq = lookup_srq(srqn);
	if (!srq)
		return false;
	if (srq->ib.ext.xrc.xrcd != qp->xrcd) {
		sroce_xrc_srq_put(srq);
		return false;
	}
	qp->srq = srq;
	qp->rq.cq = sroce_cq(srq->ib.ext.cq);
	qp->rq.pd = srq->ib.pd;
	return true;
}

bool sroce_xrc_srq_valid(struct sroce_qp *qp)
{
	const struct sroce_responder *r = &qp->rq.resp;

	return sroce_xrc_srq_get(qp, r->srqn) &&
	       (!r->rwqe_taken || qp->srq->serial == qp->rq.taken_from);
}

int sroce_alloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return ib_no_udata_io(udata);
}

int sroce_dealloc_xrcd(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return 0;
}
