// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues: resized, moderated, created with every flag.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

static bool write_signaled(struct pair *pair, uint64_t id, uint32_t length)
{
	return CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, id,
				    0, 0, length, IBV_SEND_SIGNALED), 0);
}

/* Waits until all requests have completed, without polling. */
static void settle(struct pair *pair)
{
	struct ibv_sge sge = piece(&pair->a, 0, 8);
	struct ibv_send_wr wr = rdma_wr(&pair->b, IBV_WR_RDMA_WRITE_WITH_IMM,
					0, &sge, 1, 0);

	wr.send_flags = 0;
	CHECK_CALL(post_recv(&pair->b, 77, 0, 0), 0);
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->b.rcq, pair->b.qp, .wr_id = 77,
	       .opcode = IBV_WC_RECV_RDMA_WITH_IMM, .length = 8,
	       .with_imm = true);
}

static bool event_comes(struct side *side, const struct ibv_cq *armed)
{
	struct pollfd pollfd = { .fd = side->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&pollfd, 1, PATIENCE_MS) != 1 ||
	    ibv_get_cq_event(side->channel, &cq, &context))
		return false;
	ibv_ack_cq_events(cq, 1);
	return cq == armed;
}

static bool no_event_comes(struct side *side)
{
	struct pollfd pollfd = { .fd = side->channel->fd, .events = POLLIN };

	return !poll(&pollfd, 1, QUIET_MS);
}

static void resized(const void *arg)
{
	static const int sizes[] = { 8, 64, 9, 3000, 16, 8, 100000, 8 };
	const struct options options = { .cqe = 16 };
	uint64_t posted = 0, taken = 0;
	struct pair pair;
	size_t i;
	int n;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		while (posted - taken < 7)
			REQUIRE(write_signaled(&pair, posted++, 100));
		settle(&pair);
		CHECK_CALL(ibv_resize_cq(pair.a.scq, sizes[i]), 0);
		CHECK(pair.a.scq->cqe >= sizes[i]);
		for (n = 0; n < 4; n++)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = taken++,
			       .opcode = IBV_WC_RDMA_WRITE);
	}
	/* Its completions have to fit. */
	while (posted - taken < 7)
		REQUIRE(write_signaled(&pair, posted++, 100));
	settle(&pair);
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 4), EINVAL);
	CHECK(pair.a.scq->cqe == 8);
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 0), EINVAL);
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 0x7fffffff), EINVAL);
	while (taken < posted)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = taken++,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(pair.a.scq));
	CHECK(works(&pair));
	pair_down(&pair);
}

/* While completions come, from another processor, too. */
static void resized_in_traffic(const void *arg)
{
	const struct options options = { .wr = 256, .cqe = 512 };
	uint64_t posted = 0, taken = 0, end = 4000;
	struct ibv_wc wc[16];
	struct pair pair;
	int n, i, round;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (round = 0; taken < end; round++) {
		while (posted < end && posted - taken < 200)
			REQUIRE(write_signaled(&pair, posted++, 3000));
		if (round % 8 == 0)
			CHECK_CALL(ibv_resize_cq(pair.a.scq, round % 16 ?
						 256 : 1000 + round), 0);
		n = ibv_poll_cq(pair.a.scq, 16, wc);
		REQUIRE(CHECK(n >= 0));
		for (i = 0; i < n; i++)
			REQUIRE(CHECK(wc[i].wr_id == taken++ && !wc[i].status));
	}
	CHECK(quiet(pair.a.scq));
	pair_down(&pair);
}

static void resized_armed(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(ibv_req_notify_cq(pair.a.scq, 0), 0);
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 1000), 0);
	CHECK(write_signaled(&pair, 1, 100));
	CHECK(event_comes(&pair.a, pair.a.scq));
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	pair_down(&pair);
}

void limit_space(bool limited)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	CHECK(file && fscanf(file, "%lu", &pages) == 1);
	if (file)
		fclose(file);
	if (limited)
		limit.rlim_cur = pages * sysconf(_SC_PAGESIZE) + (1 << 20);
	CHECK_CALL(setrlimit(RLIMIT_AS, &limit), 0);
}

/* A call that fails changes nothing, also if there is no room to map the new ring. */
static void resized_without_space(const void *arg)
{
	const struct options options = { .cqe = 16 };
	struct pair pair;
	int id;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (id = 0; id < 5; id++)
		CHECK(write_signaled(&pair, id, 100));
	settle(&pair);
	limit_space(true);
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 100000), ENOMEM);
	limit_space(false);
	CHECK(pair.a.scq->cqe == 16);
	for (id = 0; id < 5; id++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(works(&pair));
	CHECK_CALL(ibv_resize_cq(pair.a.scq, 100000), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

struct armer {
	pthread_t thread;
	struct ibv_cq *cq;
	bool stop;
};

static void *keep_arming(void *arg)
{
	struct armer *armer = arg;

	while (!__atomic_load_n(&armer->stop, __ATOMIC_RELAXED))
		CHECK_CALL(ibv_req_notify_cq(armer->cq, 0), 0);
	return NULL;
}

/* Arming looks into the ring, and that works. */
static void resized_while_armed(const void *arg)
{
	struct armer armer = {};
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	armer.cq = pair.a.scq;
	REQUIRE(CHECK(!pthread_create(&armer.thread, NULL, keep_arming,
				      &armer)));
	for (i = 0; i < 300; i++)
		CHECK_CALL(ibv_resize_cq(pair.a.scq, i % 2 ? 100 : 20000), 0);
	__atomic_store_n(&armer.stop, true, __ATOMIC_RELAXED);
	pthread_join(armer.thread, NULL);
	CHECK(write_signaled(&pair, 1, 100));
	CHECK(event_comes(&pair.a, pair.a.scq));
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	pair_down(&pair);
}

/*
 * Two pairs whose senders share a completion queue, which nobody has polled: of
 * ten completions, every third belongs to the other pair.  @own: unused queue of the
 * second pair.
 */
static bool share_cq(struct pair *pair, struct pair *other, struct ibv_cq **own)
{
	struct options options = { .cqe = 32 };
	uint64_t id;

	if (!pair_up(pair, &options) || !pair_create(other, &options))
		return false;
	CHECK_CALL(ibv_destroy_qp(other->a.qp), 0);
	*own = other->a.scq;
	other->a.scq = pair->a.scq;
	if (!CHECK(side_qp(&other->a, &options)) || !pair_connect(other))
		return false;
	for (id = 1; id <= 10; id++) {
		CHECK(write_signaled(id % 3 ? pair : other, id, 10));
		settle(id % 3 ? pair : other);
	}
	return true;
}

/* It is filled by as many completions as the QP has requests. */
static void largest(const void *arg)
{
	const struct options options = { .wr = 4000 };
	struct ibv_device_attr attr;
	struct ibv_cq *small;
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_create(&pair, &options));
	CHECK_CALL(ibv_query_device(pair.a.host->context, &attr), 0);
	CHECK_CALL(ibv_destroy_qp(pair.a.qp), 0);
	small = pair.a.scq;
	pair.a.scq = ibv_create_cq(pair.a.host->context, attr.max_cqe, NULL,
				   pair.a.channel, 0);
	REQUIRE(CHECK(pair.a.scq && pair.a.scq->cqe >= attr.max_cqe));
	CHECK_CALL(ibv_destroy_cq(small), 0);
	REQUIRE(CHECK(side_qp(&pair.a, &options)) && pair_connect(&pair));
	for (id = 0; id < (uint64_t)options.wr - 1; id++)
		REQUIRE(write_signaled(&pair, id, 8));
	settle(&pair);
	for (id = 0; id < (uint64_t)options.wr - 1; id++)
		REQUIRE(EXPECT(pair.a.scq, pair.a.qp, .wr_id = id,
			       .opcode = IBV_WC_RDMA_WRITE));
	CHECK(quiet(pair.a.scq));
	CHECK(works(&pair));
	pair_down(&pair);
}

/* RESET removes the QP's completions that were not polled, and no others. */
static void reset(const void *arg)
{
	struct pair pair, other;
	struct ibv_cq *cq;
	uint64_t id;

	(void)arg;
	REQUIRE(share_cq(&pair, &other, &cq));
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(to_reset(&pair.a), 0);
	for (id = 3; id <= 9; id += 3)
		EXPECT(pair.a.scq, other.a.qp, .wr_id = id,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(pair.a.scq));
	CHECK(pair_again(&pair) && works(&pair) && works(&other));
	CHECK_CALL(ibv_destroy_qp(other.a.qp), 0);
	other.a.qp = NULL;
	other.a.scq = cq;
	pair_down(&pair);
	pair_down(&other);
}

/* The same when a QP is destroyed. */
static void destroyed(const void *arg)
{
	struct pair pair, other;
	struct ibv_cq *cq;
	uint64_t id;

	(void)arg;
	REQUIRE(share_cq(&pair, &other, &cq));
	CHECK_CALL(ibv_destroy_qp(other.a.qp), 0);
	other.a.qp = NULL;
	other.a.scq = cq;
	for (id = 1; id <= 10; id++)
		if (id % 3)
			EXPECT(pair.a.scq, pair.a.qp, .wr_id = id,
			       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(pair.a.scq));
	CHECK(works(&pair));
	pair_down(&other);
	pair_down(&pair);
}

/* Events */

/*
 * A program that arms without polling again gets an event for earlier completions, as
 * with NICs, but only once.
 */
static void armed_late(const void *arg)
{
	struct pair pair;
	struct ibv_cq *cq;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	cq = pair.a.scq;
	CHECK(write_signaled(&pair, 1, 10));
	settle(&pair);
	/* That one is not solicited. */
	CHECK_CALL(ibv_req_notify_cq(cq, 1), 0);
	CHECK(no_event_comes(&pair.a));
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	CHECK(event_comes(&pair.a, pair.a.scq));
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	CHECK(no_event_comes(&pair.a));
	CHECK(write_signaled(&pair, 2, 10));
	CHECK(event_comes(&pair.a, pair.a.scq));
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	CHECK(no_event_comes(&pair.a));
	EXPECT(cq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	EXPECT(cq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(cq) && no_event_comes(&pair.a));
	pair_down(&pair);
}

/*
 * A program may take completions before it looks for their event: there is still one
 * event, and the next completion has its own.
 */
static void polled_before_event(const void *arg)
{
	struct pair pair;
	struct ibv_cq *cq;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	cq = pair.a.scq;
	for (id = 1; id <= 3; id++) {
		CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
		CHECK(no_event_comes(&pair.a));
		CHECK(write_signaled(&pair, id, 10));
		EXPECT(cq, pair.a.qp, .wr_id = id, .opcode = IBV_WC_RDMA_WRITE);
		CHECK(quiet(cq));
		CHECK(event_comes(&pair.a, cq));
		CHECK(no_event_comes(&pair.a));
	}
	pair_down(&pair);
}

static void armed_late_for_solicited(const void *arg)
{
	struct pair pair;
	struct ibv_wc wc;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 2; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 0, 100), 0);
		CHECK_CALL(post_send(&pair.a, i, 0, 100, IBV_SEND_SIGNALED |
				     (i ? IBV_SEND_SOLICITED : 0)), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_SEND);
	}
	CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
	CHECK(event_comes(&pair.b, pair.b.rcq));
	for (i = 0; i < 2; i++)
		CHECK(next_wc(pair.b.rcq, &wc) && !wc.status &&
		      wc.wr_id == (uint64_t)i);
	pair_down(&pair);
}

/* Moderation */

/* Milliseconds from @start until the event; -1 if there is none */
static long event_after(struct side *side, uint64_t start)
{
	return CHECK(event_comes(side, side->scq)) ?
	       (long)(now_ms() - start) : -1;
}

static int moderate(struct ibv_cq *cq, uint16_t count, uint16_t period)
{
	struct ibv_modify_cq_attr attr = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = count, .cq_period = period },
	};

	return ibv_modify_cq(cq, &attr);
}

/* Returns the delay of the event, ms. */
static long event_of_one(struct pair *pair)
{
	uint64_t start = now_ms();
	long ms;

	CHECK_CALL(ibv_req_notify_cq(pair->a.scq, 0), 0);
	CHECK(write_signaled(pair, 6, 10));
	ms = event_after(&pair->a, start);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 6, .opcode = IBV_WC_RDMA_WRITE);
	return ms;
}

/* Returns the delay of the event, ms: after 65 ms, or at the fourth of four completions. */
static long event_of_four(struct pair *pair)
{
	uint64_t start = now_ms(), id;
	long ms;

	CHECK_CALL(ibv_req_notify_cq(pair->a.scq, 0), 0);
	for (id = 2; id <= 5; id++)
		CHECK(write_signaled(pair, id, 10));
	ms = event_after(&pair->a, start);
	for (id = 2; id <= 5; id++)
		EXPECT(pair->a.scq, pair->a.qp, .wr_id = id,
		       .opcode = IBV_WC_RDMA_WRITE);
	return ms;
}

static void moderated(const void *arg)
{
	struct ibv_device_attr_ex attr = {};
	struct ibv_cq *cq;
	struct pair pair;
	uint64_t start;
	int tries = 0;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	cq = pair.a.scq;
	CHECK_CALL(ibv_query_device_ex(pair.a.host->context, NULL, &attr), 0);
	CHECK(attr.cq_mod_caps.max_cq_count && attr.cq_mod_caps.max_cq_period);
	CHECK_CALL(moderate(cq, 4, 60000), 0);
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	/* Time is up. */
	start = now_ms();
	CHECK(write_signaled(&pair, 1, 10));
	CHECK(event_after(&pair.a, start) >= 50);
	EXPECT(cq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	/* Four completions; several attempts, because the machine may be loaded. */
	CHECK_CALL(moderate(cq, 4, 0xffff), 0);
	while (event_of_four(&pair) >= 60 && CHECK(++tries < 50))
		;
	/* Off again. */
	CHECK_CALL(moderate(cq, 0, 0), 0);
	for (tries = 0; event_of_one(&pair) >= 60 && CHECK(tries < 50); tries++)
		;
	pair_down(&pair);
}

/* If the batch is full before the period ends, the rest of the period does not count. */
static void told_once(const void *arg)
{
	struct pollfd pollfd = { .events = POLLIN };
	struct ibv_cq *cq;
	struct pair pair;
	uint64_t id;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	cq = pair.a.scq;
	pollfd.fd = pair.a.channel->fd;
	CHECK_CALL(moderate(cq, 4, 60000), 0);
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	for (id = 1; id <= 4; id++)
		CHECK(write_signaled(&pair, id, 10));
	CHECK(event_after(&pair.a, now_ms()) >= 0);
	for (id = 1; id <= 4; id++)
		EXPECT(cq, pair.a.qp, .wr_id = id, .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(ibv_req_notify_cq(cq, 0), 0);
	CHECK_CALL(poll(&pollfd, 1, 120), 0);
	/* It is still armed. */
	CHECK(write_signaled(&pair, 5, 10));
	CHECK(event_after(&pair.a, now_ms()) >= 0);
	EXPECT(cq, pair.a.qp, .wr_id = 5, .opcode = IBV_WC_RDMA_WRITE);
	pair_down(&pair);
}

/* A queue that may overflow loses completions and nothing else. */
static void overrun_ignored(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.wc_flags = IBV_WC_STANDARD_FLAGS,
		.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS,
		.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN,
	};
	struct ibv_async_event event;
	struct ibv_cq_ex *cq;
	struct ibv_wc wc;
	struct pair pair;
	uint64_t id;
	int n = 0;

	(void)arg;
	cq = ibv_create_cq_ex(hosts[0].context, &attr);
	REQUIRE(CHECK(cq));
	REQUIRE(pair_create(&pair, NULL));
	CHECK_CALL(ibv_destroy_qp(pair.a.qp), 0);
	CHECK_CALL(ibv_destroy_cq(pair.a.scq), 0);
	pair.a.scq = ibv_cq_ex_to_cq(cq);
	REQUIRE(CHECK(side_qp(&pair.a, &pair.options)));
	REQUIRE(pair_connect(&pair));
	forget_events(hosts[0].context);
	for (id = 0; id < 10; id++)
		CHECK(write_signaled(&pair, id, 10));
	settle(&pair);
	while (ibv_poll_cq(pair.a.scq, 1, &wc) == 1)
		CHECK(!wc.status && wc.wr_id == (uint64_t)n++);
	CHECK(n >= 4 && n < 10);
	CHECK(!next_event(hosts[0].context, &event, QUIET_MS));
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(completion)
{
	static const struct test tests[] = {
		{ "CQ: resized, no completion is lost", resized },
		{ "CQ: resized under traffic, no completion is lost",
		  resized_in_traffic },
		{ "CQ: resized without address space, nothing changes",
		  resized_without_space },
		{ "CQ: an event comes if an armed CQ was resized",
		  resized_armed },
		{ "CQ: resized while another thread arms it",
		  resized_while_armed },
		{ "CQ: RESET removes the completions of its QP only", reset },
		{ "CQ: destroying a QP removes its completions only",
		  destroyed },
		{ "CQ: armed after an unpolled completion", armed_late },
		{ "CQ: polled before its event is taken", polled_before_event },
		{ "CQ: as large as it can be", largest },
		{ "CQ: armed for solicited events after an unpolled solicited completion",
		  armed_late_for_solicited },
		{ "CQ: moderation by count and by time", moderated },
		{ "CQ: moderation raises an event for each batch", told_once },
		{ "CQ: overruns are ignored if asked for", overrun_ignored },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
