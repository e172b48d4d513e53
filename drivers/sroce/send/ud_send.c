// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams: UD QPs and the GSI QP.  A request is complete when its packet is handed
 * to the network stack.  A packet that is dropped later is lost.
 */
#include "../core/params.h"
#include "../net/burst.h"
#include "../net/route.h"
#include "../net/tx.h"
#include "../queue/qp_run.h"
#include "../queue/wqe.h"
#include "rate_limit.h"
#include "rtx_timer.h"
#include "sq.h"
#include "sq_complete.h"
#include "ud_send.h"

/* With this bit set in the Q_Key, that of the sending QP is used (10.2.5). */
#define QKEY_OWN	0x80000000u

static struct sroce_av *request_av(struct sroce_qp *qp, const struct sroce_wr *wr)
{
	if (qp->user)
		return sroce_av_get(qp->dev, qp->pd, wr->ud.ah);
	/* A kernel user keeps its handle until completion. */
	refcount_inc(&wr->ud.av->ref);
	return wr->ud.av;
}

/* The GSI QP belongs to all partitions: each WQE has a P_Key index. */
static u16 request_pkey(const struct sroce_qp *qp, const struct sroce_wr *wr)
{
	if (qp->type == IB_QPT_GSI)
		return READ_ONCE(qp->dev->pkeys[wr->ud.pkey_index]);
	return READ_ONCE(*qp->pkey);
}

static void send_burst(struct sroce_qp *qp, struct sroce_burst *burst)
{
	sroce_rate_charge(qp, burst);
	sroce_burst_send(burst);
}

static void forget_dest(struct sroce_qp *qp)
{
	sroce_path_release(&qp->sq.path);
	if (qp->sq.ud.av)
		sroce_av_put(qp->sq.ud.av);
	qp->sq.ud.av = NULL;
}

/* The route in sq.path is that of sq.ud.av. */
static void set_dest(struct sroce_qp *qp, struct sroce_burst *burst,
		     struct sroce_av *av)
{
	if (av == qp->sq.ud.av) {
		sroce_av_put(av);
		return;
	}
	send_burst(qp, burst);
	forget_dest(qp);
	qp->sq.ud.av = av;
	burst->av = av;
}

/* The transmit queue keeps all these packets; it would drop another one. */
static bool too_many(const struct sroce_qp *qp)
{
	return sroce_tx_bursts(qp) >= SROCE_UD_TX_LIMIT ||
	       sroce_wmem_exhausted(qp->wmem);
}

/* Sets the members that sroce_build() needs for a datagram. */
static void fill_datagram(const struct sroce_qp *qp, const struct sroce_wr *wr,
			  struct sroce_pkt *pkt)
{
	pkt->opcode = SROCE_UD | sroce_wr_row(wr)->packets[SROCE_ONLY];
	pkt->solicited = wr->flags & SROCE_SOLICITED;
	pkt->ack_req = false;
	pkt->pad = -wr->length & 3;
	pkt->pkey = request_pkey(qp, wr);
	pkt->qpn = wr->ud.remote_qpn;
	pkt->psn = qp->sq.req.psn;
	pkt->src_qpn = qp->qpn;
	pkt->qkey = wr->ud.qkey & QKEY_OWN ? sroce_qp_qkey(qp) : wr->ud.qkey;
	pkt->imm = wr->imm;
	pkt->payload = wr->length;
}

static int send_one(struct sroce_qp *qp, struct sroce_burst *burst,
		    struct sroce_wr *wr, u32 index)
{
	void *list = sroce_wqe_list(qp, index);
	struct sroce_sgl from = {
		.pd = qp->pd,
		.sge = list,
		.num_sge = wr->num_sge,
	};
	struct sroce_pkt pkt __uninitialized;
	int err;

	fill_datagram(qp, wr, &pkt);
	if (!sroce_burst_fits(burst, &pkt))
		send_burst(qp, burst);
	if (unlikely(too_many(qp)))
		err = -ENOBUFS;
	else if (wr->flags & SROCE_INLINE || !wr->length)
		err = sroce_burst_add(burst, &pkt, NULL, 0, list, true);
	else
		err = sroce_burst_add(burst, &pkt, &from, 0, NULL, true);
	if (err == -EAGAIN &&
	    sroce_fault_start(&qp->sq.paging.fault, &from, 0, wr->length, 0))
		err = -EFAULT;
	if (err != -EAGAIN)
		qp->sq.req.psn = sroce_psn_add(qp->sq.req.psn, 1);
	return err;
}

/*
 * Find the destination of a request.  @ah: number of the address handle of the last
 * request of this lock section, or 0; @sq.ud.av has a reference to it.  Most
 * processes send to one peer.  The number cannot mean another handle: all requests
 * of the section were posted before the first lookup.
 */
static bool find_dest(struct sroce_qp *qp, struct sroce_burst *burst,
		      const struct sroce_wr *wr, u32 *ah)
{
	struct sroce_av *av;

	if (qp->user && *ah && wr->ud.ah == *ah)
		return true;
	av = request_av(qp, wr);
	if (!av)
		return false;
	set_dest(qp, burst, av);
	*ah = qp->user ? wr->ud.ah : 0;
	return true;
}

/* Returns enum sroce_status, or EAGAIN if its memory is being paged in. */
static int send_request(struct sroce_qp *qp, struct sroce_burst *burst,
			struct sroce_wr *wr, u32 index, u32 *ah)
{
	int err;

	if (wr->status)
		return wr->status;
	if (qp->type == IB_QPT_GSI && wr->ud.pkey_index >= SROCE_PKEY_TABLE)
		return SROCE_LOC_QP_OP_ERR;
	if (!find_dest(qp, burst, wr, ah))
		return SROCE_LOC_QP_OP_ERR;
	err = send_one(qp, burst, wr, index);
	if (err == -EAGAIN)
		return err;
	if (err == -EFAULT || err == -EMSGSIZE)
		return SROCE_LOC_PROT_ERR;
	if (err) {		/* no memory, no route, no room: lost */
		sroce_count(qp, SROCE_TX_LOCAL_DROPS);
		/* The next datagram must not get the headers of an earlier one. */
		send_burst(qp, burst);
	}
	return SROCE_SUCCESS;
}

/*
 * May the next datagram use the headers of this one, which is the last of its burst?  With
 * a rate limit each datagram is a burst.
 */
static bool has_successor(const struct sroce_qp *qp, const struct sroce_wr *wr)
{
	return qp->user && qp->type == IB_QPT_UD && wr->opcode == SROCE_OP_SEND &&
	       wr->num_sge == 1 && !(wr->flags & SROCE_INLINE) &&
	       !sroce_rate_limited(qp);
}

/* Do the headers of both differ in the PSN only?  As for find_dest(), numbers suffice. */
static bool same_headers(const struct sroce_wr *wr, const struct sroce_wr *last)
{
	return !wr->status && wr->opcode == last->opcode && wr->num_sge == 1 &&
	       !((wr->flags ^ last->flags) & ~SROCE_SIGNALED) &&
	       wr->length == last->length && wr->ud.ah == last->ud.ah &&
	       wr->ud.remote_qpn == last->ud.remote_qpn && wr->ud.qkey == last->ud.qkey;
}

/*
 * Fast path for a datagram like @last, the last one of the burst; NULL if there is none.
 * The room in the queues was checked when the burst began.
 */
static bool send_alike(struct sroce_qp *qp, struct sroce_burst *burst,
		       const struct sroce_wr *last)
{
	u32 index = qp->sq.req.in.next;

	if (!last || !same_headers(sroce_inflight_wr(&qp->sq.req.in, index), last) ||
	    !sroce_burst_add_alike(burst, sroce_wqe_list(qp, index)))
		return false;
	qp->sq.req.psn = sroce_psn_add(qp->sq.req.psn, 1);
	return true;
}

static void complete_sent(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;

	while (in->head != in->next)
		sroce_sq_complete(qp, SROCE_SUCCESS);
}

static bool has_room(struct sroce_qp *qp)
{
	return (sroce_tx_ready(qp) || !sroce_tx_wait(qp)) &&
	       (sroce_wmem_room(qp->wmem) ||
		!sroce_wmem_wait(qp->wmem, &qp->wmem_wait));
}

/*
 * A netdev may keep packets without sending or dropping them: a tap whose program
 * does not read, or a plugged queueing discipline.  This blocks datagrams to all
 * destinations of the QP.  After SROCE_UD_HOLD_NS, send the next datagram anyway,
 * until there are too_many().
 */
static bool held_up(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	s64 left;

	if (has_room(qp)) {
		sq->ud.held_up = false;
		return false;
	}
	if (!sq->ud.held_up) {
		sq->ud.held_up = true;
		sq->ud.held_until = ktime_add_ns(ktime_get(), SROCE_UD_HOLD_NS);
	}
	left = ktime_to_ns(ktime_sub(sq->ud.held_until, ktime_get()));
	sq->ud.held_up = left > 0;
	if (left > 0)
		sroce_rtx_timer_arm(qp, left);
	return left > 0;
}

enum sroce_next sroce_ud_send(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	struct sroce_burst burst __uninitialized;
	u32 budget = SROCE_SEND_BUDGET * SROCE_BURST_PACKETS;
	const struct sroce_wr *last = NULL;
	int status = 0;
	u32 ah = 0;

	lockdep_assert_held(&qp->sq.lock);
	if (qp->sq.req.drain)
		return SROCE_NEXT_HOLD;
	sroce_burst_begin(&burst, qp, qp->sq.ud.av, &qp->sq.path);
	for (; in->next != in->tail; in->next++) {
		struct sroce_wr *wr;

		if (likely(budget) && send_alike(qp, &burst, last)) {
			budget--;
			continue;
		}
		/* With a rate limit, each datagram is sent at its own time. */
		if (unlikely(qp->sq.rate.kbps))
			send_burst(qp, &burst);
		if (sroce_rate_held(qp) || held_up(qp))
			break;
		if (!budget--) {
			sroce_qp_wake(qp, BIT(SROCE_TODO_SEND));
			break;
		}
		wr = sroce_inflight_wr(in, in->next);
		status = send_request(qp, &burst, wr, in->next, &ah);
		if (status)
			break;
		last = has_successor(qp, wr) ? wr : NULL;
	}
	send_burst(qp, &burst);
	complete_sent(qp);
	if (status > 0)
		sroce_sq_fail(qp, status);
	/*
	 * The GSI QP lives as long as the device.  A reference to the GID of its last
	 * datagram would keep the GID's entry in the table from being used again.
	 */
	if (qp->type == IB_QPT_GSI)
		forget_dest(qp);
	return in->next == in->tail ? SROCE_NEXT_NOTHING : SROCE_NEXT_WINDOW;
}
