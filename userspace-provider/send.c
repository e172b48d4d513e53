// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ibv_post_send()
 */
#include "sqe.h"

SROCE_SAME(SROCE_WR_FENCE, IBV_SEND_FENCE);
SROCE_SAME(SROCE_WR_SIGNALED, IBV_SEND_SIGNALED);
SROCE_SAME(SROCE_WR_SOLICITED, IBV_SEND_SOLICITED);
SROCE_SAME(SROCE_WR_INLINE, IBV_SEND_INLINE);

SROCE_SAME(SROCE_WR_RDMA_WRITE, IBV_WR_RDMA_WRITE);
SROCE_SAME(SROCE_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_WRITE_WITH_IMM);
SROCE_SAME(SROCE_WR_SEND, IBV_WR_SEND);
SROCE_SAME(SROCE_WR_SEND_WITH_IMM, IBV_WR_SEND_WITH_IMM);
SROCE_SAME(SROCE_WR_RDMA_READ, IBV_WR_RDMA_READ);
SROCE_SAME(SROCE_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_CMP_AND_SWP);
SROCE_SAME(SROCE_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_FETCH_AND_ADD);
SROCE_SAME(SROCE_WR_LOCAL_INV, IBV_WR_LOCAL_INV);
SROCE_SAME(SROCE_WR_BIND_MW, IBV_WR_BIND_MW);
SROCE_SAME(SROCE_WR_SEND_WITH_INV, IBV_WR_SEND_WITH_INV);
#ifdef SROCE_HAVE_ATOMIC_WRITE
SROCE_SAME(SROCE_WR_ATOMIC_WRITE, IBV_WR_ATOMIC_WRITE);
#endif
#ifdef SROCE_HAVE_FLUSH
SROCE_SAME(SROCE_WR_FLUSH, IBV_WR_FLUSH);
SROCE_SAME(SROCE_WR_FLUSH_GLOBAL, IBV_FLUSH_GLOBAL);
SROCE_SAME(SROCE_WR_FLUSH_PERSISTENT, IBV_FLUSH_PERSISTENT);
SROCE_SAME(SROCE_WR_FLUSH_RANGE, IBV_FLUSH_RANGE);
SROCE_SAME(SROCE_WR_FLUSH_REGION, IBV_FLUSH_MR);
#endif

static int set_inline(const struct sroce_sq *sq, struct sroce_sqe *sqe,
		      const struct ibv_send_wr *wr)
{
	const struct ibv_sge *sge = wr->sg_list;
	int err = 0;
	int i;

	for (i = 0; i < wr->num_sge && !err; i++, sge++)
		err = sqe_add_inline(sq, sqe, (void *)(uintptr_t)sge->addr,
				     sge->length);
	return err;
}

static inline int set_payload(const struct sroce_sq *sq,
			      struct sroce_sqe *sqe,
			      const struct ibv_send_wr *wr)
{
	if (wr->send_flags & IBV_SEND_INLINE)
		return set_inline(sq, sqe, wr);
	return sqe_set_list(sq, sqe, wr->sg_list, wr->num_sge);
}

static inline void set_target(const struct sroce_qp *qp, struct sroce_sqe *sqe,
			      const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE:
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_RDMA_READ:
#ifdef SROCE_HAVE_ATOMIC_WRITE
	case IBV_WR_ATOMIC_WRITE:
#endif
		sqe_rdma(sqe, wr->wr.rdma.remote_addr, wr->wr.rdma.rkey);
		break;
	case IBV_WR_ATOMIC_CMP_AND_SWP:
		sqe_atomic(sqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey,
			   wr->wr.atomic.compare_add, wr->wr.atomic.swap);
		break;
	case IBV_WR_ATOMIC_FETCH_AND_ADD:
		sqe_atomic(sqe, wr->wr.atomic.remote_addr, wr->wr.atomic.rkey,
			   wr->wr.atomic.compare_add, 0);
		break;
	case IBV_WR_BIND_MW:
		sqe_bind(sqe, &wr->bind_mw.bind_info, wr->bind_mw.rkey);
		break;
	default:
		if (qp->vqp.qp.qp_type == IBV_QPT_UD)
			sqe_ud(sqe, wr->wr.ud.ah, wr->wr.ud.remote_qpn,
			       wr->wr.ud.remote_qkey);
		else
			sqe_plain(sqe);
	}
}

/* Zero if there is neither immediate data nor a key to invalidate. */
static inline __be32 imm_of(const struct ibv_send_wr *wr)
{
	switch (wr->opcode) {
	case IBV_WR_RDMA_WRITE_WITH_IMM:
	case IBV_WR_SEND_WITH_IMM:
		return wr->imm_data;
	case IBV_WR_SEND_WITH_INV:
	case IBV_WR_LOCAL_INV:
		return sqe_key(wr->invalidate_rkey);
	default:
		return 0;
	}
}

/* errno for an opcode that this type of QP cannot send. */
static int unsupported_errno(enum ibv_wr_opcode opcode)
{
	switch (opcode) {
	case IBV_WR_TSO:
		return EOPNOTSUPP;
	default:
		return EINVAL;
	}
}

/*
 * Type 1 windows use ibv_bind_mw(), which sets no window here.  The kernel
 * checks everything else when it executes the request.
 */
static bool may_bind(const struct ibv_send_wr *wr)
{
	return !wr->bind_mw.mw || wr->bind_mw.mw->type == IBV_MW_TYPE_2;
}

static bool is_local(enum ibv_wr_opcode opcode)
{
	return opcode == IBV_WR_LOCAL_INV || opcode == IBV_WR_BIND_MW;
}

/* Opcodes with immediate data, with a key to invalidate, or without payload. */
#define OTHER_OPCODES						\
	(1u << IBV_WR_RDMA_WRITE_WITH_IMM | 1u << IBV_WR_SEND_WITH_IMM |	\
	 1u << IBV_WR_SEND_WITH_INV | 1u << IBV_WR_LOCAL_INV |	\
	 1u << IBV_WR_BIND_MW)

static inline void set_operands(const struct sroce_qp *qp, struct sroce_sqe *sqe,
				const struct ibv_send_wr *wr)
{
	set_target(qp, sqe, wr);
	if (unlikely(qp->sq.xrc))
		sqe_srqn(sqe, wr->qp_type.xrc.remote_srqn);
}

/* Of OTHER_OPCODES. */
static int fill_other(const struct sroce_qp *qp, struct sroce_sqe *sqe,
		      const struct ibv_send_wr *wr)
{
	unsigned int flags = wr->send_flags;

	if (wr->opcode == IBV_WR_BIND_MW && !may_bind(wr))
		return EINVAL;
	if (is_local(wr->opcode))
		flags &= ~IBV_SEND_INLINE;
	sqe_begin(sqe, wr->wr_id, wr->opcode, flags | qp->sq.all_flags,
		  imm_of(wr));
	set_operands(qp, sqe, wr);
	/* No payload, whatever the rest of the request contains. */
	if (is_local(wr->opcode))
		return 0;
	return set_payload(&qp->sq, sqe, wr);
}

static int sqe_fill(const struct sroce_qp *qp, struct sroce_sqe *sqe,
		    const struct ibv_send_wr *wr)
{
	if (unlikely(!sq_can_send(&qp->sq, wr->opcode)))
		return unsupported_errno(wr->opcode);
	if (unlikely(wr->send_flags & ~SROCE_WR_ALL_FLAGS))
		return EINVAL;
	if (unlikely(1u << wr->opcode & OTHER_OPCODES))
		return fill_other(qp, sqe, wr);
	sqe_begin(sqe, wr->wr_id, wr->opcode,
		  wr->send_flags | qp->sq.all_flags, 0);
	set_operands(qp, sqe, wr);
	return set_payload(&qp->sq, sqe, wr);
}

/* Returns 0, or the errno of the request *@wr, which was not posted. */
static int post_list(struct sroce_qp *qp, struct ibv_send_wr **wr,
		     uint32_t *tail)
{
	struct sroce_sq *sq = &qp->sq;
	int err;

	if (unlikely(sroce_load(&sq->state) < IBV_QPS_RTS))
		return EINVAL;

	for (; *wr; *wr = (*wr)->next) {
		/* An XRC target has no queue. */
		if (unlikely(sq_full(sq, *tail)))
			return sq->entries ? ENOMEM : EINVAL;
		err = sqe_fill(qp, sq_entry(sq, *tail), *wr);
		if (unlikely(err))
			return err;
		(*tail)++;
	}
	return 0;
}

int sroce_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr,
		    struct ibv_send_wr **bad_wr)
{
	struct sroce_qp *qp = to_sroce_qp(ibqp);
	struct sroce_sq *sq = &qp->sq;
	int kick = 0;
	uint32_t tail;
	bool locked;
	int err;

	locked = sroce_lock(&sq->lock);
	tail = sq->tail;
	err = post_list(qp, &wr, &tail);
	if (tail != sq->tail) {
		sq->tail = tail;
		kick = sroce_ring_send(sq->slot, tail);
	}
	sroce_unlock(&sq->lock, locked);

	if (kick)
		sroce_kick(sq->door);
	if (unlikely(err))
		*bad_wr = wr;
	return err;
}

/* Type 1: the window has the new key as soon as the request is posted. */
int sroce_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw,
		  struct ibv_mw_bind *bind)
{
	struct ibv_send_wr wr = {
		.wr_id = bind->wr_id,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = bind->send_flags,
		.bind_mw.rkey = ibv_inc_rkey(mw->rkey),
		.bind_mw.bind_info = bind->bind_info,
	};
	struct ibv_send_wr *bad_wr;
	int err;

	err = sroce_post_send(qp, &wr, &bad_wr);
	if (!err)
		mw->rkey = wr.bind_mw.rkey;
	return err;
}
