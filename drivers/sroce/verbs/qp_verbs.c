// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Create and destroy QPs. */
#include <linux/log2.h>
#include <rdma/uverbs_ioctl.h>
#include "../base/udata.h"
#include "../entry/kick.h"
#include "../entry/qp_work.h"
#include "../net/ah.h"
#include "../net/route.h"
#include "../queue/qp_run.h"
#include "../queue/srq.h"
#include "../queue/wqe.h"
#include "../recv/resp_tx.h"
#include "../recv/rq.h"
#include "../send/doorbell_batch.h"
#include "../send/req.h"
#include "../send/sq.h"
#include "qp_modify.h"
#include "qp_verbs.h"

static bool has_cqs(const struct ib_qp_init_attr *init)
{
	switch (init->qp_type) {
	case IB_QPT_XRC_INI:
		return init->send_cq && !init->srq;
	case IB_QPT_XRC_TGT:
		return init->xrcd && !init->srq;
	default:
		return init->send_cq && init->recv_cq;
	}
}

/* Sizes of queues that the QP does not have are ignored: see ibv_create_qp(3). */
static bool sizes_valid(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;

	if (init->qp_type == IB_QPT_XRC_TGT)
		return true;
	if (!init->srq && (cap->max_recv_wr > SROCE_MAX_QP_WR ||
			   cap->max_recv_sge > SROCE_MAX_SGE))
		return false;
	return cap->max_send_wr <= SROCE_MAX_QP_WR &&
	       cap->max_send_sge <= SROCE_MAX_SGE &&
	       cap->max_inline_data <= SROCE_MAX_INLINE;
}

static int check_init(const struct ib_qp_init_attr *init,
		      const struct ib_udata *udata)
{
	switch (init->qp_type) {
	case IB_QPT_RC:
	case IB_QPT_UC:
	case IB_QPT_UD:
	case IB_QPT_GSI:
	case IB_QPT_XRC_TGT:
		break;
	case IB_QPT_XRC_INI:
		/* verbs/post.c does not support the SRQ number. */
		if (udata)
			break;
		fallthrough;
	default:
		return -EOPNOTSUPP;
	}
	if (init->create_flags || init->rwq_ind_tbl ||
	    (init->srq && init->qp_type == IB_QPT_GSI))
		return -EOPNOTSUPP;
	return has_cqs(init) && sizes_valid(init) ? 0 : -EINVAL;
}

static void size_send(struct sroce_sendq *sq, const struct ib_qp_cap *cap)
{
	u32 list = max_t(u32, cap->max_send_sge * sizeof(struct sroce_sge),
			 cap->max_inline_data);

	if (!cap->max_send_wr)
		return;
	list = max_t(u32, list, sizeof(struct sroce_sge));
	sq->ring.stride = roundup_pow_of_two(SROCE_SQE_HEADER + list);
	sq->ring.entries = roundup_pow_of_two(cap->max_send_wr);
	sq->ring.list_size = sq->ring.stride - SROCE_SQE_HEADER;
	sq->ring.max_sge = min_t(u32, sq->ring.list_size / sizeof(struct sroce_sge),
				 SROCE_MAX_SGE);
	sq->ring.max_inline = min_t(u32, sq->ring.list_size, SROCE_MAX_INLINE);
}

static u32 receive_sges(const struct sroce_qp *qp)
{
	if (qp->type == IB_QPT_XRC_TGT)
		return SROCE_MAX_SGE;
	return qp->srq ? qp->srq->ring.max_sge : qp->rq.ring.max_sge;
}

static int alloc_qp_memory(struct sroce_qp *qp, struct sroce_ucontext *ctx)
{
	u32 send = qp->sq.ring.stride * qp->sq.ring.entries;
	u32 receive = qp->rq.ring.stride * qp->rq.ring.entries;

	qp->rq.wqe = kzalloc(struct_size(qp->rq.wqe, sge, receive_sges(qp)),
			     GFP_KERNEL_ACCOUNT);
	if (!qp->rq.wqe)
		return -ENOMEM;
	/* A process expects a ring to map, even an empty one. */
	if (!ctx && !(send + receive))
		return 0;
	qp->memory = sroce_queue_mem_alloc(ctx ? &ctx->ib : NULL,
					   max_t(u32, send + receive, 1));
	if (IS_ERR(qp->memory)) {
		int err = PTR_ERR(qp->memory);

		qp->memory = NULL;
		return err;
	}
	qp->sq.ring.mem = qp->memory->mem;
	qp->rq.ring.mem = qp->memory->mem + send;
	return 0;
}

static int alloc_doorbell(struct sroce_qp *qp, struct sroce_ucontext *ctx)
{
	int err = 0;

	qp->slot = &qp->kernel_slot;
	if (ctx) {
		err = sroce_doorbell_alloc(ctx, &qp->doorbell);
		if (!err)
			qp->slot = qp->doorbell.mem;
	} else {
		err = sroce_wqe_alloc(qp);
	}
	qp->rq.ring.slot = qp->slot;
	sroce_store(&qp->slot->kick, SROCE_KICK_SEND);
	return err;
}

static void free_memory(struct sroce_qp *qp, struct sroce_ucontext *ctx)
{
	if (ctx && qp->doorbell.mem)
		sroce_doorbell_free(ctx, &qp->doorbell);
	sroce_queue_mem_free(qp->memory);
	sroce_wqe_free(qp);
	kfree(qp->rq.wqe);
	kfree(qp->rq.resp.res.reads);
}

static int write_qp_resp(struct sroce_qp *qp, struct ib_udata *udata)
{
	struct sroce_create_qp_resp resp = {
		.map.ring_offset = sroce_queue_mem_offset(qp->memory),
		.map.ring_size = qp->memory->size,
		.map.slot = qp->doorbell.number,
		.map.page_offset = qp->doorbell.page_offset,
		.sq_stride = qp->sq.ring.stride,
		.sq_entries = qp->sq.ring.entries,
		.rq_offset = qp->sq.ring.stride * qp->sq.ring.entries,
		.rq_stride = qp->rq.ring.stride,
		.rq_entries = qp->rq.ring.entries,
	};

	return sroce_udata_room(udata, sizeof(resp)) ?:
	       ib_respond_udata(udata, resp);
}

/* An XRC target QP uses the SRQs of its domain instead of queues. */
static void init_queues(struct sroce_qp *qp, const struct ib_qp_init_attr *init)
{
	if (qp->type == IB_QPT_XRC_TGT) {
		qp->xrcd = init->xrcd;
		qp->user = true;
		return;
	}
	qp->srq = init->srq ? sroce_srq(init->srq) : NULL;
	qp->sq.cq = sroce_cq(init->send_cq);
	/* An XRC initiator has one CQ; it does not receive. */
	qp->rq.cq = sroce_cq(init->recv_cq ?: init->send_cq);
	qp->rq.pd = qp->pd;
	size_send(&qp->sq, &init->cap);
	if (!qp->srq)
		sroce_recv_ring_size(&qp->rq.ring, init->cap.max_recv_wr,
				     init->cap.max_recv_sge);
}

static void resume_requester(struct sroce_fault *fault)
{
	sroce_qp_wake(container_of(fault, struct sroce_qp, sq.paging.fault),
		      BIT(SROCE_TODO_SEND));
}

static void resume_responder(struct sroce_fault *fault)
{
	sroce_qp_wake(container_of(fault, struct sroce_qp, rq.fault),
		      BIT(SROCE_TODO_RESPOND));
}

static void packets_may_be_sent(struct sroce_wmem_waiter *waiter)
{
	sroce_qp_wake(container_of(waiter, struct sroce_qp, wmem_wait),
		      BIT(SROCE_TODO_SEND) | BIT(SROCE_TODO_RESPOND));
}

static struct sroce_qp *alloc_qp(struct ib_qp *ibqp,
				 struct ib_qp_init_attr *init, bool user)
{
	struct sroce_device *dev = sroce_device(ibqp->device);
	struct sroce_qp *qp;

	if (!atomic_add_unless(&dev->num_qps, 1, SROCE_MAX_QP))
		return NULL;
	qp = sroce_qp_alloc();
	if (!qp) {
		atomic_dec(&dev->num_qps);
		return NULL;
	}
	qp->dev = dev;
	qp->counters = qp->dev->counters;
	qp->ib = ibqp;
	qp->pd = ibqp->pd;
	qp->type = init->qp_type;
	qp->state = IB_QPS_RESET;
	qp->pkey = qp->dev->pkeys;
	qp->user = user;
	qp->sq.ring.signal_all = init->sq_sig_type == IB_SIGNAL_ALL_WR;
	mutex_init(&qp->mutex);
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	spin_lock_init(&qp->post_lock);
	hrtimer_setup(&qp->sq.timer.hrtimer, sroce_rtx_timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_ABS_SOFT);
	hrtimer_setup(&qp->sq.batch.timer, sroce_batch_timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	hrtimer_setup(&qp->rq.pause, sroce_resp_timer_fired, CLOCK_MONOTONIC,
		      HRTIMER_MODE_REL_SOFT);
	INIT_WORK(&qp->run.work, sroce_qp_work);
	qp->tx_grace = get_state_synchronize_rcu();
	sroce_fault_setup(&qp->sq.paging.fault, &qp->mem, sroce_qp_free,
			  resume_requester);
	sroce_fault_setup(&qp->rq.fault, &qp->mem, sroce_qp_free,
			  resume_responder);
	sroce_ref_init(&qp->ref);
	sroce_wmem_waiter_init(&qp->wmem_wait, packets_may_be_sent);
	init_queues(qp, init);
	return qp;
}

static void release_qp(struct sroce_qp *qp, struct sroce_ucontext *ctx)
{
	atomic_dec(&qp->dev->num_qps);
	free_memory(qp, ctx);
	kref_put(&qp->mem, sroce_qp_free);
}

/*
 * Remove the QP from lookups, stop its timers, and wait for the last reference.
 */
static void unpublish_and_drain(struct sroce_qp *qp)
{
	sroce_qp_lock_both(qp);
	sroce_resp_send_last(qp);
	WRITE_ONCE(qp->state, IB_QPS_RESET);
	sroce_req_reset(qp);
	sroce_rq_reset(qp);
	sroce_path_release(&qp->sq.path);
	sroce_path_release(&qp->rq.path);
	sroce_qp_unlock_both(qp);
	sroce_qp_unpublish(qp);
	hrtimer_cancel(&qp->sq.timer.hrtimer);
	sroce_batch_cancel(qp);
	hrtimer_cancel(&qp->rq.pause);
	sroce_ref_drain(&qp->ref);
	sroce_wmem_forget(&qp->wmem_wait);
}

/*
 * The XRC domain of an XRC target QP may belong to several processes, so its
 * packets are charged to the user.
 */
static int open_wmem(struct sroce_qp *qp, struct sroce_ucontext *ctx)
{
	if (ctx)
		qp->wmem = sroce_wmem_get(ctx->wmem);
	else if (sroce_qp_target(qp))
		qp->wmem = sroce_wmem_user();
	return qp->wmem || !qp->user ? 0 : -ENOMEM;
}

static int setup_qp(struct sroce_qp *qp, struct sroce_ucontext *ctx,
		    struct ib_udata *udata)
{
	int err = open_wmem(qp, ctx) ?: alloc_qp_memory(qp, ctx) ?:
		  alloc_doorbell(qp, ctx);

	if (err)
		return err;
	qp->ctx = ctx;
	if (ctx)
		err = write_qp_resp(qp, udata);
	if (!err)
		err = sroce_qp_publish(qp);
	if (err || !ctx)
		return err;
	err = sroce_doorbell_set_qp(ctx, &qp->doorbell, qp);
	if (err)
		unpublish_and_drain(qp);
	return err;
}

int sroce_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *init,
		    struct ib_udata *udata)
{
	struct sroce_ucontext *ctx = sroce_udata_ucontext(udata);
	struct sroce_qp *qp;
	int err;

	err = check_init(init, udata);
	if (!err && ctx)
		err = sroce_udata_create_req(udata);
	if (err)
		return err;
	qp = alloc_qp(ibqp, init, ctx);
	if (!qp)
		return -ENOMEM;
	err = setup_qp(qp, ctx, udata);
	if (err) {
		release_qp(qp, ctx);
		return err;
	}
	sroce_qp_report_cap(qp, &init->cap);
	ibqp->qp_num = qp->qpn;
	container_of(ibqp, struct sroce_ib_qp, ib)->qp = qp;
	return 0;
}

/*
 * True if WQEs were posted without a doorbell, or deferred by a timer: nothing
 * would transmit them after the QP is unpublished.  Nothing is completed here,
 * so a plain lock suffices.
 */
static bool posted_unkicked(struct sroce_qp *qp)
{
	const struct sroce_sendq *sq = &qp->sq;
	bool unkicked;

	if (!sq->ring.entries)
		return false;
	spin_lock_bh(&qp->sq.lock);
	unkicked = sq->batch.active ||
		   (qp->ctx && sroce_sq_active(qp) &&
		    sroce_load(&qp->slot->sq_tail) != sq->req.in.next);
	spin_unlock_bh(&qp->sq.lock);
	return unkicked;
}

int sroce_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata)
{
	struct sroce_qp *qp = sroce_qp(ibqp);
	struct sroce_ucontext *ctx = qp->ctx;

	if (ctx)
		sroce_doorbell_set_qp(ctx, &qp->doorbell, NULL);
	if (posted_unkicked(qp))
		sroce_qp_kick(qp);
	unpublish_and_drain(qp);
	sroce_qp_forget_completions(qp);
#ifndef SROCE_HAVE_POST_DESTROY_CQ
	if (!ctx && !sroce_qp_target(qp)) {
		sroce_cq_drain_handlers(qp->sq.cq);
		if (qp->rq.cq != qp->sq.cq)
			sroce_cq_drain_handlers(qp->rq.cq);
	}
#endif
	if (qp->sq.ud.av)
		sroce_av_put(qp->sq.ud.av);
	if (qp->av)
		sroce_av_put(qp->av);
	release_qp(qp, ctx);
	return 0;
}
