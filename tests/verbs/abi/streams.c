// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which posts make a system call: a stream is collected, and a request for whose effect the
 * process waits is sent at once.
 */
#include <string.h>

#include "record.h"
#include "rings.h"

#define POSTS		640
#define STREAM		2560
#define SIGNALLED	32	/* every 32nd request */

/* The tests before close the device. */
static bool connect(struct pair *pair, const struct options *options)
{
	const char *name = hosts[0].name;
	int gid_index = hosts[0].gid_index;

	return CHECK(host_open(&hosts[0], name, gid_index)) && CHECK(pair_up(pair, options));
}

static void disconnect(struct pair *pair)
{
	pair_down(pair);
	CHECK_CALL(ibv_close_device(hosts[0].context), 0);
}

/* Posts a WRITE of 8 bytes from a to b. */
static bool post(struct pair *pair, uint64_t value, unsigned int flags)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pair->a.buf,
		.length = sizeof(value),
		.lkey = pair->a.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.wr_id = value,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = flags,
		.wr.rdma = {
			.remote_addr = (uintptr_t)pair->b.buf,
			.rkey = pair->b.mr->rkey,
		},
	};

	return CHECK_CALL(ibv_post_send(pair->a.qp, &wr, &bad), 0);
}

/* Waits until b's memory has the value. */
static void wait_for(struct pair *pair, uint64_t value)
{
	while (__atomic_load_n((uint64_t *)pair->b.buf, __ATOMIC_ACQUIRE) != value)
		sched_yield();
}

/*
 * As UCX does: most requests are not signalled, and no CQ is polled for them.  A few may be
 * taken for a stream.
 */
TEST(streams, requests_that_are_waited_for_in_memory_are_sent_at_once)
{
	struct pair pair;
	unsigned int before;
	uint64_t i;

	REQUIRE(connect(&pair, &(struct options){ .wr = 4 * SIGNALLED }));
	before = kicks();
	for (i = 1; i <= POSTS; i++) {
		bool signalled = i % SIGNALLED == 0;

		memcpy(pair.a.buf, &i, sizeof(i));
		REQUIRE(post(&pair, i, signalled ? IBV_SEND_SIGNALED : 0));
		wait_for(&pair, i);
		if (signalled)
			REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
				       .opcode = IBV_WC_RDMA_WRITE));
	}
	diag("%u kicks for %u posts", kicks() - before, POSTS);
	CHECK(kicks() - before > POSTS * 9 / 10);
	disconnect(&pair);
}

static void stream(const void *arg)
{
	unsigned int depth = *(const unsigned int *)arg, before;
	struct pair pair;
	uint64_t i;

	REQUIRE(connect(&pair, &(struct options){ .wr = depth }));
	before = kicks();
	for (i = 1; i <= STREAM; i++) {
		REQUIRE(post(&pair, i, IBV_SEND_SIGNALED));
		if (i >= depth)
			REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i + 1 - depth,
				       .opcode = IBV_WC_RDMA_WRITE));
	}
	for (i = STREAM + 2 - depth; i <= STREAM; i++)
		REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
			       .opcode = IBV_WC_RDMA_WRITE));
	diag("%u kicks for %u posts", kicks() - before, STREAM);
	/* A debug kernel hardly leaves the process time to post between two timers. */
	CHECK(kicks() - before < STREAM * 9 / 10);
	disconnect(&pair);
}

GROUP(streams)
{
	static const unsigned int depths[] = { 16, 64, 128 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(depths); i++)
		run_test(stream, &depths[i], "streams: %u outstanding requests are collected",
			 depths[i]);
}
