// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "qp_pair.h"

#define OR(value, other) ((value) ? (value) : (other))

struct host hosts[2];

/* Devices */

static struct ibv_context *open_by_name(const char *name)
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

static void set_nonblocking(int fd)
{
	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool host_open(struct host *host, const char *name, int gid_index)
{
	struct ibv_port_attr port;

	host->name = name;
	host->gid_index = gid_index;
	host->context = open_by_name(name);
	if (!host->context || ibv_query_port(host->context, 1, &port) ||
	    ibv_query_gid(host->context, 1, gid_index, &host->gid))
		return false;
	host->mtu = port.active_mtu;
	set_nonblocking(host->context->async_fd);
	return true;
}

static void open_or_die(struct host *host, const char *which)
{
	char device[] = "D?", index[] = "G?", name[] = "sroce?";
	const char *value;

	device[1] = *which;
	index[1] = *which;
	name[5] = *which;
	value = getenv(index);
	if (host_open(host, strdup(OR(getenv(device), name)),
		      value ? atoi(value) : 0))
		return;
	printf("Bail out! cannot open device %s\n", host->name);
	exit(1);
}

void fabric_open(void)
{
	open_or_die(&hosts[0], "1");
	open_or_die(&hosts[1], "2");
}

/* Creation */

static bool side_queues(struct side *side, const struct options *o)
{
	int cqe = OR(o->cqe, 4 * OR(o->wr, 64));

	side->channel = ibv_create_comp_channel(side->host->context);
	if (!CHECK(side->channel))
		return false;
	set_nonblocking(side->channel->fd);
	side->scq = ibv_create_cq(side->host->context, cqe, side,
				  side->channel, 0);
	side->rcq = ibv_create_cq(side->host->context, cqe, side,
				  side->channel, 0);
	return CHECK(side->scq && side->rcq);
}

static bool side_memory(struct side *side, const struct options *o)
{
	side->size = OR(o->size, 65536);
	side->buf = mmap(NULL, side->size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!CHECK(side->buf != MAP_FAILED))
		return false;
	side->mr = ibv_reg_mr(side->pd, side->buf, side->size,
			      OR(o->mr_access, ALL_ACCESS));
	return CHECK(side->mr);
}

static uint64_t send_ops(enum ibv_qp_type type)
{
	uint64_t ops = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;

	if (type == IBV_QPT_XRC_SEND)
		type = IBV_QPT_RC;
	if (type != IBV_QPT_UD)
		ops |= IBV_QP_EX_WITH_RDMA_WRITE |
		       IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
	if (type == IBV_QPT_RC)
		ops |= IBV_QP_EX_WITH_RDMA_READ |
		       IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP |
		       IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;
	return ops;
}

struct ibv_xrcd *xrcd_open(struct ibv_context *context)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1,
		.oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(context, &attr);

	CHECK(xrcd);
	return xrcd;
}

struct ibv_srq *xrc_srq(struct ibv_pd *pd, struct ibv_xrcd *xrcd,
			struct ibv_cq *cq, const struct options *o)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr.max_wr = OR(o->srq, 64),
		.attr.max_sge = OR(o->sge, 4),
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = pd,
		.xrcd = xrcd,
		.cq = cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(pd->context, &attr);

	CHECK(srq);
	return srq;
}

uint32_t srq_number(struct ibv_srq *srq)
{
	uint32_t number = 0;

	CHECK_CALL(ibv_get_srq_num(srq, &number), 0);
	return number;
}

/* It uses the SRQs of its domain, and needs no other objects. */
static bool side_target(struct side *side)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = side,
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = side->xrcd,
	};

	side->qp = ibv_create_qp_ex(side->host->context, &attr);
	return CHECK(side->qp);
}

bool side_qp(struct side *side, const struct options *o)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_context = side,
		.send_cq = side->scq,
		.recv_cq = side->rcq,
		.srq = side->srq,
		.cap.max_send_wr = o->no_send ? 0 : OR(o->wr, 64),
		.cap.max_recv_wr = OR(o->wr, 64),
		.cap.max_send_sge = OR(o->sge, 4),
		.cap.max_recv_sge = OR(o->sge, 4),
		.cap.max_inline_data = o->inline_data,
		.qp_type = OR(o->type, IBV_QPT_RC),
		.sq_sig_all = o->sig_all,
		.comp_mask = IBV_QP_INIT_ATTR_PD,
		.pd = side->pd,
	};

	if (o->extended) {
		attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		attr.send_ops_flags = OR(o->send_ops, send_ops(attr.qp_type));
	}
	if (side->xrcd)
		return side_target(side);
	side->qp = ibv_create_qp_ex(side->host->context, &attr);
	side->cap = attr.cap;
	return CHECK(side->qp);
}

static bool side_srq(struct side *side, const struct options *o)
{
	struct ibv_srq_init_attr attr = {
		.srq_context = side,
		.attr.max_wr = o->srq,
		.attr.max_sge = OR(o->sge, 4),
	};

	if (o->srq_of)
		side->srq = side->host == &hosts[0] ? o->srq_of->a.srq :
						      o->srq_of->b.srq;
	if (!o->srq || o->type == IBV_QPT_XRC_SEND)
		return true;
	side->own_srq = true;
	side->srq = ibv_create_srq(side->pd, &attr);
	return CHECK(side->srq);
}

/* The receiving side of XRC. */
static bool side_domain(struct side *side, const struct options *o)
{
	side->xrcd = xrcd_open(side->host->context);
	if (!side->xrcd)
		return false;
	side->own_srq = true;
	side->srq = xrc_srq(side->pd, side->xrcd, side->rcq, o);
	return side->srq;
}

bool side_open(struct side *side, struct host *host, const struct options *o,
	       bool target)
{
	memset(side, 0, sizeof(*side));
	side->host = host;
	side->pd = ibv_alloc_pd(host->context);
	return CHECK(side->pd) && side_queues(side, o) &&
	       side_memory(side, o) && side_srq(side, o) &&
	       (!target || side_domain(side, o));
}

bool side_create(struct side *side, struct host *host,
		 const struct options *o, bool target)
{
	return side_open(side, host, o, target) && side_qp(side, o);
}

bool pair_create(struct pair *pair, const struct options *options)
{
	bool xrc;

	pair->options = options ? *options : (struct options) {};
	xrc = pair->options.type == IBV_QPT_XRC_SEND;
	if (!side_create(&pair->a, &hosts[0], &pair->options, false) ||
	    !side_create(&pair->b, &hosts[1], &pair->options, xrc))
		return false;
	if (xrc)
		pair->a.srqn = srq_number(pair->b.srq);
	return true;
}

static void take_notifications(struct side *side)
{
	struct ibv_cq *cq;
	void *context;

	while (!ibv_get_cq_event(side->channel, &cq, &context))
		ibv_ack_cq_events(cq, 1);
}

void side_destroy(struct side *side)
{
	forget_events(side->host->context);
	if (side->qp)
		CHECK_CALL(ibv_destroy_qp(side->qp), 0);
	forget_events(side->host->context);
	if (side->own_srq)
		CHECK_CALL(ibv_destroy_srq(side->srq), 0);
	if (side->xrcd)
		CHECK_CALL(ibv_close_xrcd(side->xrcd), 0);
	take_notifications(side);
	if (side->ah)
		CHECK_CALL(ibv_destroy_ah(side->ah), 0);
	if (side->mr)
		CHECK_CALL(ibv_dereg_mr(side->mr), 0);
	CHECK_CALL(ibv_destroy_cq(side->scq), 0);
	CHECK_CALL(ibv_destroy_cq(side->rcq), 0);
	CHECK_CALL(ibv_destroy_comp_channel(side->channel), 0);
	CHECK_CALL(ibv_dealloc_pd(side->pd), 0);
	munmap(side->buf, side->size);
}

void pair_down(struct pair *pair)
{
	side_destroy(&pair->a);
	side_destroy(&pair->b);
}

/* State changes */

void init_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	       const struct options *o)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_INIT;
	attr->port_num = 1;
	*mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
	if (type == IBV_QPT_UD) {
		attr->qkey = QKEY;
		*mask |= IBV_QP_QKEY;
		return;
	}
	*mask |= IBV_QP_ACCESS_FLAGS;
	attr->qp_access_flags = OR(o->qp_access, type == IBV_QPT_UC ?
				   IBV_ACCESS_REMOTE_WRITE : ALL_ACCESS);
	if (o->no_qp_access)
		attr->qp_access_flags = 0;
}

static void path_to(struct ibv_ah_attr *ah, const struct host *from,
		    const struct host *to)
{
	memset(ah, 0, sizeof(*ah));
	ah->is_global = 1;
	ah->port_num = 1;
	ah->grh.dgid = to->gid;
	ah->grh.sgid_index = from->gid_index;
	ah->grh.hop_limit = 64;
}

static enum ibv_mtu usual_mtu(const struct host *host)
{
	return host->mtu < IBV_MTU_1024 ? host->mtu : IBV_MTU_1024;
}

void rtr_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	      const struct side *side, const struct side *peer,
	      const struct options *o)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_RTR;
	*mask = IBV_QP_STATE;
	if (type == IBV_QPT_UD)
		return;
	path_to(&attr->ah_attr, side->host, peer->host);
	attr->path_mtu = OR(o->mtu, usual_mtu(side->host));
	attr->dest_qp_num = peer->qp->qp_num;
	attr->rq_psn = OR(o->psn, 0x123456);
	*mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
		 IBV_QP_RQ_PSN;
	if (type != IBV_QPT_RC && type != IBV_QPT_XRC_RECV)
		return;
	attr->max_dest_rd_atomic = o->no_reads ? 0 : OR(o->rd_atomic, 16);
	attr->min_rnr_timer = OR(o->min_rnr_timer, 1);
	*mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
}

void rts_attr(struct ibv_qp_attr *attr, int *mask, enum ibv_qp_type type,
	      const struct options *o)
{
	memset(attr, 0, sizeof(*attr));
	attr->qp_state = IBV_QPS_RTS;
	attr->sq_psn = OR(o->psn, 0x123456);
	*mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
	if (type == IBV_QPT_XRC_RECV) {
		attr->timeout = o->no_timeout ? 0 : OR(o->timeout, 14);
		*mask |= IBV_QP_TIMEOUT;
	}
	if (type != IBV_QPT_RC && type != IBV_QPT_XRC_SEND)
		return;
	attr->timeout = o->no_timeout ? 0 : OR(o->timeout, 14);
	attr->retry_cnt = o->no_retry ? 0 : OR(o->retry_cnt, 7);
	attr->rnr_retry = o->no_rnr_retry ? 0 : OR(o->rnr_retry, 7);
	attr->max_rd_atomic = o->no_reads ? 0 : OR(o->rd_atomic, 16);
	*mask |= IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
		 IBV_QP_MAX_QP_RD_ATOMIC;
}

int to_reset(struct side *side)
{
	return to_state(side, IBV_QPS_RESET);
}

int to_init(struct side *side, const struct options *options)
{
	struct ibv_qp_attr attr;
	int mask;

	init_attr(&attr, &mask, side->qp->qp_type, options);
	return ibv_modify_qp(side->qp, &attr, mask);
}

int to_rtr(struct side *side, const struct side *peer,
	   const struct options *options)
{
	struct ibv_qp_attr attr;
	int mask;

	rtr_attr(&attr, &mask, side->qp->qp_type, side, peer, options);
	return ibv_modify_qp(side->qp, &attr, mask);
}

int to_rts(struct side *side, const struct options *options)
{
	struct ibv_qp_attr attr;
	int mask;

	rts_attr(&attr, &mask, side->qp->qp_type, options);
	return ibv_modify_qp(side->qp, &attr, mask);
}

int to_state(struct side *side, enum ibv_qp_state state)
{
	struct ibv_qp_attr attr = { .qp_state = state };

	return ibv_modify_qp(side->qp, &attr, IBV_QP_STATE);
}

enum ibv_qp_state state_of(const struct side *side)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	if (ibv_query_qp(side->qp, &attr, IBV_QP_STATE, &init))
		return IBV_QPS_UNKNOWN;
	return attr.qp_state;
}

struct ibv_ah *address_of(struct ibv_pd *pd, const struct host *from,
			  const struct host *to)
{
	struct ibv_ah_attr attr;

	path_to(&attr, from, to);
	return ibv_create_ah(pd, &attr);
}

bool side_connect(struct side *side, const struct side *peer,
		  const struct options *o)
{
	enum ibv_qp_state end = OR(o->stop_at, IBV_QPS_RTS);

	if (!CHECK_CALL(to_init(side, o), 0))
		return false;
	if (end == IBV_QPS_INIT)
		return true;
	if (!CHECK_CALL(to_rtr(side, peer, o), 0))
		return false;
	if (end != IBV_QPS_RTR && !CHECK_CALL(to_rts(side, o), 0))
		return false;
	if (side->qp->qp_type != IBV_QPT_UD || side->ah)
		return true;
	side->ah = address_of(side->pd, side->host, peer->host);
	return CHECK(side->ah);
}

bool pair_connect(struct pair *pair)
{
	return side_connect(&pair->a, &pair->b, &pair->options) &&
	       side_connect(&pair->b, &pair->a, &pair->options);
}

bool pair_up(struct pair *pair, const struct options *options)
{
	return pair_create(pair, options) && pair_connect(pair);
}

bool pair_again(struct pair *pair)
{
	return CHECK_CALL(to_reset(&pair->a), 0) &&
	       CHECK_CALL(to_reset(&pair->b), 0) && pair_connect(pair);
}

/* Events and counters */

bool next_event(struct ibv_context *context, struct ibv_async_event *event,
		int ms)
{
	struct pollfd pollfd = { .fd = context->async_fd, .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1 && !ibv_get_async_event(context, event);
}

bool wait_event(const struct side *side, enum ibv_event_type type)
{
	bool of_srq = type == IBV_EVENT_SRQ_LIMIT_REACHED ||
		      type == IBV_EVENT_SRQ_ERR;
	struct ibv_async_event event;

	while (next_event(side->host->context, &event, PATIENCE_MS)) {
		ibv_ack_async_event(&event);
		if (event.event_type == type &&
		    (of_srq ? event.element.srq == side->srq :
			      event.element.qp == side->qp))
			return true;
		diag("%s: %s came first", side->host->name,
		     ibv_event_type_str(event.event_type));
	}
	return false;
}

void forget_events(struct ibv_context *context)
{
	struct ibv_async_event event;

	while (next_event(context, &event, 0))
		ibv_ack_async_event(&event);
}

long long counter(const struct host *host, const char *name)
{
	char path[200];
	long long value = -1;
	FILE *file;

	/* The RDMA core caches values for 10 ms. */
	usleep(30000);
	snprintf(path, sizeof(path),
		 "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 host->name, name);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%lld", &value) != 1)
		value = -1;
	fclose(file);
	return value;
}

bool counter_leaves(const struct host *host, const char *name, long long value)
{
	int ms;

	/* Each attempt takes 30 ms. */
	for (ms = 0; ms < PATIENCE_MS; ms += 30)
		if (counter(host, name) != value)
			return true;
	return false;
}

/* A program that begins in another way defines its own. */
void __attribute__((weak)) tap_begin(void)
{
	fabric_open();
}
