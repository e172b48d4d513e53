// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What requests do that have an answer of their own.
 */
#include "execute.h"
#include "receive.h"

static enum sroce_reason check_read(struct sroce_qp *qp,
				    struct sroce_grip *grip,
				    const struct sroce_request *req, u32 length)
{
	struct sroce_mr *mr;

	if (!length)
		return SROCE_NO_REASON;
	mr = sroce_mr_get(qp->rq.pd, qp->qpn, req->rkey, req->va, length,
			  IB_ACCESS_REMOTE_READ);
	if (!mr)
		return SROCE_RKEY_REFUSED;
	sroce_grip_hold(grip, mr);
	return SROCE_NO_REASON;
}

static enum sroce_reason do_atomic(struct sroce_qp *qp, struct sroce_grip *grip,
				   const struct sroce_rx *rx,
				   const struct sroce_request *req,
				   u64 *original)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	bool swap = (pkt->opcode & ~SROCE_TRANSPORT_MASK) == SROCE_COMPARE_SWAP;
	int err;

	SROCE_REMOTE_MEMORY(on, qp, req->va, sizeof(u64), req->rkey,
			    IB_ACCESS_REMOTE_ATOMIC);

	err = sroce_atomic(grip, &on, swap ? &pkt->compare : NULL,
			   pkt->swap_add, original);
	if (err == -EAGAIN)
		return sroce_receive_absent(qp, &on, 0, sizeof(u64),
					    SROCE_RKEY_REFUSED);
	return err ? SROCE_RKEY_REFUSED : SROCE_NO_REASON;
}

/* Annex A19: readers see all of it or nothing, and all before it first. */
static enum sroce_reason write_word(struct sroce_qp *qp,
				    struct sroce_grip *grip,
				    const struct sroce_rx *rx,
				    const struct sroce_request *req)
{
	u64 value;
	int err;

	SROCE_REMOTE_MEMORY(to, qp, req->va, sizeof(u64), req->rkey,
			    IB_ACCESS_REMOTE_WRITE);

	if (!sroce_reader_copy(rx->payload, &value, sizeof(value)))
		return SROCE_RAN_OUT;
	err = sroce_store_word(grip, &to, value);
	if (err == -EAGAIN)
		return sroce_receive_absent(qp, &to, 0, sizeof(u64),
					    SROCE_RKEY_REFUSED);
	return err ? SROCE_RKEY_REFUSED : SROCE_NO_REASON;
}

/*
 * What this peer has written was stored by CPUs: it is visible to all as soon
 * as the stores are done.  No region has the right to be flushed to
 * persistence.
 */
static enum sroce_reason flush(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	int access =
		(pkt->flush_type & SROCE_FLUSH_GLOBAL ?
		 IB_ACCESS_FLUSH_GLOBAL : 0) |
		(pkt->flush_type & SROCE_FLUSH_PERSISTENT ?
		 IB_ACCESS_FLUSH_PERSISTENT : 0);
	struct sroce_mr *mr;

	if (pkt->flush_level == SROCE_FLUSH_REGION)
		mr = sroce_mr_get_whole(qp->rq.pd, qp->qpn, pkt->rkey, access);
	else
		mr = sroce_mr_get(qp->rq.pd, qp->qpn, pkt->rkey, pkt->va,
				  pkt->dma_len, access);
	if (!mr)
		return SROCE_RKEY_REFUSED;
	sroce_mr_put(mr);
	/* Also what was mapped for a device, see dmabuf.c. */
	wmb();
	return SROCE_NO_REASON;
}

enum sroce_reason sroce_execute(struct sroce_qp *qp, const struct sroce_rx *rx,
				const struct sroce_request *req, u64 *original)
{
	struct sroce_grip *grip = &qp->rq.grip;

	lockdep_assert_held(&qp->rq.lock);
	switch (rx->pkt.op->kind) {
	case SROCE_KIND_READ:
		return check_read(qp, grip, req, rx->pkt.dma_len);
	case SROCE_KIND_ATOMIC:
		return do_atomic(qp, grip, rx, req, original);
	case SROCE_KIND_ATOMIC_WRITE:
		return write_word(qp, grip, rx, req);
	case SROCE_KIND_FLUSH:
		return flush(qp, &rx->pkt);
	default:
		return SROCE_NO_REASON;
	}
}
