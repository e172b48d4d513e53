// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs: the table that packet lookups use, and references.
 */
#include <linux/percpu-refcount.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "qp.h"

/* The number is random, so it serves as its own hash. */
static u32 qp_hash(const void *qpn, u32 len, u32 seed)
{
	return *(const u32 *)qpn;
}

/* Not memcmp(): each packet needs a lookup. */
static int qp_differs(struct rhashtable_compare_arg *arg, const void *qp)
{
	return *(const u32 *)arg->key != ((const struct sroce_qp *)qp)->qpn;
}

static const struct rhashtable_params table_params = {
	.head_offset = offsetof(struct sroce_qp, node),
	.key_offset = offsetof(struct sroce_qp, qpn),
	.key_len = sizeof(u32),
	.hashfn = qp_hash,
	.obj_cmpfn = qp_differs,
	.automatic_shrinking = true,
};

static struct rhashtable table;

atomic64_t sroce_qp_resets;

static LIST_HEAD(gsis);
static DEFINE_SPINLOCK(gsis_lock);

/* A reference for each structure of a QP, which each skb in flight holds. */
static struct percpu_ref structures;
static DECLARE_COMPLETION(drained);

static void all_freed(struct percpu_ref *ref)
{
	complete(&drained);
}

int sroce_qp_table_init(void)
{
	int err = percpu_ref_init(&structures, all_freed, 0, GFP_KERNEL);

	if (err)
		return err;
	err = rhashtable_init(&table, &table_params);
	if (err)
		percpu_ref_exit(&structures);
	return err;
}

void sroce_qp_drain(void)
{
	/* There are no QPs, so there will be no new structure. */
	percpu_ref_kill(&structures);
	wait_for_completion(&drained);
	/*
	 * The last destructor may have been preempted before it returned.
	 * Kernels without preemption have no RCU tasks, and wait for RCU here.
	 */
	synchronize_rcu_tasks();
}

void sroce_qp_table_exit(void)
{
	percpu_ref_exit(&structures);
	rhashtable_destroy(&table);
}

struct sroce_qp *sroce_qp_lookup(u32 qpn)
{
	struct sroce_qp *qp;

	qp = rhashtable_lookup(&table, &qpn, table_params);
	return qp && sroce_qp_get(qp) ? qp : NULL;
}

struct sroce_qp *sroce_qp_find_gsi(bool (*matches)(struct sroce_qp *qp,
						   void *arg), void *arg)
{
	struct sroce_qp *qp;

	list_for_each_entry_rcu(qp, &gsis, gsi.list) {
		if (!sroce_qp_get(qp))
			continue;
		if (matches(qp, arg))
			return qp;
		sroce_qp_put(qp);
	}
	return NULL;
}

static bool is_behind(struct sroce_qp *qp, void *ibqp)
{
	return qp->ib == ibqp;
}

struct sroce_qp *sroce_qp_hold(struct ib_qp *ibqp)
{
	struct sroce_qp *qp;

	rcu_read_lock();
	/*
	 * GSI QPs have no number of their own.  Only the RDMA core creates and
	 * destroys them.
	 */
	qp = ibqp->qp_type == IB_QPT_GSI ? sroce_qp_find_gsi(is_behind, ibqp) :
					   sroce_qp_lookup(ibqp->qp_num);
	rcu_read_unlock();
	if (!qp || qp->ib == ibqp)
		return qp;
	sroce_qp_put(qp);
	return NULL;
}

struct sroce_qp *sroce_qp_first_gsi(const struct net *net)
{
	struct sroce_qp *qp;

	/*
	 * Strangers can trigger this at a high rate, so only read the QPs of
	 * other namespaces.
	 */
	list_for_each_entry_rcu(qp, &gsis, gsi.list)
		if (qp->gsi.net_cookie == net->net_cookie && sroce_qp_get(qp))
			return qp;
	return NULL;
}

void sroce_qp_for_each(void (*visit)(struct sroce_qp *qp, const void *arg),
		       const void *arg)
{
	struct rhashtable_iter iter;
	struct sroce_qp *qp;

	rcu_read_lock();
	list_for_each_entry_rcu(qp, &gsis, gsi.list)
		visit(qp, arg);
	rcu_read_unlock();

	rhashtable_walk_enter(&table, &iter);
	do {
		rhashtable_walk_start(&iter);
		/* EAGAIN: the table was resized, and the walk restarts. */
		while ((qp = rhashtable_walk_next(&iter)) && !IS_ERR(qp))
			visit(qp, arg);
		rhashtable_walk_stop(&iter);
		cond_resched();
	} while (qp == ERR_PTR(-EAGAIN));
	rhashtable_walk_exit(&iter);
}

/*
 * QP numbers 0 and 1 are special, and the last one means multicast.  The loop
 * takes long only if many devices are full of QPs.
 */
int sroce_qp_publish(struct sroce_qp *qp)
{
	int err;

	if (qp->type == IB_QPT_GSI) {
		qp->qpn = SROCE_QPN_GSI;
		/* The netdev's namespace may be going away. */
		rcu_read_lock();
		qp->gsi.net_cookie = dev_net(qp->dev->ndev)->net_cookie;
		rcu_read_unlock();
		spin_lock(&gsis_lock);
		/*
		 * Two devices may have the same GID: one on a VLAN, and one on the netdev below.
		 * rdma_cm listens on the older one, so find that first, too.
		 */
		list_add_tail_rcu(&qp->gsi.list, &gsis);
		spin_unlock(&gsis_lock);
		return 0;
	}
	do {
		cond_resched();
		qp->qpn = get_random_u32() & SROCE_QPN_MASK;
		if (qp->qpn <= SROCE_QPN_GSI || qp->qpn == SROCE_QPN_MULTICAST)
			err = -EEXIST;
		else
			err = rhashtable_lookup_insert_fast(&table, &qp->node,
							    table_params);
		/* EBUSY: the table is being resized. */
	} while ((err == -EEXIST || err == -EBUSY) &&
		 !fatal_signal_pending(current));
	return err;
}

void sroce_qp_unpublish(struct sroce_qp *qp)
{
	if (qp->type != IB_QPT_GSI) {
		rhashtable_remove_fast(&table, &qp->node, table_params);
		return;
	}
	spin_lock(&gsis_lock);
	list_del_rcu(&qp->gsi.list);
	spin_unlock(&gsis_lock);
}

struct sroce_qp *sroce_qp_alloc(void)
{
	struct sroce_qp *qp = kzalloc_obj(*qp, GFP_KERNEL_ACCOUNT);

	if (!qp)
		return NULL;
	kref_init(&qp->mem);
	percpu_ref_get(&structures);
	return qp;
}

void sroce_qp_free(struct kref *mem)
{
	struct sroce_qp *qp = container_of(mem, struct sroce_qp, mem);

	sroce_wmem_put(qp->wmem);
	kfree_rcu(qp, rcu);
	percpu_ref_put(&structures);
}
