// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended posting: ibv_wr_start(), requests such as ibv_wr_send() with their
 * setters, and ibv_wr_complete() or ibv_wr_abort().
 *
 * The lock is held from start to complete or abort.  Nothing is published
 * before complete, and nothing after an error.
 */
#include "sqe.h"

static struct sroce_sq *qp_sq(struct ibv_qp_ex *qp)
{
	return &to_sroce_qp(&qp->qp_base)->sq;
}

static void sq_fail(struct sroce_sq *sq, int err)
{
	sq->error = err;
	sq->sqe = NULL;
}

static void wr_start(struct ibv_qp_ex *qp)
{
	struct sroce_sq *sq = qp_sq(qp);

	sroce_lock_long(&sq->lock);
	sq->next = sq->tail;
	sq->sqe = NULL;
	sq->error = sroce_load(&sq->state) < IBV_QPS_RTS ? EINVAL : 0;
}

/* Begin an entry; NULL after an error. */
static inline struct sroce_sqe *begin_wr(struct ibv_qp_ex *qp, uint8_t opcode,
					 __be32 imm_data)
{
	struct sroce_sq *sq = qp_sq(qp);
	unsigned int flags = qp->wr_flags;

	if (unlikely(sq->error))
		return NULL;
	if (unlikely(sq_full(sq, sq->next))) {
		sq_fail(sq, ENOMEM);
		return NULL;
	}
	if (unlikely(flags & ~SROCE_WR_ALL_FLAGS)) {
		sq_fail(sq, EINVAL);
		return NULL;
	}
	sq->sqe = sq_entry(sq, sq->next++);
	flags &= ~SROCE_WR_INLINE;	/* set by the setter of inline data */
	sqe_begin(sq->sqe, qp->wr_id, opcode, flags | sq->all_flags,
		  imm_data);
	return sq->sqe;
}

static inline void begin_plain(struct ibv_qp_ex *qp, uint8_t opcode,
			       __be32 imm_data)
{
	struct sroce_sqe *sqe = begin_wr(qp, opcode, imm_data);

	if (likely(sqe))
		sqe_plain(sqe);
}

static inline void begin_rdma(struct ibv_qp_ex *qp, uint8_t opcode,
			      __be32 imm_data, uint64_t remote_addr,
			      uint32_t rkey)
{
	struct sroce_sqe *sqe = begin_wr(qp, opcode, imm_data);

	if (likely(sqe))
		sqe_rdma(sqe, remote_addr, rkey);
}

static inline void begin_atomic(struct ibv_qp_ex *qp, uint8_t opcode,
				uint64_t remote_addr, uint32_t rkey,
				uint64_t compare_add, uint64_t swap)
{
	struct sroce_sqe *sqe = begin_wr(qp, opcode, 0);

	if (likely(sqe))
		sqe_atomic(sqe, remote_addr, rkey, compare_add, swap);
}

static void add_inline(struct sroce_sq *sq, const void *data, size_t length)
{
	if (likely(sq->sqe) &&
	    unlikely(sqe_add_inline(sq, sq->sqe, data, length)))
		sq_fail(sq, EINVAL);
}

/* Replace the payload, as the setters of SGE lists do. */
static void start_inline(struct sroce_sq *sq)
{
	if (likely(sq->sqe)) {
		sq->sqe->flags |= SROCE_WR_INLINE;
		sq->sqe->num_sge = 0;
	}
}

static void wr_send(struct ibv_qp_ex *qp)
{
	begin_plain(qp, SROCE_WR_SEND, 0);
}

static void wr_send_imm(struct ibv_qp_ex *qp, __be32 imm_data)
{
	begin_plain(qp, SROCE_WR_SEND_WITH_IMM, imm_data);
}

static void wr_rdma_write(struct ibv_qp_ex *qp, uint32_t rkey,
			  uint64_t remote_addr)
{
	begin_rdma(qp, SROCE_WR_RDMA_WRITE, 0, remote_addr, rkey);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr, __be32 imm_data)
{
	begin_rdma(qp, SROCE_WR_RDMA_WRITE_WITH_IMM, imm_data,
		   remote_addr, rkey);
}

static void wr_rdma_read(struct ibv_qp_ex *qp, uint32_t rkey,
			 uint64_t remote_addr)
{
	begin_rdma(qp, SROCE_WR_RDMA_READ, 0, remote_addr, rkey);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *qp, uint32_t rkey,
			      uint64_t remote_addr, uint64_t compare,
			      uint64_t swap)
{
	begin_atomic(qp, SROCE_WR_ATOMIC_CMP_AND_SWP, remote_addr, rkey,
		     compare, swap);
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *qp, uint32_t rkey,
				uint64_t remote_addr, uint64_t add)
{
	begin_atomic(qp, SROCE_WR_ATOMIC_FETCH_AND_ADD, remote_addr, rkey,
		     add, 0);
}

#ifdef SROCE_HAVE_ATOMIC_WRITE
/* The payload is copied here; there is no setter for it. */
static void wr_atomic_write(struct ibv_qp_ex *qp, uint32_t rkey,
			    uint64_t remote_addr, const void *atomic_wr)
{
	struct sroce_sq *sq = qp_sq(qp);

	begin_rdma(qp, SROCE_WR_ATOMIC_WRITE, 0, remote_addr, rkey);
	start_inline(sq);
	add_inline(sq, atomic_wr, sizeof(uint64_t));
}
#endif

#ifdef SROCE_HAVE_FLUSH
static void wr_flush(struct ibv_qp_ex *qp, uint32_t rkey, uint64_t remote_addr,
		     size_t len, uint8_t type, uint8_t level)
{
	struct sroce_sqe *sqe = begin_wr(qp, SROCE_WR_FLUSH, 0);

	if (unlikely(!sqe))
		return;
	/* Of a region all is flushed, and its length may not fit. */
	if (level == IBV_FLUSH_MR)
		len = 0;
	if (unlikely(len > UINT32_MAX))
		sq_fail(qp_sq(qp), EINVAL);
	else
		sqe_flush(sqe, remote_addr, rkey, len, type, level);
}
#endif

static void wr_send_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin_plain(qp, SROCE_WR_SEND_WITH_INV, sqe_key(rkey));
}

static void wr_local_inv(struct ibv_qp_ex *qp, uint32_t rkey)
{
	begin_plain(qp, SROCE_WR_LOCAL_INV, sqe_key(rkey));
}

static void wr_bind_mw(struct ibv_qp_ex *qp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct sroce_sqe *sqe = begin_wr(qp, SROCE_WR_BIND_MW, 0);

	if (unlikely(!sqe))
		return;
	if (unlikely(mw->type != IBV_MW_TYPE_2))
		sq_fail(qp_sq(qp), EINVAL);
	else
		sqe_bind(sqe, info, rkey);
}

static void wr_set_ud_addr(struct ibv_qp_ex *qp, struct ibv_ah *ah,
			   uint32_t remote_qpn, uint32_t remote_qkey)
{
	struct sroce_sq *sq = qp_sq(qp);

	if (likely(sq->sqe))
		sqe_ud(sq->sqe, ah, remote_qpn, remote_qkey);
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *qp, uint32_t remote_srqn)
{
	struct sroce_sq *sq = qp_sq(qp);

	if (likely(sq->sqe))
		sqe_srqn(sq->sqe, remote_srqn);
}

/* Replace the payload, which may have been inline. */
static inline void set_list(struct sroce_sq *sq, const struct ibv_sge *list,
			    size_t num)
{
	if (unlikely(!sq->sqe))
		return;
	sq->sqe->flags &= ~SROCE_WR_INLINE;
	if (unlikely(sqe_set_list(sq, sq->sqe, list, num)))
		sq_fail(sq, EINVAL);
}

static void wr_set_sge(struct ibv_qp_ex *qp, uint32_t lkey, uint64_t addr,
		       uint32_t length)
{
	const struct ibv_sge sge = {
		.addr = addr,
		.length = length,
		.lkey = lkey,
	};

	set_list(qp_sq(qp), &sge, 1);
}

static void wr_set_sge_list(struct ibv_qp_ex *qp, size_t num_sge,
			    const struct ibv_sge *list)
{
	set_list(qp_sq(qp), list, num_sge);
}

static void wr_set_inline_data(struct ibv_qp_ex *qp, void *addr, size_t length)
{
	struct sroce_sq *sq = qp_sq(qp);

	start_inline(sq);
	add_inline(sq, addr, length);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *qp, size_t num_buf,
				    const struct ibv_data_buf *list)
{
	struct sroce_sq *sq = qp_sq(qp);
	size_t i;

	start_inline(sq);
	for (i = 0; i < num_buf; i++)
		add_inline(sq, list[i].addr, list[i].length);
}

static int wr_complete(struct ibv_qp_ex *qp)
{
	struct sroce_sq *sq = qp_sq(qp);
	int err = sq->error;
	int kick = 0;

	if (likely(!err) && sq->next != sq->tail) {
		sq->tail = sq->next;
		kick = sroce_ring_send(sq->slot, sq->tail);
	}
	sroce_unlock_long(&sq->lock);
	if (kick)
		sroce_kick(sq->door);
	return err;
}

static void wr_abort(struct ibv_qp_ex *qp)
{
	sroce_unlock_long(&qp_sq(qp)->lock);
}

/* Set only the operations of the QP's type; the others stay NULL. */
static void set_requests(struct ibv_qp_ex *qp, const struct sroce_sq *sq)
{
	qp->wr_send = wr_send;
	qp->wr_send_imm = wr_send_imm;
	if (sq_can_send(sq, SROCE_WR_RDMA_WRITE)) {
		qp->wr_rdma_write = wr_rdma_write;
		qp->wr_rdma_write_imm = wr_rdma_write_imm;
	}
	if (sq_can_send(sq, SROCE_WR_BIND_MW)) {
		qp->wr_bind_mw = wr_bind_mw;
		qp->wr_local_inv = wr_local_inv;
	}
	if (sq_can_send(sq, SROCE_WR_SEND_WITH_INV))
		qp->wr_send_inv = wr_send_inv;
	if (sq_can_send(sq, SROCE_WR_RDMA_READ)) {
		qp->wr_rdma_read = wr_rdma_read;
		qp->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
		qp->wr_atomic_fetch_add = wr_atomic_fetch_add;
#ifdef SROCE_HAVE_ATOMIC_WRITE
		qp->wr_atomic_write = wr_atomic_write;
#endif
#ifdef SROCE_HAVE_FLUSH
		qp->wr_flush = wr_flush;
#endif
	}
}

void sroce_set_send_ops(struct ibv_qp_ex *qp)
{
	qp->wr_start = wr_start;
	qp->wr_complete = wr_complete;
	qp->wr_abort = wr_abort;
	set_requests(qp, qp_sq(qp));
	if (qp->qp_base.qp_type == IBV_QPT_UD)
		qp->wr_set_ud_addr = wr_set_ud_addr;
	if (qp_sq(qp)->xrc)
		qp->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->wr_set_sge = wr_set_sge;
	qp->wr_set_sge_list = wr_set_sge_list;
	qp->wr_set_inline_data = wr_set_inline_data;
	qp->wr_set_inline_data_list = wr_set_inline_data_list;
}
