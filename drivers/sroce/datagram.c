// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Unreliable datagrams: UD QPs and the GSI.  A request is complete when its
 * packet has left; what the queues on the way drop is lost, as on any network.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include "datagram.h"
#include "fetch.h"
#include "finish.h"
#include "pace.h"
#include "pkey.h"
#include "receive.h"
#include "route.h"
#include "send.h"
#include "timer.h"
#include "tx.h"
#include "wmem.h"
#include "worker.h"

/* A Q_Key with this bit stands for that of the sending QP (10.2.5). */
#define QKEY_OWN	0x80000000u
/* For packets that are under way to make room for others. */
#define HELD_UP_NS	(10 * NSEC_PER_MSEC)

static u32 queue_key(const struct sroce_qp *qp)
{
	return qp->type == IB_QPT_GSI ? SROCE_QKEY_GSI : qp->rq.qkey;
}

static struct sroce_av *address(struct sroce_qp *qp, const struct sroce_wr *wr)
{
	struct sroce_av *av;

	if (qp->user)
		return sroce_av_get(qp->dev, qp->pd, wr->ah);
	/* From post.c; a kernel user keeps its handle until completion. */
	av = (struct sroce_av *)(uintptr_t)wr->compare_add;
	refcount_inc(&av->ref);
	return av;
}

/* The GSI is of all partitions: a request says which (from post.c). */
static u16 partition(const struct sroce_qp *qp, const struct sroce_wr *wr)
{
	if (qp->type == IB_QPT_GSI)
		return READ_ONCE(qp->dev->pkeys[wr->ah]);
	return READ_ONCE(*qp->pkey);
}

static void send_burst(struct sroce_qp *qp, struct sroce_burst *burst)
{
	sroce_pace_charge(qp, burst);
	sroce_burst_send(burst);
}

/* The route in sq.path is that of sq.av. */
static void aim(struct sroce_qp *qp, struct sroce_burst *burst,
		struct sroce_av *av)
{
	if (av == qp->sq.av) {
		sroce_av_put(av);
		return;
	}
	send_burst(qp, burst);
	sroce_path_release(&qp->sq.path);
	if (qp->sq.av)
		sroce_av_put(qp->sq.av);
	qp->sq.av = av;
	burst->av = av;
}

/* Packets that nobody lets go; the next one would be lost in a queue, too. */
static bool too_many(const struct sroce_qp *qp)
{
	return sroce_tx_bursts(qp) >= SROCE_TX_MOST ||
	       sroce_wmem_exhausted(qp->wmem);
}

static int send_one(struct sroce_qp *qp, struct sroce_burst *burst,
		    struct sroce_wr *wr, u32 index)
{
	void *list = sroce_fetch_list(qp, index);
	struct sroce_memory from = {
		.pd = qp->pd,
		.sge = list,
		.num_sge = wr->num_sge,
	};
	bool imm = wr->opcode == SROCE_OP_SEND_IMM;
	struct sroce_pkt pkt = {
		.opcode = SROCE_UD |
			  (imm ? SROCE_SEND_ONLY_IMM : SROCE_SEND_ONLY),
		.solicited = wr->flags & SROCE_SOLICITED,
		.pad = -wr->length & 3,
		.pkey = partition(qp, wr),
		.qpn = wr->remote_qpn,
		.psn = qp->sq.req.psn,
		.src_qpn = qp->qpn,
		.qkey = wr->qkey & QKEY_OWN ? queue_key(qp) : wr->qkey,
		.imm = wr->imm,
		.payload = wr->length,
	};
	int err;

	if (!sroce_burst_fits(burst, &pkt))
		send_burst(qp, burst);
	if (unlikely(too_many(qp)))
		err = -ENOBUFS;
	else if (wr->flags & SROCE_INLINE || !wr->length)
		err = sroce_burst_add(burst, &pkt, NULL, 0, list, true);
	else
		err = sroce_burst_add(burst, &pkt, &from, 0, NULL, true);
	if (err == -EAGAIN &&
	    sroce_fault_start(&qp->sq.fault, &from, 0, wr->length))
		err = -EFAULT;
	if (err != -EAGAIN)
		qp->sq.req.psn = sroce_psn_add(qp->sq.req.psn, 1);
	return err;
}

/* Returns enum sroce_status, or EAGAIN if its memory is being paged in. */
static int send_request(struct sroce_qp *qp, struct sroce_burst *burst,
			struct sroce_wr *wr, u32 index)
{
	struct sroce_av *av;
	int err;

	if (wr->status)
		return wr->status;
	if (qp->type == IB_QPT_GSI && wr->ah >= SROCE_PKEY_TABLE)
		return SROCE_LOC_QP_OP_ERR;
	av = address(qp, wr);
	if (!av)
		return SROCE_LOC_QP_OP_ERR;
	aim(qp, burst, av);
	err = send_one(qp, burst, wr, index);
	if (err == -EAGAIN)
		return err;
	if (err == -EFAULT || err == -EMSGSIZE)
		return SROCE_LOC_PROT_ERR;
	if (err)		/* no memory, no route, no room: lost */
		sroce_count(qp, SROCE_TX_LOCAL_DROPS);
	return SROCE_SUCCESS;
}

static void complete_sent(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;

	while (in->head != in->next)
		sroce_finish(qp, SROCE_SUCCESS);
}

static bool has_room(struct sroce_qp *qp)
{
	return (sroce_tx_ready(qp) || !sroce_tx_wait(qp)) &&
	       (sroce_wmem_room(qp->wmem) ||
		!sroce_wmem_wait(qp->wmem, &qp->wmem_wait));
}

/*
 * Who has our packets and neither sends nor drops them (a program that does not
 * read from its tap, a queueing discipline that is plugged) holds up what goes
 * to all others.  So after a while the next one goes all the same, until there
 * are too_many().
 */
static bool held_up(struct sroce_qp *qp)
{
	struct sroce_sendq *sq = &qp->sq;
	s64 left;

	if (has_room(qp)) {
		sq->held_up = false;
		return false;
	}
	if (!sq->held_up) {
		sq->held_up = true;
		sq->held_until = ktime_add_ns(ktime_get(), HELD_UP_NS);
	}
	left = ktime_to_ns(ktime_sub(sq->held_until, ktime_get()));
	sq->held_up = left > 0;
	if (left > 0)
		sroce_timer_arm(qp, left);
	return left > 0;
}

enum sroce_next sroce_datagram_run(struct sroce_qp *qp)
{
	struct sroce_inflight *in = &qp->sq.req.in;
	struct sroce_burst burst;
	u32 budget = SROCE_SEND_BUDGET * SROCE_BURST_PACKETS;
	int status = 0;

	lockdep_assert_held(&qp->sq.lock);
	if (qp->sq.req.hold)
		return SROCE_NEXT_HOLD;
	sroce_burst_begin(&burst, qp, qp->sq.av, &qp->sq.path);
	while (in->next != in->tail) {
		/* With a rate limit each datagram waits for its own time. */
		if (unlikely(qp->sq.rate))
			send_burst(qp, &burst);
		if (sroce_pace_held(qp) || held_up(qp))
			break;
		if (!budget--) {
			sroce_worker_wake(qp, BIT(SROCE_TODO_SEND));
			break;
		}
		status = send_request(qp, &burst,
				      sroce_inflight_wr(in, in->next),
				      in->next);
		if (status)
			break;
		in->next++;
	}
	send_burst(qp, &burst);
	complete_sent(qp);
	if (status > 0)
		sroce_finish_failed(qp, status);
	return in->next == in->tail ? SROCE_NEXT_NOTHING : SROCE_NEXT_WINDOW;
}

/* Receiving */

/*
 * The first 40 bytes of every receive buffer: the IPv6 header, or the IPv4
 * header in the last 20 of them (A17.4.5.1), as that of a packet that came alone.
 */
static void make_grh(u8 *grh, const struct sroce_rx *rx)
{
	u16 udp = rx->len + 8;

	if (rx->ipv4) {
		struct iphdr *ip = (struct iphdr *)(grh + 20);

		memset(grh, 0, 20);
		memcpy(ip, rx->ip, sizeof(*ip));
		ip->tot_len = htons(sizeof(*ip) + udp);
		ip->id = htons(rx->ip_id);
		ip->check = 0;
		ip->check = ip_fast_csum(ip, ip->ihl);
	} else {
		struct ipv6hdr *ip = (struct ipv6hdr *)grh;

		memcpy(ip, rx->ip, sizeof(*ip));
		ip->payload_len = htons(udp);
	}
}

static int store(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	const struct sroce_memory to = sroce_receive_buffer(qp);
	struct sroce_grip *grip = &qp->rq.grip;
	u8 grh[SROCE_GRH_BYTES];
	int err;

	make_grh(grh, rx);
	err = sroce_store_bytes(grip, &to, 0, grh, sizeof(grh));
	if (!err && rx->pkt.payload)
		err = sroce_store_packet(grip, &to, sizeof(grh), rx->payload,
					 rx->pkt.payload);
	if (err == -EAGAIN &&
	    sroce_fault_start(&qp->rq.fault, &to, 0,
			      sizeof(grh) + rx->pkt.payload))
		err = -EFAULT;
	return err;
}

static void complete_datagram(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	bool imm = rx->pkt.op->headers & SROCE_IMMDT;
	struct sroce_cqe cqe = {
		.byte_len = SROCE_GRH_BYTES + rx->pkt.payload,
		.imm_data = imm ? rx->pkt.imm : 0,
		.src_qp = rx->pkt.src_qpn,
		.flags = SROCE_CQE_GRH | (imm ? SROCE_CQE_WITH_IMM : 0) |
			 (rx->ipv4 ? SROCE_CQE_IPV4 : SROCE_CQE_IPV6) |
			 (rx->pkt.solicited ? SROCE_CQE_SOLICITED : 0),
		.sl = rx->ipv4 ? 2 : 1,
	};
	u16 index;

	if (qp->type == IB_QPT_GSI) {
		index = sroce_pkey_find(qp->dev, rx->pkt.pkey);
		/* It was there when the packet was checked. */
		cqe.pkey_index = index < SROCE_PKEY_TABLE ? index : 0;
		if (rx->vlan_id != SROCE_NO_VLAN) {
			cqe.flags |= SROCE_CQE_WITH_VLAN;
			cqe.vlan_id = rx->vlan_id;
		}
	}

	qp->rq.wqe_taken = false;
	sroce_receive_complete(qp, &cqe);
}

static bool take_datagram_recv(struct sroce_qp *qp)
{
	if (qp->rq.wqe_taken)
		return true;
	switch (sroce_receive_take(qp)) {
	case SROCE_FETCHED:
		qp->rq.wqe_taken = true;
		return true;
	case SROCE_FETCHED_BAD:
		sroce_receive_fail(qp, SROCE_LOC_QP_OP_ERR);
		return false;
	case SROCE_FETCHED_BROKEN:
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
		return false;
	default:
		sroce_count(qp, SROCE_OUT_OF_BUFFER);
		return false;
	}
}

void sroce_datagram_receive(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	lockdep_assert_held(&qp->rq.lock);
	if (rx->pkt.qkey != queue_key(qp)) {
		sroce_count(qp, SROCE_RX_BAD_QKEY);
		return;
	}
	if (!take_datagram_recv(qp))
		return;
	switch (store(qp, rx)) {
	case 0:
		complete_datagram(qp, rx);
		break;
	case -EAGAIN:
		/* The next one may find it present. */
		sroce_count(qp, SROCE_RX_PAGED_OUT);
		break;
	case -EMSGSIZE:
		/* No stranger may break the QP: the request waits on. */
		sroce_count(qp, SROCE_RESP_LOCAL_LENGTH_ERROR);
		break;
	case -ENODATA:
		sroce_count(qp, SROCE_RX_MALFORMED);
		break;
	default:
		qp->rq.wqe_taken = false;
		sroce_receive_fail(qp, SROCE_LOC_PROT_ERR);
	}
}
