// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rate limits.  Times are compared with bounds that hold on a loaded machine: at
 * least half of the time that the limit requires, and less without a limit.
 */
#include <errno.h>

#include "transfer.h"

#define KBPS		8000u		/* 1,000 bytes in a millisecond */
#define PIECE		32768
#define PIECES		20
/* Time that all pieces take. */
#define MS		(PIECE * PIECES / (KBPS / 8))

static int limit(struct ibv_qp *qp, uint32_t kbps)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = kbps };

	return ibv_modify_qp_rate_limit(qp, &attr);
}

/* The last one is signalled. */
static void post_all(struct pair *pair)
{
	int i;

	for (i = 0; i < PIECES; i++)
		CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, i, 0,
				     0, PIECE, i == PIECES - 1 ?
				     IBV_SEND_SIGNALED : 0), 0);
}

static void expect_last(struct pair *pair)
{
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = PIECES - 1,
	       .opcode = IBV_WC_RDMA_WRITE);
}

static void keeps_rate(const void *arg)
{
	const struct options options = { .type = *(enum ibv_qp_type *)arg };
	struct pair pair, other;
	uint64_t start, took;

	REQUIRE(pair_up(&pair, &options));
	REQUIRE(pair_up(&other, NULL));
	CHECK_CALL(limit(pair.a.qp, KBPS), 0);
	fill(pair.a.buf, PIECE, 5);
	start = now_ms();
	post_all(&pair);
	/* Other QPs need not wait for it. */
	CHECK(works(&other));
	CHECK(quiet(pair.a.scq));
	expect_last(&pair);
	took = now_ms() - start;
	if (!CHECK(took > MS / 2))
		diag("%lu ms for what takes %u ms", (unsigned long)took, MS);
	if (options.type == IBV_QPT_RC)
		CHECK(filled(pair.b.buf, PIECE, 5));
	pair_down(&other);
	pair_down(&pair);
}

/* Until then a piece takes a quarter of a second. */
static void lifted(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(limit(pair.a.qp, 1000), 0);
	for (i = 0; i < 2; i++) {
		post_all(&pair);
		CHECK(quiet(pair.a.scq));
		CHECK_CALL(limit(pair.a.qp, i ? 0 : UINT32_MAX), 0);
		expect_last(&pair);
		CHECK_CALL(limit(pair.a.qp, 1000), 0);
	}
	CHECK_CALL(limit(pair.a.qp, 0), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Meanwhile the peer sends RNR NAKs. */
static void lifted_while_peer_is_not_ready(const void *arg)
{
	const struct options options = { .min_rnr_timer = 31 };	/* 491 ms */
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(limit(pair.a.qp, 1000), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 1000, IBV_SEND_SIGNALED), 0);
	CHECK(quiet(pair.a.scq));
	CHECK_CALL(limit(pair.a.qp, UINT32_MAX), 0);
	CHECK_CALL(post_recv(&pair.b, 2, 0, 1000), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 2, .opcode = IBV_WC_RECV,
	       .length = 1000);
	pair_down(&pair);
}

/* A pause is not taken for an answer. */
static void peer_is_gone(const void *arg)
{
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(limit(pair.a.qp, 1000), 0);
	/* Until the limit delays it. */
	for (id = 0; id < 20; id++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, id,
				     0, 0, 100, IBV_SEND_SIGNALED), 0);
	for (id = 0; id < 20; id++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(to_reset(&pair.b), 0);
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 20, 0, 0, 1, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 20,
	       .status = IBV_WC_RETRY_EXC_ERR);
	pair_down(&pair);
}

static void datagrams(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct pair pair;
	uint64_t start;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(limit(pair.a.qp, 1000), 0);
	start = now_ms();
	for (i = 0; i < 50; i++)
		CHECK_CALL(post_datagram(&pair.a, &pair.b, i, 1000), 0);
	for (i = 0; i < 50; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
	/* 50,000 bytes at 125 in a millisecond. */
	CHECK(now_ms() - start > 200);
	pair_down(&pair);
}

/* ms */
static uint64_t time_to_write(struct pair *pair)
{
	uint64_t start = now_ms();

	post_all(pair);
	expect_last(pair);
	return now_ms() - start;
}

/* Connects again, with a limit in the change to RTS. */
static bool limited_again(struct pair *pair, uint32_t kbps)
{
	struct ibv_qp_attr attr;
	int mask;

	if (!CHECK_CALL(to_reset(&pair->a), 0) || !CHECK_CALL(to_reset(&pair->b), 0) ||
	    !CHECK_CALL(to_init(&pair->a, &pair->options), 0) ||
	    !CHECK_CALL(to_init(&pair->b, &pair->options), 0) ||
	    !CHECK_CALL(to_rtr(&pair->a, &pair->b, &pair->options), 0) ||
	    !CHECK_CALL(to_rtr(&pair->b, &pair->a, &pair->options), 0) ||
	    !CHECK_CALL(to_rts(&pair->b, &pair->options), 0))
		return false;
	rts_attr(&attr, &mask, IBV_QPT_RC, &pair->options);
	attr.rate_limit = kbps;
	return CHECK_CALL(ibv_modify_qp(pair->a.qp, &attr, mask | IBV_QP_RATE_LIMIT), 0);
}

/* RTS, SQD and RESET on the way. */
static void states(const void *arg)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS, .rate_limit = 5000,
	};
	int mask, tries = 0;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_create(&pair, NULL));
	CHECK_CALL(limit(pair.a.qp, KBPS), EINVAL);
	CHECK_CALL(to_init(&pair.a, &pair.options), 0);
	CHECK_CALL(limit(pair.a.qp, KBPS), EINVAL);
	CHECK_CALL(to_rtr(&pair.a, &pair.b, &pair.options), 0);
	CHECK_CALL(limit(pair.a.qp, KBPS), EINVAL);
	rts_attr(&attr, &mask, IBV_QPT_RC, &pair.options);
	attr.rate_limit = 999;
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask | IBV_QP_RATE_LIMIT),
		   EINVAL);
	attr.rate_limit = 5000;
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask | IBV_QP_RATE_LIMIT),
		   0);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_SQD), 0);
	CHECK_CALL(limit(pair.a.qp, 1000), 0);
	CHECK_CALL(to_state(&pair.a, IBV_QPS_ERR), 0);
	CHECK_CALL(limit(pair.a.qp, KBPS), EINVAL);
	CHECK_CALL(to_reset(&pair.a), 0);
	/* RESET clears the limit; several attempts, because the machine may be loaded. */
	REQUIRE(pair_again(&pair));
	while (time_to_write(&pair) > MS / 2 && CHECK(++tries < 50))
		;
	CHECK(works(&pair));
	/* That of the change to RTS counts. */
	REQUIRE(limited_again(&pair, KBPS));
	CHECK(time_to_write(&pair) > MS / 2);
	pair_down(&pair);
}

static void refused(const void *arg)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = KBPS };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(limit(pair.a.qp, 1), EINVAL);
	CHECK_CALL(limit(pair.a.qp, 999), EINVAL);
	attr.max_burst_sz = 1500;
	CHECK_CALL(ibv_modify_qp_rate_limit(pair.a.qp, &attr), EOPNOTSUPP);
	attr.max_burst_sz = 0;
	attr.typical_pkt_sz = 100;
	CHECK_CALL(ibv_modify_qp_rate_limit(pair.a.qp, &attr), EOPNOTSUPP);
	attr.typical_pkt_sz = 0;
	attr.comp_mask = 1;
	CHECK_CALL(ibv_modify_qp_rate_limit(pair.a.qp, &attr), EOPNOTSUPP);
	CHECK(works(&pair));
	pair_down(&pair);
}

static void capabilities(const void *arg)
{
	struct ibv_device_attr_ex attr = {};
	struct ibv_packet_pacing_caps *caps = &attr.packet_pacing_caps;

	(void)arg;
	CHECK_CALL(ibv_query_device_ex(hosts[0].context, NULL, &attr), 0);
	CHECK(caps->qp_rate_limit_min == 1000);
	CHECK(caps->qp_rate_limit_max == UINT32_MAX);
	CHECK(ibv_is_qpt_supported(caps->supported_qpts, IBV_QPT_RC));
	CHECK(ibv_is_qpt_supported(caps->supported_qpts, IBV_QPT_UC));
	CHECK(ibv_is_qpt_supported(caps->supported_qpts, IBV_QPT_UD));
	CHECK(!ibv_is_qpt_supported(caps->supported_qpts, IBV_QPT_RAW_PACKET));
}

GROUP(pacing)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC, uc = IBV_QPT_UC;
	static const struct test tests[] = {
		{ "rate limit: limits and QP types that the device reports",
		  capabilities },
		{ "rate limit: RC keeps it and does not delay other QPs",
		  keeps_rate, &rc },
		{ "rate limit: UC keeps it", keeps_rate, &uc },
		{ "rate limit: removed while the peer is not ready",
		  lifted_while_peer_is_not_ready },
		{ "rate limit: retries end if the peer is gone", peer_is_gone },
		{ "rate limit: UD keeps it", datagrams },
		{ "rate limit: removed while requests wait", lifted },
		{ "rate limit: set and cleared by state changes", states },
		{ "rate limit: invalid values are refused", refused },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
