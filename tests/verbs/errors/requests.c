// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Errors of work requests that are not in the table of faults.
 */
#include <errno.h>

#include "errors.h"

/* Valid requests that look invalid */

static void zero_length(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_send_wr wr;
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr = rdma_wr(&pair.b, opcodes[i], i, NULL, 0, 0);
		wr.wr.rdma.rkey = 0x12345;
		wr.wr.rdma.remote_addr = 0xdead;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = i ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE);
	}
	works(&pair);
	pair_down(&pair);
}

/*
 * The receive request is posted in the end.  Meanwhile the
 * sender asks less and less often, once in 1.28 ms after seven times, and with
 * one packet of the message's five.
 */
static void rnr_then_success(const void *arg)
{
	uint64_t start = now_ms();
	const struct options options = {
		.rnr_retry = 7, .min_rnr_timer = *(const int *)arg,
	};
	long long packets = counter(&hosts[0], "tx_packets");
	long long naks = counter(&hosts[1], "tx_nak_rnr");
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 4; i++) {
		fill(pair.a.buf, 5000, i);
		CHECK_CALL(post_send(&pair.a, i, 0, 5000, IBV_SEND_SIGNALED), 0);
		CHECK(quiet(pair.a.scq));
		CHECK_CALL(post_recv(&pair.b, i, 0, 5000), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 5000);
		CHECK(filled(pair.b.buf, 5000, i));
	}
	packets = counter(&hosts[0], "tx_packets") - packets;
	naks = counter(&hosts[1], "tx_nak_rnr") - naks;
	CHECK(naks >= 4);
	CHECK(packets <= naks + 4 * 3 * 5);
	CHECK(naks <= 4 * 8 + (long long)(now_ms() - start) * 4 / 5);
	pair_down(&pair);
}

/* A QP whose peer no longer exists. */
static bool lone(struct pair *pair, const struct options *options)
{
	if (!pair_up(pair, options))
		return false;
	CHECK_CALL(ibv_destroy_qp(pair->b.qp), 0);
	pair->b.qp = NULL;
	return true;
}

/* The peer no longer exists: retries run out, and later requests are flushed. */
static void peer_gone(const void *arg)
{
	const struct options options = { .timeout = 8, .retry_cnt = 3 };
	long long given_up = counter(&hosts[0], "req_transport_retries_exceeded");
	long long retries = counter(&hosts[0], "local_ack_timeout_err");
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(lone(&pair, &options));
	for (i = 0; i < 10; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, i & 1 ? IBV_WR_RDMA_READ :
				     IBV_WR_RDMA_WRITE, i, 0, 0, 3000, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 0,
	       .status = IBV_WC_RETRY_EXC_ERR);
	for (i = 1; i < 10; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .status = IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_ERR);
	CHECK(counter(&hosts[0], "local_ack_timeout_err") == retries + 3);
	CHECK(counter(&hosts[0], "req_transport_retries_exceeded") == given_up + 1);
	works(&bystander);
	pair_down(&pair);
}

/*
 * Within the time that the attributes promise (IBTA 9.7.6.1.3): each of the
 * retry_cnt + 1 attempts gets the timeout, and at most four times that.
 */
static void gone_in_time(const void *arg)
{
	const struct options options = { .timeout = 17, .retry_cnt = 3 };
	const uint64_t timeout = 4096ull << 17, attempts = 4;
	struct pair pair;
	uint64_t ms;

	(void)arg;
	REQUIRE(lone(&pair, &options));
	ms = now_ms();
	CHECK_CALL(post_send(&pair.a, 1, 0, 10, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_RETRY_EXC_ERR);
	ms = now_ms() - ms;
	diag("%llu ms", (unsigned long long)ms);
	CHECK((ms + 1) * 1000000 >= attempts * timeout);
	CHECK(ms * 1000000 <= 4 * attempts * timeout);
	pair_down(&pair);
}

/* b's QP fails; a's next request gets no response, and with retry_cnt 0 fails soon. */
static void no_retry(const void *arg)
{
	const struct options options = { .timeout = 10, .no_retry = true };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 10, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_RETRY_EXC_ERR);
	pair_down(&pair);
}

/* Memory deregistered under a transfer: it ends, well or badly, and at once. */
static void dereg_in_flight(const void *arg)
{
	const struct options options = { .size = 16 << 20 };
	bool remote = *(const bool *)arg;
	struct pair pair;
	struct side *side;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 6; i++) {
		REQUIRE(pair_up(&pair, &options));
		side = remote ? &pair.b : &pair.a;
		CHECK_CALL(post_rdma(&pair.a, &pair.b, i & 1 ? IBV_WR_RDMA_READ :
				     IBV_WR_RDMA_WRITE, 1, 0, 0, 16 << 20,
				     IBV_SEND_SIGNALED), 0);
		CHECK_CALL(ibv_dereg_mr(side->mr), 0);
		side->mr = NULL;
		REQUIRE(next_wc(pair.a.scq, &wc));
		if (wc.status)
			CHECK_CALL(wc.status, remote ? IBV_WC_REM_ACCESS_ERR :
						       IBV_WC_LOC_PROT_ERR);
		forget_events(hosts[1].context);
		works(&bystander);
		pair_down(&pair);
	}
}

/* 2 GiB and a byte, without a key that it could be read with. */
static void too_long(const void *arg)
{
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 3; i++)
		sge[i] = piece(&pair.a, 0, i < 2 ? 0x40000000 : 1);
	wr = rdma_wr(&pair.b, opcode, 5, sge, 3, 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .status = IBV_WC_LOC_LEN_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	pair_down(&pair);
}

static bool cq_error(const struct side *side, const struct ibv_cq *cq)
{
	struct ibv_async_event event;
	bool found = false;

	while (!found && next_event(side->host->context, &event, PATIENCE_MS)) {
		found = event.event_type == IBV_EVENT_CQ_ERR &&
			event.element.cq == cq;
		ibv_ack_async_event(&event);
	}
	return found;
}

/* More completions than the queue holds: an event, and an error state. */
static void cq_overflow(const void *arg)
{
	const struct options options = { .cqe = 4 };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	forget_events(hosts[0].context);
	for (i = 0; i < 8; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, 0,
				     0, 8, IBV_SEND_SIGNALED), 0);
	CHECK(cq_error(&pair.a, pair.a.scq));
	for (i = 0; i < 4; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	works(&bystander);
	pair_down(&pair);
}

/* A receive whose completion is lost: the peer gets no ACK for that message. */
static void recv_cq_overflow(const void *arg)
{
	const struct options options = { .cqe = 4 };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	forget_events(hosts[1].context);
	for (i = 0; i < 5; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 0, 8), 0);
		CHECK_CALL(post_send(&pair.a, i, 0, 8, IBV_SEND_SIGNALED), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND,
		       .status = i < 4 ? IBV_WC_SUCCESS : IBV_WC_RETRY_EXC_ERR);
	}
	CHECK(cq_error(&pair.b, pair.b.rcq));
	for (i = 0; i < 4; i++)
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 8);
	CHECK(quiet(pair.b.rcq));
	CHECK_CALL(state_of(&pair.b), IBV_QPS_ERR);
	works(&bystander);
	pair_down(&pair);
}

/* A faulty request fails after those before it have succeeded. */
static void in_order(const void *arg)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 30; i++) {
		sge = piece(&pair.a, 0, 2000);
		wr = rdma_wr(&pair.b, i % 3 ? IBV_WR_RDMA_WRITE :
			     IBV_WR_RDMA_READ, i, &sge, 1, 2000);
		if (i == 20)
			sge.lkey ^= 0x100;
		if (i == 25)
			wr.wr.rdma.rkey ^= 0x100;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
	}
	for (i = 0; i < 30; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 2000,
		       .opcode = i % 3 ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ,
		       .status = i < 20 ? IBV_WC_SUCCESS : i == 20 ?
				 IBV_WC_LOC_PROT_ERR : IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	pair_down(&pair);
}

/*
 * Requests of growing length do not share a burst, so the first ones have left without
 * an ACK request when the fault is found.  They must not wait for a timer, which would
 * take 17 s here.
 */
static void asked_before_fault(const void *arg)
{
	static const int lengths[] = { 100, 300, 1000, 5000 };
	const struct options options = { .timeout = 22 };
	struct ibv_send_wr wr[4], *bad;
	struct ibv_sge sge[4];
	struct pair pair;
	int faulty, i;

	(void)arg;
	for (faulty = 1; faulty < 4; faulty++) {
		REQUIRE(pair_up(&pair, &options));
		fill(pair.a.buf, 8192, faulty);
		for (i = 0; i < 4; i++) {
			sge[i] = piece(&pair.a, 0, lengths[i]);
			wr[i] = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, i, &sge[i],
					1, 8192 * i);
			wr[i].next = i < 3 ? &wr[i + 1] : NULL;
		}
		sge[faulty].lkey ^= 0x100;
		CHECK_CALL(ibv_post_send(pair.a.qp, wr, &bad), 0);
		for (i = 0; i < 4; i++)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
			       .length = lengths[i],
			       .opcode = IBV_WC_RDMA_WRITE,
			       .status = i < faulty ? IBV_WC_SUCCESS :
					 i == faulty ? IBV_WC_LOC_PROT_ERR :
						       IBV_WC_WR_FLUSH_ERR);
		for (i = 0; i < faulty; i++)
			CHECK(!memcmp(pair.b.buf + 8192 * i, pair.a.buf,
				      lengths[i]));
		pair_down(&pair);
	}
}

/* Packets built before a fault in the same burst still request an ACK. */
static void burst_before_fault(const void *arg)
{
	const struct options options = { .timeout = 22 };
	struct ibv_send_wr wr[4], *bad;
	struct ibv_sge sge[4];
	struct pair pair;
	int round, i;

	(void)arg;
	for (round = 0; round < 20; round++) {
		REQUIRE(pair_up(&pair, &options));
		for (i = 0; i < 4; i++) {
			sge[i] = piece(&pair.a, 0, 260);
			wr[i] = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, i, &sge[i],
					1, 1000 * i);
			wr[i].next = i < 3 ? &wr[i + 1] : NULL;
		}
		sge[3].lkey ^= 0x100;
		CHECK_CALL(ibv_post_send(pair.a.qp, wr, &bad), 0);
		for (i = 0; i < 4; i++)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 260,
			       .opcode = IBV_WC_RDMA_WRITE,
			       .status = i < 3 ? IBV_WC_SUCCESS :
						 IBV_WC_LOC_PROT_ERR);
		pair_down(&pair);
	}
}

/* READs before a bad WRITE get their responses, and the WRITE is refused. */
static void read_then_refused(const void *arg)
{
	const struct options options = { .size = 1 << 20 };
	struct ibv_send_wr wr[5];
	struct ibv_sge sge[5];
	struct ibv_send_wr *bad;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.b.buf, 400000, 6);
	for (i = 0; i < 5; i++) {
		sge[i] = piece(&pair.a, 100000 * i, 100000);
		wr[i] = rdma_wr(&pair.b, i < 4 ? IBV_WR_RDMA_READ :
				IBV_WR_RDMA_WRITE, i, &sge[i], 1, 100000 * i);
		wr[i].next = i < 4 ? &wr[i + 1] : NULL;
	}
	sge[4].length = 8;
	wr[4].wr.rdma.rkey ^= 0x100;
	CHECK_CALL(ibv_post_send(pair.a.qp, wr, &bad), 0);
	for (i = 0; i < 4; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 100000,
		       .opcode = IBV_WC_RDMA_READ);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(filled(pair.a.buf, 400000, 6));
	forget_events(hosts[1].context);
	pair_down(&pair);
}

/* The peer has room for no READ or atomic: it refuses, and fails. */
static void reads_not_accepted(const void *arg)
{
	const struct options none = { .no_reads = true }, some = {};
	bool atomic = *(const bool *)arg;
	struct pair pair;

	REQUIRE(pair_create(&pair, NULL));
	CHECK_CALL(to_init(&pair.a, &some), 0);
	CHECK_CALL(to_rtr(&pair.a, &pair.b, &some), 0);
	CHECK_CALL(to_rts(&pair.a, &some), 0);
	CHECK_CALL(to_init(&pair.b, &none), 0);
	CHECK_CALL(to_rtr(&pair.b, &pair.a, &none), 0);
	if (atomic)
		CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 1, 0, 0, 1, 0),
			   0);
	else
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ, 1, 0, 0,
				     100, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_REM_INV_REQ_ERR);
	CHECK(wait_event(&pair.b, IBV_EVENT_QP_REQ_ERR));
	CHECK(!pair.b.buf[0]);
	pair_down(&pair);
}

/* Datagrams */

static void ud_with(struct pair *pair, struct ibv_ah *ah, uint32_t lkey,
		    enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&pair->a, 0, 8);
	struct ibv_send_wr wr = ud_wr(ah, pair->b.qp->qp_num, 1, &sge);

	sge.lkey ^= lkey;
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1, .status = status);
	if (status) {
		CHECK_CALL(state_of(&pair->a), IBV_QPS_SQE);
		CHECK_CALL(to_state(&pair->a, IBV_QPS_RTS), 0);
	}
}

static void ud_faults(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct ibv_ah *other;
	struct ibv_pd *pd;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	pd = ibv_alloc_pd(hosts[0].context);
	other = address_of(pd, &hosts[0], &hosts[1]);
	REQUIRE(CHECK(other));
	ud_with(&pair, other, 0, IBV_WC_LOC_QP_OP_ERR);
	ud_with(&pair, pair.a.ah, 0x100, IBV_WC_LOC_PROT_ERR);
	ud_with(&pair, pair.a.ah, 0, IBV_WC_SUCCESS);
	CHECK_CALL(ibv_destroy_ah(other), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	/* A receive buffer that cannot be written to is a local fault. */
	pair.b.mr->lkey ^= 0x100;
	CHECK_CALL(post_recv(&pair.b, 5, 0, 100), 0);
	pair.b.mr->lkey ^= 0x100;
	ud_with(&pair, pair.a.ah, 0, IBV_WC_SUCCESS);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_ERR);
	pair_down(&pair);
}

GROUP(requests)
{
	static const bool local = false, remote = true, no = false, yes = true;
	static const int soon = 1, later = 14;
	static const enum ibv_wr_opcode send = IBV_WR_SEND,
		write = IBV_WR_RDMA_WRITE, read = IBV_WR_RDMA_READ;
	static const struct test tests[] = {
		{ "requests of length 0 need no key", zero_length },
		{ "receive posted after the SEND, RNR timer 10 us",
		  rnr_then_success, &soon },
		{ "receive posted after the SEND, RNR timer 1.28 ms",
		  rnr_then_success, &later },
		{ "the peer's QP is destroyed: retries run out, then flushes",
		  peer_gone },
		{ "the peer's QP is destroyed: reported within four times the timeouts",
		  gone_in_time },
		{ "retry_cnt 0: fails after the first timeout", no_retry },
		{ "local memory deregistered during a transfer",
		  dereg_in_flight, &local },
		{ "remote memory deregistered during a transfer",
		  dereg_in_flight, &remote },
		{ "SEND longer than 2 GiB", too_long, &send },
		{ "WRITE longer than 2 GiB", too_long, &write },
		{ "READ longer than 2 GiB", too_long, &read },
		{ "completion queue overflow raises an event", cq_overflow },
		{ "a message whose completion is lost gets no ACK", recv_cq_overflow },
		{ "requests before a faulty one succeed", in_order },
		{ "requests sent before a fault ask for an ACK",
		  asked_before_fault },
		{ "packets in a burst before a fault ask for an ACK",
		  burst_before_fault },
		{ "READs before a bad WRITE get their data",
		  read_then_refused },
		{ "READ: the peer's max_dest_rd_atomic is 0",
		  reads_not_accepted, &no },
		{ "atomic: the peer's max_dest_rd_atomic is 0",
		  reads_not_accepted, &yes },
		{ "UD: AH of another PD, wrong lkey, bad receive buffer",
		  ud_faults },
	};

	bystander_up();
	run_tests(tests, ARRAY_SIZE(tests));
	bystander_is_well();
}
