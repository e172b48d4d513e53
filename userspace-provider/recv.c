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
static inline int post_list(struct sroce_rq *rq, struct ibv_recv_wr **wr,
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

int sroce_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr,
		    struct ibv_recv_wr **bad_wr)
{
	struct sroce_qp *sqp = to_sroce_qp(qp);
	struct sroce_rq *rq = &sqp->rq;
	int kick = 0;
	uint32_t tail;
	bool locked;
	int err;

	if (unlikely(qp->srq)) {
		*bad_wr = wr;
		return EINVAL;
	}
	locked = sroce_lock(&rq->lock);
	tail = rq->tail;
	/* It becomes RESET under the lock. */
	if (unlikely(sroce_load(&rq->state) == IBV_QPS_RESET))
		err = EINVAL;
	else
		err = post_list(rq, &wr, &tail);
	if (tail != rq->tail) {
		rq->tail = tail;
		kick = sroce_ring_recv(rq->slot, tail);
	}
	sroce_unlock(&rq->lock, locked);

	if (unlikely(kick))
		sroce_kick(sqp->sq.door);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

/*
 * The kernel reads the tail of an SRQ when a message arrives, and flushes nothing.
 * So it never asks for a kick, and the barrier (E) is not needed.
 */
int sroce_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr,
			struct ibv_recv_wr **bad_wr)
{
	struct sroce_rq *rq = &to_sroce_srq(srq)->rq;
	uint32_t tail;
	bool locked;
	int err;

	locked = sroce_lock(&rq->lock);
	tail = rq->tail;
	err = post_list(rq, &wr, &tail);
	rq->tail = tail;
	sroce_store_release(&rq->slot->rq_tail, tail);		/* (A) */
	sroce_unlock(&rq->lock, locked);

	if (unlikely(err))
		*bad_wr = wr;
	return err;
}
