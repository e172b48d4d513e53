// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.
 */
#include "sroce.h"

static int srq_command(struct ibv_context *context,
		       struct ibv_srq_init_attr_ex *attr,
		       struct sroce_srq *srq, struct sroce_create_srq_resp *drv)
{
	struct sroce_cmd_create_srq_resp resp = {};
	struct sroce_cmd_create_srq cmd = {};
	int err;

	err = ibv_cmd_create_srq_ex(context, &srq->vsrq, attr,
				    &cmd.ibv_cmd, sizeof(cmd),
				    &resp.ibv_resp, sizeof(resp));
	*drv = resp.drv_payload;
	return err;
}

static int srq_create(struct ibv_context *context,
		      struct ibv_srq_init_attr_ex *attr, struct sroce_srq *srq)
{
	struct sroce_create_srq_resp resp;
	struct sroce_rq *rq = &srq->rq;
	int err;

	err = srq_command(context, attr, srq, &resp);
	if (err)
		return err;
	err = sroce_map(to_sroce_context(context), &resp.map, &srq->memory);
	if (err) {
		ibv_cmd_destroy_srq(&srq->vsrq.srq);
		return err;
	}
	sroce_lock_init(&rq->lock, !sroce_pd_single_threaded(attr->pd));
	rq->ring = srq->memory.ring;
	rq->slot = srq->memory.slot;
	rq->entries = resp.entries;
	rq->shift = resp.stride ? __builtin_ctz(resp.stride) : 0;
	rq->max_sge = attr->attr.max_sge;
	srq->number = resp.srq_num;
	return 0;
}

static struct ibv_srq *srq_new(struct ibv_context *context,
			       struct ibv_srq_init_attr_ex *attr)
{
	struct sroce_origin origin;
	struct sroce_srq *srq;
	int err;

	srq = sroce_alloc_from(&origin, attr->pd, sizeof(*srq),
			       SROCE_RESOURCE_SRQ);
	if (!srq)
		return NULL;
	srq->origin = origin;
	err = srq_create(context, attr, srq);
	if (err) {
		sroce_free_to(origin, srq);
		errno = err;
		return NULL;
	}
	return &srq->vsrq.srq;
}

/* libibverbs handles requests for basic SRQs itself. */
struct ibv_srq *sroce_create_srq_ex(struct ibv_context *context,
				    struct ibv_srq_init_attr_ex *attr)
{
	const uint32_t mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			      IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	struct ibv_srq *srq;

	if (attr->comp_mask & ~mask ||
	    (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE &&
	     attr->srq_type != IBV_SRQT_XRC &&
	     attr->srq_type != IBV_SRQT_BASIC)) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (attr->comp_mask != mask || attr->srq_type != IBV_SRQT_XRC) {
		errno = EINVAL;
		return NULL;
	}
	srq = srq_new(context, attr);
	if (srq) {
		/* ibv_cmd_create_srq_ex() does not set the first, nor, in old versions, the second. */
		srq->srq_context = attr->srq_context;
		srq->pd = attr->pd;
	}
	return srq;
}

struct ibv_srq *sroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct ibv_srq_init_attr_ex ex = {
		.srq_context = attr->srq_context,
		.attr = attr->attr,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD,
		.srq_type = IBV_SRQT_BASIC,
		.pd = pd,
	};
	struct ibv_srq *srq = srq_new(pd->context, &ex);

	if (srq)
		attr->attr = ex.attr;
	return srq;
}

int sroce_get_srq_num(struct ibv_srq *ibsrq, uint32_t *srq_num)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);

	if (!srq->number)
		return EINVAL;
	*srq_num = srq->number;
	return 0;
}

/*
 * The kernel moves pending entries to a new ring; posting is locked out.  If
 * the new ring cannot be mapped even in address space that is reserved for it, the
 * queue accepts no more requests.
 */
static int srq_resize(struct sroce_srq *srq, struct ibv_srq_attr *attr,
		      int attr_mask)
{
	struct sroce_modify_srq_resp resp = {};
	struct sroce_cmd_modify_srq cmd = {
		.drv_payload = { (uintptr_t)&resp, sizeof(resp) },
	};
	struct sroce_rq *rq = &srq->rq;
	struct sroce_range room;
	int err;

	err = sroce_reserve(&room, attr->max_wr, (size_t)1 << rq->shift);
	if (err)
		return err;
	err = ibv_cmd_modify_srq(&srq->vsrq.srq, attr, attr_mask,
				 &cmd.ibv_cmd, sizeof(cmd));
	if (err) {
		sroce_unreserve(&room);
		return err;
	}
	err = sroce_map_again(to_sroce_context(srq->vsrq.srq.context), &resp.map,
			      &srq->memory, &room);
	rq->ring = srq->memory.ring;
	rq->entries = err ? 0 : resp.entries;
	return err;
}

int sroce_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr,
		     int attr_mask)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);
	struct ibv_modify_srq cmd = {};
	int err;

	if (!(attr_mask & IBV_SRQ_MAX_WR))
		return ibv_cmd_modify_srq(ibsrq, attr, attr_mask,
					  &cmd, sizeof(cmd));
	sroce_lock_long(&srq->rq.lock);
	err = srq_resize(srq, attr, attr_mask);
	sroce_unlock_long(&srq->rq.lock);
	return err;
}

int sroce_query_srq(struct ibv_srq *srq, struct ibv_srq_attr *attr)
{
	struct ibv_query_srq cmd = {};

	return ibv_cmd_query_srq(srq, attr, &cmd, sizeof(cmd));
}

int sroce_destroy_srq(struct ibv_srq *ibsrq)
{
	struct sroce_srq *srq = to_sroce_srq(ibsrq);
	struct sroce_context *ctx = to_sroce_context(ibsrq->context);
	int err;

	err = ibv_cmd_destroy_srq(ibsrq);
	if (err)
		return err;
	sroce_unmap(ctx, &srq->memory);
	sroce_free_to(srq->origin, srq);
	return 0;
}
