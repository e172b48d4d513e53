// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many requests in one queue: order, signalling, fences, lists, full queues.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"

#define ROUNDS	20

/* Every tenth of 200 requests is signalled; the ring wraps several times. */
static void unsignalled(const void *arg)
{
	const struct options options = { .wr = 32 };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 200; i++) {
		bool tell = i % 10 == 9;

		pair.a.buf[i] = i;
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, i,
				     i, 1, tell ? IBV_SEND_SIGNALED : 0), 0);
		if (tell)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
			       .opcode = IBV_WC_RDMA_WRITE);
	}
	CHECK(quiet(pair.a.scq));
	CHECK(!memcmp(pair.a.buf, pair.b.buf, 200));
	pair_down(&pair);
}

static void all_signalled(const void *arg)
{
	const struct options options = { .sig_all = true };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 10; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, 0,
				     0, 1, 0), 0);
	for (i = 0; i < 10; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_RDMA_WRITE);
	pair_down(&pair);
}

/* A fenced SEND sends the data that the READ before it fetches. */
static void fenced_send(const void *arg)
{
	const struct options options = { .size = 1 << 20 };
	const uint32_t length = 200003;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ROUNDS; i++) {
		fill(pair.b.buf, length, i);
		CHECK_CALL(post_recv(&pair.b, i, 1 << 19, length), 0);
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ, i, 0, 0,
				     length, 0), 0);
		CHECK_CALL(post_send(&pair.a, i, 0, length,
				     IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = length);
		CHECK(filled(pair.b.buf + (1 << 19), length, i));
	}
	pair_down(&pair);
}

static void fenced_after_atomic(const void *arg)
{
	struct pair pair;
	uint64_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ROUNDS; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 1024, 8), 0);
		CHECK_CALL(post_atomic(&pair.a, &pair.b, false, i, 0, 0, 1, 0), 0);
		CHECK_CALL(post_send(&pair.a, i, 0, 8,
				     IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_FETCH_ADD);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 8);
		CHECK(*(uint64_t *)(pair.b.buf + 1024) == i);
	}
	pair_down(&pair);
}

/* WRITEs land in order: the last of a series wins, every time. */
static void writes_in_order(const void *arg)
{
	struct pair pair;
	int i, round;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < 32; i++) {
			fill(pair.a.buf + 1001 * i, 1001, round * 32 + i);
			CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE,
					     i, 1001 * i, 0, 1001,
					     i == 31 ? IBV_SEND_SIGNALED : 0), 0);
		}
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 31,
		       .opcode = IBV_WC_RDMA_WRITE);
		CHECK(filled(pair.b.buf, 1001, round * 32 + 31));
	}
	pair_down(&pair);
}

/* More READs than max_rd_atomic in the queue, atomics among them. */
static void many_reads(const void *arg)
{
	const struct options options = {
		.rd_atomic = *(const int *)arg, .size = 1 << 20, .wr = 128,
	};
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &options));
	fill(pair.b.buf, 1 << 19, 9);
	for (i = 0; i < 96; i++) {
		if (i % 3 == 2)
			CHECK_CALL(post_atomic(&pair.a, &pair.b, false, i,
					       (1 << 19) + 8 * i, 1 << 19, 1,
					       0), 0);
		else
			CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ,
					     i, 5003 * i, 5003 * i, 5003,
					     IBV_SEND_SIGNALED), 0);
	}
	for (i = 0; i < 96; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 5003,
		       .opcode = i % 3 == 2 ? IBV_WC_FETCH_ADD :
					      IBV_WC_RDMA_READ);
	for (i = 0; i < 96; i++)
		if (i % 3 != 2)
			CHECK(!memcmp(pair.a.buf + 5003 * i,
				      pair.b.buf + 5003 * i, 5003));
		else
			CHECK(*(uint64_t *)(pair.a.buf + (1 << 19) + 8 * i) ==
			      (uint64_t)i / 3);
	pair_down(&pair);
}

/* Posts from another processor, each time a bit later than the other thread. */
struct poster {
	struct pair *pair;
	pthread_barrier_t *round;
	uint32_t length;
	unsigned int flags;
	int delay;
	int cpu;
	bool failed;
};

#define POSTS	200
#define LONG	30000

static void *post_many(void *arg)
{
	struct poster *poster = arg;
	struct ibv_wc wc;
	cpu_set_t one;
	int i;

	CPU_ZERO(&one);
	CPU_SET(poster->cpu, &one);
	poster->failed = pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
	for (i = 0; i < POSTS; i++) {
		pthread_barrier_wait(poster->round);
		usleep(i % 40 * poster->delay);
		poster->failed |= post_send(&poster->pair->a, i, 0,
					    poster->length, poster->flags);
		/* Posts of a process that never polls are batched. */
		poster->failed |= poster->flags &&
				  !next_wc(poster->pair->a.scq, &wc);
	}
	return NULL;
}

/* A message that was posted later must not overtake another's packets. */
static void two_processors(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UC, .mtu = IBV_MTU_256, .wr = 2 * POSTS,
		.size = 1 << 18,
	};
	int i, longs = 0, processors = sysconf(_SC_NPROCESSORS_ONLN);
	struct poster posters[2];
	pthread_barrier_t round;
	struct ibv_wc wc;
	pthread_t threads[2];
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 2 * POSTS; i++)
		CHECK_CALL(post_recv(&pair.b, i, 0, LONG), 0);
	pthread_barrier_init(&round, NULL, 2);
	for (i = 0; i < 2; i++) {
		posters[i] = (struct poster) {
			&pair, &round, i ? 1 : LONG,
			i ? IBV_SEND_SIGNALED : 0, 100 * i, i % processors,
		};
		REQUIRE(!pthread_create(&threads[i], NULL, post_many, &posters[i]));
	}
	for (i = 0; i < 2; i++) {
		pthread_join(threads[i], NULL);
		CHECK(!posters[i].failed);
	}
	for (i = 0; i < 2 * POSTS; i++) {
		REQUIRE(next_wc(pair.b.rcq, &wc));
		CHECK(wc.status == IBV_WC_SUCCESS);
		longs += wc.byte_len == LONG;
	}
	CHECK_CALL(longs, POSTS);
	pthread_barrier_destroy(&round);
	pair_down(&pair);
}

/* PSNs go from ffffff to 0 in the middle of everything. */
static void psn_wrap(const void *arg)
{
	uint32_t psn;
	struct pair pair;

	(void)arg;
	for (psn = 0xfffff0; psn <= 0xffffff; psn += 3) {
		const struct options options = {
			.mtu = IBV_MTU_256, .psn = psn,
		};

		REQUIRE(pair_up(&pair, &options));
		works(&pair);
		works(&pair);
		pair_down(&pair);
	}
}

/* Lists of work requests */

static void post_list(const void *arg)
{
	struct ibv_recv_wr recvs[8] = {}, *bad_recv;
	struct ibv_send_wr sends[8] = {}, *bad_send;
	struct ibv_sge from[8], to[8];
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 8; i++) {
		from[i] = piece(&pair.a, 100 * i, 50 + i);
		to[i] = piece(&pair.b, 100 * i, 100);
		recvs[i] = (struct ibv_recv_wr) {
			.wr_id = i, .sg_list = &to[i], .num_sge = 1,
			.next = i < 7 ? &recvs[i + 1] : NULL,
		};
		sends[i] = (struct ibv_send_wr) {
			.wr_id = i, .sg_list = &from[i], .num_sge = 1,
			.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
			.next = i < 7 ? &sends[i + 1] : NULL,
		};
		fill(pair.a.buf + 100 * i, 50 + i, i);
	}
	CHECK_CALL(ibv_post_recv(pair.b.qp, recvs, &bad_recv), 0);
	CHECK_CALL(ibv_post_send(pair.a.qp, sends, &bad_send), 0);
	for (i = 0; i < 8; i++) {
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 50 + i);
		CHECK(filled(pair.b.buf + 100 * i, 50 + i, i));
	}
	pair_down(&pair);
}

/* An invalid request in the list: those before it are posted, those after it not. */
static void bad_in_list(const void *arg)
{
	struct ibv_recv_wr recvs[3] = {}, *bad_recv = NULL;
	struct ibv_send_wr sends[3] = {}, *bad_send = NULL;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 3; i++) {
		recvs[i].wr_id = i;
		recvs[i].num_sge = i == 1 ? 1000 : 0;
		recvs[i].next = i < 2 ? &recvs[i + 1] : NULL;
		sends[i].wr_id = i;
		sends[i].opcode = i == 1 ? 99 : IBV_WR_SEND;
		sends[i].send_flags = IBV_SEND_SIGNALED;
		sends[i].next = i < 2 ? &sends[i + 1] : NULL;
	}
	CHECK_CALL(ibv_post_recv(pair.b.qp, recvs, &bad_recv), EINVAL);
	CHECK(bad_recv == &recvs[1]);
	CHECK_CALL(ibv_post_send(pair.a.qp, sends, &bad_send), EINVAL);
	CHECK(bad_send == &sends[1]);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 0, .opcode = IBV_WC_SEND);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 0, .opcode = IBV_WC_RECV);
	CHECK(quiet(pair.a.scq));
	CHECK(works(&pair));
	pair_down(&pair);
}

#define SHORT_WRITES	32

/*
 * Lists of short WRITEs, with every pad, in one burst.  @beyond: one of them ends
 * behind the region; it and the following ones change nothing.
 */
static void short_writes(const void *arg)
{
	uint32_t beyond = *(const uint32_t *)arg, i;
	struct ibv_send_wr wrs[SHORT_WRITES] = {}, *bad;
	struct ibv_sge from[SHORT_WRITES];
	struct pair pair;

	REQUIRE(pair_up(&pair, NULL));
	memset(pair.b.buf, 0x11, 16 * SHORT_WRITES);
	for (i = 0; i < SHORT_WRITES; i++) {
		from[i] = piece(&pair.a, 16 * i, 1 + i % 9);
		wrs[i] = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, i, &from[i], 1,
				 16 * i);
		wrs[i].send_flags = i == SHORT_WRITES - 1 ? IBV_SEND_SIGNALED : 0;
		wrs[i].next = i < SHORT_WRITES - 1 ? &wrs[i + 1] : NULL;
		fill(pair.a.buf + 16 * i, from[i].length, i);
	}
	if (beyond < SHORT_WRITES) {
		from[beyond].length = 2;
		wrs[beyond].wr.rdma.remote_addr += pair.b.mr->length - 1 -
						   16 * beyond;
	}
	CHECK_CALL(ibv_post_send(pair.a.qp, wrs, &bad), 0);
	if (beyond < SHORT_WRITES)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = beyond,
		       .status = IBV_WC_REM_ACCESS_ERR);
	else
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = SHORT_WRITES - 1,
		       .opcode = IBV_WC_RDMA_WRITE);
	for (i = 0; i < SHORT_WRITES; i++) {
		const uint8_t *to = pair.b.buf + 16 * i;
		uint32_t n = i < beyond ? from[i].length : 0;

		CHECK(filled(to, n, i));
		for (; n < 16; n++)
			CHECK(to[n] == 0x11);
	}
	pair_down(&pair);
}

/* Full queues refuse with ENOMEM, and lose nothing. */
static void full_queues(const void *arg)
{
	const struct options options = { .wr = 16 };
	struct pair pair;
	uint32_t i, n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	/* Without receive requests the sends stay. */
	for (n = 0; !post_send(&pair.a, n, 0, 100, IBV_SEND_SIGNALED); n++)
		REQUIRE(n < 1000);
	CHECK_CALL(n, pair.a.cap.max_send_wr);
	CHECK_CALL(post_send(&pair.a, n, 0, 1, 0), ENOMEM);
	for (i = 0; i < n; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 0, 100), 0);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 100);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
	}
	for (n = 0; !post_recv(&pair.b, n, 0, 100); n++)
		REQUIRE(n < 1000);
	CHECK_CALL(n, pair.b.cap.max_recv_wr);
	CHECK_CALL(post_recv(&pair.b, n, 0, 100), ENOMEM);
	for (i = 0; i < n; i++)
		CHECK_CALL(post_send(&pair.a, i, 0, 100, IBV_SEND_SIGNALED), 0);
	for (i = 0; i < n; i++)
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 100);
	pair_down(&pair);
}

GROUP(order)
{
	static const int one = 1, four = 4, sixteen = 16;
	static const uint32_t all = SHORT_WRITES, middle = 17;
	static const struct test tests[] = {
		{ "unsignalled requests raise no completion", unsignalled },
		{ "sq_sig_all signals every request", all_signalled },
		{ "a fenced SEND waits for the READ before it", fenced_send },
		{ "a fenced SEND waits for an atomic", fenced_after_atomic },
		{ "the last of several WRITEs to one place wins",
		  writes_in_order },
		{ "96 READs and atomics, max_rd_atomic 1", many_reads, &one },
		{ "96 READs and atomics, max_rd_atomic 4", many_reads, &four },
		{ "96 READs and atomics, max_rd_atomic 16", many_reads,
		  &sixteen },
		{ "UC posts from two processors", two_processors },
		{ "PSNs wrap", psn_wrap },
		{ "lists of eight work requests", post_list },
		{ "requests behind an invalid one in a list are not posted",
		  bad_in_list },
		{ "a list of short WRITEs", short_writes, &all },
		{ "a list of short WRITEs, one of them beyond the region",
		  short_writes, &middle },
		{ "full send and receive queues return ENOMEM and lose nothing",
		  full_queues },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
