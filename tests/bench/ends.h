/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Both ends of connections in one process. Devices and GID indices are in the
 * environment: D1, G1, D2, G2.
 */
#ifndef BENCH_ENDS_H
#define BENCH_ENDS_H

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define UNSUPPORTED	77
#define ACCESS		(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | \
			 IBV_ACCESS_REMOTE_READ)

/**
 * struct end - an open device and what is shared by all of its QPs
 */
struct end {
	struct ibv_context *context;
	struct ibv_comp_channel *channel;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	struct ibv_mr *mr;
	union ibv_gid gid;
	int gid_index;
	struct ibv_port_attr port;
	uint8_t max_reads;
};

static struct end a, b;
static void *buffer;
static size_t buffer_size;
static int qp_timeout = 14, most_reads = 16;

static inline void need(int ok, const char *what)
{
	if (ok)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(errno == ENOMEM || errno == EOPNOTSUPP ? UNSUPPORTED : 1);
}

static inline const char *setting(const char *name)
{
	const char *value = getenv(name);

	need(value != NULL, name);
	return value;
}

static inline double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static inline struct ibv_context *open_by_name(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;
	int i;

	for (i = 0; list && list[i]; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	ibv_free_device_list(list);
	return context;
}

static inline void end_open(struct end *end, const char *device,
			    const char *gid, int cqes)
{
	struct ibv_device_attr attr;

	end->context = open_by_name(setting(device));
	need(end->context != NULL, device);
	end->gid_index = atoi(setting(gid));
	need(!ibv_query_device(end->context, &attr), "device");
	end->max_reads = attr.max_qp_rd_atom < most_reads ?
			 attr.max_qp_rd_atom : most_reads;
	need(!ibv_query_port(end->context, 1, &end->port), "port");
	need(!ibv_query_gid(end->context, 1, end->gid_index, &end->gid), gid);
	end->channel = ibv_create_comp_channel(end->context);
	need(end->channel != NULL, "completion channel");
	end->pd = ibv_alloc_pd(end->context);
	need(end->pd != NULL, "PD");
	end->cq = ibv_create_cq(end->context, cqes, NULL, end->channel, 0);
	need(end->cq != NULL, "CQ");
	end->mr = ibv_reg_mr(end->pd, buffer, buffer_size, ACCESS);
	need(end->mr != NULL, "MR");
}

/* One memory for both ends: a message is copied to where it already is. */
static inline void ends_open(size_t size, int cqes)
{
	buffer_size = size;
	buffer = mmap(NULL, size, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	need(buffer != MAP_FAILED, "memory");
	end_open(&a, "D1", "G1", cqes);
	end_open(&b, "D2", "G2", cqes);
}

static inline struct ibv_qp *qp_create(struct end *end, int depth)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = end->cq, .recv_cq = end->cq,
		.cap = { .max_send_wr = depth, .max_recv_wr = depth,
			 .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
	};
	struct ibv_qp *qp = ibv_create_qp(end->pd, &attr);

	need(qp != NULL, "QP");
	return qp;
}

static inline void modify(struct ibv_qp *qp, struct ibv_qp_attr attr, int mask)
{
	errno = ibv_modify_qp(qp, &attr, mask | IBV_QP_STATE);
	need(!errno, "modify");
}

static inline void to_init(struct ibv_qp *qp)
{
	modify(qp, (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_INIT, .port_num = 1,
		.qp_access_flags = ACCESS,
	}, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

static inline void to_rtr(struct ibv_qp *qp, struct end *end, struct end *peer,
			  uint32_t qp_num)
{
	modify(qp, (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR, .path_mtu = end->port.active_mtu,
		.dest_qp_num = qp_num, .max_dest_rd_atomic = end->max_reads,
		.min_rnr_timer = 1,
		.ah_attr = { .is_global = 1, .port_num = 1,
			     .grh = { .dgid = peer->gid, .hop_limit = 64,
				      .sgid_index = end->gid_index } },
	}, IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
	   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
}

static inline void to_rts(struct ibv_qp *qp, const struct end *peer)
{
	modify(qp, (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS, .timeout = qp_timeout, .retry_cnt = 7,
		.rnr_retry = 7, .max_rd_atomic = peer->max_reads,
	}, IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
	   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

/* Two QPs connected; returns the one that sends. */
static inline struct ibv_qp *pair_create(int depth)
{
	struct ibv_qp *qa = qp_create(&a, depth), *qb = qp_create(&b, depth);

	to_init(qa);
	to_init(qb);
	to_rtr(qa, &a, &b, qb->qp_num);
	to_rtr(qb, &b, &a, qa->qp_num);
	to_rts(qa, &b);
	to_rts(qb, &a);
	return qa;
}

#endif /* BENCH_ENDS_H */
