// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Driver details for "rdma resource show" and "rdma statistic mr". */
#include <rdma/rdma_netlink.h>
#include <rdma/restrack.h>
#include "../mem/mr.h"
#include "../net/tx.h"
#include "../queue/cq.h"
#include "../queue/srq.h"
#include "../recv/rq.h"
#include "../send/sq.h"
#include "restrack.h"

struct detail {
	const char *name;
	u32 value;
};

static int put_details(struct sk_buff *msg, const struct detail *d, u32 n)
{
	for (; n--; d++)
		if (rdma_nl_put_driver_u32(msg, d->name, d->value))
			return -EMSGSIZE;
	return 0;
}

static struct nlattr *table_begin(struct sk_buff *msg)
{
	return nla_nest_start(msg, RDMA_NLDEV_ATTR_DRIVER);
}

static int table_end(struct sk_buff *msg, struct nlattr *table, int err)
{
	if (err)
		nla_nest_cancel(msg, table);
	else
		nla_nest_end(msg, table);
	return err;
}

static int put_send(struct sk_buff *msg, struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->sq.req;
	struct detail details[10];
	u32 n = 0;

	sroce_sq_begin(qp);
	details[n++] = (struct detail) { "sq_waiting", req->in.tail - req->in.next };
	details[n++] = (struct detail) { "sq_unacked", req->in.next - req->in.head };
	details[n++] = (struct detail) { "sq_next_psn", req->psn };
	details[n++] = (struct detail) { "sq_unacked_psn", req->una };
	details[n++] = (struct detail) { "sq_reads", req->reads };
	details[n++] = (struct detail) { "sq_retries_left", req->retry_left };
	details[n++] = (struct detail) { "sq_window", req->cc.window };
	details[n++] = (struct detail) {
		"sq_round_trip_us", qp->sq.rtx.rtt.smooth / NSEC_PER_USEC
	};
	details[n++] = (struct detail) { "sq_held", qp->sq.ooo.packets };
	details[n++] = (struct detail) { "sq_paused", qp->sq.timer.blocked || req->rnr_wait };
	sroce_sq_end(qp);
	return put_details(msg, details, n);
}

static int put_receive(struct sk_buff *msg, struct sroce_qp *qp)
{
	const struct sroce_responder *r = &qp->rq.resp;
	struct detail details[6];
	u32 n = 0;

	sroce_rq_begin(qp);
	details[n++] = (struct detail) { "rq_taken", qp->rq.ring.head };
	details[n++] = (struct detail) { "rq_next_psn", r->epsn };
	details[n++] = (struct detail) { "rq_msn", r->msn };
	details[n++] = (struct detail) { "rq_held", qp->rq.ooo.packets };
	details[n++] = (struct detail) { "rq_answers_waiting", r->res.waiting };
	details[n++] = (struct detail) { "tx_bursts", sroce_tx_bursts(qp) };
	sroce_rq_end(qp);
	return put_details(msg, details, n);
}

int sroce_fill_res_qp_entry(struct sk_buff *msg, struct ib_qp *ibqp)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);
	struct nlattr *table;
	int err = -EMSGSIZE;

	if (!qp)
		return 0;
	table = table_begin(msg);
	if (table)
		err = table_end(msg, table,
				put_send(msg, qp) ?: put_receive(msg, qp));
	sroce_qp_put(qp);
	return err;
}

int sroce_fill_res_cq_entry(struct sk_buff *msg, struct ib_cq *ibcq)
{
	struct sroce_cq *cq = sroce_cq(ibcq);
	struct nlattr *table = table_begin(msg);
	const struct detail details[] = {
		{ "entries", READ_ONCE(cq->ring.entries) },
		{ "written", READ_ONCE(cq->ring.tail) },
		{ "overflowed", READ_ONCE(cq->ring.overflowed) },
	};

	return table ? table_end(msg, table, put_details(msg, details,
							 ARRAY_SIZE(details))) :
		       -EMSGSIZE;
}

int sroce_fill_res_srq_entry(struct sk_buff *msg, struct ib_srq *ibsrq)
{
	struct sroce_srq *srq = sroce_srq(ibsrq);
	struct nlattr *table = table_begin(msg);
	struct detail details[4];
	u32 n = 0;

	if (!table)
		return -EMSGSIZE;
	spin_lock_bh(&srq->lock);
	details[n++] = (struct detail) { "entries", srq->ring.entries };
	details[n++] = (struct detail) { "taken", srq->ring.head };
	details[n++] = (struct detail) { "limit", srq->limit };
	details[n++] = (struct detail) { "broken", srq->ring.broken };
	spin_unlock_bh(&srq->lock);
	return table_end(msg, table, put_details(msg, details, n));
}

int sroce_fill_res_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_mr *mr = container_of(ibmr, struct sroce_mr, ib);
	struct nlattr *table = table_begin(msg);
	int err;

	if (!table)
		return -EMSGSIZE;
	/* Not the address, which concerns only the owner. */
	err = rdma_nl_put_driver_u32_hex(msg, "access", mr->access) ?:
	      rdma_nl_put_driver_u32(msg, "block_size",
				     mr->blocks ? 1u << mr->block_shift : 0);
	return table_end(msg, table, err);
}

/* Look it up by key: dereg_mr waits for users that do. */
static bool read_stats(struct sroce_device *dev, u32 key,
		       struct sroce_odp_stats *stats)
{
	struct sroce_mr *mr;
	bool on_demand;

	local_bh_disable();
	mr = sroce_mr_find(dev, key);
	on_demand = mr && mr->odp;
	if (on_demand)
		sroce_odp_stats(mr->odp, stats);
	if (mr)
		sroce_mr_put(mr);
	local_bh_enable();
	return on_demand;
}

/* Paging counters of on-demand regions, in pages. */
int sroce_fill_stat_mr_entry(struct sk_buff *msg, struct ib_mr *ibmr)
{
	struct sroce_mr *mr = container_of(ibmr, struct sroce_mr, ib);
	struct sroce_odp_stats stats;
	struct nlattr *table;
	int err = 0;

	table = nla_nest_start(msg, RDMA_NLDEV_ATTR_STAT_HWCOUNTERS);
	if (!table)
		return -EMSGSIZE;
	if (read_stats(sroce_device(ibmr->device), mr->key, &stats))
		err = rdma_nl_stat_hwcounter_entry(msg, "page_faults",
						   stats.faults) ?:
		      rdma_nl_stat_hwcounter_entry(msg, "page_prefetch",
						   stats.prefetches) ?:
		      rdma_nl_stat_hwcounter_entry(msg, "page_invalidations",
						   stats.invalidations);
	return table_end(msg, table, err);
}
