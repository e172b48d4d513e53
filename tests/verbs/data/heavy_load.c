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
