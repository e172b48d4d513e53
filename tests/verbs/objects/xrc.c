// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended reliable connections: an initiator on side a, a target on side b,
 * and SRQs of the target's domain.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/sroce-abi.h>

#include "transfer.h"
#include "resources.h"

static const struct options xrc = { .type = IBV_QPT_XRC_SEND };

/* Every operation and size */

static void sizes(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	const enum ibv_mtu mtu = *(const enum ibv_mtu *)arg;
	const size_t bytes = 128u << mtu;
	const size_t lengths[] = {
		0, 1, 4, bytes - 4, bytes - 1, bytes, bytes + 1, 2 * bytes,
		9 * bytes + 3, 100001,
	};
	const struct options options = {
		.type = IBV_QPT_XRC_SEND, .mtu = mtu, .size = 1 << 18,
	};
	struct pair pair;
	size_t i;

	if (mtu > hosts[0].mtu || mtu > hosts[1].mtu) {
		skip("the port's MTU is smaller");
		return;
	}
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(opcodes) * ARRAY_SIZE(lengths); i++)
		transfer(&pair, &(const struct transfer) {
			.opcode = opcodes[i % ARRAY_SIZE(opcodes)],
			.length = lengths[i / ARRAY_SIZE(opcodes)],
			.offset = 64 + i, .remote = 64 + 3 * i,
		});
	pair_down(&pair);
}

static void ways_to_post(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_XRC_SEND, .inline_data = 400,
		.extended = *(const bool *)arg,
	};
	struct pair pair;
	int n;

	REQUIRE(pair_up(&pair, &options));
	for (n = 1; n <= 4; n++)
		transfer(&pair, &(const struct transfer) {
			.opcode = IBV_WR_SEND_WITH_IMM, .length = 3000,
			.pieces = n, .recv_pieces = 5 - n,
		});
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_SEND, .length = 333,
		.flags = IBV_SEND_INLINE,
	});
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_RDMA_WRITE, .length = 77,
		.flags = IBV_SEND_INLINE,
	});
	pair_down(&pair);
}

static void atomics(const void *arg)
{
	struct pair pair;
	uint64_t *cell;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	cell = (uint64_t *)(pair.b.buf + 64);
	*cell = 40;
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 1, 8, 64, 2, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_FETCH_ADD);
	CHECK(*cell == 42 && *(uint64_t *)(pair.a.buf + 8) == 40);
	CHECK_CALL(post_atomic(&pair.a, &pair.b, true, 2, 8, 64, 42, 7), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_COMP_SWAP);
	CHECK(*cell == 7 && *(uint64_t *)(pair.a.buf + 8) == 42);
	pair_down(&pair);
}

/* Several SRQs */

/* A second SRQ besides that of side b, in another protection domain. */
struct queue {
	struct side side;
	struct ibv_cq *cq;
};

static bool queue_up(struct queue *q, const struct pair *pair,
		     struct ibv_xrcd *xrcd)
{
	q->side = pair->b;
	q->side.pd = ibv_alloc_pd(pair->b.host->context);
	if (!CHECK(q->side.pd))
		return false;
	q->cq = ibv_create_cq(pair->b.host->context, 64, NULL, NULL, 0);
	q->side.mr = ibv_reg_mr(q->side.pd, q->side.buf, q->side.size,
				ALL_ACCESS);
	if (!CHECK(q->cq && q->side.mr))
		return false;
	q->side.srq = xrc_srq(q->side.pd, xrcd, q->cq, &pair->options);
	return q->side.srq;
}

static void queue_down(struct queue *q)
{
	if (q->side.srq)
		CHECK_CALL(ibv_destroy_srq(q->side.srq), 0);
	CHECK_CALL(ibv_destroy_cq(q->cq), 0);
	CHECK_CALL(ibv_dereg_mr(q->side.mr), 0);
	CHECK_CALL(ibv_dealloc_pd(q->side.pd), 0);
}

/* A message of 3000 bytes from a for that queue. */
static void send_to(struct pair *pair, const struct side *to,
		    struct ibv_cq *cq, uint64_t id)
{
	pair->a.srqn = srq_number(to->srq);
	fill(pair->a.buf, 3000, id);
	CHECK_CALL(post_recv((struct side *)to, ~id, 8192, 3000), 0);
	CHECK_CALL(post_send(&pair->a, id, 0, 3000, IBV_SEND_SIGNALED), 0);
	EXPECT(cq, pair->b.qp, .wr_id = ~id, .opcode = IBV_WC_RECV,
	       .length = 3000);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = id, .opcode = IBV_WC_SEND);
	CHECK(filled(to->buf + 8192, 3000, id));
}

static void several_queues(const void *arg)
{
	struct queue q;
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc) && queue_up(&q, &pair, pair.b.xrcd));
	CHECK(srq_number(q.side.srq) != srq_number(pair.b.srq));
	for (id = 1; id <= 6; id++)
		if (id & 2)
			send_to(&pair, &pair.b, pair.b.rcq, id);
		else
			send_to(&pair, &q.side, q.cq, id);
	CHECK(quiet(pair.b.rcq));
	queue_down(&q);
	pair_down(&pair);
}

/* The same, all posted at once: the target goes from queue to queue. */
static void taking_turns(const void *arg)
{
	struct queue q;
	struct pair pair;
	uint32_t second;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc) && queue_up(&q, &pair, pair.b.xrcd));
	second = srq_number(q.side.srq);
	for (i = 0; i < 16; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 1024 * i, 1024), 0);
		CHECK_CALL(post_recv(&q.side, i, 1024 * (16 + i), 1024), 0);
	}
	fill(pair.a.buf, 1024, 5);
	for (i = 0; i < 32; i++) {
		pair.a.srqn = i & 1 ? second : srq_number(pair.b.srq);
		CHECK_CALL(post_send(&pair.a, i, 0, 1024, IBV_SEND_SIGNALED), 0);
	}
	for (i = 0; i < 16; i++) {
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i,
		       .opcode = IBV_WC_RECV, .length = 1024);
		EXPECT(q.cq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 1024);
	}
	for (i = 0; i < 32; i++) {
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_SEND);
		CHECK(filled(pair.b.buf + 1024 * i, 1024, 5));
	}
	queue_down(&q);
	pair_down(&pair);
}

/* Keys must belong to the protection domain of the SRQ that the request names. */
static void domain_of_keys(const void *arg)
{
	struct queue q;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc) && queue_up(&q, &pair, pair.b.xrcd));
	fill(pair.a.buf, 5000, 1);
	pair.a.srqn = srq_number(q.side.srq);
	CHECK_CALL(post_rdma(&pair.a, &q.side, IBV_WR_RDMA_WRITE, 1, 0, 0, 5000,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	CHECK(filled(pair.b.buf, 5000, 1));
	/* That key again, in the same burst, by way of the other queue. */
	CHECK_CALL(post_rdma(&pair.a, &q.side, IBV_WR_RDMA_WRITE, 2, 0, 0, 4,
			     0), 0);
	pair.a.srqn = srq_number(pair.b.srq);
	memset(pair.b.buf, 0, 16);
	CHECK_CALL(post_rdma(&pair.a, &q.side, IBV_WR_RDMA_WRITE, 3, 0, 8, 4,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(!*(uint32_t *)(pair.b.buf + 8));
	CHECK(state_of(&pair.b) == IBV_QPS_ERR);
	queue_down(&q);
	pair_down(&pair);
}

/* Refusals */

/* The number that a uses does not belong to an SRQ of b any more. */
static void refused(struct pair *pair)
{
	long long before = counter(pair->b.host, "resp_remote_access_errors");

	CHECK_CALL(post_send(&pair->a, 1, 0, 3000, IBV_SEND_SIGNALED), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(state_of(&pair->a) == IBV_QPS_ERR);
	CHECK(state_of(&pair->b) == IBV_QPS_ERR);
	CHECK(counter(pair->b.host, "resp_remote_access_errors") > before);
	CHECK(quiet(pair->b.rcq));
}

static void no_such_number(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 4000), 0);
	pair.a.srqn ^= 0x800000;
	forget_events(pair.b.host->context);
	refused(&pair);
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_ACCESS_ERR));
	pair_down(&pair);
}

static void other_domain(const void *arg)
{
	struct ibv_xrcd *xrcd;
	struct queue q;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	xrcd = xrcd_open(pair.b.host->context);
	REQUIRE(xrcd && queue_up(&q, &pair, xrcd));
	CHECK_CALL(post_recv(&q.side, 1, 0, 4000), 0);
	pair.a.srqn = srq_number(q.side.srq);
	forget_events(pair.b.host->context);
	refused(&pair);
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_ACCESS_ERR));
	CHECK(quiet(q.cq));
	queue_down(&q);
	CHECK_CALL(ibv_close_xrcd(xrcd), 0);
	pair_down(&pair);
}

/* READs and atomics need one, too. */
static void no_queue_for_read(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	pair.a.srqn = 0;
	CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ, 1, 0, 0, 0,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_ACCESS_ERR);
	pair_down(&pair);
}

static void not_permitted(const void *arg)
{
	const enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct options options = xrc;
	struct pair pair;

	options.no_qp_access = true;
	REQUIRE(pair_up(&pair, &options));
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_SEND, .length = 100,
	});
	CHECK_CALL(post_rdma(&pair.a, &pair.b, opcode, 1, 0, 0, 8,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_INV_REQ_ERR);
	pair_down(&pair);
}

static void number_too_large(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	pair.a.srqn |= 0x1000000;
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_LOC_QP_OP_ERR);
	pair_down(&pair);
}

/* Receive requests */

static void empty(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	fill(pair.a.buf, 3000, 9);
	CHECK_CALL(post_send(&pair.a, 1, 0, 3000, IBV_SEND_SIGNALED), 0);
	CHECK(quiet(pair.b.rcq));
	CHECK_CALL(post_recv(&pair.b, 5, 8192, 4000), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = 3000);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	CHECK(filled(pair.b.buf + 8192, 3000, 9));
	pair_down(&pair);
}

static void empty_for_good(const void *arg)
{
	struct options options = xrc;
	struct pair pair;

	(void)arg;
	options.rnr_retry = 2;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK(state_of(&pair.b) == IBV_QPS_RTS);
	pair_down(&pair);
}

static void too_small(const void *arg)
{
	const int length = *(const int *)arg;
	struct pair pair;

	REQUIRE(pair_up(&pair, &xrc));
	CHECK_CALL(post_recv(&pair.b, 5, 0, length - 1), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, length, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5, .status = IBV_WC_LOC_LEN_ERR);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_INV_REQ_ERR);
	pair_down(&pair);
}

static void limit(const void *arg)
{
	struct ibv_srq_attr attr = { .srq_limit = 2 };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	for (i = 0; i < 3; i++)
		CHECK_CALL(post_recv(&pair.b, i, 1024 * i, 1024), 0);
	CHECK_CALL(ibv_modify_srq(pair.b.srq, &attr, IBV_SRQ_LIMIT), 0);
	forget_events(pair.b.host->context);
	for (i = 0; i < 2; i++) {
		CHECK_CALL(post_send(&pair.a, i, 0, 9, IBV_SEND_SIGNALED), 0);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i,
		       .opcode = IBV_WC_RECV, .length = 9);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_SEND);
	}
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_LIMIT_REACHED));
	CHECK_CALL(ibv_query_srq(pair.b.srq, &attr), 0);
	CHECK(!attr.srq_limit);
	pair_down(&pair);
}

static void events(const void *arg)
{
	struct ibv_cq *cq;
	struct pair pair;
	void *context;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 0), 0);
	CHECK_CALL(post_recv(&pair.b, 1, 0, 100), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	CHECK(!ibv_get_cq_event(pair.b.channel, &cq, &context));
	CHECK(cq == pair.b.rcq);
	ibv_ack_cq_events(cq, 1);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 100);
	pair_down(&pair);
}

/* Members of a domain */

/* Side b of the pair becomes a target of that domain. */
static bool targets(struct pair *pair, struct ibv_xrcd *xrcd)
{
	struct ibv_xrcd *own = pair->b.xrcd;
	bool made;

	CHECK_CALL(ibv_destroy_qp(pair->b.qp), 0);
	pair->b.xrcd = xrcd;
	made = side_qp(&pair->b, &pair->options) && pair_connect(pair);
	pair->b.xrcd = own;
	return made;
}

/*
 * A member with an impossible ring: requests that name its SRQ are refused, and the
 * target fails, as with a receive request without a valid key.  Other SRQs and targets
 * are not affected.
 */
static void bad_ring(const void *arg)
{
	struct options options = xrc;
	struct sroce_qp_slot *slot;
	struct pair pair, other;
	struct queue q;
	int i;

	(void)arg;
	options.srq = 256;
	REQUIRE(pair_up(&pair, &options) && queue_up(&q, &pair, pair.b.xrcd));
	REQUIRE(pair_create(&other, &xrc) && targets(&other, pair.b.xrcd));
	for (i = 0; i < 213; i++)
		CHECK_CALL(post_recv(&pair.b, i, 0, 100), 0);
	slot = find_slot(213);
	REQUIRE(CHECK(slot));
	forget_events(pair.b.host->context);
	slot->rq_tail = 0x40000000;
	send_to(&pair, &q.side, q.cq, 1);
	pair.a.srqn = srq_number(pair.b.srq);
	CHECK_CALL(post_send(&pair.a, 2, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .status = IBV_WC_REM_OP_ERR);
	CHECK(wait_event(&pair.b, IBV_EVENT_SRQ_ERR));
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_FATAL));
	CHECK(state_of(&pair.b) == IBV_QPS_ERR);
	CHECK(quiet(q.cq));
	send_to(&other, &q.side, q.cq, 3);
	/* The target can be connected again and used with the SRQs of others. */
	REQUIRE(pair_again(&pair));
	send_to(&pair, &q.side, q.cq, 4);
	pair.a.srqn = srq_number(pair.b.srq);
	CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, 5, 0, 0, 100,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(post_send(&pair.a, 6, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 6, .status = IBV_WC_REM_OP_ERR);
	send_to(&other, &q.side, q.cq, 7);
	CHECK_CALL(ibv_destroy_qp(other.b.qp), 0);
	other.b.qp = NULL;
	queue_down(&q);
	pair_down(&other);
	pair_down(&pair);
}

/* The same by a request that any member may post. */
static void bad_request(const void *arg)
{
	struct pair pair;
	struct queue q;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc) && queue_up(&q, &pair, pair.b.xrcd));
	pair.b.mr->lkey ^= 0x100;
	CHECK_CALL(post_recv(&pair.b, 1, 0, 100), 0);
	pair.b.mr->lkey ^= 0x100;
	CHECK_CALL(post_send(&pair.a, 2, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .status = IBV_WC_REM_OP_ERR);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK(quiet(q.cq));
	REQUIRE(pair_again(&pair));
	send_to(&pair, &q.side, q.cq, 3);
	queue_down(&q);
	pair_down(&pair);
}

/* The place in a ring of the only receive request with that number. */
static struct sroce_rqe *find_request(uint64_t id)
{
	FILE *file = fopen("/proc/self/maps", "r");
	struct sroce_rqe *found = NULL;
	unsigned long at, to;
	char line[512];

	while (file && !found && fgets(line, sizeof(line), file)) {
		if (!strstr(line, "uverbs") ||
		    sscanf(line, "%lx-%lx", &at, &to) != 2)
			continue;
		for (; at < to && !found; at += 2 * SROCE_RQE_HEADER)
			if (((struct sroce_rqe *)at)->wr_id == id)
				found = (struct sroce_rqe *)at;
	}
	if (file)
		fclose(file);
	return found;
}

/* A receive request that was changed in the ring breaks its target. */
static bool send_for_malformed(struct pair *pair, uint64_t id, uint32_t num_sge,
			       uint32_t reserved)
{
	struct sroce_rqe *rqe;

	CHECK_CALL(post_recv(&pair->b, id, 0, 100), 0);
	rqe = find_request(id);
	if (!CHECK(rqe))
		return false;
	rqe->num_sge = num_sge;
	rqe->reserved = reserved;
	pair->a.srqn = srq_number(pair->b.srq);
	CHECK_CALL(post_send(&pair->a, 2, 0, 100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 2,
	       .status = IBV_WC_REM_OP_ERR);
	/* It is not lost, whichever SRQ the message before used. */
	return EXPECT(pair->b.rcq, pair->b.qp, .wr_id = id,
		      .status = IBV_WC_LOC_QP_OP_ERR) &&
	       CHECK(state_of(&pair->b) == IBV_QPS_ERR);
}

static void malformed_request(const void *arg)
{
	static const struct {
		uint32_t num_sge;
		uint32_t reserved;
	} bad[] = {
		{ 8, 0 }, { 33, 0 }, { 0x10000001, 0 }, { 0xffffffff, 0 },
		{ 0, 1 }, { 1, 0x80000000 },
	};
	struct pair pair;
	struct queue q;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc) && queue_up(&q, &pair, pair.b.xrcd));
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		/* The first message of all, and one behind another SRQ's */
		if (i)
			send_to(&pair, &q.side, q.cq, i);
		REQUIRE(send_for_malformed(&pair, 0xbad0bad000000000 + i,
					   bad[i].num_sge, bad[i].reserved));
		CHECK(quiet(q.cq));
		REQUIRE(pair_again(&pair));
	}
	/* And one behind a message for the same SRQ */
	send_to(&pair, &pair.b, pair.b.rcq, 100);
	REQUIRE(send_for_malformed(&pair, 0xbad0bad0000000ff, 33, 0));
	CHECK(quiet(q.cq));
	REQUIRE(pair_again(&pair));
	send_to(&pair, &pair.b, pair.b.rcq, 101);
	send_to(&pair, &q.side, q.cq, 102);
	CHECK(quiet(pair.b.rcq));
	queue_down(&q);
	pair_down(&pair);
}

/* A message that has taken a receive request is dropped if the SRQ is destroyed. */
static void destroyed_under_traffic(const void *arg)
{
	struct options options = { .type = IBV_QPT_XRC_SEND, .size = 1 << 20 };
	struct ibv_wc wc;
	struct pair pair;
	int i, n = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 60; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 0, 1 << 20), 0);
		CHECK_CALL(post_send(&pair.a, i, 0, 300000,
				     IBV_SEND_SIGNALED), 0);
	}
	CHECK_CALL(post_send(&pair.a, 99, 0, 1, IBV_SEND_SIGNALED), 0);
	CHECK(next_wc(pair.a.scq, &wc) && wc.status == IBV_WC_SUCCESS);
	CHECK_CALL(ibv_destroy_srq(pair.b.srq), 0);
	pair.b.own_srq = false;
	for (n = 1; next_wc(pair.a.scq, &wc) && !wc.status; n++)
		;
	CHECK(wc.status == IBV_WC_REM_ACCESS_ERR);
	for (n++; n < 61 && next_wc(pair.a.scq, &wc); n++)
		CHECK(wc.status == IBV_WC_WR_FLUSH_ERR);
	CHECK(n == 61);
	CHECK(state_of(&pair.b) == IBV_QPS_ERR);
	pair_down(&pair);
}

static void reset_and_again(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_SEND, .length = 100,
	});
	CHECK(pair_again(&pair));
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM, .length = 3000,
	});
	pair_down(&pair);
}

static void query(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &xrc));
	CHECK_CALL(ibv_query_qp(pair.a.qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK(attr.qp_state == IBV_QPS_RTS && !attr.cap.max_recv_wr);
	CHECK(attr.dest_qp_num == pair.b.qp->qp_num && attr.rnr_retry == 7);
	CHECK(init.qp_type == IBV_QPT_XRC_SEND);
	CHECK_CALL(ibv_query_qp(pair.b.qp, &attr, IBV_QP_STATE, &init), 0);
	CHECK(attr.qp_state == IBV_QPS_RTS && !attr.cap.max_send_wr);
	CHECK(attr.max_dest_rd_atomic == 16 && attr.min_rnr_timer == 1);
	CHECK(attr.qp_access_flags == (ALL_ACCESS & ~IBV_ACCESS_LOCAL_WRITE) ||
	      attr.qp_access_flags == ALL_ACCESS);
	CHECK(init.qp_type == IBV_QPT_XRC_RECV);
	pair_down(&pair);
}

/* A target has no queues of its own: their sizes are ignored. */
static void target_sizes(const void *arg)
{
	struct ibv_qp_init_attr_ex attr = {
		.cap = { -1, -1, -1, -1, -1 },
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct pair pair;
	struct ibv_qp *qp;

	(void)arg;
	REQUIRE(pair_create(&pair, &xrc));
	attr.xrcd = pair.b.xrcd;
	qp = ibv_create_qp_ex(pair.b.host->context, &attr);
	REQUIRE(CHECK(qp));
	CHECK_CALL(ibv_destroy_qp(qp), 0);
	pair_down(&pair);
}

/* Processes */

static struct ibv_xrcd *open_file(struct ibv_context *context, int fd, int flags)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = fd,
		.oflags = flags,
	};

	errno = 0;
	return ibv_open_xrcd(context, &attr);
}

static int temporary(void)
{
	char name[] = "/tmp/xrc-XXXXXX";
	int fd = mkstemp(name);

	unlink(name);
	return fd;
}

struct wires {
	int file;
	int up[2];
	int down[2];
};

static uint32_t hear(int fd)
{
	uint32_t word = 0;

	return read(fd, &word, sizeof(word)) == sizeof(word) ? word : 0;
}

static void tell(int fd, uint32_t word)
{
	CHECK(write(fd, &word, sizeof(word)) == sizeof(word));
}

/*
 * Creates a target and an SRQ in the domain of the file, connects the target to the
 * initiator whose number it gets, and receives a message.  It ends without destroying
 * them.
 */
static int creator(const struct wires *w)
{
	struct options options = xrc;
	struct side initiator = {};
	struct ibv_qp qp = {};
	struct pair pair = {};

	fabric_open();
	qp.qp_num = hear(w->down[0]);
	initiator.host = &hosts[0];
	initiator.qp = &qp;
	options.srq = 8;
	if (!pair_create(&pair, &options))
		return 1;
	ibv_destroy_qp(pair.b.qp);
	pair.b.xrcd = open_file(hosts[1].context, w->file, O_CREAT);
	pair.b.srq = xrc_srq(pair.b.pd, pair.b.xrcd, pair.b.rcq, &options);
	if (!pair.b.srq || !side_qp(&pair.b, &options) ||
	    to_init(&pair.b, &options) ||
	    to_rtr(&pair.b, &initiator, &options) ||
	    post_recv(&pair.b, 77, 0, 4000))
		return 2;
	tell(w->up[1], pair.b.qp->qp_num);
	tell(w->up[1], srq_number(pair.b.srq));
	if (!EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 77, .opcode = IBV_WC_RECV,
		    .length = 3000) ||
	    !filled(pair.b.buf, 3000, 3))
		return 3;
	return hear(w->down[0]) == 1 ? 0 : 4;
}

static pid_t start_creator(struct wires *w)
{
	pid_t child;

	w->file = temporary();
	if (pipe(w->up) || pipe(w->down))
		return -1;
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(creator(w));
	close(w->up[1]);
	close(w->down[0]);
	return child;
}

static struct ibv_qp *open_target(struct ibv_xrcd *xrcd, uint32_t number)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = number,
		.xrcd = xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(xrcd->context, &attr);
}

/* Side b of a pair becomes that of the creator's domain. */
static bool join(struct pair *pair, const struct wires *w, uint32_t number)
{
	CHECK_CALL(ibv_destroy_qp(pair->b.qp), 0);
	pair->b.qp = NULL;
	CHECK_CALL(ibv_destroy_srq(pair->b.srq), 0);
	CHECK_CALL(ibv_close_xrcd(pair->b.xrcd), 0);
	pair->b.xrcd = open_file(hosts[1].context, w->file, O_CREAT);
	if (!CHECK(pair->b.xrcd))
		return false;
	pair->b.srq = xrc_srq(pair->b.pd, pair->b.xrcd, pair->b.rcq, &xrc);
	CHECK(!open_target(pair->b.xrcd, number ^ 0x400000));
	pair->b.qp = open_target(pair->b.xrcd, number);
	return CHECK(pair->b.srq && pair->b.qp);
}

static void processes(const void *arg)
{
	struct wires w;
	struct pair pair;
	uint32_t srqn;
	int status = -1;
	pid_t child;

	(void)arg;
	child = start_creator(&w);
	REQUIRE(CHECK(child > 0) && pair_create(&pair, &xrc));
	tell(w.down[1], pair.a.qp->qp_num);
	REQUIRE(join(&pair, &w, hear(w.up[0])));
	srqn = hear(w.up[0]);
	CHECK_CALL(to_init(&pair.a, &xrc), 0);
	CHECK_CALL(to_rtr(&pair.a, &pair.b, &xrc), 0);
	CHECK_CALL(to_rts(&pair.a, &xrc), 0);
	/* To the other process, then to this one. */
	pair.a.srqn = srqn;
	fill(pair.a.buf, 3000, 3);
	CHECK_CALL(post_send(&pair.a, 1, 0, 3000, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	send_to(&pair, &pair.b, pair.b.rcq, 4);
	tell(w.down[1], 1);
	CHECK(waitpid(child, &status, 0) == child && !status);
	/* The target outlives the process that has created it; the SRQ does not. */
	send_to(&pair, &pair.b, pair.b.rcq, 5);
	pair.a.srqn = srqn;
	refused(&pair);
	close(w.up[0]);
	close(w.down[1]);
	close(w.file);
	pair_down(&pair);
}

GROUP(xrc)
{
	static const int three_packets = 3000, one_packet = 100;
	static const enum ibv_mtu mtus[] = {
		IBV_MTU_256, IBV_MTU_1024, IBV_MTU_4096,
	};
	static const bool extended = true, classic;
	static const enum ibv_wr_opcode write = IBV_WR_RDMA_WRITE,
					read_ = IBV_WR_RDMA_READ;
	static const struct test tests[] = {
		{ "XRC: all operations and sizes, path MTU 256",
		  sizes, &mtus[0] },
		{ "XRC: all operations and sizes, path MTU 1024",
		  sizes, &mtus[1] },
		{ "XRC: all operations and sizes, path MTU 4096",
		  sizes, &mtus[2] },
		{ "XRC: SGE lists and inline data", ways_to_post, &classic },
		{ "XRC: SGE lists and inline data with ibv_wr_*()",
		  ways_to_post, &extended },
		{ "XRC: atomics", atomics },
		{ "XRC: two SRQs of a domain get their own messages",
		  several_queues },
		{ "XRC: messages to two SRQs in turn", taking_turns },
		{ "XRC: receives use the PD of the SRQ", domain_of_keys },
		{ "XRC: an SRQ number that does not exist", no_such_number },
		{ "XRC: the SRQ is of another domain", other_domain },
		{ "XRC: READ with an SRQ number that does not exist",
		  no_queue_for_read },
		{ "XRC: WRITE that the target does not permit",
		  not_permitted, &write },
		{ "XRC: READ that the target does not permit",
		  not_permitted, &read_ },
		{ "XRC: an SRQ number of more than 24 bits", number_too_large },
		{ "XRC: the initiator waits while the SRQ is empty", empty },
		{ "XRC: the initiator gives up after rnr_retry if the SRQ stays empty",
		  empty_for_good },
		{ "XRC: a receive buffer that is too small",
		  too_small, &three_packets },
		{ "XRC: a receive buffer that is too small for one packet",
		  too_small, &one_packet },
		{ "XRC: limit event of the SRQ", limit },
		{ "XRC: events of the SRQ's CQ", events },
		{ "XRC: the SRQ is destroyed under traffic",
		  destroyed_under_traffic },
		{ "XRC: an SRQ ring with an impossible tail", bad_ring },
		{ "XRC: a receive request with an unknown lkey", bad_request },
		{ "XRC: a malformed receive request",
		  malformed_request },
		{ "XRC: RESET and connected again", reset_and_again },
		{ "XRC: ibv_query_qp() and ibv_query_srq()", query },
		{ "XRC: sizes of the target's own queues are ignored", target_sizes },
		{ "XRC: a domain and a target shared by processes", processes },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
