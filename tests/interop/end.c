// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <err.h>
#include "end.h"

/* IBV_DEVICE_ATOMIC_WRITE */
#define CAP_ATOMIC_WRITE (1ull << 40)

void end_open(struct end *end, const char *device, int gid_index)
{
	const struct options options = {
		.size = 2 * HALF,
		.wr = MAX_MESSAGES,
		.cqe = 2 * MAX_MESSAGES,
	};
	struct ibv_device_attr_ex attr;

	if (!host_open(&end->host, device, gid_index) ||
	    ibv_query_device_ex(end->host.context, NULL, &attr) ||
	    !side_open(&end->side, &end->host, &options, false))
		err(1, "%s", device);
	end->atomic_write = attr.device_cap_flags_ex & CAP_ATOMIC_WRITE;
	end->source = end->side.buf;
	end->target = end->source + HALF;
}

static bool create_qp(struct end *end, enum ibv_qp_type type, enum ibv_mtu mtu)
{
	struct options *o = &end->options;

	o->type = type;
	o->mtu = mtu;
	o->wr = MAX_MESSAGES;
	o->sge = 2;
	o->rd_atomic = READS;
	o->extended = end->atomic_write && type == IBV_QPT_RC;
	o->send_ops = IBV_QP_EX_WITH_ATOMIC_WRITE;
	return side_qp(&end->side, o);
}

/* The first PSN that an end expects is the peer's. */
static bool connect_end(struct end *end, const struct end *peer)
{
	struct side *side = &end->side;

	if (!CHECK_CALL(to_init(side, &end->options), 0) ||
	    !CHECK_CALL(to_rtr(side, &peer->side, &peer->options), 0) ||
	    !CHECK_CALL(to_rts(side, &end->options), 0))
		return false;
	if (side->qp->qp_type != IBV_QPT_UD)
		return true;
	side->ah = address_of(side->pd, side->host, peer->side.host);
	return CHECK(side->ah);
}

bool ends_connect(struct end *a, struct end *b, enum ibv_qp_type type,
		  enum ibv_mtu mtu)
{
	if (create_qp(a, type, mtu) && create_qp(b, type, mtu) &&
	    connect_end(a, b) && connect_end(b, a))
		return true;
	diag("QPs on %s and %s", a->host.name, b->host.name);
	return false;
}

static void disconnect_end(struct end *end)
{
	struct side *side = &end->side;
	struct ibv_wc wc;

	if (side->ah)
		ibv_destroy_ah(side->ah);
	if (side->qp)
		ibv_destroy_qp(side->qp);
	side->ah = NULL;
	side->qp = NULL;
	while (ibv_poll_cq(side->scq, 1, &wc) > 0)
		;
	while (ibv_poll_cq(side->rcq, 1, &wc) > 0)
		;
}

void ends_disconnect(struct end *a, struct end *b)
{
	disconnect_end(a);
	disconnect_end(b);
}
