// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "end.h"

/* IBV_DEVICE_ATOMIC_WRITE */
#define CAP_ATOMIC_WRITE (1ull << 40)

#define ACCESS (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC)

static struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return context;
}

void end_open(struct end *end, const char *device, int gid_index)
{
	struct ibv_device_attr_ex attr;

	end->name = device;
	end->gid_index = gid_index;
	end->context = open_device(device);
	if (!end->context)
		errx(1, "no device %s", device);
	if (ibv_query_device_ex(end->context, NULL, &attr))
		errx(1, "query of %s", device);
	end->atomic_write = attr.device_cap_flags_ex & CAP_ATOMIC_WRITE;
	end->source = mmap(NULL, 2 * HALF, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	end->target = end->source + HALF;
	end->pd = ibv_alloc_pd(end->context);
	end->send_cq = ibv_create_cq(end->context, 2 * MAX_MESSAGES, NULL, NULL, 0);
	end->recv_cq = ibv_create_cq(end->context, 2 * MAX_MESSAGES, NULL, NULL, 0);
	if (!end->pd || !end->send_cq || !end->recv_cq)
		err(1, "%s", device);
	end->mr = ibv_reg_mr(end->pd, end->source, 2 * HALF, ACCESS);
	if (!end->mr || ibv_query_gid(end->context, 1, gid_index, &end->gid))
		err(1, "%s", device);
}

static bool create_qp(struct end *end, enum ibv_qp_type type)
{
	struct ibv_qp_init_attr_ex init = {
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.cap = {
			.max_send_wr = MAX_MESSAGES,
			.max_recv_wr = MAX_MESSAGES,
			.max_send_sge = 2,
			.max_recv_sge = 2,
		},
		.qp_type = type,
		.pd = end->pd,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
	};

	if (end->atomic_write && type == IBV_QPT_RC) {
		init.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		init.send_ops_flags = IBV_QP_EX_WITH_ATOMIC_WRITE;
	}
	end->qp = ibv_create_qp_ex(end->context, &init);
	return end->qp;
}

static bool to_init(struct end *end)
{
	bool ud = end->qp->qp_type == IBV_QPT_UD;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = end->qp->qp_type == IBV_QPT_UC ?
				   IBV_ACCESS_REMOTE_WRITE : ACCESS,
		.qkey = QKEY,
	};

	return !ibv_modify_qp(end->qp, &attr,
			      IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			      (ud ? IBV_QP_QKEY : IBV_QP_ACCESS_FLAGS));
}

static struct ibv_ah_attr path(const struct end *from, const struct end *to)
{
	return (struct ibv_ah_attr) {
		.is_global = 1,
		.port_num = 1,
		.grh = {
			.dgid = to->gid,
			.sgid_index = from->gid_index,
			.hop_limit = 64,
		},
	};
}

static bool to_rtr(struct end *end, const struct end *peer, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.ah_attr = path(end, peer),
		.path_mtu = mtu,
		.dest_qp_num = peer->qp->qp_num,
		.rq_psn = peer->psn,
		.max_dest_rd_atomic = READS,
		.min_rnr_timer = 1,
	};
	int mask = IBV_QP_STATE;

	if (end->qp->qp_type != IBV_QPT_UD)
		mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			IBV_QP_RQ_PSN;
	if (end->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	return !ibv_modify_qp(end->qp, &attr, mask);
}

static bool to_rts(struct end *end)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.sq_psn = end->psn,
		.timeout = end->timeout,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = READS,
	};
	int mask = IBV_QP_STATE | IBV_QP_SQ_PSN;

	if (end->qp->qp_type == IBV_QPT_RC)
		mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			IBV_QP_MAX_QP_RD_ATOMIC;
	return !ibv_modify_qp(end->qp, &attr, mask);
}

static bool connect_end(struct end *end, const struct end *peer,
			enum ibv_mtu mtu)
{
	struct ibv_ah_attr attr = path(end, peer);

	if (!to_init(end) || !to_rtr(end, peer, mtu) || !to_rts(end))
		return false;
	if (end->qp->qp_type != IBV_QPT_UD)
		return true;
	end->ah = ibv_create_ah(end->pd, &attr);
	return end->ah;
}

bool ends_connect(struct end *a, struct end *b, enum ibv_qp_type type,
		  enum ibv_mtu mtu)
{
	if (create_qp(a, type) && create_qp(b, type) &&
	    connect_end(a, b, mtu) && connect_end(b, a, mtu))
		return true;
	warn("QPs on %s and %s", a->name, b->name);
	return false;
}

static void disconnect_end(struct end *end)
{
	struct ibv_wc wc;

	if (end->ah)
		ibv_destroy_ah(end->ah);
	if (end->qp)
		ibv_destroy_qp(end->qp);
	end->ah = NULL;
	end->qp = NULL;
	while (ibv_poll_cq(end->send_cq, 1, &wc) > 0)
		;
	while (ibv_poll_cq(end->recv_cq, 1, &wc) > 0)
		;
}

void ends_disconnect(struct end *a, struct end *b)
{
	disconnect_end(a);
	disconnect_end(b);
}
