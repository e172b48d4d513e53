// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: create, arm, resize, destroy. */
#include "cqe.h"

/*
 * The kernel gets only the flag IGNORE_OVERRUN, which tells it what to do
 * with completions that do not fit.
 */
static int cq_command(struct ibv_context *context,
		      const struct ibv_cq_init_attr_ex *attr,
		      struct sroce_cq *cq, struct sroce_create_cq_resp *drv)
{
	struct sroce_cmd_create_cq_resp resp = {};
	struct sroce_cmd_create_cq cmd = {};
	struct ibv_cq_init_attr_ex plain = *attr;
	int err;

	plain.comp_mask &= IBV_CQ_INIT_ATTR_MASK_FLAGS;
	plain.flags &= IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
#if SROCE_PABI >= 59
	err = ibv_cmd_create_cq_ex(context, &plain, NULL, &cq->vcq,
				   &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
#else
	err = ibv_cmd_create_cq_ex(context, &plain, &cq->vcq,
				   &cmd.ibv_cmd, sizeof(cmd),
				   &resp.ibv_resp, sizeof(resp), 0);
#endif
	*drv = resp.drv_payload;
	return err;
}

static int cq_create(struct ibv_context *context,
		     const struct ibv_cq_init_attr_ex *attr,
		     struct sroce_cq *cq)
{
	struct sroce_context *ctx = to_sroce_context(context);
	struct sroce_create_cq_resp resp;
	int err;

	err = cq_command(context, attr, cq, &resp);
	if (err)
		return err;
	err = sroce_map(ctx, &resp.map, &cq->memory);
	if (err) {
		ibv_cmd_destroy_cq(&cq->vcq.cq);
		return err;
	}
	cq->ring = cq->memory.ring;
	cq->slot = cq->memory.slot;
	cq->entries = resp.entries;
	return 0;
}

static struct ibv_pd *pd_of(const struct ibv_cq_init_attr_ex *attr)
{
	return attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_PD ?
	       attr->parent_domain : NULL;
}

static bool cq_single_threaded(struct ibv_context *context,
			       const struct ibv_cq_init_attr_ex *attr)
{
	struct ibv_pd *pd = pd_of(attr);

	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & IBV_CREATE_CQ_ATTR_SINGLE_THREADED)
		return true;
	if (pd)
		return sroce_pd_single_threaded(pd);
	return to_sroce_context(context)->single_threaded;
}

static struct sroce_cq *cq_new(struct ibv_context *context,
			       const struct ibv_cq_init_attr_ex *attr)
{
	struct sroce_origin origin;
	struct sroce_cq *cq;
	int err;

	cq = sroce_alloc_from(&origin, pd_of(attr), sizeof(*cq),
			      SROCE_RESOURCE_CQ);
	if (!cq)
		return NULL;
	cq->origin = origin;
	sroce_lock_init(&cq->lock, !cq_single_threaded(context, attr));
	sroce_lock_init(&cq->ring_lock, cq->lock.needed);
	err = cq_create(context, attr, cq);
	if (err) {
		sroce_free_to(origin, cq);
		errno = err;
		return NULL;
	}
	return cq;
}

struct ibv_cq *sroce_create_cq(struct ibv_context *context, int cqe,
			       struct ibv_comp_channel *channel,
			       int comp_vector)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = cqe,
		.channel = channel,
		.comp_vector = comp_vector,
	};
	struct sroce_cq *cq = cq_new(context, &attr);

	return cq ? &cq->vcq.cq : NULL;
}

static bool cq_supported(const struct ibv_cq_init_attr_ex *attr)
{
	if (attr->comp_mask & ~(IBV_CQ_INIT_ATTR_MASK_FLAGS |
				IBV_CQ_INIT_ATTR_MASK_PD))
		return false;
	if (attr->comp_mask & IBV_CQ_INIT_ATTR_MASK_FLAGS &&
	    attr->flags & ~(IBV_CREATE_CQ_ATTR_SINGLE_THREADED |
			    IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN))
		return false;
	return !(attr->wc_flags & ~(uint64_t)SROCE_WC_FLAGS);
}

struct ibv_cq_ex *sroce_create_cq_ex(struct ibv_context *context,
				     struct ibv_cq_init_attr_ex *attr)
{
	struct sroce_cq *cq;

	if (!cq_supported(attr)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	cq = cq_new(context, attr);
	if (!cq)
		return NULL;
	sroce_set_poll_ops(&cq->vcq.cq_ex);
	return &cq->vcq.cq_ex;
}

static struct sroce_cqe *cq_entry(struct sroce_cq *cq, uint32_t index)
{
	return (struct sroce_cqe *)cqe_at(cq, index);
}

/*
 * Keep completions of SRQ receives: without them the program would lose the
 * request.
 */
static bool cqe_goes(const struct sroce_cqe *cqe, const struct ibv_qp *qp)
{
	return cqe->qp_num == qp->qp_num &&
	       !(qp->srq && cqe->opcode & IBV_WC_RECV);
}

/*
 * Remove the completions of a QP that is reset.  The other completions move
 * towards the newest; each entry keeps its phase.
 */
void sroce_cq_clean(struct ibv_cq *ibcq, const struct ibv_qp *qp)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	unsigned long from, to;

	sroce_lock_long(&cq->lock);
	for (from = cq->head; sroce_cqe_ready(cqe_at(cq, from), from,
					      cq->entries); from++)
		;
	for (to = from; from != cq->head; from--) {
		if (cqe_goes(cqe_at(cq, from - 1), qp))
			continue;
		to--;
		if (to != from - 1)
			memcpy(cq_entry(cq, to), cqe_at(cq, from - 1),
			       offsetof(struct sroce_cqe, phase));
	}
	sroce_store(&cq->head, to);
	cq_release(cq);
	sroce_unlock_long(&cq->lock);
}

int sroce_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr)
{
	struct ibv_modify_cq cmd = {};

	return ibv_cmd_modify_cq(cq, attr, &cmd, sizeof(cmd));
}

/* Switch to the new ring, under the lock that arming takes. */
static int cq_move(struct sroce_cq *cq, const struct sroce_create_cq_resp *to,
		   struct sroce_range *room)
{
	int err;

	sroce_lock_long(&cq->ring_lock);
	err = sroce_map_again(to_sroce_context(cq->vcq.cq.context), &to->map,
			      &cq->memory, room);
	if (!err) {
		cq->ring = cq->memory.ring;
		cq->entries = to->entries;
		sroce_store(&cq->head, 0);
		/* Forget what events cover; an unnecessary event is harmless. */
		cq->notified = sroce_load(&cq->slot->notified);
		cq->covered = 0;
		cq->armed_at = 0;
	}
	sroce_unlock_long(&cq->ring_lock);
	return err;
}

/*
 * Note what events cover.  The kernel's word has 32 bits, and only an event changes
 * it.  An event since the CQ was last armed covers at least what had been polled
 * then.  If more than 2^32 completions were polled since then, the result is too small.
 */
static void update_covered(struct sroce_cq *cq, unsigned long head)
{
	uint32_t notified = sroce_load(&cq->slot->notified);

	if (notified != cq->notified) {
		cq->notified = notified;
		cq->covered = cq->armed_at +
			      (uint32_t)(notified - cq->armed_at);
	}
	cq->armed_at = head;
}

/*
 * True if there are completions that no event has covered.  Other threads may
 * poll meanwhile; an unnecessary event is harmless.
 */
static bool has_unnotified(struct sroce_cq *cq, bool solicited_only)
{
	unsigned long i = sroce_load_acquire(&cq->head);

	update_covered(cq, i);
	if (cq->covered - i <= cq->entries)
		i = cq->covered;
	for (; sroce_cqe_ready(cqe_at(cq, i), i, cq->entries); i++) {
		const struct sroce_cqe *cqe = cqe_at(cq, i);

		if (!solicited_only || cqe->status ||
		    cqe->flags & SROCE_CQE_SOLICITED)
			return true;
	}
	return false;
}

/*
 * The kernel moves the completions to a new ring, whose indices begin at 0.
 * Polling is locked out.  If the new ring cannot be mapped even in address space that
 * is reserved for it, the old ring gets no new completions.
 */
static int cq_resize(struct sroce_cq *cq, int cqe)
{
	struct sroce_cmd_resize_cq_resp resp = {};
	struct sroce_cmd_resize_cq cmd = {};
	struct sroce_range room;
	int err;

	err = sroce_reserve(&room, cqe, SROCE_CQE_SIZE);
	if (err)
		return err;
	err = ibv_cmd_resize_cq(&cq->vcq.cq, cqe, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (!err)
		return cq_move(cq, &resp.drv_payload, &room);
	sroce_unreserve(&room);
	return err;
}

/*
 * A thread that armed the CQ after the kernel had switched rings has checked the
 * old ring.
 */
static void cq_notify_again(struct sroce_cq *cq)
{
	uint32_t arm;
	bool unnotified;

	sroce_lock_long(&cq->ring_lock);
	arm = sroce_load(&cq->slot->arm);
	unnotified = arm != sroce_load(&cq->slot->served_arm) &&
		 has_unnotified(cq, arm & SROCE_ARM_SOLICITED);
	sroce_unlock_long(&cq->ring_lock);
	if (unnotified)
		ibv_cmd_req_notify_cq(&cq->vcq.cq, arm & SROCE_ARM_SOLICITED);
}

int sroce_resize_cq(struct ibv_cq *ibcq, int cqe)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	int err;

	sroce_lock_long(&cq->lock);
	err = cq_resize(cq, cqe);
	if (!err)
		cq_notify_again(cq);
	sroce_unlock_long(&cq->lock);
	return err;
}

int sroce_destroy_cq(struct ibv_cq *ibcq)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	struct sroce_context *ctx = to_sroce_context(ibcq->context);
	int err;

	err = ibv_cmd_destroy_cq(ibcq);
	if (err)
		return err;
	sroce_unmap(ctx, &cq->memory);
	sroce_free_to(cq->origin, cq);
	return 0;
}

/*
 * After arming, a program has to poll once more.  Not all do, and NICs raise
 * the event for completions that exist already.
 */
int sroce_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct sroce_cq *cq = to_sroce_cq(ibcq);
	bool unnotified, locked;

	sroce_cq_arm(cq->slot, solicited_only);
	locked = sroce_lock(&cq->ring_lock);
	unnotified = has_unnotified(cq, solicited_only);
	sroce_unlock(&cq->ring_lock, locked);
	if (likely(!unnotified))
		return 0;
	return ibv_cmd_req_notify_cq(ibcq, solicited_only);
}
