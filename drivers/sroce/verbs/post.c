// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ib_post_send() and ib_post_recv() of kernel users, which use the same rings
 * as processes.  Any context.
 */
#include <linux/preempt.h>
#include "../core/inflight.h"
#include "../entry/kick.h"
#include "../net/ah.h"
#include "../queue/qp_run.h"
#include "../queue/srq.h"
#include "../queue/wqe.h"
#include "post.h"

/* With interrupts off nothing can be sent, so use the work item. */
static void post_start(struct sroce_qp *qp)
{
	if (in_hardirq() || irqs_disabled())
		sroce_qp_wake(qp, BIT(SROCE_TODO_SEND) |
				      BIT(SROCE_TODO_FLUSH));
	else
		sroce_qp_kick(qp);
}

static bool may_post_send(const struct sroce_qp *qp)
{
	return sroce_qp_state(qp) >= IB_QPS_RTS;
}

/*
 * The region is looked up by its key, so only the low byte of the key may
 * differ.
 */
static int write_registration(struct sroce_sqe *sqe, const struct ib_reg_wr *wr)
{
	const struct sroce_mr *mr = container_of(wr->mr, struct sroce_mr, ib);

	if (wr->key >> 8 != mr->index)
		return -EINVAL;
	sqe->bind.addr = wr->mr->iova;
	sqe->bind.length = wr->mr->length;
	sqe->bind.rkey = wr->key;
	sqe->bind.access = wr->access;
	return 0;
}

static int write_datagram(struct sroce_qp *qp, struct sroce_sqe *sqe,
			  const struct ib_send_wr *wr)
{
	struct sroce_kernel_ud *to = sroce_kernel_ud(sqe);
	const struct ib_ud_wr *ud = ud_wr(wr);

	/* ib_drain_sq() posts a WRITE to be flushed on any type of QP. */
	if (wr->opcode != IB_WR_SEND && wr->opcode != IB_WR_SEND_WITH_IMM)
		return sroce_qp_state(qp) == IB_QPS_ERR ? 0 : -EINVAL;
	to->av = sroce_ah(ud->ah)->av;
	to->remote_qpn = ud->remote_qpn;
	to->remote_qkey = ud->remote_qkey;
	to->pkey_index = ud->pkey_index;
	return 0;
}

static int write_operands(struct sroce_qp *qp, struct sroce_sqe *sqe,
			  const struct ib_send_wr *wr)
{
	const struct sroce_op_row *op = &sroce_optable[sqe->opcode];

	if (!sroce_qp_connected(qp))
		return write_datagram(qp, sqe, wr);
	switch (op->operands) {
	case SROCE_OPERANDS_NONE:
		return op->transports ? 0 : -EOPNOTSUPP;
	case SROCE_OPERANDS_RDMA:
		sqe->rdma.remote_addr = rdma_wr(wr)->remote_addr;
		sqe->rdma.rkey = rdma_wr(wr)->rkey;
		return 0;
	case SROCE_OPERANDS_ATOMIC:
		sqe->atomic.remote_addr = atomic_wr(wr)->remote_addr;
		sqe->atomic.rkey = atomic_wr(wr)->rkey;
		sqe->atomic.compare_add = atomic_wr(wr)->compare_add;
		sqe->atomic.swap = atomic_wr(wr)->swap;
		return 0;
	case SROCE_OPERANDS_REG:
		return write_registration(sqe, reg_wr(wr));
	default:		/* the kernel's API cannot describe it */
		return -EOPNOTSUPP;
	}
}

static int write_inline(struct sroce_qp *qp, struct sroce_sqe *sqe,
			const struct ib_send_wr *wr)
{
	u8 *to = (u8 *)(sqe + 1);
	u32 length = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		if (length + (u64)wr->sg_list[i].length > qp->sq.ring.max_inline)
			return -EINVAL;
		memcpy(to + length, (void *)(uintptr_t)wr->sg_list[i].addr,
		       wr->sg_list[i].length);
		length += wr->sg_list[i].length;
	}
	sqe->num_sge = length;
	return 0;
}

static void write_list(struct sroce_sge *to, const struct ib_sge *from, int n)
{
	int i;

	for (i = 0; i < n; i++) {
		to[i].addr = from[i].addr;
		to[i].length = from[i].length;
		to[i].lkey = from[i].lkey;
	}
}

/*
 * Processes have no use for REG_MR and READ_WITH_INV: the ABI has neither.  RDS posts all
 * atomics as masked ones.  With all bits compared and swapped, or with one carry, these
 * are ordinary ones.
 */
static u8 wr_opcode(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_MASKED_ATOMIC_CMP_AND_SWP:
		return ~(atomic_wr(wr)->compare_add_mask & atomic_wr(wr)->swap_mask) ?
			SROCE_OP_NONE : SROCE_OP_CMP_SWP;
	case IB_WR_MASKED_ATOMIC_FETCH_AND_ADD:
		return atomic_wr(wr)->compare_add_mask ? SROCE_OP_NONE :
							 SROCE_OP_FETCH_ADD;
	case IB_WR_REG_MR:
		return SROCE_OP_REG_MR;
	case IB_WR_RDMA_READ_WITH_INV:
		return SROCE_OP_READ;
	default:
		return (int)wr->opcode < SROCE_OP_REG_MR ? (int)wr->opcode :
							   SROCE_OP_NONE;
	}
}

static u8 send_flags(const struct ib_send_wr *wr)
{
	return (wr->opcode == IB_WR_RDMA_READ_WITH_INV ? SROCE_INVALIDATE : 0) |
	       (wr->send_flags & SROCE_WR_ALL_FLAGS);
}

static int write_send(struct sroce_qp *qp, u32 tail,
		      const struct ib_send_wr *wr)
{
	struct sroce_sqe *sqe = sroce_send_ring_at(&qp->sq.ring, tail);
	int err;

	if (tail - sroce_load_acquire(&qp->slot->sq_head) >= qp->sq.ring.entries)
		return -ENOMEM;
	if (wr->num_sge > qp->sq.ring.max_sge)
		return -EINVAL;
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = wr_opcode(wr);
	err = write_operands(qp, sqe, wr);
	if (err)
		return err;
	sqe->wr_id = wr->wr_id;
	sqe->flags = send_flags(wr);
	sqe->num_sge = wr->num_sge;
	sqe->imm_data = wr->ex.imm_data;
	if (wr->send_flags & IB_SEND_INLINE)
		return write_inline(qp, sqe, wr);
	write_list((struct sroce_sge *)(sqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

int sroce_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		    const struct ib_send_wr **bad_wr)
{
	struct sroce_qp *qp = sroce_qp(ibqp);
	unsigned long flags;
	int err = 0;
	u32 tail;

	if (!may_post_send(qp)) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->post_lock, flags);
	tail = qp->slot->sq_tail;
	for (; wr; wr = wr->next) {
		err = write_send(qp, tail, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		tail++;
	}
	sroce_ring_send(qp->slot, tail);
	spin_unlock_irqrestore(&qp->post_lock, flags);
	post_start(qp);
	return err;
}

static int write_recv(struct sroce_recv_ring *ring, u32 tail,
		      const struct ib_recv_wr *wr)
{
	struct sroce_rqe *rqe = sroce_recv_ring_at(ring, tail);

	if (tail - sroce_load_acquire(&ring->slot->rq_head) >= ring->entries)
		return -ENOMEM;
	if (wr->num_sge > ring->max_sge)
		return -EINVAL;
	rqe->wr_id = wr->wr_id;
	rqe->num_sge = wr->num_sge;
	rqe->reserved = 0;
	write_list((struct sroce_sge *)(rqe + 1), wr->sg_list, wr->num_sge);
	return 0;
}

static int write_recvs(struct sroce_recv_ring *ring,
		       const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr)
{
	u32 tail = ring->slot->rq_tail;
	int err = 0;

	for (; wr; wr = wr->next) {
		err = write_recv(ring, tail, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
		tail++;
	}
	sroce_ring_recv(ring->slot, tail);
	return err;
}

int sroce_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		    const struct ib_recv_wr **bad_wr)
{
	struct sroce_qp *qp = sroce_qp(ibqp);
	unsigned long flags;
	int err;

	if (sroce_qp_state(qp) == IB_QPS_RESET || qp->srq) {
		*bad_wr = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->post_lock, flags);
	err = write_recvs(&qp->rq.ring, wr, bad_wr);
	spin_unlock_irqrestore(&qp->post_lock, flags);
	if (sroce_qp_state(qp) == IB_QPS_ERR)
		sroce_qp_wake(qp, BIT(SROCE_TODO_FLUSH));
	return err;
}

int sroce_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
			const struct ib_recv_wr **bad_wr)
{
	struct sroce_srq *srq = sroce_srq(ibsrq);
	unsigned long flags;
	int err;

	spin_lock_irqsave(&srq->post_lock, flags);
	err = write_recvs(&srq->ring, wr, bad_wr);
	spin_unlock_irqrestore(&srq->post_lock, flags);
	return err;
}
