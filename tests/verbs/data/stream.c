// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counts the system calls of the data path with the kernel's tracepoint, which hardly
 * slows anything down.  sched_yield() is not counted: the provider calls it once in
 * 256 empty polls, so its number depends on how long a completion takes.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transfer.h"

#define ROUNDS	1000
#define WINDOW	64

static int counter_fd = -1;

static long tracepoint(const char *folder)
{
	char path[200];
	FILE *file;
	long id = -1;

	snprintf(path, sizeof(path), "%s/events/raw_syscalls/sys_enter/id",
		 folder);
	file = fopen(path, "r");
	if (!file)
		return -1;
	if (fscanf(file, "%ld", &id) != 1)
		id = -1;
	fclose(file);
	return id;
}

/* Counts every call but sched_yield(), which tests/unit/provider counts. */
static bool open_counter(void)
{
	char filter[32];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr),
	};
	long id = tracepoint("/sys/kernel/tracing");

	if (id < 0)
		id = tracepoint("/sys/kernel/debug/tracing");
	if (id < 0)
		return false;
	attr.config = id;
	counter_fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);
	if (counter_fd < 0)
		return false;
	snprintf(filter, sizeof(filter), "id != %d", SYS_sched_yield);
	return !ioctl(counter_fd, PERF_EVENT_IOC_SET_FILTER, filter);
}

static long so_far(void)
{
	uint64_t value;

	if (read(counter_fd, &value, sizeof(value)) != sizeof(value))
		abort();
	return value;
}

/* System calls since @before, without the read() of the counter. */
static long since(long before)
{
	return so_far() - before - 1;
}

static void calibrate(const void *arg)
{
	long before;

	(void)arg;
	before = so_far();
	CHECK_CALL(since(before), 0);
	before = so_far();
	getppid();
	getppid();
	sched_yield();
	CHECK_CALL(since(before), 2);
}

/* Calls that never enter the kernel */

static void receive(const void *arg)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct pair pair;
	long before;
	int i, k, err = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (k = 0; k < 10; k++) {
		before = so_far();
		for (i = 0; i < WINDOW; i++)
			err |= ibv_post_recv(pair.b.qp, &wr, &bad);
		CHECK_CALL(since(before), 0);
		CHECK(!err);
		for (i = 0; i < WINDOW; i++) {
			CHECK_CALL(post_send(&pair.a, 0, 0, 0,
					     IBV_SEND_SIGNALED), 0);
			EXPECT(pair.a.scq, pair.a.qp, .opcode = IBV_WC_SEND);
			EXPECT(pair.b.rcq, pair.b.qp, .opcode = IBV_WC_RECV);
		}
	}
	pair_down(&pair);
}

static void poll_and_arm(const void *arg)
{
	struct pair pair;
	struct ibv_wc wc;
	long before;
	int i, found = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < WINDOW; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, 0,
				     0, 8, IBV_SEND_SIGNALED), 0);
	before = so_far();
	for (i = 0; i < 100000000 && found < WINDOW; i++)
		found += ibv_poll_cq(pair.a.scq, 1, &wc);
	CHECK_CALL(found, WINDOW);
	for (i = 0; i < ROUNDS; i++) {
		found += ibv_poll_cq(pair.a.scq, 1, &wc);
		ibv_req_notify_cq(pair.a.rcq, i & 1);
	}
	CHECK_CALL(since(before), 0);
	CHECK_CALL(found, WINDOW);
	pair_down(&pair);
}

static void poll_extended(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 16, .wc_flags = IBV_WC_STANDARD_FLAGS,
	};
	struct ibv_cq_ex *cq = ibv_create_cq_ex(hosts[0].context, &attr);
	struct ibv_poll_cq_attr poll = {};
	long before;
	int i;

	(void)arg;
	REQUIRE(CHECK(cq));
	before = so_far();
	for (i = 0; i < ROUNDS; i++)
		if (!ibv_start_poll(cq, &poll))
			ibv_end_poll(cq);
	CHECK_CALL(since(before), 0);
	CHECK_CALL(ibv_destroy_cq(ibv_cq_ex_to_cq(cq)), 0);
}

/* A ping-pong makes one system call per message. */
static void ping_pong(const void *arg)
{
	struct pair pair;
	struct ibv_wc wc;
	long before, calls;
	int i, err = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	before = so_far();
	for (i = 0; i < ROUNDS; i++) {
		err |= post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, 0, 0,
				 8, IBV_SEND_SIGNALED);
		while (!ibv_poll_cq(pair.a.scq, 1, &wc))
			;
		err |= wc.status;
	}
	calls = since(before);
	CHECK(!err);
	diag("%ld system calls for %d messages one by one", calls, ROUNDS);
	CHECK(calls <= ROUNDS);
	pair_down(&pair);
}

/* A stream */

struct stream {
	const char *name;
	enum ibv_wr_opcode opcode;
	uint32_t length;
};

/* Posts one by one, @WINDOW in flight.  Returns the system calls it took. */
static long run_stream(struct pair *pair, const struct stream *s, int count)
{
	int posted = 0, done = 0, err = 0, n, i;
	struct ibv_wc wc[16];
	long before = so_far();

	while (done < count && !err) {
		while (posted < count && posted < done + WINDOW && !err)
			err = post_rdma(&pair->a, &pair->b, s->opcode, posted++,
					0, 0, s->length, IBV_SEND_SIGNALED);
		n = ibv_poll_cq(pair->a.scq, 16, wc);
		for (i = 0; i < n; i++)
			err |= wc[i].status;
		done += n;
	}
	CHECK(!err);
	return since(before);
}

/*
 * On a busy host a post may take longer than the module waits for the next one, so one run of
 * five is enough.
 */
static void stream(const void *arg)
{
	const struct stream *s = arg;
	long calls = ROUNDS;
	struct pair pair;
	int run;

	REQUIRE(pair_up(&pair, NULL));
	for (run = 0; run < 5 && 10 * calls >= ROUNDS; run++) {
		calls = run_stream(&pair, s, ROUNDS);
		diag("%ld system calls for %d posts", calls, ROUNDS);
	}
	CHECK(10 * calls < ROUNDS);
	pair_down(&pair);
}

COMMAND(stream)
{
	static const struct test tests[] = {
		{ "the counter of system calls counts", calibrate },
		{ "ibv_post_recv() makes no system call", receive },
		{ "ibv_poll_cq() and ibv_req_notify_cq() make no system call",
		  poll_and_arm },
		{ "ibv_start_poll() makes no system call", poll_extended },
		{ "single posts make at most one system call each", ping_pong },
	};
	static const struct stream streams[] = {
		{ "WRITE", IBV_WR_RDMA_WRITE, 2 },
		{ "WRITE", IBV_WR_RDMA_WRITE, 64 },
		{ "WRITE", IBV_WR_RDMA_WRITE, 512 },
		{ "WRITE", IBV_WR_RDMA_WRITE, 1024 },
		{ "WRITE", IBV_WR_RDMA_WRITE, 4096 },
		{ "READ", IBV_WR_RDMA_READ, 2 },
		{ "READ", IBV_WR_RDMA_READ, 4096 },
	};
	size_t i;

	if (!open_counter()) {
		printf("ok 1 - system calls # SKIP the kernel has no tracepoint for them\n1..1\n");
		return 0;
	}
	fabric_open();
	run_tests(tests, ARRAY_SIZE(tests));
	for (i = 0; i < ARRAY_SIZE(streams); i++)
		run_test(stream, &streams[i],
			 "a stream of %s, %u bytes each: less than one call in ten posts",
			 streams[i].name, streams[i].length);
	return tests_done();
}
