// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The answering half of a QP: core/responder.c judges, this executes, and
 * acknowledges once per burst.
 */
#include "core/aeth.h"
#include "core/errors.h"
#include "datagram.h"
#include "fastreg.h"
#include "fetch.h"
#include "receive.h"
#include "trace.h"
#include "srq.h"
#include "tx.h"
#include "worker.h"
#include "xrc.h"

#define FLUSH_BUDGET	256
/*
 * Bursts of READ data sent at a time: about as many packets as a CPU's backlog
 * takes (net.core.netdev_max_backlog, 1000) should a device split them.  The
 * rest is the agenda's or the work item's.
 */
#define ANSWER_BUDGET	16

/* IBV_WC_RECV, IBV_WC_RECV_RDMA_WITH_IMM */
#define WC_RECV			128
#define WC_RECV_RDMA_WITH_IMM	129

static bool active(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTR || qp->state == IB_QPS_RTS ||
	       qp->state == IB_QPS_SQD || qp->state == IB_QPS_SQE;
}

/* Of XRC: its SRQ, CQ and protection domain are those that a request names. */
static bool is_target(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_XRC_TGT;
}

/* Completions */

void sroce_receive_complete(struct sroce_qp *qp, struct sroce_cqe *cqe)
{
	cqe->wr_id = qp->rq.wqe->wr_id;
	cqe->qp_num = qp->qpn;
	if (!cqe->opcode)
		cqe->opcode = WC_RECV;
	cqe->cookie = qp->user ? 0 : (uintptr_t)qp->ib;
	trace_sroce_complete(qp, cqe);
	if (!sroce_cq_push(qp->rq.cq, cqe))
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
}

void sroce_receive_fail(struct sroce_qp *qp, u8 status)
{
	struct sroce_cqe cqe = { .status = status };

	sroce_receive_complete(qp, &cqe);
	sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FLUSH);
}

static void complete_message(struct sroce_qp *qp, const struct sroce_rx *rx,
			     const struct sroce_request *req)
{
	const struct sroce_pkt *pkt = &rx->pkt;
	bool write = pkt->op->kind == SROCE_KIND_WRITE;
	struct sroce_cqe cqe = {
		.opcode = write ? WC_RECV_RDMA_WITH_IMM : WC_RECV,
		.byte_len = req->offset + pkt->payload,
		.src_qp = qp->dest_qpn,
	};

	if (pkt->op->headers & SROCE_IMMDT) {
		cqe.imm_data = pkt->imm;
		cqe.flags |= SROCE_CQE_WITH_IMM;
	}
	if (pkt->op->headers & SROCE_IETH) {
		cqe.invalidated_rkey = pkt->rkey;
		cqe.flags |= SROCE_CQE_WITH_INV;
	}
	if (pkt->solicited)
		cqe.flags |= SROCE_CQE_SOLICITED;
	sroce_receive_complete(qp, &cqe);
}

enum sroce_fetched sroce_receive_take(struct sroce_qp *qp)
{
	enum sroce_fetched fetched;
	unsigned long todo = 0;

	lockdep_assert_held(&qp->rq.lock);
	if (!qp->srq)
		return sroce_fetch_recv(qp->dev, &qp->rq.ring, qp->rq.wqe);
	fetched = sroce_srq_take(qp->srq, qp->rq.wqe, &todo);
	qp->rq.taken_from = qp->srq->serial;
	if (todo && is_target(qp))
		sroce_srq_raise_due(qp->srq, todo);
	else if (todo)
		sroce_worker_wake(qp, todo);
	return fetched;
}

/* Can the request in rq.wqe be completed, or is its SRQ gone? */
static bool recall(struct sroce_qp *qp)
{
	return !is_target(qp) || sroce_xrc_recall(qp);
}

/* What has been taken, and with an SRQ no more will be. */
static void flush_taken(struct sroce_qp *qp)
{
	struct sroce_cqe cqe = { .status = SROCE_WR_FLUSH_ERR };

	if ((qp->rq.resp.taken || qp->rq.wqe_taken) && recall(qp))
		sroce_receive_complete(qp, &cqe);
	qp->rq.resp.taken = false;
	qp->rq.wqe_taken = false;
	if (qp->srq && !is_target(qp) && !qp->rq.last_told) {
		qp->rq.last_told = true;
		sroce_worker_wake(qp, BIT(SROCE_TODO_LAST_RECV));
	}
}

bool sroce_receive_flush(struct sroce_qp *qp)
{
	u32 budget = FLUSH_BUDGET;

	if (qp->state != IB_QPS_ERR)
		return false;
	flush_taken(qp);
	if (!qp->rq.ring.entries)
		return false;
	sroce_ring_error(qp->slot);
	for (; budget; budget--) {
		struct sroce_cqe one = { .status = SROCE_WR_FLUSH_ERR };
		enum sroce_fetched fetched = sroce_receive_take(qp);

		if (fetched == SROCE_FETCHED_NONE ||
		    fetched == SROCE_FETCHED_BROKEN)
			return false;
		sroce_receive_complete(qp, &one);
	}
	return true;
}

void sroce_receive_reset(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;

	qp->rq.ring.head = 0;
	qp->rq.ack = false;
	qp->rq.syndrome = 0;
	qp->rq.ring.broken = false;
	qp->rq.last_told = false;
	qp->rq.wqe_taken = false;
	r->kind = SROCE_KIND_NONE;
	r->taken = false;
	r->naked = false;
	r->msn = 0;
	r->done = 0;
	r->log.first = 0;
	r->log.count = 0;
	r->log.waiting = 0;
	r->log.settled = 0;
	sroce_store(&qp->slot->rq_head, 0);
}

/* Refusing */

static void count_nak(struct sroce_qp *qp, u8 syndrome)
{
	switch (syndrome) {
	case SROCE_NAK_SEQUENCE:
		sroce_count(qp, SROCE_TX_NAK_SEQUENCE);
		break;
	case SROCE_NAK_INVALID_REQ:
		sroce_count(qp, SROCE_TX_NAK_INVALID);
		break;
	case SROCE_NAK_REM_ACCESS:
		sroce_count(qp, SROCE_TX_NAK_ACCESS);
		break;
	case SROCE_NAK_REM_OP:
		sroce_count(qp, SROCE_TX_NAK_OPERATION);
		break;
	default:
		sroce_count(qp, SROCE_TX_NAK_RNR);
	}
}

static void nak(struct sroce_qp *qp, u8 syndrome)
{
	qp->rq.syndrome = syndrome;
	qp->rq.nak_psn = qp->rq.resp.epsn;
	count_nak(qp, syndrome);
}

static enum sroce_todo failure_event(const struct sroce_failure *failure)
{
	switch (failure->event) {
	case SROCE_EVENT_REQ_ERR:
		return SROCE_TODO_REQ_ERR;
	case SROCE_EVENT_ACCESS_ERR:
		return SROCE_TODO_ACCESS_ERR;
	default:
		return SROCE_TODO_FATAL;
	}
}

static void refuse(struct sroce_qp *qp, enum sroce_reason reason)
{
	const struct sroce_failure *failure = &sroce_failures[reason];
	struct sroce_responder *r = &qp->rq.resp;
	struct sroce_cqe cqe = {
		.status = failure->status,
		.vendor_err = reason,
	};

	if (!sroce_responder_reliable(r) && !failure->local) {
		r->kind = SROCE_KIND_NONE;
		sroce_count(qp, SROCE_RX_IGNORED);
		return;
	}
	if (sroce_responder_reliable(r))
		nak(qp, failure->syndrome);
	if (!r->taken || !recall(qp)) {
		r->taken = false;
		sroce_qp_error(qp, IB_QPS_ERR, failure_event(failure));
		return;
	}
	r->taken = false;
	sroce_receive_complete(qp, &cqe);
	sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FLUSH);
}

/* Executing */

struct sroce_memory sroce_receive_buffer(const struct sroce_qp *qp)
{
	return (struct sroce_memory) {
		/* Whose keys they are was settled where they were posted. */
		.pd = qp->srq ? qp->srq->ib.pd : qp->pd,
		.sge = qp->rq.wqe->sge,
		.num_sge = qp->rq.wqe->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
}

/* Something is not present: nobody is to blame if it will be. */
static enum sroce_reason absent(struct sroce_qp *qp,
				const struct sroce_memory *memory, u32 at,
				u32 len, enum sroce_reason refused)
{
	return sroce_fault_start(&qp->rq.fault, memory, at, len) ?
	       refused : SROCE_PAGED_OUT;
}

static enum sroce_reason store_send(struct sroce_qp *qp,
				    struct sroce_grip *grip,
				    const struct sroce_rx *rx,
				    const struct sroce_request *req)
{
	const struct sroce_memory to = sroce_receive_buffer(qp);
	int err;

	err = sroce_store_packet(grip, &to, req->offset, rx->payload,
				 rx->pkt.payload);
	if (likely(!err))
		return SROCE_NO_REASON;
	if (err == -EMSGSIZE)
		return SROCE_RECV_TOO_SMALL;
	if (err != -EAGAIN)
		return SROCE_RECV_LKEY_REFUSED;
	return absent(qp, &to, req->offset,
		      req->completes ? rx->pkt.payload : SROCE_FAULT_AHEAD,
		      SROCE_RECV_LKEY_REFUSED);
}

/* The remote memory that a request names, as a list of one piece. */
#define REMOTE_MEMORY(name, qp, address, bytes, key, rights)		\
	const struct sroce_sge name##_sge = {				\
		.addr = (address), .length = (bytes), .lkey = (key),	\
	};								\
	const struct sroce_memory name = {				\
		.pd = (qp)->rq.pd, .qpn = (qp)->qpn,			\
		.sge = &name##_sge, .num_sge = 1,			\
		.access = (rights),					\
	}

/* Page in what the message has still to bring. */
static noinline enum sroce_reason
absent_write(struct sroce_qp *qp, const struct sroce_request *req, u32 length)
{
	REMOTE_MEMORY(to, qp, req->va, length, req->rkey,
		      IB_ACCESS_REMOTE_WRITE);

	return absent(qp, &to, 0, length, SROCE_RKEY_REFUSED);
}

static enum sroce_reason store_write(struct sroce_qp *qp,
				     struct sroce_grip *grip,
				     const struct sroce_rx *rx,
				     const struct sroce_request *req)
{
	u32 length = req->begins ? rx->pkt.dma_len : qp->rq.resp.left;
	struct sroce_mr *mr;
	int err;

	REMOTE_MEMORY(to, qp, req->va, rx->pkt.payload, req->rkey,
		      IB_ACCESS_REMOTE_WRITE);

	/* The bounds of the whole message, before its first byte. */
	if (req->begins && length > rx->pkt.payload) {
		mr = sroce_mr_get(qp->rq.pd, qp->qpn, req->rkey, req->va,
				  length, IB_ACCESS_REMOTE_WRITE);
		if (!mr)
			return SROCE_RKEY_REFUSED;
		sroce_grip_hold(grip, mr);
	}
	err = sroce_store_packet(grip, &to, 0, rx->payload,
				 rx->pkt.payload);
	if (likely(!err))
		return SROCE_NO_REASON;
	return err == -EAGAIN ? absent_write(qp, req, length) :
				SROCE_RKEY_REFUSED;
}

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

	REMOTE_MEMORY(on, qp, req->va, sizeof(u64), req->rkey,
		      IB_ACCESS_REMOTE_ATOMIC);

	err = sroce_atomic(grip, &on, swap ? &pkt->compare : NULL,
			   pkt->swap_add, original);
	if (err == -EAGAIN)
		return absent(qp, &on, 0, sizeof(u64), SROCE_RKEY_REFUSED);
	return err ? SROCE_RKEY_REFUSED : SROCE_NO_REASON;
}

static enum sroce_reason invalidate(struct sroce_qp *qp, u32 key)
{
	sroce_grip_drop(&qp->rq.grip);
	return sroce_invalidate(qp->rq.pd, qp->qpn, key, true) ?
	       SROCE_INVALIDATE_REFUSED : SROCE_NO_REASON;
}

static enum sroce_reason move(struct sroce_qp *qp, const struct sroce_rx *rx,
			      const struct sroce_request *req, u64 *original)
{
	struct sroce_grip *grip = &qp->rq.grip;
	enum sroce_reason reason = SROCE_NO_REASON;

	switch (rx->pkt.op->kind) {
	case SROCE_KIND_SEND:
		if (rx->pkt.payload)
			reason = store_send(qp, grip, rx, req);
		if (!reason && rx->pkt.op->headers & SROCE_IETH)
			reason = invalidate(qp, rx->pkt.rkey);
		break;
	case SROCE_KIND_WRITE:
		if (rx->pkt.payload)
			reason = store_write(qp, grip, rx, req);
		break;
	case SROCE_KIND_READ:
		reason = check_read(qp, grip, req, rx->pkt.dma_len);
		break;
	case SROCE_KIND_ATOMIC:
		reason = do_atomic(qp, grip, rx, req, original);
		break;
	}
	return reason;
}

/* The peer may come back later (RC), or this is lost. */
static void put_off(struct sroce_qp *qp, enum sroce_counter why)
{
	struct sroce_responder *r = &qp->rq.resp;

	if (sroce_responder_reliable(r)) {
		nak(qp, SROCE_RNR_NAK | qp->rq.min_rnr_timer);
		sroce_responder_not_ready(r);
	} else {
		r->kind = SROCE_KIND_NONE;
		sroce_count(qp, why);
	}
}

/* Returns false if there is no receive request to go on with. */
static bool take(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;

	switch (sroce_receive_take(qp)) {
	case SROCE_FETCHED:
		return true;
	case SROCE_FETCHED_BAD:
		r->taken = true;
		fallthrough;
	case SROCE_FETCHED_BROKEN:
		refuse(qp, SROCE_BAD_RQE);
		return false;
	default:
		break;
	}
	put_off(qp, SROCE_RX_NO_RECEIVE);
	return false;
}

/* XRC: even a request that receives nothing has to name one. */
static bool find_srq(struct sroce_qp *qp, const struct sroce_pkt *pkt)
{
	return qp->rq.resp.taken ? sroce_xrc_recall(qp) :
				   sroce_xrc_aim(qp, pkt->srqn);
}

static void execute(struct sroce_qp *qp, const struct sroce_rx *rx,
		    const struct sroce_request *req)
{
	struct sroce_responder *r = &qp->rq.resp;
	enum sroce_reason reason;
	u64 original = 0;

	if (is_target(qp) && !find_srq(qp, &rx->pkt)) {
		refuse(qp, SROCE_NO_SRQ);
		return;
	}
	if (req->take) {
		if (!take(qp))
			return;
		r->taken = true;
		/* Also if this packet, the only one, is refused. */
		r->srqn = rx->pkt.srqn;
	}
	reason = move(qp, rx, req, &original);
	if (unlikely(reason)) {
		if (reason == SROCE_PAGED_OUT)
			put_off(qp, SROCE_RX_PAGED_OUT);
		else
			refuse(qp, reason);
		return;
	}
	if (req->receives)
		complete_message(qp, rx, req);
	sroce_responder_done(r, &rx->pkt, req, original);
	/* READs and atomics are answered by their data. */
	if (rx->pkt.ack_req && rx->pkt.op->kind < SROCE_KIND_READ)
		qp->rq.ack = true;
}

static void judge(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_request req;

	switch (sroce_responder_check(&qp->rq.resp, &rx->pkt, &req)) {
	case SROCE_EXECUTE:
		execute(qp, rx, &req);
		break;
	case SROCE_ACK_AGAIN:
		sroce_count(qp, SROCE_RX_DUPLICATES);
		qp->rq.ack = true;
		break;
	case SROCE_ANSWER_AGAIN:
		sroce_count(qp, SROCE_RX_DUPLICATES);
		break;
	case SROCE_REPORT_GAP:
		sroce_count(qp, SROCE_RX_OUT_OF_SEQUENCE);
		nak(qp, SROCE_NAK_SEQUENCE);
		break;
	case SROCE_REFUSE:
		refuse(qp, req.reason);
		break;
	default:
		sroce_count(qp, SROCE_RX_IGNORED);
	}
}

void sroce_receive_request(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	lockdep_assert_held(&qp->rq.lock);
	if (!active(qp)) {
		sroce_count(qp, SROCE_RX_BAD_STATE);
		return;
	}
	if (!qp->seen) {
		qp->seen = true;
		if (qp->state == IB_QPS_RTR && sroce_qp_connected(qp))
			sroce_worker_wake(qp, BIT(SROCE_TODO_ESTABLISHED));
	}
	if (sroce_qp_connected(qp))
		judge(qp, rx);
	else
		sroce_datagram_receive(qp, rx);
}

static int store_predicted(struct sroce_qp *qp, struct sroce_reader *payload,
			   u32 len)
{
	const struct sroce_responder *r = &qp->rq.resp;
	struct sroce_grip *grip = &qp->rq.grip;
	struct sroce_memory buffer;
	void *p;

	REMOTE_MEMORY(to, qp, r->va, len, r->rkey, IB_ACCESS_REMOTE_WRITE);

	if (r->kind == SROCE_KIND_SEND) {
		buffer = sroce_receive_buffer(qp);
		return sroce_store_packet(grip, &buffer, r->done, payload, len);
	}
	p = sroce_grip_peek(grip, r->rkey, to.access, r->va, len);
	if (p)
		return sroce_reader_copy(payload, p, len) ? 0 : -EFAULT;
	return sroce_store_packet(grip, &to, 0, payload, len);
}

bool sroce_receive_predicted(struct sroce_qp *qp, const u8 *bth,
			     struct sroce_reader *payload, u32 len)
{
	struct sroce_responder *r = &qp->rq.resp;

	lockdep_assert_held(&qp->rq.lock);
	if (!active(qp) || !sroce_responder_predicts(r, bth, len) ||
	    !recall(qp) || store_predicted(qp, payload, len))
		return false;
	sroce_responder_advance(r, len);
	if (bth[8] & SROCE_BTH_ACKREQ)
		qp->rq.ack = true;
	return true;
}

/* Answering */

static struct sroce_pkt blank(const struct sroce_qp *qp)
{
	return (struct sroce_pkt) {
		.qpn = qp->dest_qpn,
		.pkey = READ_ONCE(*qp->pkey),
	};
}

/* A peer may not make us read what its key does not allow any more. */
static int add_data(struct sroce_qp *qp, struct sroce_burst *burst,
		    const struct sroce_read *read, struct sroce_pkt *pkt,
		    u32 offset, u32 *count)
{
	int err;

	REMOTE_MEMORY(from, qp, read->va, read->length, read->rkey,
		      IB_ACCESS_REMOTE_READ);

	if (!pkt->payload)
		return sroce_burst_add(burst, pkt, NULL, 0, NULL, true);
	err = sroce_burst_add(burst, pkt, &from, offset, NULL, read->again);
	if (!err)
		*count += sroce_burst_repeat(burst, pkt, sroce_rdlog_more(read),
					     &from, offset + pkt->payload);
	return err;
}

static int fill_answer(struct sroce_qp *qp, struct sroce_burst *burst,
		       struct sroce_read *read)
{
	struct sroce_rdlog *log = &qp->rq.resp.log;
	struct sroce_pkt pkt = blank(qp);
	int err;

	while (read->next != read->end) {
		u32 offset = sroce_rdlog_answer(log, read, &pkt);
		u32 count = 1;

		if (!sroce_burst_fits(burst, &pkt))
			break;
		err = add_data(qp, burst, read, &pkt, offset, &count);
		/* First what there is. */
		if (err == -EAGAIN && burst->head)
			break;
		/* Without a route it is lost like on any other host. */
		if (err && err != -ENETUNREACH)
			return err;
		sroce_rdlog_sent(log, read, count);
	}
	return 0;
}

static void pause(struct sroce_qp *qp)
{
	hrtimer_start(&qp->rq.pause, ns_to_ktime(SROCE_PAUSE_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

/* Returns EAGAIN if the answer goes on when its memory is present. */
static int page_in(struct sroce_qp *qp, const struct sroce_read *read)
{
	u32 at = read->next * qp->rq.resp.mtu;

	REMOTE_MEMORY(from, qp, read->va, read->length, read->rkey,
		      IB_ACCESS_REMOTE_READ);

	return sroce_fault_start(&qp->rq.fault, &from, at, read->length - at) ?:
	       -EAGAIN;
}

/*
 * One burst of the answer to one request, so that a burst that our own queue
 * refuses can be made again.  Returns false if the rest has to wait.
 */
static bool answer_read(struct sroce_qp *qp, struct sroce_read *read)
{
	struct sroce_rdlog *log = &qp->rq.resp.log;
	struct sroce_burst burst;
	u32 first = read->next;
	u32 waiting = log->waiting;
	int err;

	if (!sroce_tx_ready(qp) && sroce_tx_wait(qp))
		return false;
	sroce_burst_begin(&burst, qp, qp->av, &qp->rq.path);
	err = -EFAULT;
	if (!is_target(qp) || sroce_xrc_aim(qp, read->srqn))
		err = fill_answer(qp, &burst, read);
	if (err == -EAGAIN)
		err = page_in(qp, read);
	if (err == -EAGAIN) {
		sroce_burst_drop(&burst);
		return false;
	}
	if (err == -EFAULT || err == -EMSGSIZE) {
		sroce_burst_drop(&burst);
		log->waiting = 0;
		refuse(qp, SROCE_RKEY_REFUSED);
		/* About the first packet that the peer will miss. */
		qp->rq.nak_psn = sroce_psn_add(read->psn, first);
		return true;
	}
	if (err)
		sroce_burst_drop(&burst);
	if ((err || sroce_burst_send(&burst)) &&
	    qp->rq.pauses < SROCE_MAX_PAUSES) {
		qp->rq.pauses++;
		read->next = first;
		log->waiting = waiting;
		pause(qp);
		return false;
	}
	qp->rq.pauses = 0;
	return true;
}

enum hrtimer_restart sroce_receive_paused(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, rq.pause);

	sroce_receive_lock(qp);
	sroce_receive_answer(qp);
	sroce_receive_unlock(qp);
	return HRTIMER_NORESTART;
}

static void acknowledge(struct sroce_qp *qp)
{
	struct sroce_responder *r = &qp->rq.resp;
	struct sroce_pkt pkt = blank(qp);
	u8 syndrome = qp->rq.syndrome;
	struct sroce_burst burst;

	/* A gap or shortage that is over by now is not worth a word. */
	if (syndrome && syndrome <= SROCE_NAK_SEQUENCE && !r->naked)
		syndrome = 0;
	pkt.opcode = r->transport | SROCE_ACKNOWLEDGE;
	pkt.syndrome = syndrome ?: SROCE_ACK_CREDITS_INVALID;
	/* A NAK names the packet it is about, an ACK the last one done. */
	pkt.psn = syndrome ? qp->rq.nak_psn : sroce_psn_add(r->epsn, -1);
	pkt.msn = r->msn;
	sroce_burst_begin(&burst, qp, qp->av, &qp->rq.path);
	if (sroce_burst_add(&burst, &pkt, NULL, 0, NULL, true) == -ENOMEM) {
		pause(qp);
		return;
	}
	qp->rq.ack = false;
	qp->rq.syndrome = 0;
	sroce_burst_send(&burst);
	sroce_count(qp, SROCE_TX_ACKS);
}

void sroce_receive_answer(struct sroce_qp *qp)
{
	u32 budget = ANSWER_BUDGET;
	struct sroce_read *read;

	lockdep_assert_held(&qp->rq.lock);
	if (!sroce_qp_reliable(qp))
		return;
	/* A QP that has just failed still owes what it has executed. */
	if (!active(qp) && !qp->rq.syndrome)
		return;
	if (!qp->rq.ack && !qp->rq.syndrome && !qp->rq.resp.log.waiting)
		return;
	if (sroce_tx_in_order(qp, &qp->rq.cpu) != SROCE_ORDER_KEPT)
		return;
	while ((read = sroce_rdlog_pending(&qp->rq.resp.log))) {
		if (!budget--) {
			sroce_worker_wake(qp, BIT(SROCE_TODO_ANSWER));
			return;
		}
		if (!answer_read(qp, read))
			return;
	}
	if ((qp->rq.ack || qp->rq.syndrome) && qp->av)
		acknowledge(qp);
}
