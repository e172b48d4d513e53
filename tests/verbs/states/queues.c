// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The send queue and the receive queue in each state.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

/* Posting where it is refused */

static void post_too_early(const void *arg)
{
	struct ibv_recv_wr recv = {}, *bad_recv;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_create(&pair, NULL));
	CHECK_CALL(post_send(&pair.a, 1, 0, 1, 0), EINVAL);
	CHECK_CALL(ibv_post_recv(pair.a.qp, &recv, &bad_recv), EINVAL);
	CHECK(bad_recv == &recv);
	CHECK_CALL(to_init(&pair.a, &pair.options), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 1, 0), EINVAL);
	CHECK_CALL(post_recv(&pair.a, 1, 0, 1), 0);
	CHECK_CALL(to_rtr(&pair.a, &pair.b, &pair.options), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 1, 0), EINVAL);
	CHECK_CALL(post_recv(&pair.a, 2, 0, 1), 0);
	CHECK(quiet(pair.a.scq) && quiet(pair.a.rcq));
	pair_down(&pair);
}

/* A QP in RTR receives, and the first packet raises an event. */
static void rtr_receives(const void *arg)
{
	struct options options = { .type = *(const enum ibv_qp_type *)arg };
	struct pair pair;

	REQUIRE(pair_create(&pair, &options));
	forget_events(hosts[1].context);
	CHECK_CALL(to_init(&pair.b, &options), 0);
	CHECK_CALL(post_recv(&pair.b, 7, 0, 3000), 0);
	CHECK_CALL(to_rtr(&pair.b, &pair.a, &options), 0);
	CHECK_CALL(to_init(&pair.a, &options), 0);
	CHECK_CALL(to_rtr(&pair.a, &pair.b, &options), 0);
	CHECK_CALL(to_rts(&pair.a, &options), 0);
	fill(pair.a.buf, 2500, 1);
	CHECK_CALL(post_send(&pair.a, 6, 0, 2500, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 6, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 7, .opcode = IBV_WC_RECV,
	       .length = 2500);
	CHECK(filled(pair.b.buf, 2500, 1));
	CHECK(wait_event(&pair.b, IBV_EVENT_COMM_EST));
	CHECK(state_of(&pair.b) == IBV_QPS_RTR);
	CHECK_CALL(to_rts(&pair.b, &options), 0);
	works(&pair);
	pair_down(&pair);
}

/* QPs in INIT, RESET and ERR do not respond: the sender fails. */
static void nobody_answers(const void *arg)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_ERR,
	};
	const struct options options = { .timeout = 8, .retry_cnt = 2 };
	struct pair pair;
	size_t i;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		REQUIRE(pair_up(&pair, &options));
		if (states[i] == IBV_QPS_ERR)
			CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
		else
			CHECK_CALL(to_reset(&pair.b), 0);
		if (states[i] == IBV_QPS_INIT)
			CHECK_CALL(to_init(&pair.b, &options), 0);
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, 1, 0,
				     0, 100, IBV_SEND_SIGNALED), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
		       .status = IBV_WC_RETRY_EXC_ERR);
		pair_down(&pair);
	}
}

/* SQD */

static int drain(struct side *side, bool notify)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_SQD, .en_sqd_async_notify = notify,
	};

	return ibv_modify_qp(side->qp, &attr, IBV_QP_STATE |
			     (notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
}

/* Another attribute changes while the queue drains. */
static int change_rnr_timer(struct side *side)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD, .min_rnr_timer = 12 };

	return ibv_modify_qp(side->qp, &attr, IBV_QP_STATE | IBV_QP_MIN_RNR_TIMER);
}

static bool draining(const struct side *side)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return !ibv_query_qp(side->qp, &attr, 0xfffff, &init) &&
	       attr.qp_state == IBV_QPS_SQD && attr.sq_draining;
}

static bool no_event(const struct side *side)
{
	struct ibv_async_event event;

	if (!next_event(side->host->context, &event, QUIET_MS))
		return true;
	ibv_ack_async_event(&event);
	diag("event: %s", ibv_event_type_str(event.event_type));
	return false;
}

/* A SEND that waits for a receive request keeps the queue from draining. */
static void sqd(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	CHECK_CALL(drain(&pair.a, true), 0);
	CHECK_CALL(post_send(&pair.a, 2, 0, 100, IBV_SEND_SIGNALED), 0);
	CHECK_CALL(change_rnr_timer(&pair.a), 0);
	CHECK(no_event(&pair.a));
	CHECK(draining(&pair.a));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 100), 0);
	CHECK_CALL(post_recv(&pair.b, 2, 0, 100), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	CHECK(wait_event(&pair.a, IBV_EVENT_SQ_DRAINED));
	CHECK(!draining(&pair.a));
	CHECK(quiet(pair.a.scq));
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 100);
	CHECK(quiet(pair.b.rcq));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 2, .opcode = IBV_WC_RECV,
	       .length = 100);
	works(&pair);
	pair_down(&pair);
}

/* Without a timeout a request waits for its ACK forever, also if it was sent before. */
static void sqd_no_timeout(const void *arg)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(to_state(&pair.b, IBV_QPS_RESET), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 100, IBV_SEND_SIGNALED), 0);
	CHECK_CALL(drain(&pair.a, false), 0);
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT), 0);
	/* The old timeout is over. */
	sleep(3);
	CHECK(quiet(pair.a.scq));
	CHECK(draining(&pair.a));
	pair_down(&pair);
}

/* An idle queue is drained at once; without the flag there is no event. */
static void sqd_idle(const void *arg)
{
	const struct options options = { .type = *(const enum ibv_qp_type *)arg };
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(drain(&pair.a, true), 0);
	CHECK(wait_event(&pair.a, IBV_EVENT_SQ_DRAINED));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	CHECK_CALL(drain(&pair.a, false), 0);
	CHECK(no_event(&pair.a));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	if (options.type != IBV_QPT_UD)
		works(&pair);
	pair_down(&pair);
}

static void drained_at_once(struct side *side)
{
	CHECK_CALL(drain(side, true), 0);
	CHECK(wait_event(side, IBV_EVENT_SQ_DRAINED));
	CHECK(!draining(side));
	CHECK_CALL(to_state(side, IBV_QPS_RTS), 0);
	CHECK_CALL(drain(side, false), 0);
	CHECK(no_event(side));
	CHECK_CALL(to_state(side, IBV_QPS_RTS), 0);
}

/* An XRC target has no send queue. */
static void sqd_target(const void *arg)
{
	const struct options options = { .type = IBV_QPT_XRC_SEND };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	drained_at_once(&pair.b);
	pair_down(&pair);
}

static void sqd_no_send(const void *arg)
{
	const struct options options = { .no_send = true };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	drained_at_once(&pair.a);
	pair_down(&pair);
}

/* Drained and continued over and over, under traffic: nothing is lost. */
static void sqd_often(const void *arg)
{
	const struct options options = { .size = 1 << 20 };
	struct pair pair;
	int i, k;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.a.buf, 1 << 20, 4);
	for (i = 0; i < 16; i++) {
		for (k = 0; k < 4; k++)
			CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE,
					     4 * i + k, (4 * i + k) << 14,
					     (4 * i + k) << 14, 1 << 14,
					     IBV_SEND_SIGNALED), 0);
		CHECK_CALL(drain(&pair.a, true), 0);
		CHECK(wait_event(&pair.a, IBV_EVENT_SQ_DRAINED));
		CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	}
	for (i = 0; i < 64; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(filled(pair.b.buf, 1 << 20, 4));
	pair_down(&pair);
}

/*
 * A rate limit divides a message into bursts, each acknowledged before the next one.  The
 * query must not say that the queue is drained between two of them.
 */
static void sqd_limited(const void *arg)
{
	const struct options options = { .type = *(const enum ibv_qp_type *)arg };
	struct ibv_qp_rate_limit_attr limit = { .rate_limit = 1000 };
	uint64_t end = now_ms() + PATIENCE_MS;
	volatile uint8_t *begun;
	struct pair pair;
	struct ibv_wc wc;

	REQUIRE(pair_up(&pair, &options));
	begun = pair.b.buf;
	memset(pair.a.buf, 1, 32768);
	memset(pair.b.buf, 0, 32768);
	CHECK_CALL(ibv_modify_qp_rate_limit(pair.a.qp, &limit), 0);
	CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, 1, 0, 0, 32768,
			     IBV_SEND_SIGNALED), 0);
	/* SQD would hold a message that has not begun. */
	while (!*begun && now_ms() < end)
		usleep(100);
	CHECK(*begun);
	CHECK_CALL(drain(&pair.a, false), 0);
	while (draining(&pair.a) && now_ms() < end)
		usleep(1000);
	CHECK(!draining(&pair.a));
	CHECK(ibv_poll_cq(pair.a.scq, 1, &wc) == 1 && !wc.status && wc.wr_id == 1);
	pair_down(&pair);
}

/* The receive queue continues while the send queue drains. */
static void sqd_receives(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(drain(&pair.b, false), 0);
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_SEND, .length = 5000 });
	transfer(&pair, &(const struct transfer) {
		.opcode = IBV_WR_RDMA_READ, .length = 5000 });
	pair_down(&pair);
}

/* ERR */

static void expect_flushed(struct pair *pair, int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		EXPECT(pair->a.scq, pair->a.qp, .wr_id = i,
		       .status = IBV_WC_WR_FLUSH_ERR);
		EXPECT(pair->a.rcq, pair->a.qp, .wr_id = 1000 + i,
		       .status = IBV_WC_WR_FLUSH_ERR);
	}
}

static void post_both(struct pair *pair, int from, int to)
{
	int i;

	for (i = from; i < to; i++) {
		CHECK_CALL(post_send(&pair->a, i, 0, 100, i & 1 ?
				     IBV_SEND_SIGNALED : 0), 0);
		CHECK_CALL(post_recv(&pair->a, 1000 + i, 0, 100), 0);
	}
}

/* All are flushed in order, signalled or not, before the change and after. */
static void err_flushes(const void *arg)
{
	const struct options options = { .type = *(const enum ibv_qp_type *)arg };
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	post_both(&pair, 0, 20);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
	expect_flushed(&pair, 0, 20);
	post_both(&pair, 20, 50);
	expect_flushed(&pair, 20, 50);
	post_both(&pair, 50, 51);
	expect_flushed(&pair, 50, 51);
	CHECK(quiet(pair.a.scq) && quiet(pair.a.rcq));
	CHECK(state_of(&pair.a) == IBV_QPS_ERR);
	pair_down(&pair);
}

/* More than are copied and flushed in one lock section */
static void err_many(const void *arg)
{
	const struct options options = {
		.type = *(const enum ibv_qp_type *)arg, .wr = 4096,
		.cqe = 16384,
	};
	static struct ibv_send_wr wrs[4096];
	struct ibv_send_wr *bad;
	struct pair pair;
	int i, k;

	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
	for (k = 0; k < 3; k++) {
		for (i = 0; i < 4096; i++)
			wrs[i] = (struct ibv_send_wr) {
				.wr_id = 4096 * k + i, .opcode = IBV_WR_SEND,
				.next = i < 4095 ? &wrs[i + 1] : NULL,
			};
		REQUIRE(CHECK_CALL(ibv_post_send(pair.a.qp, wrs, &bad), 0));
		for (i = 0; i < 4096; i++)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4096 * k + i,
			       .status = IBV_WC_WR_FLUSH_ERR);
	}
	CHECK(quiet(pair.a.scq));
	pair_down(&pair);
}

/* From INIT and RTR, where only receive requests can be posted. */
static void err_early(const void *arg)
{
	static const enum ibv_qp_state states[] = { IBV_QPS_INIT, IBV_QPS_RTR };
	long long bad = counter(&hosts[0], "bad_wqes");
	struct pair pair;
	size_t i;
	int k;

	(void)arg;
	for (i = 0; i < ARRAY_SIZE(states); i++) {
		const struct options options = { .stop_at = states[i] };

		REQUIRE(pair_up(&pair, &options));
		for (k = 0; k < 8; k++)
			CHECK_CALL(post_recv(&pair.a, k, 0, 100), 0);
		CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
		for (k = 0; k < 8; k++)
			EXPECT(pair.a.rcq, pair.a.qp, .wr_id = k,
			       .status = IBV_WC_WR_FLUSH_ERR);
		CHECK_CALL(post_send(&pair.a, 9, 0, 1, 0), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 9,
		       .status = IBV_WC_WR_FLUSH_ERR);
		pair_down(&pair);
	}
	/* The kernel's users drain a queue so when a peer refuses them. */
	CHECK_CALL(counter(&hosts[0], "bad_wqes"), bad);
}

/* In the middle of a long transfer: each request completes once. */
static void err_in_traffic(const void *arg)
{
	const struct options options = { .size = 4 << 20 };
	struct pair pair;
	struct ibv_wc wc;
	bool failed = false;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 32; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, i & 1 ?
				     IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE, i,
				     0, 0, 4 << 20, IBV_SEND_SIGNALED), 0);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
	for (i = 0; i < 32; i++) {
		REQUIRE(next_wc(pair.a.scq, &wc));
		CHECK_CALL(wc.wr_id, i);
		if (wc.status)
			CHECK_CALL(wc.status, IBV_WC_WR_FLUSH_ERR);
		CHECK(!failed || wc.status);
		failed = wc.status;
	}
	CHECK(quiet(pair.a.scq));
	pair_down(&pair);
}

/* RESET and on */

static void reuse(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 10; i++) {
		works(&pair);
		post_both(&pair, 0, 5);
		if (i & 1)
			CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
		if (i & 1)
			expect_flushed(&pair, 0, 5);
		REQUIRE(pair_again(&pair));
	}
	works(&pair);
	pair_down(&pair);
}

/* Destroyed with requests in flight; another pair is not affected. */
static void destroy_busy(const void *arg)
{
	const struct options options = { .size = 4 << 20 };
	struct pair bystander, pair;
	int i, k;

	(void)arg;
	REQUIRE(pair_up(&bystander, NULL));
	for (i = 0; i < 8; i++) {
		REQUIRE(pair_up(&pair, &options));
		post_both(&pair, 0, 5);
		for (k = 0; k < 8; k++) {
			CHECK_CALL(post_rdma(&pair.b, &pair.a, k & 1 ?
					     IBV_WR_RDMA_WRITE :
					     IBV_WR_RDMA_READ, k, 0, 0,
					     4 << 20, 0), 0);
		}
		pair_down(&pair);
		works(&bystander);
	}
	pair_down(&bystander);
}

/* SQE: a fault of our own stops the send queue of UC and UD */

static int post_sqe(struct pair *pair, uint64_t id, uint32_t lkey)
{
	struct ibv_sge sge = piece(&pair->a, 0, 8);
	struct ibv_send_wr wr = ud_wr(pair->a.ah, pair->b.qp->qp_num, id, &sge);

	if (lkey)
		sge.lkey = lkey;
	return post_one(&pair->a, &wr);
}

static void sqe(const void *arg)
{
	const struct options options = { .type = *(const enum ibv_qp_type *)arg };
	uint32_t length = options.type == IBV_QPT_UD ? 48 : 8;
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 20; i++)
		CHECK_CALL(post_recv(&pair.b, i, 0, 100), 0);
	CHECK_CALL(post_recv(&pair.a, 77, 0, 100), 0);
	CHECK_CALL(post_sqe(&pair, 0, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 0, .opcode = IBV_WC_SEND);
	CHECK_CALL(post_sqe(&pair, 1, ~pair.a.mr->lkey), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK(state_of(&pair.a) == IBV_QPS_SQE);
	for (i = 2; i < 12; i++)
		CHECK_CALL(post_sqe(&pair, i, 0), 0);
	for (i = 2; i < 12; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .status = IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	CHECK_CALL(post_sqe(&pair, 12, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 12, .opcode = IBV_WC_SEND);
	for (i = 0; i < 2; i++)
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i,
		       .opcode = IBV_WC_RECV, .length = length);
	CHECK(quiet(pair.b.rcq) && quiet(pair.a.rcq));
	pair_down(&pair);
}

/* A fault in the second packet of a message: the next message begins anew. */
static void sqe_in_message(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UC, .inline_data = 100, .mtu = IBV_MTU_1024,
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge[2];
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(post_recv(&pair.b, 1, 0, 8000), 0);
	sge[0] = piece(&pair.a, 0, 1024);
	sge[1] = piece(&pair.a, 0, 1024);
	sge[1].lkey ^= 0x100;
	wr = (struct ibv_send_wr) {
		.wr_id = 1, .sg_list = sge, .num_sge = 2,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
	};
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_RTS), 0);
	fill(pair.a.buf, 100, 9);
	CHECK_CALL(post_send(&pair.a, 2, 0, 100, IBV_SEND_SIGNALED |
			     IBV_SEND_INLINE), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 100);
	CHECK(filled(pair.b.buf, 100, 9));
	CHECK(works(&pair));
	pair_down(&pair);
}

/* The receive queue of a QP in SQE still works. */
static void sqe_receives(const void *arg)
{
	const struct options options = { .type = *(const enum ibv_qp_type *)arg };
	uint32_t length = options.type == IBV_QPT_UD ? 48 : 8;
	struct side side;
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(post_sqe(&pair, 1, ~pair.a.mr->lkey), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK_CALL(post_recv(&pair.a, 5, 0, 100), 0);
	side = pair.a;
	pair.a = pair.b;
	pair.b = side;
	CHECK_CALL(post_sqe(&pair, 2, 0), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5, .opcode = IBV_WC_RECV,
	       .length = length);
	pair_down(&pair);
}

/*
 * Bytes in the middle of a packet may appear in any order: only its end is last
 * (polling.c).  The query must say so, for every operation and with all flags.
 */
static void order_of_bytes(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_SEND, IBV_WR_SEND_WITH_IMM, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_RDMA_READ,
	};
	struct options options = { .type = *(const enum ibv_qp_type *)arg };
	struct pair pair;
	size_t i;

	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		CHECK_CALL(ibv_query_qp_data_in_order(pair.a.qp, opcodes[i], 0),
			   0);
		/* Later versions of libibverbs ask for details by flags. */
		CHECK_CALL(ibv_query_qp_data_in_order(pair.a.qp, opcodes[i], 1),
			   0);
	}
	pair_down(&pair);
}

GROUP(queues)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC,
		ud = IBV_QPT_UD;
	static const struct test tests[] = {
		{ "posting too early is refused", post_too_early },
		{ "RC: RTR receives, IBV_EVENT_COMM_EST", rtr_receives, &rc },
		{ "UC: RTR receives, IBV_EVENT_COMM_EST", rtr_receives, &uc },
		{ "RESET, INIT and ERR send no response", nobody_answers },
		{ "SQD drains, holds and continues", sqd },
		{ "SQD: no timeout any more", sqd_no_timeout },
		{ "RC: SQD of an idle queue", sqd_idle, &rc },
		{ "UC: SQD of an idle queue", sqd_idle, &uc },
		{ "UD: SQD of an idle queue", sqd_idle, &ud },
		{ "SQD without a send queue", sqd_no_send },
		{ "SQD of an XRC target", sqd_target },
		{ "SQD and RTS many times under traffic", sqd_often },
		{ "RC: SQD drains in the middle of a slow message", sqd_limited, &rc },
		{ "UC: SQD drains in the middle of a slow message", sqd_limited, &uc },
		{ "SQD still receives", sqd_receives },
		{ "RC: ERR flushes", err_flushes, &rc },
		{ "RC: ERR flushes thousands", err_many, &rc },
		{ "UC: ERR flushes thousands", err_many, &uc },
		{ "ERR from INIT and RTR", err_early },
		{ "ERR in the middle of traffic", err_in_traffic },
		{ "RESET and connected again", reuse },
		{ "destroyed with outstanding requests", destroy_busy },
		{ "UC: SQE and back to RTS", sqe, &uc },
		{ "UD: SQE and back to RTS", sqe, &ud },
		{ "UC: SQE in the middle of a message", sqe_in_message },
		{ "UC: SQE still receives", sqe_receives, &uc },
		{ "UD: SQE still receives", sqe_receives, &ud },
		{ "RC: ibv_query_qp_data_in_order() promises nothing",
		  order_of_bytes, &rc },
		{ "UC: ibv_query_qp_data_in_order() promises nothing",
		  order_of_bytes, &uc },
		{ "UD: ibv_query_qp_data_in_order() promises nothing",
		  order_of_bytes, &ud },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
