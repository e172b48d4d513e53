// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_recv() and ibv_post_srq_recv()
 */
#include "sqe.h"

static struct sroce_rqe *rq_entry(const struct sroce_rq *rq, uint32_t index)
{
	size_t pos = index & (rq->entries - 1);

	return (struct sroce_rqe *)((char *)rq->ring + (pos << rq->shift));
}

/* True if there is no room for the entry at @index.  (D) */
static bool rq_full(struct sroce_rq *rq, uint32_t index)
{
	if (likely(index - rq->head < rq->entries))
		return false;
	rq->head = sroce_load_acquire(&rq->slot->rq_head);
	return index - rq->head >= rq->entries;
}

static void rqe_fill(struct sroce_rqe *rqe, const struct ibv_recv_wr *wr)
{
	struct sroce_sge *sge = (struct sroce_sge *)(rqe + 1);
	int i;

	rqe->wr_id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	rqe->reserved = 0;
	for (i = 0; i < wr->num_sge; i++)
		sge_copy(&sge[i], &wr->sg_list[i]);
}

/* Returns 0, or the errno of the request *@wr, which was not posted. */
static int post_list(struct sroce_rq *rq, struct ibv_recv_wr **wr,
		     uint32_t *tail)
{
	for (; *wr; *wr = (*wr)->next) {
		/* Without a queue, as for XRC, there will never be room. */
		if (unlikely(rq_full(rq, *tail)))
			return rq->entries ? ENOMEM : EINVAL;
		if (unlikely((unsigned int)(*wr)->num_sge > rq->max_sge))
			return EINVAL;
		rqe_fill(rq_entry(rq, *tail), *wr);
		(*tail)++;
	}
	return 0;
}

/* @state: of the QP; NULL for an SRQ.  It becomes RESET under the lock. */
static int rq_post(struct sroce_rq *rq, const enum ibv_qp_state *state,
		   struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	int kick = 0;
	uint32_t tail;
	bool locked;
	int err;

	locked = sroce_lock(&rq->lock);
	tail = rq->tail;
	if (unlikely(state && sroce_load(state) == IBV_QPS_RESET))
		err = EINVAL;
	else
		err = post_list(rq, &wr, &tail);
	if (tail != rq->tail) {
		rq->tail = tail;
		kick = sroce_ring_recv(rq->slot, tail);
	}
	sroce_unlock(&rq->lock, locked);

	if (unlikely(kick))
		sroce_kick(rq->door);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

int sroce_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct sroce_qp *sqp = to_sroce_qp(qp);

	if (unlikely(qp->srq)) {
		*bad_wr = wr;
		return EINVAL;
	}
	return rq_post(&sqp->rq, &sqp->state, wr, bad_wr);
}

int sroce_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	return rq_post(&to_sroce_srq(srq)->rq, NULL, wr, bad_wr);
}
