// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Executes requests of the peer: SENDs, WRITEs, READs, atomics and FLUSHes. */
#include "../core/params.h"
#include "../mem/mr_fast.h"
#include "../mem/sgl.h"
#include "resp_exec.h"
#include "rq.h"
#include "write_back.h"

static enum sroce_resp_error store_send(struct sroce_qp *qp, const struct sroce_rx *rx,
					const struct sroce_request *req)
{
	const struct sroce_sgl to = sroce_rq_buffer(qp);
	int err;

	err = sroce_sgl_store_packet(&qp->rq.cache, &to, req->offset, rx->payload,
				     rx->pkt.payload);
	if (likely(!err))
		return SROCE_NO_ERROR;
	if (err == -EMSGSIZE)
		return SROCE_RECV_TOO_SMALL;
	if (err == -ENODATA)
		return SROCE_PACKET_TOO_SHORT;
	if (err != -EAGAIN)
		return SROCE_RECV_LKEY_REFUSED;
	return sroce_rq_page_in(qp, &to, req->offset, rx->pkt.payload,
				req->completes ? 0 : SROCE_FAULT_AHEAD,
				SROCE_RECV_LKEY_REFUSED);
}

/* Page in the memory for the rest of the message. */
static noinline enum sroce_resp_error
absent_write(struct sroce_qp *qp, const struct sroce_request *req, u32 length)
{
	SROCE_REMOTE_SGL(to, qp, req->va, length, req->rkey,
			 req->rights);

	return sroce_rq_page_in(qp, &to, 0, length, 0, SROCE_RKEY_REFUSED);
}

static enum sroce_resp_error store_write(struct sroce_qp *qp, const struct sroce_rx *rx,
					 const struct sroce_request *req)
{
	u32 length = req->begins ? rx->pkt.dma_len : qp->rq.resp.left;
	struct sroce_mr *mr;
	int err;

	SROCE_REMOTE_SGL(to, qp, req->va, rx->pkt.payload, req->rkey,
			 req->rights);

	/*
	 * Check the bounds of the whole message before its first byte is
	 * stored.
	 */
	if (req->begins && length > rx->pkt.payload) {
		mr = sroce_mr_get(qp->rq.pd, qp->qpn, req->rkey, req->va,
				  length, req->rights);
		if (!mr)
			return SROCE_RKEY_REFUSED;
		sroce_mr_cache_set(&qp->rq.cache, mr);
	}
	err = sroce_sgl_store_packet(&qp->rq.cache, &to, 0, rx->payload,
				     rx->pkt.payload);
	if (likely(!err))
		return SROCE_NO_ERROR;
	if (err == -ENODATA)
		return SROCE_PACKET_TOO_SHORT;
	return err == -EAGAIN ? absent_write(qp, req, length) :
				SROCE_RKEY_REFUSED;
}

static enum sroce_resp_error invalidate_asked(struct sroce_qp *qp, u32 key)
{
	sroce_mr_cache_drop(&qp->rq.cache);
	return sroce_invalidate(qp->rq.pd, qp->qpn, key, true) ?
	       SROCE_INVALIDATE_REFUSED : SROCE_NO_ERROR;
}

static enum sroce_resp_error accept_read(struct sroce_qp *qp,
					 const struct sroce_request *req, u32 length)
{
	struct sroce_mr *mr;

	if (!length)
		return SROCE_NO_ERROR;
	mr = sroce_mr_get(qp->rq.pd, qp->qpn, req->rkey, req->va, length,
			  req->rights);
	if (!mr)
		return SROCE_RKEY_REFUSED;
	sroce_mr_cache_set(&qp->rq.cache, mr);
	return SROCE_NO_ERROR;
}

static enum sroce_resp_error execute_atomic(struct sroce_qp *qp, const struct sroce_rx *rx,
					    const struct sroce_request *req,
					    u64 *original)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	bool swap = pkt->op->operation == SROCE_OP_CMP_SWP;
	int err;

	SROCE_REMOTE_SGL(on, qp, req->va, sizeof(u64), req->rkey,
			 req->rights);

	err = sroce_sgl_atomic(&qp->rq.cache, &on, swap ? &pkt->compare : NULL,
			       pkt->swap_add, original);
	if (err == -EAGAIN)
		return sroce_rq_page_in(qp, &on, 0, sizeof(u64), 0,
					SROCE_RKEY_REFUSED);
	return err ? SROCE_RKEY_REFUSED : SROCE_NO_ERROR;
}

/* Annex A19: readers see all 8 bytes or none, and all earlier writes first. */
static enum sroce_resp_error execute_atomic_write(struct sroce_qp *qp,
						  const struct sroce_rx *rx,
						  const struct sroce_request *req)
{
	u64 value;
	int err;

	SROCE_REMOTE_SGL(to, qp, req->va, sizeof(u64), req->rkey,
			 req->rights);

	if (!sroce_reader_copy(rx->payload, &value, sizeof(value)))
		return SROCE_PACKET_TOO_SHORT;
	err = sroce_sgl_store_word(&qp->rq.cache, &to, value);
	if (err == -EAGAIN)
		return sroce_rq_page_in(qp, &to, 0, sizeof(u64), 0,
					SROCE_RKEY_REFUSED);
	return err ? SROCE_RKEY_REFUSED : SROCE_NO_ERROR;
}

/*
 * CPUs have stored everything that this peer wrote, so it is visible once the stores are
 * done.  It is persistent once their cache lines are written back.
 */
static enum sroce_resp_error execute_flush(struct sroce_qp *qp,
					   const struct sroce_pkt *pkt,
					   const struct sroce_request *req)
{
	enum sroce_resp_error reason = SROCE_NO_ERROR;
	bool whole = pkt->flush_level == SROCE_FLUSH_REGION;
	u64 addr, length;
	struct sroce_mr *mr;

	if (whole)
		mr = sroce_mr_get_whole(qp->rq.pd, qp->qpn, pkt->rkey, req->rights);
	else
		mr = sroce_mr_get(qp->rq.pd, qp->qpn, pkt->rkey, pkt->va,
				  pkt->dma_len, req->rights);
	if (!mr)
		return SROCE_RKEY_REFUSED;
	addr = whole ? mr->iova : pkt->va;
	length = whole ? mr->length : pkt->dma_len;
	sroce_mr_put(mr);
	if (req->rights & IB_ACCESS_FLUSH_PERSISTENT)
		reason = sroce_write_back(qp, pkt, addr, length);
	/* Includes memory that is mapped for a device; see mem/mr_dmabuf.c. */
	wmb();
	return reason;
}

/* Once for each message; the other kinds have no counter. */
static void count_request(struct sroce_qp *qp, enum sroce_kind kind)
{
	static const u8 counters[SROCE_KIND_RESPONSES] = {
		[SROCE_KIND_WRITE] = SROCE_RX_WRITE_REQUESTS,
		[SROCE_KIND_READ] = SROCE_RX_READ_REQUESTS,
		[SROCE_KIND_ATOMIC] = SROCE_RX_ATOMIC_REQUESTS,
		[SROCE_KIND_ATOMIC_WRITE] = SROCE_RX_ATOMIC_REQUESTS,
	};

	if (counters[kind])
		sroce_count(qp, counters[kind]);
}

enum sroce_resp_error sroce_resp_execute(struct sroce_qp *qp, const struct sroce_rx *rx,
					 const struct sroce_request *req, u64 *original)
{
	enum sroce_resp_error reason = SROCE_NO_ERROR;

	lockdep_assert_held(&qp->rq.lock);
	switch (rx->pkt.op->kind) {
	case SROCE_KIND_SEND:
		if (rx->pkt.payload)
			reason = store_send(qp, rx, req);
		if (!reason && rx->pkt.op->headers & SROCE_IETH)
			reason = invalidate_asked(qp, rx->pkt.rkey);
		break;
	case SROCE_KIND_WRITE:
		if (rx->pkt.payload)
			reason = store_write(qp, rx, req);
		break;
	case SROCE_KIND_READ:
		reason = accept_read(qp, req, rx->pkt.dma_len);
		break;
	case SROCE_KIND_ATOMIC:
		reason = execute_atomic(qp, rx, req, original);
		break;
	case SROCE_KIND_ATOMIC_WRITE:
		reason = execute_atomic_write(qp, rx, req);
		break;
	case SROCE_KIND_FLUSH:
		reason = execute_flush(qp, &rx->pkt, req);
		break;
	default:
		break;
	}
	if (req->begins && !reason)
		count_request(qp, rx->pkt.op->kind);
	return reason;
}
