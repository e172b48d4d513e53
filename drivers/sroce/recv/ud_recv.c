// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receiving UD packets, for UD QPs and the GSI QP. */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include "../net/pkey.h"
#include "../queue/qp_run.h"
#include "rq.h"
#include "ud_recv.h"

/*
 * Build the first 40 bytes of the receive buffer: the IPv6 header, or the IPv4
 * header in the last 20 of them (A17.4.5.1), as if the packet had arrived
 * alone.
 */
static void make_grh(u8 *grh, const struct sroce_rx *rx)
{
	u16 udp = rx->len + 8;

	if (rx->ipv4) {
		struct iphdr *ip = (struct iphdr *)(grh + 20);

		memset(grh, 0, 20);
		memcpy(ip, rx->ip, sizeof(*ip));
		ip->tot_len = htons(sizeof(*ip) + udp);
		ip->id = htons(ntohs(ip->id) + rx->id_ahead);
		ip->check = 0;
		ip->check = ip_fast_csum(ip, ip->ihl);
	} else {
		struct ipv6hdr *ip = (struct ipv6hdr *)grh;

		memcpy(ip, rx->ip, sizeof(*ip));
		ip->payload_len = htons(udp);
	}
}

static int store_datagram(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	const struct sroce_sgl to = sroce_rq_buffer(qp);
	u8 grh[SROCE_GRH_BYTES] __uninitialized;
	int err;

	make_grh(grh, rx);
	err = sroce_sgl_store_behind(&qp->rq.cache, &to, grh, sizeof(grh), rx->payload,
				     rx->pkt.payload);
	if (err == -EAGAIN &&
	    sroce_fault_start(&qp->rq.fault, &to, 0, sizeof(grh) + rx->pkt.payload, 0))
		err = -EFAULT;
	return err;
}

static void complete_datagram(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	bool imm = rx->pkt.op->headers & SROCE_IMMDT;
	struct sroce_cqe cqe __uninitialized;
	u16 index;

	sroce_cqe_begin(&cqe);
	cqe.byte_len = SROCE_GRH_BYTES + rx->pkt.payload;
	cqe.imm_data = imm ? rx->pkt.imm : 0;
	cqe.src_qp = rx->pkt.src_qpn;
	cqe.flags = SROCE_CQE_GRH | (imm ? SROCE_CQE_WITH_IMM : 0) |
		    (rx->ipv4 ? SROCE_CQE_IPV4 : SROCE_CQE_IPV6) |
		    (rx->pkt.solicited ? SROCE_CQE_SOLICITED : 0);
	cqe.sl = rx->ipv4 ? 2 : 1;
	if (qp->type == IB_QPT_GSI) {
		index = sroce_pkey_find(qp->dev, rx->pkt.pkey);
		/* The P_Key was in the table when the packet was checked. */
		cqe.pkey_index = index < SROCE_PKEY_TABLE ? index : 0;
		if (rx->vlan_id != SROCE_NO_VLAN) {
			cqe.flags |= SROCE_CQE_WITH_VLAN;
			cqe.vlan_id = rx->vlan_id;
		}
	}

	qp->rq.wqe_held = false;
	sroce_rq_complete(qp, &cqe);
}

static bool take_datagram_recv(struct sroce_qp *qp)
{
	if (qp->rq.wqe_held)
		return true;
	switch (sroce_rq_take(qp)) {
	case SROCE_FETCHED:
		qp->rq.wqe_held = true;
		return true;
	case SROCE_FETCHED_BAD:
		sroce_rq_fail(qp, SROCE_LOC_QP_OP_ERR);
		return false;
	case SROCE_FETCHED_BROKEN:
		sroce_qp_error(qp, IB_QPS_ERR, SROCE_TODO_FATAL);
		return false;
	default:
		sroce_count(qp, SROCE_OUT_OF_BUFFER);
		return false;
	}
}

void sroce_ud_recv(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	lockdep_assert_held(&qp->rq.lock);
	if (rx->pkt.qkey != sroce_qp_qkey(qp)) {
		sroce_count(qp, SROCE_RX_BAD_QKEY);
		return;
	}
	if (!take_datagram_recv(qp))
		return;
	switch (store_datagram(qp, rx)) {
	case 0:
		complete_datagram(qp, rx);
		break;
	case -EAGAIN:
		/* The next packet may find the memory present. */
		sroce_count(qp, SROCE_RX_PAGED_OUT);
		break;
	case -EMSGSIZE:
		/* An off-path attacker must not break the QP, so the WQE stays. */
		sroce_count(qp, SROCE_RESP_LOCAL_LENGTH_ERROR);
		break;
	case -ENODATA:
		sroce_count(qp, SROCE_RX_MALFORMED);
		break;
	default:
		qp->rq.wqe_held = false;
		sroce_rq_fail(qp, SROCE_LOC_PROT_ERR);
	}
}
