// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion events.
 */
#include <errno.h>
#include <poll.h>
#include <rdma/ib_user_verbs.h>
#include <unistd.h>

#include "transfer.h"

static bool event_within(const struct side *side, int ms)
{
	struct pollfd pollfd = { .fd = side->channel->fd, .events = POLLIN };

	return poll(&pollfd, 1, ms) == 1;
}

/* Takes one event, which must belong to that CQ. */
static bool take_event(const struct side *side, const struct ibv_cq *want)
{
	struct ibv_cq *cq;
	void *context;

	if (!CHECK(event_within(side, PATIENCE_MS)) ||
	    !CHECK(!ibv_get_cq_event(side->channel, &cq, &context)))
		return false;
	ibv_ack_cq_events(cq, 1);
	return CHECK(cq == want) && CHECK(context == want->cq_context);
}

/* One SEND from a to b, both completions taken. */
static void send_one(struct pair *pair, unsigned int flags)
{
	CHECK_CALL(post_recv(&pair->b, 1, 0, 100), 0);
	CHECK_CALL(post_send(&pair->a, 1, 0, 10, IBV_SEND_SIGNALED | flags), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1, .opcode = IBV_WC_SEND);
	EXPECT(pair->b.rcq, pair->b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 10);
}

static void one_event(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	send_one(&pair, 0);
	CHECK(!event_within(&pair.b, QUIET_MS));
	for (i = 0; i < 10; i++) {
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 0), 0);
		CHECK(!event_within(&pair.b, 0));
		send_one(&pair, 0);
		take_event(&pair.b, pair.b.rcq);
		send_one(&pair, 0);
		CHECK(!event_within(&pair.b, QUIET_MS));
	}
	pair_down(&pair);
}

static void solicited(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 5; i++) {
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
		send_one(&pair, 0);
		CHECK(!event_within(&pair.b, QUIET_MS));
		send_one(&pair, IBV_SEND_SOLICITED);
		take_event(&pair.b, pair.b.rcq);
		send_one(&pair, IBV_SEND_SOLICITED);
		CHECK(!event_within(&pair.b, QUIET_MS));
	}
	pair_down(&pair);
}

/* A wait for any completion also ends if another waits for a solicited one. */
static void any_and_solicited(const void *arg)
{
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 5; i++) {
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 0), 0);
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
		send_one(&pair, 0);
		take_event(&pair.b, pair.b.rcq);
		/* The one event was for both. */
		send_one(&pair, IBV_SEND_SOLICITED);
		CHECK(!event_within(&pair.b, QUIET_MS));
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 0), 0);
		send_one(&pair, 0);
		take_event(&pair.b, pair.b.rcq);
	}
	pair_down(&pair);
}

/* A WRITE with immediate can be solicited, too, and so can an error. */
static void solicited_others(const void *arg)
{
	struct ibv_send_wr wr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
	CHECK_CALL(post_recv(&pair.b, 2, 0, 0), 0);
	wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE_WITH_IMM, 2, NULL, 0, 0);
	wr.send_flags |= IBV_SEND_SOLICITED;
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	take_event(&pair.b, pair.b.rcq);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 2, .with_imm = true,
	       .opcode = IBV_WC_RECV_RDMA_WITH_IMM);
	CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 1), 0);
	CHECK_CALL(post_recv(&pair.b, 3, 0, 0), 0);
	CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
	take_event(&pair.b, pair.b.rcq);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 3,
	       .status = IBV_WC_WR_FLUSH_ERR);
	pair_down(&pair);
}

/* Arm, poll once more, sleep: no completion is missed. */
static void arm_and_sleep(const void *arg)
{
	struct pair pair;
	struct ibv_wc wc;
	int got = 0, i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 200; i++) {
		CHECK_CALL(post_recv(&pair.b, i, 0, 100), 0);
		CHECK_CALL(ibv_req_notify_cq(pair.b.rcq, 0), 0);
		while (ibv_poll_cq(pair.b.rcq, 1, &wc))
			got++;
		CHECK_CALL(post_send(&pair.a, i, 0, 10, IBV_SEND_SIGNALED), 0);
		REQUIRE(take_event(&pair.b, pair.b.rcq));
		while (ibv_poll_cq(pair.b.rcq, 1, &wc))
			got++;
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
	}
	CHECK(got == 200);
	pair_down(&pair);
}

/* ibv_req_notify_cq() calls the kernel only if there is a reason for an event. */
static int remind(const struct ibv_cq *cq)
{
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_req_notify_cq cmd;
	} raw = {
		.hdr = { .command = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
			 .in_words = sizeof(raw) / 4 },
		.cmd = { .cq_handle = cq->handle },
	};

	return write(cq->context->cmd_fd, &raw, sizeof(raw)) == sizeof(raw) ?
	       0 : errno;
}

static void arm_and_remind(struct ibv_cq *cq)
{
	int i;

	for (i = 0; i < 100; i++) {
		REQUIRE(CHECK_CALL(ibv_req_notify_cq(cq, 0), 0));
		REQUIRE(CHECK_CALL(remind(cq), 0));
	}
}

/* The kernel keeps unread events in memory, so it raises none without a reason. */
static void reminders(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	arm_and_remind(pair.b.rcq);
	CHECK(!event_within(&pair.b, QUIET_MS));
	/* Armed once, and then not any more. */
	send_one(&pair, 0);
	take_event(&pair.b, pair.b.rcq);
	/* A thread that waits for events of a CQ that another thread arms */
	CHECK_CALL(post_recv(&pair.b, 2, 0, 100), 0);
	CHECK_CALL(post_send(&pair.a, 2, 0, 10, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	CHECK(!event_within(&pair.b, QUIET_MS));
	arm_and_remind(pair.b.rcq);
	take_event(&pair.b, pair.b.rcq);
	CHECK(!event_within(&pair.b, QUIET_MS));
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 2, .opcode = IBV_WC_RECV,
	       .length = 10);
	arm_and_remind(pair.b.rcq);
	CHECK(!event_within(&pair.b, QUIET_MS));
	pair_down(&pair);
}

/* Both CQs of a side share a channel: each event names its own. */
static void two_queues(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(ibv_req_notify_cq(pair.a.scq, 0), 0);
	send_one(&pair, 0);
	take_event(&pair.a, pair.a.scq);
	CHECK_CALL(ibv_req_notify_cq(pair.a.rcq, 0), 0);
	CHECK_CALL(post_recv(&pair.a, 1, 0, 100), 0);
	CHECK_CALL(post_send(&pair.b, 1, 0, 10, 0), 0);
	take_event(&pair.a, pair.a.rcq);
	pair_down(&pair);
}

GROUP(notify)
{
	static const struct test tests[] = {
		{ "each ibv_req_notify_cq() raises one event", one_event },
		{ "solicited events only", solicited },
		{ "armed for any and for solicited completions",
		  any_and_solicited },
		{ "solicited events for WRITE with immediate and for errors",
		  solicited_others },
		{ "no event is lost in 200 waits", arm_and_sleep },
		{ "no event without a new completion", reminders },
		{ "two completion queues share a channel", two_queues },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
