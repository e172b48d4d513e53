// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Modify and query of QPs: the checks of the state machine
 * (ib_modify_qp_is_ok() has the table of IBTA vol. 1, 11.2.5.2), and the
 * effects of a change on both sides.
 */
#include <rdma/ib_addr.h>
#include "../base/udata.h"
#include "../core/aeth.h"
#include "../core/params.h"
#include "../entry/kick.h"
#include "../entry/qp_work.h"
#include "../net/ah.h"
#include "../net/route.h"
#include "../queue/cq.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../queue/wqe.h"
#include "../recv/resp_tx.h"
#include "../recv/rq.h"
#include "../send/rate_limit.h"
#include "../send/req.h"
#include "../send/sq.h"
#include "qp_modify.h"

/* Locks both sides, always in this order. */
void sroce_qp_lock_both(struct sroce_qp *qp)
	__acquires(&qp->rq.lock) __acquires(&qp->sq.lock)
{
	sroce_rq_begin(qp);
	spin_lock(&qp->sq.lock);
}

void sroce_qp_unlock_both(struct sroce_qp *qp)
	__releases(&qp->sq.lock) __releases(&qp->rq.lock)
{
	spin_unlock(&qp->sq.lock);
	sroce_rq_end(qp);
}

void sroce_qp_report_cap(const struct sroce_qp *qp, struct ib_qp_cap *cap)
{
	cap->max_send_wr = qp->sq.ring.entries;
	cap->max_send_sge = qp->sq.ring.max_sge;
	cap->max_inline_data = qp->sq.ring.max_inline;
	cap->max_recv_wr = qp->rq.ring.entries;
	cap->max_recv_sge = qp->rq.ring.max_sge;
}

/**
 * struct change - allocations that modify_qp() makes before it takes the locks
 * @av: new address vector; later the old one
 * @reads: new responder resources; later the old ones
 * @num_reads: number of entries in @reads
 */
struct change {
	struct sroce_av *av;
	struct sroce_resource *reads;
	u32 num_reads;
};

/* P_Key at @index, or 0. */
static u16 table_pkey(const struct sroce_qp *qp, u16 index)
{
	return index < SROCE_PKEY_TABLE ? READ_ONCE(qp->dev->pkeys[index]) : 0;
}

static int check_values(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			int mask)
{
	enum ib_mtu active = sroce_device_mtu(qp->dev);

	if ((mask & IB_QP_PORT && attr->port_num != SROCE_PORT) ||
	    (mask & IB_QP_PKEY_INDEX && !table_pkey(qp, attr->pkey_index)) ||
	    (mask & IB_QP_PATH_MTU && (attr->path_mtu < IB_MTU_256 ||
				       attr->path_mtu > active)) ||
	    (mask & IB_QP_MAX_QP_RD_ATOMIC &&
	     attr->max_rd_atomic > SROCE_MAX_RD_ATOMIC) ||
	    (mask & IB_QP_MAX_DEST_RD_ATOMIC &&
	     attr->max_dest_rd_atomic > SROCE_MAX_RD_ATOMIC) ||
	    (mask & IB_QP_TIMEOUT && attr->timeout > 31) ||
	    (mask & IB_QP_RATE_LIMIT && attr->rate_limit &&
	     attr->rate_limit < SROCE_MIN_RATE) ||
	    (mask & IB_QP_RETRY_CNT && attr->retry_cnt > 7) ||
	    (mask & IB_QP_RNR_RETRY && attr->rnr_retry > 7) ||
	    (mask & IB_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
	    (mask & IB_QP_DEST_QPN && attr->dest_qp_num > SROCE_QPN_MASK) ||
	    (mask & IB_QP_ACCESS_FLAGS &&
	     attr->qp_access_flags & ~SROCE_QP_ACCESS) ||
	    (mask & IB_QP_PATH_MIG_STATE &&
	     attr->path_mig_state > IB_MIG_ARMED))
		return -EINVAL;
	if (mask & IB_QP_PATH_MIG_STATE &&
	    attr->path_mig_state != IB_MIG_MIGRATED)
		return -EOPNOTSUPP;
	return 0;
}

static int check_qp_attr(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			 int mask, u8 now)
{
	enum ib_qp_state next = mask & IB_QP_STATE ? attr->qp_state : now;

	if (mask & ~(IB_QP_ATTR_STANDARD_BITS | IB_QP_RATE_LIMIT))
		return -EOPNOTSUPP;
	if (mask & IB_QP_CUR_STATE && attr->cur_qp_state != now)
		return -EINVAL;
	/* ib_modify_qp_is_ok() knows the rate limit of raw packet QPs only. */
	if (!ib_modify_qp_is_ok(now, next, qp->type, mask & ~IB_QP_RATE_LIMIT))
		return -EINVAL;
	if (mask & IB_QP_RATE_LIMIT && next != IB_QPS_RTS &&
	    next != IB_QPS_SQD)
		return -EINVAL;
	return check_values(qp, attr, mask);
}

/*
 * Does the netdev of the source GID carry the path MTU?  It may be a VLAN or macvlan with a
 * smaller MTU than the device's netdev, and would drop all full packets.
 */
static bool carries_mtu(const struct sroce_av *av, enum ib_mtu mtu)
{
	const struct net_device *ndev;
	bool carries;

	/* No network is involved. */
	if (av->loopback)
		return true;
	rcu_read_lock();
	ndev = sroce_av_ndev(av);
	/* If the address was just removed, the QP waits for it. */
	carries = !ndev || mtu <= sroce_netdev_mtu(ndev);
	rcu_read_unlock();
	return carries;
}

static int prepare_change(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
			  struct change *change)
{
	u32 dest = mask & IB_QP_DEST_QPN ? attr->dest_qp_num : qp->dest_qpn;

	lockdep_assert_held(&qp->mutex);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && sroce_qp_reliable(qp) &&
	    attr->max_dest_rd_atomic) {
		change->num_reads = attr->max_dest_rd_atomic;
		change->reads = kcalloc(change->num_reads,
					sizeof(*change->reads),
					GFP_KERNEL_ACCOUNT);
		if (!change->reads)
			return -ENOMEM;
	}
	if (mask & IB_QP_AV) {
		struct sroce_av *av;

		av = sroce_av_create(&attr->ah_attr, qp->qpn, dest);
		if (IS_ERR(av))
			return PTR_ERR(av);
		change->av = av;
		/*
		 * Only UD packets go to multicast groups, and those use address
		 * handles.
		 */
		if (rdma_is_multicast_addr(&av->daddr))
			return -EINVAL;
		/* enter_rtr() has derived the path MTU from it. */
		if (sroce_qp_state(qp) >= IB_QPS_RTR && qp->av &&
		    qp->av->loopback != av->loopback)
			return -EINVAL;
		if (!carries_mtu(av, mask & IB_QP_PATH_MTU ? attr->path_mtu :
							     qp->attr.path_mtu))
			return -EINVAL;
	}
	return 0;
}

static void free_change(struct change *change)
{
	if (change->av)
		sroce_av_put(change->av);
	kfree(change->reads);
}

static void apply_receive(struct sroce_qp *qp, const struct ib_qp_attr *attr,
			  int mask, struct change *change)
{
	struct sroce_responder *r = &qp->rq.resp;

	if (mask & IB_QP_ACCESS_FLAGS)
		r->permissions = attr->qp_access_flags & SROCE_MAY_ALL;
	if (mask & IB_QP_RQ_PSN)
		sroce_responder_expect(r, attr->rq_psn & SROCE_PSN_MASK);
	if (mask & IB_QP_MIN_RNR_TIMER)
		qp->rq.min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_QKEY)
		qp->rq.qkey = attr->qkey;
	if (mask & IB_QP_PATH_MTU) {
		r->mtu = ib_mtu_enum_to_int(attr->path_mtu);
		r->res.mtu = r->mtu;
	}
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC) {
		change->reads = sroce_resp_res_move(&r->res, change->reads,
						    change->num_reads);
	}
}

static void apply_send(struct sroce_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	struct sroce_requester *req = &qp->sq.req;

	if (mask & IB_QP_SQ_PSN)
		sroce_requester_begin(req, attr->sq_psn & SROCE_PSN_MASK);
	if (mask & IB_QP_PATH_MTU)
		req->mtu = ib_mtu_enum_to_int(attr->path_mtu);
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		req->max_reads = attr->max_rd_atomic;
	if (mask & IB_QP_TIMEOUT) {
		qp->sq.rtx.timeout = sroce_ack_timeout(attr->timeout);
		/* resume_qp() sets the deadline of what is unacknowledged in SQD. */
		sroce_rtx_restart(&qp->sq.rtx);
		if (!qp->sq.timer.blocked && !req->rnr_wait)
			qp->sq.rtx.armed = false;
	}
	if (mask & IB_QP_RATE_LIMIT)
		sroce_rate_set(qp, attr->rate_limit);
	if (mask & IB_QP_RETRY_CNT) {
		req->retry_count = attr->retry_cnt;
		req->retry_left = attr->retry_cnt;
	}
	if (mask & IB_QP_RNR_RETRY) {
		req->rnr_retry = attr->rnr_retry;
		req->rnr_left = attr->rnr_retry;
	}
}

static void apply_path(struct sroce_qp *qp, const struct ib_qp_attr *attr,
		       int mask, struct change *change)
{
	if (mask & IB_QP_DEST_QPN)
		qp->dest_qpn = attr->dest_qp_num;
	if (mask & IB_QP_PKEY_INDEX)
		WRITE_ONCE(qp->pkey, &qp->dev->pkeys[attr->pkey_index]);
	if (mask & IB_QP_AV) {
		swap(qp->av, change->av);
		sroce_path_release(&qp->sq.path);
		sroce_path_release(&qp->rq.path);
	}
}

static void enter_reset(struct sroce_qp *qp)
{
	sroce_req_reset(qp);
	sroce_rq_reset(qp);
	/* A process resets its own indices. */
	if (!qp->user) {
		qp->slot->sq_tail = 0;
		qp->slot->rq_tail = 0;
	}
	WRITE_ONCE(qp->pkey, qp->dev->pkeys);
	qp->resets = atomic64_inc_return(&sroce_qp_resets);
	qp->seen = false;
}

static void enter_rtr(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;

	req->transport = sroce_qp_transport(qp);
	sroce_cc_init(&req->cc, SROCE_WINDOW);
	qp->rq.resp.transport = req->transport;
	qp->rq.resp.res.transport = req->transport;
	if (sroce_qp_connected(qp) && qp->av->loopback) {
		/* No network is involved; the peer chooses the same MTU. */
		req->mtu = SROCE_LOOPBACK_MTU;
		qp->rq.resp.mtu = SROCE_LOOPBACK_MTU;
		qp->rq.resp.res.mtu = SROCE_LOOPBACK_MTU;
	}
}

/*
 * Raise IB_EVENT_SQ_DRAINED when nothing is outstanding: now, if the QP has no send
 * queue that would find out.
 */
static void notify_drained(struct sroce_qp *qp)
{
	if (qp->sq.ring.entries)
		qp->sq.ask_drained = true;
	else
		sroce_qp_wake(qp, BIT(SROCE_TODO_DRAINED));
}

static void enter_state(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct sroce_requester *req = &qp->sq.req;

	lockdep_assert_held(&qp->rq.lock);
	lockdep_assert_held(&qp->sq.lock);
	switch (attr->qp_state) {
	case IB_QPS_RESET:
		sroce_resp_send_last(qp);
		enter_reset(qp);
		break;
	case IB_QPS_ERR:
		sroce_resp_send_last(qp);
		break;
	case IB_QPS_RTR:
		enter_rtr(qp);
		break;
	case IB_QPS_RTS:
		req->drain = false;
		qp->sq.ask_drained = false;
		/* Flushing in SQE has stopped the timer that would end the block. */
		if (!qp->sq.rtx.armed)
			qp->sq.timer.blocked = SROCE_SQ_OPEN;
		break;
	case IB_QPS_SQD:
		req->drain = true;
		/* ask_drained stays in SQD: only the change from RTS can set it. */
		if (mask & IB_QP_EN_SQD_ASYNC_NOTIFY && attr->en_sqd_async_notify)
			notify_drained(qp);
		break;
	default:
		break;
	}
	trace_sroce_state(qp, qp->state, attr->qp_state);
	WRITE_ONCE(qp->state, attr->qp_state);
}

static void store_attr(struct sroce_qp *qp, const struct ib_qp_attr *attr,
		       int mask)
{
	struct ib_qp_attr *a = &qp->attr;

	lockdep_assert_held(&qp->mutex);
	if (mask & IB_QP_ACCESS_FLAGS)
		a->qp_access_flags = attr->qp_access_flags;
	if (mask & IB_QP_PKEY_INDEX)
		a->pkey_index = attr->pkey_index;
	if (mask & IB_QP_PORT)
		a->port_num = attr->port_num;
	if (mask & IB_QP_QKEY)
		a->qkey = attr->qkey;
	if (mask & IB_QP_AV) {
		a->ah_attr = attr->ah_attr;
		/* The reference belongs to the caller; the av has its own. */
		a->ah_attr.grh.sgid_attr = NULL;
	}
	if (mask & IB_QP_PATH_MTU)
		a->path_mtu = attr->path_mtu;
	if (mask & IB_QP_TIMEOUT)
		a->timeout = attr->timeout;
	if (mask & IB_QP_RETRY_CNT)
		a->retry_cnt = attr->retry_cnt;
	if (mask & IB_QP_RNR_RETRY)
		a->rnr_retry = attr->rnr_retry;
	if (mask & IB_QP_RQ_PSN)
		a->rq_psn = attr->rq_psn;
	if (mask & IB_QP_SQ_PSN)
		a->sq_psn = attr->sq_psn;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		a->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_MIN_RNR_TIMER)
		a->min_rnr_timer = attr->min_rnr_timer;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		a->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_RATE_LIMIT)
		a->rate_limit = attr->rate_limit;
	if (mask & IB_QP_DEST_QPN)
		a->dest_qp_num = attr->dest_qp_num;
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		memset(a, 0, sizeof(*a));
}

/* Returns false if the QP's state has changed since it was checked. */
static bool apply_change(struct sroce_qp *qp, const struct ib_qp_attr *attr, int mask,
			 struct change *change, u8 now)
{
	sroce_qp_lock_both(qp);
	if (qp->state != now && !(mask & IB_QP_STATE &&
				  (attr->qp_state == IB_QPS_RESET ||
				   attr->qp_state == IB_QPS_ERR))) {
		sroce_qp_unlock_both(qp);
		return false;
	}
	apply_path(qp, attr, mask, change);
	apply_receive(qp, attr, mask, change);
	apply_send(qp, attr, mask);
	if (mask & IB_QP_STATE)
		enter_state(qp, attr, mask);
	sroce_qp_unlock_both(qp);
	store_attr(qp, attr, mask);
	return true;
}

/* Continue work that waited for the new state. */
static void resume_qp(struct sroce_qp *qp)
{
	switch (sroce_qp_state(qp)) {
	case IB_QPS_RTS:
	case IB_QPS_SQD:
		/* An XRC target QP does not send. */
		if (!qp->sq.cq)
			break;
		/*
		 * Before the first post nothing is to do and no memory is
		 * allocated.
		 */
		if (READ_ONCE(qp->sq.req.in.wrs) || sroce_load(&qp->slot->sq_tail) ||
		    READ_ONCE(qp->sq.ask_drained))
			sroce_qp_kick(qp);
		break;
	case IB_QPS_ERR:
		sroce_qp_wake(qp, BIT(SROCE_TODO_FLUSH));
		break;
	}
}

void sroce_qp_forget_completions(const struct sroce_qp *qp)
{
	if (qp->user)
		return;
	sroce_cq_forget(qp->sq.cq, qp->ib);
	if (qp->rq.cq != qp->sq.cq)
		sroce_cq_forget(qp->rq.cq, qp->ib);
}

/*
 * Keep the RDMA core from replacing qp->av_sgid_attr: _ib_modify_qp() does it
 * without a lock, so two threads can drop the same reference.  Our address
 * vectors have their own reference.  This changes the caller's attr; no caller
 * reads the flags afterwards.
 */
static void hide_gid(struct ib_qp_attr *attr)
{
	rdma_ah_set_ah_flags(&attr->ah_attr, 0);
}

int sroce_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		    struct ib_udata *udata)
{
	struct sroce_qp *qp = sroce_qp(ibqp);
	struct change change = {};
	u8 now;
	int err;

	err = ib_no_udata_io(udata);
	if (err)
		return err;
	mutex_lock(&qp->mutex);
	now = sroce_qp_state(qp);
	err = check_qp_attr(qp, attr, mask, now) ?:
	      prepare_change(qp, attr, mask, &change);
	/* WQEs posted in SQE are flushed, not sent. */
	if (!err && now == IB_QPS_SQE)
		sroce_qp_flush(qp);
	if (!err && !apply_change(qp, attr, mask, &change, now))
		err = -EINVAL;
	if (!err)
		resume_qp(qp);
	if (!err && mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		sroce_qp_forget_completions(qp);
	free_change(&change);
	mutex_unlock(&qp->mutex);
	if (!err && mask & IB_QP_AV)
		hide_gid(attr);
	return err;
}

int sroce_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_qp_init_attr *init)
{
	struct sroce_qp *qp = sroce_qp_hold(ibqp);
	struct sroce_requester *req;

	if (!qp)
		return -EINVAL;
	req = &qp->sq.req;
	mutex_lock(&qp->mutex);
	*attr = qp->attr;
	mutex_unlock(&qp->mutex);
	sroce_sq_begin(qp);
	/* The responder may fail meanwhile, under its own lock. */
	attr->qp_state = sroce_qp_state(qp);
	attr->cur_qp_state = attr->qp_state;
	attr->sq_draining = attr->qp_state == IB_QPS_SQD &&
			    !sroce_requester_drained(req);
	attr->sq_psn = req->psn;
	sroce_sq_end(qp);
	sroce_rq_begin(qp);
	attr->rq_psn = qp->rq.resp.epsn;
	sroce_rq_end(qp);
	attr->path_mig_state = IB_MIG_MIGRATED;
	sroce_qp_report_cap(qp, &attr->cap);

	init->event_handler = ibqp->event_handler;
	init->qp_context = ibqp->qp_context;
	init->send_cq = ibqp->send_cq;
	init->recv_cq = ibqp->recv_cq;
	init->srq = ibqp->srq;
	init->xrcd = ibqp->xrcd;
	init->cap = attr->cap;
	init->sq_sig_type = qp->sq.ring.signal_all ? IB_SIGNAL_ALL_WR :
						IB_SIGNAL_REQ_WR;
	init->qp_type = ibqp->qp_type;
	sroce_qp_put(qp);
	return 0;
}
