// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The sending half of connected QPs: asks core/requester.c what to send and
 * core/completer.c what the answers mean, and does it.
 */
#include "core/aeth.h"
#include "core/completer.h"
#include "datagram.h"
#include "fastreg.h"
#include "fetch.h"
#include "mw.h"
#include "send.h"
#include "trace.h"
#include "tx.h"
#include "worker.h"

/* Local operations before the rest is left to the work item. */
#define LOCAL_BUDGET	256
/* Requests flushed between two looks at the clock. */
#define FLUSH_BUDGET	256
/*
 * With so many packets unacknowledged an answer is sure to come soon, and it
 * makes us look at the ring: no kick is needed.
 */
#define BUSY_PACKETS	32
/* In a stream of bursts each so many packets ask for an acknowledgment. */
#define ASK_PACKETS	128
/*
 * A request is held back so many times until all memory for its answer is
 * present: once to page it in, once more to know if that could be done.  After
 * that others keep taking it away, and the answer may find some of it.
 */
#define MOST_WAITS	2
/* So many kicks in a row without polling are a stream of posts, */
#define STREAM_KICKS	4
/* or so many requests and completions that the process leaves lying. */
#define STREAM_REQUESTS	4
/* Of a stream so many are gathered, */
#define GATHER_POSTS	32
/* or for this long, */
#define GATHER_NS	(30 * NSEC_PER_USEC)
/* again and again until that has brought fewer than so many so many times. */
#define IDLE_GATHERS	16
#define GATHER_WORTH	3
/* With a rate limit: delay that is made up for. */
#define PACE_SLACK_NS	(10 * NSEC_PER_MSEC)

static bool active(const struct sroce_qp *qp)
{
	return qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD;
}

/* Timer */

/*
 * The timer is left running when its deadline moves away, and looks at the
 * deadline when it fires: progress costs a store, not a timer operation.
 */
static void arm(struct sroce_qp *qp, u64 ns)
{
	struct sroce_sendq *sq = &qp->sq;

	sq->deadline = ktime_add_ns(ktime_get(), ns);
	sq->armed = true;
	if (sq->timer_runs &&
	    ktime_compare(hrtimer_get_expires(&sq->timer), sq->deadline) <= 0)
		return;
	sq->timer_runs = true;
	hrtimer_start(&sq->timer, sq->deadline, HRTIMER_MODE_ABS_PINNED_SOFT);
}

static void arm_retry(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	if (sq->timeout && sroce_requester_waits(&sq->req))
		arm(qp, sq->timeout);
	else
		sq->armed = false;
}

static void rewind_or_fail(struct sroce_qp *qp, bool may, u8 status)
{
	if (!may) {
		sroce_send_fail(qp, status);
		return;
	}
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	trace_sroce_retransmit(qp, qp->sq.req.una, qp->sq.req.retry_left);
}

static void retry(struct sroce_qp *qp)
{
	rewind_or_fail(qp, sroce_completer_retry(&qp->sq.req),
		       SROCE_RETRY_EXC_ERR);
}

static void expired(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	sq->armed = false;
	if (!active(qp))
		return;
	/* Who waits for memory of this host has no reason to blame the peer. */
	if (!sq->paused && !sq->req.rnr_wait && !sq->refetch &&
	    !sroce_fault_busy(&sq->fault) && sroce_requester_waits(&sq->req)) {
		sroce_count(qp, SROCE_TX_TIMEOUTS);
		retry(qp);
	}
	/* One deadline serves both: the later of two pauses has set it. */
	sq->paused = false;
	sq->req.rnr_wait = false;
	sroce_send_run(qp);
}

enum hrtimer_restart sroce_send_timeout(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, sq.timer);
	struct sroce_sendq *sq = &qp->sq;

	sroce_send_lock(qp);
	sq->timer_runs = false;
	if (sq->armed) {
		if (ktime_compare(ktime_get(), sq->deadline) >= 0) {
			expired(qp);
		} else {
			sq->timer_runs = true;
			hrtimer_start(timer, sq->deadline,
				      HRTIMER_MODE_ABS_PINNED_SOFT);
		}
	}
	sroce_send_unlock(qp);
	return HRTIMER_NORESTART;
}

/* Completions */

static u8 completion_opcode(u8 op)
{
	static const u8 opcodes[SROCE_OPS] = {
		[SROCE_OP_WRITE] = 1,		/* IBV_WC_RDMA_WRITE */
		[SROCE_OP_WRITE_IMM] = 1,
		[SROCE_OP_SEND] = 0,		/* IBV_WC_SEND */
		[SROCE_OP_SEND_IMM] = 0,
		[SROCE_OP_SEND_INV] = 0,
		[SROCE_OP_READ] = 2,		/* IBV_WC_RDMA_READ */
		[SROCE_OP_CMP_SWP] = 3,		/* IBV_WC_COMP_SWAP */
		[SROCE_OP_FETCH_ADD] = 4,	/* IBV_WC_FETCH_ADD */
		[SROCE_OP_BIND_MW] = 5,		/* IBV_WC_BIND_MW */
		[SROCE_OP_LOCAL_INV] = 6,	/* IBV_WC_LOCAL_INV */
		[SROCE_OP_REG_MR] = IB_WC_REG_MR,
	};

	return op < SROCE_OPS ? opcodes[op] : 0;
}

static void push(struct sroce_qp *qp, const struct sroce_wr *wr, u8 status)
{
	struct sroce_cqe cqe = {
		.wr_id = wr->wr_id,
		.byte_len = wr->length,
		.qp_num = qp->qpn,
		.status = status,
		.opcode = completion_opcode(wr->opcode),
		.cookie = qp->user ? 0 : (uintptr_t)qp->ib,
	};

	trace_sroce_complete(qp, &cqe);
	if (!sroce_cq_push(qp->sq.cq, &cqe))
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
}

void sroce_send_complete(struct sroce_qp *qp, u8 status)
{
	struct sroce_requester *req = &qp->sq.req;
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.head);
	bool tell = status || wr->flags & SROCE_SIGNALED || qp->sq.signal_all;

	/* The place is free before the process can learn of the completion. */
	sroce_store_release(&qp->slot->sq_head, req->in.head + 1);
	if (tell)
		push(qp, wr, status);
	sroce_requester_retire(req);
}

/* It may wait for others to drop their grips, see execute(). */
static u8 invalidate(struct sroce_qp *qp, const struct sroce_wr *wr)
{
	sroce_grip_drop(&qp->sq.grip);
	return sroce_invalidate(qp->pd, qp->qpn, wr->invalidate, false);
}

static void complete_finished(struct sroce_qp *qp)
{
	const struct sroce_inflight *in = &qp->sq.req.in;

	while (active(qp) && sroce_requester_finished(&qp->sq.req)) {
		const struct sroce_wr *wr = sroce_inflight_wr(in, in->head);
		u8 status = 0;

		if (unlikely(wr->flags & SROCE_INVALIDATE))
			status = invalidate(qp, wr);
		if (unlikely(status))
			sroce_send_fail(qp, status);
		else
			sroce_send_complete(qp, SROCE_SUCCESS);
	}
}

void sroce_send_fail(struct sroce_qp *qp, u8 status)
{
	u8 state = sroce_qp_reliable(qp) ? IB_QPS_ERR : IB_QPS_SQE;

	if (qp->sq.req.in.head != qp->sq.req.in.tail)
		sroce_send_complete(qp, status);
	sroce_qp_error(qp, state, SROCE_TODO_FLUSH);
}

bool sroce_send_flush(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	u32 budget = FLUSH_BUDGET;

	if (qp->state != IB_QPS_ERR && qp->state != IB_QPS_SQE)
		return false;
	qp->sq.armed = false;
	if (!in->wrs)
		return false;
	if (qp->state == IB_QPS_ERR)
		sroce_ring_error(qp->slot);
	else
		sroce_ring_idle(qp->slot);
	sroce_fetch_send(qp);
	while (in->head != in->tail && budget) {
		sroce_send_complete(qp, SROCE_WR_FLUSH_ERR);
		budget--;
	}
	return !budget;
}

void sroce_send_reset(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;

	req->in.head = 0;
	req->in.next = 0;
	req->in.tail = 0;
	req->packet = 0;
	req->reads = 0;
	req->read_packets = 0;
	req->rnr_wait = false;
	req->rnr_waits = 0;
	req->rewound = false;
	req->hold = false;
	qp->sq.armed = false;
	qp->sq.paused = false;
	qp->sq.pauses = 0;
	qp->sq.unasked = 0;
	qp->sq.unpolled = 0;
	qp->sq.idle_gathers = 0;
	qp->sq.broken = false;
	qp->sq.ask_drained = false;
	qp->sq.refetch = false;
	qp->sq.waits = 0;
	qp->sq.rate = 0;
	sroce_store(&qp->slot->sq_head, 0);
	sroce_store(&qp->slot->kick, SROCE_KICK_SEND);
}

/* Sending */

/* The memory of a request whose answer brings data. */
static struct sroce_memory local_memory(struct sroce_qp *qp, u32 index)
{
	struct sroce_wr *wr = sroce_inflight_wr(&qp->sq.req.in, index);

	return (struct sroce_memory) {
		.pd = qp->pd,
		.sge = sroce_fetch_list(qp, index),
		.num_sge = wr->num_sge,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
}

/*
 * An atomic whose result has no place may not do anything at the peer.  Memory
 * on demand is best present before its data comes: EAGAIN.
 */
static int may_store(struct sroce_qp *qp, const struct sroce_wr *wr,
		     const struct sroce_sge *sge)
{
	u32 left = SROCE_FAULT_BYTES;
	struct sroce_mr *mr;
	int err = 0;
	u32 i, n;

	for (i = 0; i < wr->num_sge; i++) {
		if (!sge[i].length)
			continue;
		mr = sroce_mr_get(qp->pd, 0, sge[i].lkey, sge[i].addr,
				  sge[i].length, IB_ACCESS_LOCAL_WRITE);
		if (!mr)
			return -EFAULT;
		n = min(left, sge[i].length);
		if (unlikely(mr->odp) &&
		    !sroce_odp_present(mr->odp, sroce_mr_va(mr, sge[i].addr),
				       n, true))
			err = -EAGAIN;
		left -= n;
		sroce_mr_put(mr);
	}
	return err;
}

static int add(struct sroce_qp *qp, struct sroce_burst *burst,
	       struct sroce_outgoing *out)
{
	struct sroce_wr *wr = out->wr;
	void *list = sroce_fetch_list(qp, out->index);
	const struct sroce_memory from = {
		.pd = qp->pd,
		.sge = list,
		.num_sge = wr->num_sge,
	};
	bool copy = qp->type == IB_QPT_UC || wr->again;
	int err;

	out->pkt.qpn = qp->dest_qpn;
	out->pkt.pkey = READ_ONCE(*qp->pkey);
	out->pkt.ack_req = false;
	if (sroce_wr_reads(wr) && !wr->started) {
		err = may_store(qp, wr, list);
		if (err == -EAGAIN && qp->sq.waits == MOST_WAITS)
			err = 0;
		qp->sq.waits = err == -EAGAIN ? qp->sq.waits + 1 : 0;
		if (err)
			return err;
	}
	if (wr->flags & SROCE_INLINE || !out->pkt.payload)
		return sroce_burst_add(burst, &out->pkt, NULL, 0,
				       list + out->offset, true);
	/*
	 * UC completes now and leaves the buffer to its owner.  What is sent
	 * again is copied, too: if the owner of the memory keeps changing it,
	 * the first attempt may have failed its ICRC for that.
	 */
	err = sroce_burst_add(burst, &out->pkt, &from, out->offset, NULL, copy);
	if (!err)
		out->count += sroce_burst_repeat(burst, &out->pkt,
				sroce_requester_more(&qp->sq.req, out), &from,
				out->offset + out->pkt.payload);
	return err;
}

/* Returns false if there have been too many of them. */
static bool pause(struct sroce_qp *qp)
{
	if (qp->sq.pauses == SROCE_MAX_PAUSES)
		return false;
	qp->sq.pauses++;
	qp->sq.paused = true;
	arm(qp, SROCE_PAUSE_NS);
	return true;
}

/* Pacing */

void sroce_send_limit(struct sroce_qp *qp, u32 rate)
{
	lockdep_assert_held(&qp->sq.lock);
	qp->sq.rate = rate;
	qp->sq.free_at = ktime_get();
	/* It may have been waiting for long by the old one. */
	qp->sq.paused = false;
}

bool sroce_send_held(struct sroce_qp *qp)
{
	s64 left;

	lockdep_assert_held(&qp->sq.lock);
	if (likely(!qp->sq.rate))
		return false;
	left = ktime_to_ns(ktime_sub(qp->sq.free_at, ktime_get()));
	if (left <= 0)
		return false;
	qp->sq.paused = true;
	arm(qp, left);
	return true;
}

/*
 * What is late because of a timer is made up for, so that the rate holds on
 * average; what was not sent for want of requests is not.
 */
void sroce_send_charge(struct sroce_qp *qp, const struct sroce_burst *burst)
{
	struct sroce_sendq *sq = &qp->sq;
	ktime_t oldest;
	u64 bits;

	lockdep_assert_held(&sq->lock);
	if (likely(!sq->rate) || !burst->packets)
		return;
	bits = 8ull * (burst->bytes + burst->packets *
		       (sroce_network_bytes(burst->av) + sizeof(struct udphdr)));
	oldest = ktime_sub_ns(ktime_get(), PACE_SLACK_NS);
	if (ktime_before(sq->free_at, oldest))
		sq->free_at = oldest;
	/* Bits by kilobits per second are milliseconds. */
	sq->free_at = ktime_add_ns(sq->free_at, div_u64(bits * NSEC_PER_MSEC,
							sq->rate));
}

/* @more: another burst follows at once */
static bool flush_burst(struct sroce_qp *qp, struct sroce_burst *burst,
			u32 first, bool more)
{
	bool reliable = sroce_qp_reliable(qp);

	qp->sq.unasked += burst->packets;
	sroce_send_charge(qp, burst);
	if (reliable && burst->packets &&
	    (!more || qp->sq.rate || qp->sq.unasked >= ASK_PACKETS)) {
		sroce_burst_ask(burst);
		qp->sq.unasked = 0;
	}
	/* No answer tells UC that its packets go out again. */
	if (!reliable && burst->packets)
		qp->sq.pauses = 0;
	if (!sroce_burst_send(burst) || !reliable || !pause(qp))
		return true;
	sroce_requester_resume(&qp->sq.req, first);
	return false;
}

/* The requester goes on when the memory of the request is present. */
static int page_in(struct sroce_qp *qp, const struct sroce_outgoing *out)
{
	struct sroce_memory memory = local_memory(qp, out->index);

	if (!sroce_wr_reads(out->wr))
		memory.access = 0;
	return sroce_fault_start(&qp->sq.fault, &memory, out->offset,
				 out->wr->length - out->offset);
}

/* Returns false if the packet could not be made for want of memory. */
static bool send_packet(struct sroce_qp *qp, struct sroce_burst *burst,
			struct sroce_outgoing *out)
{
	switch (add(qp, burst, out)) {
	case -ENOMEM:
		if (pause(qp))
			return false;
		break;
	case -EAGAIN:
		if (!page_in(qp, out))
			return false;
		fallthrough;
	case -EFAULT:
	case -EMSGSIZE:
		out->wr->status = SROCE_LOC_PROT_ERR;
		return true;
	}
	/* Without a route it is lost like on any other host. */
	sroce_requester_sent(&qp->sq.req, out);
	return true;
}

static u8 execute(struct sroce_qp *qp, struct sroce_burst *burst,
		  const struct sroce_wr *wr)
{
	/* Who may wait for others to drop their grips has none itself. */
	sroce_grip_drop(&burst->grip);
	sroce_grip_drop(&qp->sq.grip);
	switch (wr->opcode) {
	case SROCE_OP_BIND_MW:
		return sroce_mw_bind(qp->pd, qp->qpn, wr);
	case SROCE_OP_REG_MR:
		return sroce_fast_register(qp->pd, wr);
	default:
		return invalidate(qp, wr);
	}
}

/* A request that fails is found by sroce_requester_next() once more. */
static void do_local(struct sroce_qp *qp, struct sroce_burst *burst,
		     struct sroce_wr *wr)
{
	u8 status = wr->started ? 0 : execute(qp, burst, wr);

	if (status)
		wr->status = status;
	else
		sroce_requester_done(&qp->sq.req);
}

/*
 * The last burst left without asking, since more was to follow, and now
 * nothing can: its last packet goes out once more, and asks.
 */
static void ask_again(struct sroce_qp *qp, struct sroce_burst *burst)
{
	struct sroce_requester *req = &qp->sq.req;
	const struct sroce_wr *wr = sroce_inflight_wr(&req->in, req->in.next);
	u32 end = wr->started ? wr->psn : req->psn;
	struct sroce_outgoing out;

	if (end == req->una)
		return;
	sroce_requester_resume(req, sroce_psn_add(end, -1));
	if (sroce_requester_next(req, &out) == SROCE_NEXT_PACKET &&
	    !sroce_wr_reads(out.wr))
		send_packet(qp, burst, &out);
	else
		sroce_requester_resume(req, end);
}

static bool may_transmit(struct sroce_qp *qp)
{
	enum sroce_order order;

	if (sroce_send_held(qp) ||
	    (!sroce_tx_ready(qp) && sroce_tx_wait(qp)))
		return false;
	order = sroce_tx_in_order(qp, &qp->sq.cpu);
	if (order == SROCE_ORDER_WAITS) {
		qp->sq.paused = true;
		arm(qp, SROCE_ORDER_NS);
	}
	return order == SROCE_ORDER_KEPT;
}

static enum sroce_next send_packets(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	struct sroce_outgoing out;
	struct sroce_burst burst;
	enum sroce_next next;
	u32 budget = SROCE_SEND_BUDGET;
	u32 locals = LOCAL_BUDGET;
	u32 first = req->psn;

	sroce_burst_begin(&burst, qp, qp->av, &qp->sq.path);
	for (;;) {
		next = sroce_requester_next(req, &out);
		if (next == SROCE_NEXT_LOCAL) {
			if (locals--) {
				do_local(qp, &burst, out.wr);
				continue;
			}
			sroce_worker_wake(qp, BIT(SROCE_TODO_SEND));
			next = SROCE_NEXT_WINDOW;
		}
		if (next != SROCE_NEXT_PACKET)
			break;
		if (!sroce_burst_fits(&burst, &out.pkt)) {
			if (!flush_burst(qp, &burst, first, budget > 1))
				return SROCE_NEXT_WINDOW;
			if (!--budget) {
				sroce_worker_wake(qp, BIT(SROCE_TODO_SEND));
				return SROCE_NEXT_WINDOW;
			}
			first = req->psn;
		}
		if (!burst.head && !may_transmit(qp))
			return SROCE_NEXT_WINDOW;
		if (!send_packet(qp, &burst, &out)) {
			next = SROCE_NEXT_WINDOW;
			break;
		}
	}
	if (!burst.head && qp->sq.unasked && sroce_qp_reliable(qp) &&
	    (next == SROCE_NEXT_FAULT || next == SROCE_NEXT_HOLD ||
	     next == SROCE_NEXT_ALONE))
		ask_again(qp, &burst);
	if (!flush_burst(qp, &burst, first, false))
		next = SROCE_NEXT_WINDOW;
	return next;
}

/* SQD: everything that was started is acknowledged. */
static void check_drained(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;

	if (!qp->sq.ask_drained || sroce_requester_waits(req) || req->packet)
		return;
	qp->sq.ask_drained = false;
	sroce_worker_wake(qp, BIT(SROCE_TODO_DRAINED));
}

/* Without a timer a lost answer would leave new requests lying. */
static bool needs_kick(const struct sroce_qp *qp)
{
	const struct sroce_requester *req = &qp->sq.req;

	return !qp->sq.armed ||
	       sroce_psn_diff(req->psn, req->una) < BUSY_PACKETS;
}

static enum sroce_next run_connected(struct sroce_qp *qp)
{
	struct sroce_requester *req = &qp->sq.req;
	enum sroce_next next = send_packets(qp);

	complete_finished(qp);
	if (next == SROCE_NEXT_FAULT && req->in.head == req->in.next)
		sroce_send_fail(qp, sroce_inflight_wr(&req->in,
						      req->in.head)->status);
	if ((qp->sq.progress || !qp->sq.armed) && !req->rnr_wait &&
	    !qp->sq.paused)
		arm_retry(qp);
	qp->sq.progress = false;
	if (next == SROCE_NEXT_NOTHING && !needs_kick(qp))
		return SROCE_NEXT_WINDOW;
	return next;
}

/*
 * Answers have been dropped since their place was not present: once it is, ask
 * for them again.  That is no retry, as nothing was lost on the way.
 */
static bool refetch(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;

	if (!active(qp) || sroce_fault_busy(&sq->fault))
		return false;
	sq->refetch = false;
	sq->req.rewound = true;
	sroce_requester_rewind(&sq->req);
	sroce_count(qp, SROCE_TX_RETRANSMITS);
	trace_sroce_retransmit(qp, sq->req.una, sq->req.retry_left);
	return true;
}

void sroce_send_run(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	u32 rounds = SROCE_SEND_BUDGET;
	enum sroce_next next;

	lockdep_assert_held(&qp->sq.lock);
	if (!in->wrs || (unlikely(qp->sq.refetch) && !refetch(qp)))
		return;
	while (active(qp) && !qp->sq.paused) {
		sroce_ring_busy(qp->slot);
		/* A process that posts as fast as we send must not hold us. */
		if (!rounds--) {
			sroce_worker_wake(qp, BIT(SROCE_TODO_SEND));
			break;
		}
		if (!sroce_fetch_send(qp)) {
			sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
			break;
		}
		next = sroce_qp_connected(qp) ? run_connected(qp) :
						sroce_datagram_run(qp);
		if (qp->sq.req.hold)
			check_drained(qp);
		if (next != SROCE_NEXT_NOTHING)
			break;
		if (qp->sq.gathering) {
			sroce_ring_later(qp->slot, in->tail + GATHER_POSTS);
			break;
		}
		if (sroce_ring_idle(qp->slot) == in->tail)
			break;
	}
}

/* Doorbell */

/*
 * A process that waits for each answer has one or two requests under way and
 * has taken all completions when it kicks.  One that posts a stream leaves
 * some of either lying, or (if its requests are not signalled) kicks again and
 * again without taking any.  The words are the process's: a lie costs itself.
 */
static bool posts_stream(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	u32 polled = sroce_load(&sq->cq->slot->head);
	u32 lying = READ_ONCE(sq->cq->tail) - polled +
		    sroce_load(&qp->slot->sq_tail) - sq->req.in.head;

	polled += sroce_load(&qp->rq.cq->slot->head);
	if (polled != sq->polled) {
		sq->polled = polled;
		sq->unpolled = 0;
	} else if (sq->unpolled < STREAM_KICKS) {
		sq->unpolled++;
	}
	return lying > STREAM_REQUESTS || sq->unpolled == STREAM_KICKS;
}

static void gather(struct sroce_qp *qp)
{
	/* Not hrtimer_active(): that is true until the callback returns. */
	if (qp->sq.gathering || !active(qp))
		return;
	qp->sq.gathering = true;
	qp->sq.gathered = qp->sq.req.in.tail;
	hrtimer_start(&qp->sq.gather, ns_to_ktime(GATHER_NS),
		      HRTIMER_MODE_REL_PINNED_SOFT);
}

void sroce_send_kicked(struct sroce_qp *qp)
{
	if (posts_stream(qp)) {
		qp->sq.idle_gathers = 0;
		gather(qp);
	}
	sroce_send_run(qp);
}

enum hrtimer_restart sroce_send_gathered(struct hrtimer *timer)
{
	struct sroce_qp *qp = container_of(timer, struct sroce_qp, sq.gather);
	struct sroce_sendq *sq = &qp->sq;
	u32 posts;

	sroce_send_lock(qp);
	sq->gathering = false;
	posts = sroce_load(&qp->slot->sq_tail) - sq->gathered;
	sq->idle_gathers = posts < GATHER_WORTH ? sq->idle_gathers + 1 : 0;
	/* As long as it pays, it goes on, and hardly anybody kicks. */
	if (sq->idle_gathers < IDLE_GATHERS)
		gather(qp);
	sroce_send_run(qp);
	sroce_send_unlock(qp);
	return HRTIMER_NORESTART;
}

/* Answers */

static void store_answer(struct sroce_qp *qp, const struct sroce_rx *rx,
			 const struct sroce_answer *a, bool atomic)
{
	struct sroce_memory to = local_memory(qp, a->index);
	u32 length = sroce_inflight_wr(&qp->sq.req.in, a->index)->length;
	u32 at = atomic ? 0 : a->offset;
	int err;

	if (atomic)
		err = sroce_store_bytes(&qp->sq.grip, &to, at,
					&rx->pkt.original, sizeof(u64));
	else
		err = sroce_store_packet(&qp->sq.grip, &to, at,
					 rx->payload, rx->pkt.payload);
	if (err == -EAGAIN &&
	    !sroce_fault_start(&qp->sq.fault, &to, at, length - at))
		qp->sq.refetch = true;
	else if (err)
		sroce_send_fail(qp, SROCE_LOC_PROT_ERR);
	else
		sroce_requester_acknowledge(&qp->sq.req, a->psn);
}

static void wait_rnr(struct sroce_qp *qp, const struct sroce_answer *a)
{
	sroce_count(qp, SROCE_RX_NAK_RNR);
	if (!sroce_completer_rnr(&qp->sq.req)) {
		sroce_send_fail(qp, SROCE_RNR_RETRY_EXC_ERR);
		return;
	}
	arm(qp, sroce_rnr_wait(a->rnr_timer, qp->sq.req.rnr_waits) *
		NSEC_PER_USEC);
	trace_sroce_retransmit(qp, qp->sq.req.una, qp->sq.req.rnr_left);
}

static void count_failure(struct sroce_qp *qp, u8 status)
{
	switch (status) {
	case SROCE_REM_INV_REQ_ERR:
		sroce_count(qp, SROCE_RX_NAK_INVALID);
		break;
	case SROCE_REM_ACCESS_ERR:
		sroce_count(qp, SROCE_RX_NAK_ACCESS);
		break;
	case SROCE_REM_OP_ERR:
		sroce_count(qp, SROCE_RX_NAK_OPERATION);
		break;
	}
}

static void act(struct sroce_qp *qp, const struct sroce_rx *rx,
		enum sroce_answer_verdict verdict, const struct sroce_answer *a)
{
	switch (verdict) {
	case SROCE_ANSWER_DATA:
		store_answer(qp, rx, a, false);
		break;
	case SROCE_ANSWER_ATOMIC:
		store_answer(qp, rx, a, true);
		break;
	case SROCE_ANSWER_RETRY:
		/* The gap is of our own making. */
		if (qp->sq.refetch)
			break;
		sroce_count(qp, SROCE_RX_NAK_SEQUENCE);
		retry(qp);
		break;
	case SROCE_ANSWER_RNR:
		wait_rnr(qp, a);
		break;
	case SROCE_ANSWER_FAIL:
		count_failure(qp, a->status);
		sroce_send_fail(qp, a->status);
		break;
	default:
		break;
	}
}

void sroce_send_answered(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	struct sroce_requester *req = &qp->sq.req;
	enum sroce_answer_verdict verdict;
	struct sroce_answer a;
	u32 una = req->una;

	lockdep_assert_held(&qp->sq.lock);
	if (!active(qp) || !req->in.wrs) {
		sroce_count(qp, SROCE_RX_BAD_STATE);
		return;
	}
	verdict = sroce_completer_check(req, &rx->pkt, &a);
	if (verdict == SROCE_ANSWER_IGNORE) {
		sroce_count(qp, SROCE_RX_IGNORED);
		return;
	}
	sroce_count(qp, SROCE_RX_ACKS);
	sroce_requester_acknowledge(req, a.upto);
	complete_finished(qp);
	act(qp, rx, verdict, &a);
	complete_finished(qp);
	if (req->una != una) {
		qp->sq.progress = true;
		qp->sq.pauses = 0;
	}
}

bool sroce_send_predicted(struct sroce_qp *qp, const u8 *bth,
			  struct sroce_reader *payload, u32 len)
{
	struct sroce_requester *req = &qp->sq.req;
	struct sroce_memory to;
	u32 offset;

	lockdep_assert_held(&qp->sq.lock);
	if (!active(qp) || !req->in.wrs ||
	    !sroce_completer_predicts(req, bth, len, &offset))
		return false;
	to = local_memory(qp, req->in.head);
	if (sroce_store_packet(&qp->sq.grip, &to, offset, payload, len))
		return false;
	sroce_requester_acknowledge(req, sroce_psn_add(req->una, 1));
	sroce_count(qp, SROCE_RX_ACKS);
	qp->sq.progress = true;
	qp->sq.pauses = 0;
	return true;
}
