// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.
 */
#include <stdlib.h>

#include "sroce.h"

static int srq_command(struct ibv_pd *pd, struct ibv_srq_init_attr *attr,
		       struct sroce_srq *srq, struct sroce_create_srq_resp *drv)
{
	struct {
		struct ibv_create_srq ibv;
		struct sroce_create_req drv;
	} cmd = {};
	struct {
		struct ib_uverbs_create_srq_resp ibv;
		struct sroce_create_srq_resp drv;
	} resp = {};
	int err;

	err = ibv_cmd_create_srq(pd, &srq->ibv, attr, &cmd.ibv, sizeof(cmd),
				 &resp.ibv, sizeof(resp));
	*drv = resp.drv;
	return err;
}

static int srq_create(struct ibv_pd *pd, struct ibv_srq_init_attr *attr,
		      struct sroce_srq *srq)
{
	struct sroce_create_srq_resp resp;
	struct sroce_rq *rq = &srq->rq;
	int err;

	err = srq_command(pd, attr, srq, &resp);
	if (err)
		return err;
	err = sroce_map(to_sroce_context(pd->context), &resp.map, &srq->memory);
	if (err) {
		ibv_cmd_destroy_srq(&srq->ibv);
		return err;
	}
	sroce_lock_init(&rq->lock, !sroce_pd_single_threaded(pd));
	rq->ring = srq->memory.ring;
	rq->slot = srq->memory.slot;
	rq->entries = resp.entries;
	rq->shift = resp.stride ? __builtin_ctz(resp.stride) : 0;
	rq->max_sge = attr->attr.max_sge;
	return 0;
}

struct ibv_srq *sroce_create_srq(struct ibv_pd *pd,
				 struct ibv_srq_init_attr *attr)
{
	struct sroce_srq *srq;
	int err;

	srq = sroce_alloc(sizeof(*srq));
	if (!srq)
		return NULL;
	err = srq_create(pd, attr, srq);
	if (err) {
		free(srq);
		errno = err;
		return NULL;
	}
	return &srq->ibv;
}

/*
 * The kernel moves what waits to a new ring; nobody may post meanwhile.  If
 * that ring cannot be mapped, the queue takes no more requests.
 */
static int srq_resize(struct sroce_srq *srq, struct ibv_srq_attr *attr,
		      int attr_mask)
{
	struct sroce_modify_srq_resp resp = {};
	struct {
		struct ibv_modify_srq ibv;
		struct sroce_modify_srq_req drv;
	} cmd = { .drv = { .resp = (uintptr_t)&resp } };
	struct sroce_rq *rq = &srq->rq;
	int err;

	err = ibv_cmd_modify_srq(&srq->ibv, attr, attr_mask,
				 &cmd.ibv, sizeof(cmd));
	if (err)
		return err;
	err = sroce_map_again(to_sroce_context(srq->ibv.context), &resp.map,
			      &srq->memory);
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
	free(srq);
	return 0;
}
