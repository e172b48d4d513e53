// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Which posts make a system call: a stream is collected, and a request for whose effect the
 * process waits is sent at once.
 */
#include <string.h>

#include "record.h"
#include "rings.h"

#define POSTS		640
#define SIGNALLED	32	/* every 32nd request */

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
	unsigned int before;
	struct pair pair;
	uint64_t i;

	REQUIRE(pair_up(&pair, &(struct options){ .wr = 4 * SIGNALLED }));
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
	pair_down(&pair);
}

static void stream(const void *arg)
{
	unsigned int depth = *(const unsigned int *)arg, before;
	struct pair pair;
	uint64_t i;

	REQUIRE(pair_up(&pair, &(struct options){ .wr = depth }));
	before = kicks();
	for (i = 1; i <= POSTS; i++) {
		REQUIRE(post(&pair, i, IBV_SEND_SIGNALED));
		if (i >= depth)
			REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i + 1 - depth,
				       .opcode = IBV_WC_RDMA_WRITE));
	}
	for (i = POSTS + 2 - depth; i <= POSTS; i++)
		REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
			       .opcode = IBV_WC_RDMA_WRITE));
	diag("%u kicks for %u posts", kicks() - before, POSTS);
	CHECK(kicks() - before < POSTS / 2);
	pair_down(&pair);
}

GROUP(streams)
{
	static const unsigned int depths[] = { 16, 64, 128 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(depths); i++)
		run_test(stream, &depths[i], "streams: %u outstanding requests are collected",
			 depths[i]);
}
