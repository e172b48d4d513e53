// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One side of a QP streams, so that this host's queue is never empty.  The other side
 * gets a request from a packet that arrives on another processor than the packet
 * before it.  For queues that keep bursts whole.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>

#include "transfer.h"

#define PIECE	65536
#define DEPTH	32

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return CHECK_CALL(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Signalled: posts as many again as have completed. */
static bool keep_streaming(struct pair *pair)
{
	struct ibv_wc wc[DEPTH];
	int n = ibv_poll_cq(pair->a.scq, DEPTH, wc);
	int i;

	if (!CHECK(n >= 0))
		return false;
	for (i = 0; i < n; i++)
		if (!CHECK_CALL(wc[i].status, IBV_WC_SUCCESS) ||
		    !CHECK_CALL(post_rdma(&pair->a, &pair->b,
					  IBV_WR_RDMA_WRITE, 1, 0, 0, PIECE,
					  IBV_SEND_SIGNALED), 0))
			return false;
	return true;
}

static void end_stream(struct pair *pair)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < DEPTH; i++)
		if (!CHECK(next_wc(pair->a.scq, &wc) && !wc.status))
			return;
}

/* b sends requests to a while a sends to b: a's responses leave, too. */
static void answers_leave(const void *arg)
{
	/* A response waits behind the packets in the queue, for at most a second. */
	const struct options options = { .size = PIECE, .timeout = 18 };
	uint64_t start;
	struct ibv_wc wc;
	struct pair pair;
	int i, n = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, &options) && run_on(1));
	CHECK_CALL(post_rdma(&pair.b, &pair.a, IBV_WR_RDMA_WRITE, 2, 0, 0, 100,
			     IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 2, .opcode = IBV_WC_RDMA_WRITE);
	REQUIRE(run_on(0));
	for (i = 0; i < DEPTH; i++)
		REQUIRE(CHECK_CALL(post_rdma(&pair.a, &pair.b,
					     IBV_WR_RDMA_WRITE, 1, 0, 0, PIECE,
					     IBV_SEND_SIGNALED), 0));
	CHECK_CALL(post_rdma(&pair.b, &pair.a, IBV_WR_RDMA_WRITE, 3, 0, 0, 100,
			     IBV_SEND_SIGNALED), 0);
	for (start = now_ms(); !n && now_ms() - start < PATIENCE_MS;) {
		REQUIRE(keep_streaming(&pair));
		n = ibv_poll_cq(pair.b.scq, 1, &wc);
	}
	CHECK(n == 1 && wc.wr_id == 3);
	CHECK_CALL(wc.status, IBV_WC_SUCCESS);
	end_stream(&pair);
	pair_down(&pair);
}

COMMAND(duplex_order)
{
	static const struct test tests[] = {
		{ "responses are sent while requests stream", answers_leave },
	};

	fabric_open();
	run_tests(tests, ARRAY_SIZE(tests));
	return tests_done();
}
