// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Heavy load, with every byte compared, for links that drop or delay packets
 * (tests/suites/congestion.sh).
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define REQUESTS	16
#define LENGTH		(64u << 10)
#define SIZE		(REQUESTS * LENGTH)
#define ROUNDS		8

static size_t place(int i)
{
	return (size_t)i * LENGTH;
}

static bool all_complete(struct ibv_cq *cq, const struct ibv_qp *qp,
			 enum ibv_wc_opcode opcode)
{
	bool good = true;
	int i;

	for (i = 0; good && i < REQUESTS; i++)
		good = EXPECT(cq, qp, .wr_id = i, .opcode = opcode,
			      .length = LENGTH);
	return good;
}

static void rdma(const void *arg)
{
	const struct options options = { .size = SIZE };
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	bool read = opcode == IBV_WR_RDMA_READ;
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &options));
	fill(read ? pair.b.buf : pair.a.buf, SIZE, 21);
	for (i = 0; i < REQUESTS; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, opcode, i, place(i),
				     place(i), LENGTH, IBV_SEND_SIGNALED), 0);
	all_complete(pair.a.scq, pair.a.qp,
		     read ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE);
	CHECK(filled(read ? pair.a.buf : pair.b.buf, SIZE, 21));
	pair_down(&pair);
}

static void post_in_turn(struct pair *pair, int round, int i)
{
	fill((i % 2 ? pair->a.buf : pair->b.buf) + place(i), LENGTH, round + i);
	CHECK_CALL(post_rdma(&pair->a, &pair->b,
			     i % 2 ? IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, i,
			     place(i), place(i), LENGTH, IBV_SEND_SIGNALED), 0);
}

static void check_in_turn(struct pair *pair, int round, int i)
{
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = i, .length = LENGTH,
	       .opcode = i % 2 ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ);
	CHECK(filled((i % 2 ? pair->b.buf : pair->a.buf) + place(i), LENGTH,
		     round + i));
}

/* READs are outstanding while WRITEs are sent. */
static void in_turn(const void *arg)
{
	const struct options options = { .size = SIZE };
	struct pair pair;
	int round, i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < REQUESTS; i++)
			post_in_turn(&pair, round, i);
		for (i = 0; i < REQUESTS; i++)
			check_in_turn(&pair, round, i);
	}
	pair_down(&pair);
}

static void one(const void *arg)
{
	const struct options options = { .size = SIZE };
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct pair pair;

	REQUIRE(pair_up(&pair, &options));
	transfer(&pair, &(const struct transfer) {
		.opcode = opcode, .length = SIZE - 8192,
		.offset = 101, .remote = 203,
	});
	pair_down(&pair);
}

/* The peer is not ready while our own queue is full. */
static void late_receives(const void *arg)
{
	const struct options options = { .size = SIZE };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.a.buf, SIZE, 22);
	for (i = 0; i < REQUESTS; i++)
		CHECK_CALL(post_send(&pair.a, i, place(i), LENGTH,
				     IBV_SEND_SIGNALED), 0);
	for (i = 0; i < REQUESTS; i++) {
		usleep(20000);
		CHECK_CALL(post_recv(&pair.b, i, place(i), LENGTH), 0);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i,
		       .opcode = IBV_WC_RECV, .length = LENGTH);
	}
	all_complete(pair.a.scq, pair.a.qp, IBV_WC_SEND);
	CHECK(filled(pair.b.buf, SIZE, 22));
	pair_down(&pair);
}

/* Short READs and long ones, in one list: several responses may be in a burst. */
static void read_list(const void *arg)
{
	static const uint32_t lengths[] = { 64, 64, 64, 64, 3000, 1024, 1024, 8 };
	const struct options options = { .size = SIZE };
	struct ibv_send_wr wrs[REQUESTS] = {}, *bad;
	struct ibv_sge to[REQUESTS];
	struct ibv_mr *other;
	struct pair pair;
	int i, round;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	other = ibv_reg_mr(pair.b.mr->pd, pair.b.buf, SIZE, IBV_ACCESS_REMOTE_READ);
	REQUIRE(other);
	for (i = 0; i < REQUESTS; i++) {
		uint32_t length = lengths[i % ARRAY_SIZE(lengths)];

		to[i] = piece(&pair.a, place(i), length);
		wrs[i] = (struct ibv_send_wr) {
			.wr_id = i, .sg_list = &to[i], .num_sge = 1,
			.opcode = IBV_WR_RDMA_READ, .send_flags = IBV_SEND_SIGNALED,
			.wr.rdma.remote_addr = (uintptr_t)pair.b.buf + place(i),
			.wr.rdma.rkey = i < REQUESTS / 2 ? pair.b.mr->rkey : other->rkey,
			.next = i < REQUESTS - 1 ? &wrs[i + 1] : NULL,
		};
	}
	for (round = 0; round < ROUNDS; round++) {
		fill(pair.b.buf, SIZE, round);
		CHECK_CALL(ibv_post_send(pair.a.qp, wrs, &bad), 0);
		for (i = 0; i < REQUESTS; i++)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = to[i].length,
			       .opcode = IBV_WC_RDMA_READ);
		for (i = 0; i < REQUESTS; i++)
			CHECK(!memcmp(pair.a.buf + place(i), pair.b.buf + place(i),
				      to[i].length));
	}
	CHECK_CALL(ibv_dereg_mr(other), 0);
	pair_down(&pair);
}

static const enum ibv_wr_opcode read_op = IBV_WR_RDMA_READ;
static const enum ibv_wr_opcode write_op = IBV_WR_RDMA_WRITE;

static const struct test tests[] = {
	{ "16 READs of 64 KiB", rdma, &read_op },
	{ "16 WRITEs of 64 KiB", rdma, &write_op },
	{ "a READ of 1016 KiB", one, &read_op },
	{ "a WRITE of 1016 KiB", one, &write_op },
	{ "16 SENDs of 64 KiB to a peer that posts receives late",
	  late_receives, NULL },
};

COMMAND(heavy_load)
{
	fabric_open();
	run_tests(tests, ARRAY_SIZE(tests));
	return tests_done();
}

static const struct test read_list_tests[] = {
	{ "16 READs of a list, eight times", read_list, NULL },
};

/* For tests/suites/congestion.sh */
COMMAND(read_list)
{
	fabric_open();
	run_tests(read_list_tests, ARRAY_SIZE(read_list_tests));
	return tests_done();
}

static const struct test in_turn_tests[] = {
	{ "64 READs and 64 WRITEs of 64 KiB, in turn", in_turn, NULL },
};

/* For tests/suites/segmentation.sh */
COMMAND(in_turn)
{
	fabric_open();
	run_tests(in_turn_tests, ARRAY_SIZE(in_turn_tests));
	return tests_done();
}
