// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A run: consecutive packets for the same side of the same QP.  They are handled under one
 * lock and acknowledged once.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include "../core/recovery.h"
#include "../net/ah.h"
#include "../net/cnp.h"
#include "../net/mcast.h"
#include "../net/mcast_copy.h"
#include "../net/rx_gid.h"
#include "../net/rx_headers.h"
#include "../net/rx_route.h"
#include "../queue/qp_run.h"
#include "../queue/trace.h"
#include "../recv/resp.h"
#include "../recv/resp_tx.h"
#include "../recv/rq.h"
#include "../send/req.h"
#include "../send/response.h"
#include "../send/sq.h"
#include "rx_run.h"

/*
 * Called at the end of a section with marked packets.  Sends a CNP to the peer.  The
 * requester controls the window of READs, so it also reacts to marked responses.
 */
static void report_marks(struct sroce_rx_run *run)
{
	struct sroce_qp *qp = run->qp;

	if (run->responses)
		lockdep_assert_held(&qp->sq.lock);
	if (sroce_rq_active(qp)) {
		sroce_count_add(qp, SROCE_NP_ECN_MARKED_ROCE_PACKETS,
				run->marked);
		if (run->responses)
			sroce_requester_congested(&qp->sq.req);
		sroce_cnp_send(qp, run->responses ? &qp->sq.path :
						    &qp->rq.path);
	}
	run->marked = 0;
}

static void run_unlock(struct sroce_rx_run *run)
{
	if (!run->locked)
		return;
	if (unlikely(run->marked))
		report_marks(run);
	if (run->responses) {
		sroce_req_run(run->qp);
		sroce_sq_end(run->qp);
	} else {
		sroce_resp_send(run->qp);
		sroce_rq_end(run->qp);
	}
	run->locked = false;
}

void sroce_rx_run_end(struct sroce_rx_run *run)
{
	if (!run->qp)
		return;
	run_unlock(run);
	sroce_count(run->qp, SROCE_RX_BURSTS);
	sroce_count_add(run->qp, SROCE_RX_PACKETS, run->packets);
	sroce_count_add(run->qp, SROCE_RX_BYTES, run->bytes);
	sroce_qp_put(run->qp);
	run->qp = NULL;
	run->packets = 0;
	run->bytes = 0;
}

/* Bottom halves are off, which implies RCU. */
static bool on_link(const struct sroce_av *av, const struct sroce_rx *rx)
{
	struct net_device *ndev;

	if (rx->looped || !sroce_rx_link_local(&av->saddr))
		return true;
	ndev = sroce_rx_ndev(rx);
	return ndev && sroce_av_ndev(av) == ndev;
}

static bool has_addresses_of(const struct sroce_av *av, const struct sroce_rx *rx)
{
	const struct ipv6hdr *ipv6 = (const struct ipv6hdr *)rx->ip;
	const struct iphdr *ipv4 = (const struct iphdr *)rx->ip;

	if (av->ipv4 != rx->ipv4)
		return false;
	if (rx->ipv4)
		return av->saddr.s6_addr32[3] == ipv4->daddr &&
		       av->daddr.s6_addr32[3] == ipv4->saddr;
	return ipv6_addr_equal(&av->saddr, &ipv6->daddr) &&
	       ipv6_addr_equal(&av->daddr, &ipv6->saddr) && on_link(av, rx);
}

/* A connected QP's av does not change from RTR on, under either lock. */
static bool from_peer(const struct sroce_qp *qp, const struct sroce_rx *rx)
{
	const struct sroce_av *av = qp->av;

	return av && av->net_cookie == rx->net->net_cookie &&
	       av->loopback == rx->looped && has_addresses_of(av, rx);
}

/*
 * Of two QPs of a device that were reset and connected again, the new connection may have the
 * PSNs of the old one.  On UC, it has.  Packets of the old one may still be queued here, but must
 * not outlive its end.
 */
static bool is_outdated(const struct sroce_qp *qp, const struct sroce_rx *rx)
{
	lockdep_assert(lockdep_is_held(&qp->sq.lock) || lockdep_is_held(&qp->rq.lock));
	return rx->looped && rx->resets < qp->resets;
}

static bool address_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	/* The QP was found by its group address. */
	if (rx->pkt.qpn == SROCE_QPN_MULTICAST)
		return true;
	return sroce_qp_connected(qp) ? from_peer(qp, rx) : sroce_rx_is_ours(qp->dev, rx);
}

static void run_lock(struct sroce_rx_run *run, const struct sroce_rx *rx)
{
	bool responses = rx->pkt.op->kind >= SROCE_KIND_RESPONSES;

	if (run->locked && run->responses == responses)
		return;
	run_unlock(run);
	run->responses = responses;
	if (responses)
		sroce_sq_begin(run->qp);
	else
		sroce_rq_begin(run->qp);
	run->locked = true;
	run->accepted = address_fits(run->qp, rx) && !is_outdated(run->qp, rx);
	run->header = sroce_qp_connected(run->qp) ? SROCE_BTH_BYTES : 0;
	if (!responses && run->qp->type == IB_QPT_XRC_TGT)
		run->header += SROCE_XRCETH_BYTES;
}

static bool transport_matches(const struct sroce_qp *qp,
			      const struct sroce_rx *rx)
{
	u8 transport = rx->pkt.opcode & SROCE_TRANSPORT_MASK;

	/* The sender of a CNP reacts to packets of this QP, not of a group. */
	if (rx->pkt.op->kind == SROCE_KIND_CNP)
		return rx->pkt.qpn != SROCE_QPN_MULTICAST;
	if (transport != sroce_qp_transport(qp))
		return false;
	/* An XRC QP has only a requester or only a responder. */
	return transport != SROCE_XRC ||
	       (rx->pkt.op->kind >= SROCE_KIND_RESPONSES) ==
	       (qp->type == IB_QPT_XRC_INI);
}

static bool transport_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	if (transport_matches(qp, rx))
		return true;
	sroce_count(qp, SROCE_RX_BAD_TRANSPORT);
	return false;
}

static bool pkey_fits(struct sroce_qp *qp, const struct sroce_rx *rx)
{
	if (sroce_rx_pkey_matches(qp, rx->pkt.pkey))
		return true;
	sroce_count(qp, SROCE_RX_BAD_PKEY);
	return false;
}

static bool gsi_matches(struct sroce_qp *qp, void *arg)
{
	return sroce_rx_is_ours(qp->dev, arg);
}

/*
 * The same, for devices of the netdev on which the packet arrived, or of one below it.  With
 * RDMA namespaces, programs of the packet's namespace must have access to the device.
 */
static bool gsi_is_near(struct sroce_qp *qp, void *arg)
{
	struct net_device *ndev = sroce_rx_ndev(arg);
	const struct sroce_rx *rx = arg;

	return ndev && rdma_dev_access_netns(&qp->dev->ib, rx->net) &&
	       sroce_is_above(qp->dev, ndev) && gsi_matches(qp, arg);
}

/*
 * Find the GSI QP of the device that the packet was sent to.  A match reads the GID table of
 * the device, and any host can choose the rate of such packets: try the likely devices first.
 * Context: RCU.
 */
static struct sroce_qp *find_gsi(struct sroce_rx *rx)
{
	return sroce_qp_find_gsi(gsi_is_near, rx) ?: sroce_qp_find_gsi(gsi_matches, rx);
}

/*
 * Find the QP of a packet and start a run for it.  Finding the GSI QP may scan all devices;
 * skip it unless the ICRC is known to be right.
 */
static bool lookup_qp(struct sroce_rx_run *run, struct sroce_rx *rx, bool intact)
{
	u32 qpn = rx->pkt.qpn;

	if (qpn == SROCE_QPN_GSI && !intact)
		return false;
	if (run->qp && run->qpn == qpn)
		return true;
	sroce_rx_run_end(run);
	rcu_read_lock();
	run->qp = qpn == SROCE_QPN_GSI ? find_gsi(rx) : sroce_qp_lookup(qpn);
	rcu_read_unlock();
	run->qpn = qpn;
	return run->qp;
}

void sroce_rx_count_stray(struct sroce_rx *rx, enum sroce_counter why)
{
	struct sroce_qp *gsi;

	rcu_read_lock();
	gsi = find_gsi(rx);
	if (!gsi)
		gsi = sroce_qp_first_gsi(rx->net);
	rcu_read_unlock();
	if (!gsi)
		return;
	sroce_count(gsi, why);
	sroce_count(gsi, SROCE_RX_PACKETS);
	sroce_count_add(gsi, SROCE_RX_BYTES, rx->len);
	sroce_qp_put(gsi);
}

/* Count a packet that the QP of @run has not accepted. */
static void count_refused(struct sroce_rx_run *run, struct sroce_rx *rx, bool intact)
{
	if (!sroce_rx_is_ours(run->qp->dev, rx)) {
		sroce_rx_count_stray(rx, intact ? SROCE_RX_BAD_QPN : SROCE_RX_ICRC_ENCAPSULATED);
		return;
	}
	if (!intact)
		sroce_count(run->qp, SROCE_RX_ICRC_ENCAPSULATED);
	run->packets++;
	run->bytes += rx->len;
}

/* UC has no window, and UD no connection, so they only count CNPs. */
static void accept_cnp(struct sroce_qp *qp)
{
	lockdep_assert_held(&qp->sq.lock);
	sroce_count(qp, SROCE_RP_CNP_HANDLED);
	if (sroce_qp_reliable(qp))
		sroce_requester_congested(&qp->sq.req);
}

/*
 * Check the intact packet against the QP, then hand it to the requester or responder.
 * Returns false if it does not pass a check.
 */
static bool accept_packet(struct sroce_rx_run *run, struct sroce_rx *rx)
{
	struct sroce_qp *qp = run->qp;

	if (!transport_fits(qp, rx) || !pkey_fits(qp, rx))
		return false;
	run_lock(run, rx);
	if (qp->type == IB_QPT_GSI)
		rx->vlan_id = sroce_rx_vlan(qp->dev, rx);
	if (!run->accepted) {
		sroce_count(qp, is_outdated(qp, rx) ? SROCE_RX_BAD_STATE : SROCE_RX_BAD_ADDRESS);
		return false;
	}
	if (unlikely(run->ce) && sroce_qp_connected(qp) &&
	    sroce_ecn_capable(rx->pkt.opcode))
		run->marked++;
	if (unlikely(rx->pkt.op->kind == SROCE_KIND_CNP))
		accept_cnp(qp);
	else if (run->responses)
		sroce_req_response(qp, rx);
	else
		sroce_resp_request(qp, rx);
	return true;
}

/* Each member needs its own copy of the reader. */
static void deliver_to_member(struct sroce_qp *qp, void *arg)
{
	struct sroce_rx rx = *(const struct sroce_rx *)arg;
	struct sroce_reader payload = *rx.payload;
	struct sroce_rx_run run = {
		.qp = qp,
		.qpn = SROCE_QPN_MULTICAST,
		.packets = 1,
		.bytes = rx.len,
	};

	rx.payload = &payload;
	accept_packet(&run, &rx);
	sroce_rx_run_end(&run);
}

/* A multicast packet: the address selects the QPs. */
static bool deliver_to_group(struct sroce_rx *rx)
{
	struct in6_addr group;
	struct net_device *in;
	u32 found = 0;

	sroce_rx_daddr(rx, &group);
	rcu_read_lock();
	in = sroce_rx_ndev(rx);
	if (in)
		found = sroce_mcast_for_each(in, sroce_mcast_first(rx, in), &group,
					     deliver_to_member, rx);
	rcu_read_unlock();
	return found;
}

/* Deliver a packet to the QP of @run. */
static bool deliver_found(struct sroce_rx_run *run, struct sroce_rx *rx, bool intact)
{
	trace_sroce_packet_in(run->qp, rx->pkt.opcode, rx->pkt.psn, rx->len);
	if (unlikely(!intact || !accept_packet(run, rx))) {
		count_refused(run, rx, intact);
		return false;
	}
	run->packets++;
	run->bytes += rx->len;
	return true;
}

bool sroce_rx_run_deliver(struct sroce_rx_run *run, struct sroce_rx *rx, bool intact)
{
	if (!sroce_headers_read(rx->payload, &rx->pkt, rx->len)) {
		sroce_rx_count_stray(rx, SROCE_RX_MALFORMED);
		return false;
	}
	if (likely(lookup_qp(run, rx, intact)))
		return deliver_found(run, rx, intact);
	/* Count the same whether the QP exists or not; see count_refused(). */
	if (!intact || rx->pkt.qpn != SROCE_QPN_MULTICAST || !deliver_to_group(rx))
		sroce_rx_count_stray(rx, intact ? SROCE_RX_BAD_QPN : SROCE_RX_ICRC_ENCAPSULATED);
	return false;
}

void sroce_rx_run_deliver_parsed(struct sroce_rx_run *run, struct sroce_rx *rx)
{
	if (likely(lookup_qp(run, rx, true)))
		deliver_found(run, rx, true);
	else
		sroce_rx_count_stray(rx, SROCE_RX_BAD_QPN);
}

void sroce_rx_run_lock(struct sroce_rx_run *run, struct sroce_rx *rx)
{
	if (sroce_headers_read(rx->payload, &rx->pkt, rx->len) && lookup_qp(run, rx, false) &&
	    transport_matches(run->qp, rx))
		run_lock(run, rx);
}
