// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many SENDs are outstanding, and the peer has few receive requests.  Another
 * thread posts each of them again when it has completed.  Each time the peer
 * runs out of them costs one RNR wait: no timeout, no gap in the PSNs.
 */
#include <pthread.h>
#include <stdio.h>

#include "transfer.h"

#define SENDS		512
/* With waits of 655 ms, fewer messages are enough. */
#define FEW_SENDS	128
#define RECEIVES	32
#define SLOT		4096
/* If a thread could not run for this long, one more wait is allowed. */
#define LATE_MS		300

/**
 * struct unready - a case
 * @name: its name
 * @timer: code of the RNR NAK timer
 * @sends: number of messages
 * @srq: the receive requests are those of a shared receive queue
 * @surely: the wait is long enough to post all receive requests
 * @brief: the wait may be shorter than the time to post one request
 */
struct unready {
	const char *name;
	int timer;
	int sends;
	bool srq;
	bool surely;
	bool brief;
};

/*
 * Work of the receiving thread, the longest time between two of its polls, and the
 * total time.
 */
struct receiver {
	struct side *side;
	int sends;
	uint64_t longest;
	uint64_t ms;
	bool good;
};

struct counts {
	long long naks;
	long long waits;
	long long timeouts;
	long long gaps;
	long long probes;
};

/* One to three packets. */
static uint32_t length_of(int i)
{
	return 1 + i * 37 % 3000;
}

static struct counts counts_now(void)
{
	return (struct counts) {
		.naks = counter(&hosts[1], "tx_nak_rnr"),
		.waits = counter(&hosts[0], "rnr_nak_retry_err"),
		.timeouts = counter(&hosts[0], "local_ack_timeout_err"),
		.gaps = counter(&hosts[0], "packet_seq_err"),
		.probes = counter(&hosts[0], "tx_probes"),
	};
}

static int post_slot(struct side *side, int i)
{
	return post_recv(side, i, i % RECEIVES * SLOT, SLOT);
}

/* The longest time that it could not run is needed for the check below. */
static bool take_one(struct receiver *receiver, int i)
{
	struct side *side = receiver->side;
	uint64_t before = now_ms(), start = before, now;
	struct ibv_wc wc;
	int n;

	do {
		n = ibv_poll_cq(side->rcq, 1, &wc);
		now = now_ms();
		if (now - before > receiver->longest)
			receiver->longest = now - before;
		before = now;
	} while (!n && now - start < PATIENCE_MS);
	return CHECK(n == 1) && CHECK_CALL(wc.status, IBV_WC_SUCCESS) &&
	       CHECK_CALL(wc.wr_id, i) && CHECK_CALL(wc.opcode, IBV_WC_RECV) &&
	       CHECK_CALL(wc.qp_num, side->qp->qp_num) &&
	       CHECK_CALL(wc.byte_len, length_of(i)) &&
	       CHECK(filled(side->buf + i % RECEIVES * SLOT, length_of(i), i));
}

static void *receive_all(void *arg)
{
	struct receiver *receiver = arg;
	uint64_t start = now_ms();
	int i;

	for (i = 0; i < receiver->sends; i++) {
		if (!take_one(receiver, i))
			return NULL;
		if (i + RECEIVES < receiver->sends &&
		    !CHECK_CALL(post_slot(receiver->side, i + RECEIVES), 0))
			return NULL;
	}
	receiver->ms = now_ms() - start;
	receiver->good = true;
	return NULL;
}

static bool set_timer(struct side *side, int timer)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTS,
		.min_rnr_timer = timer,
	};

	return CHECK_CALL(ibv_modify_qp(side->qp, &attr, IBV_QP_STATE |
					IBV_QP_MIN_RNR_TIMER), 0);
}

static bool post_all(struct pair *pair, int sends)
{
	int i;

	for (i = 0; i < RECEIVES; i++)
		if (!CHECK_CALL(post_slot(&pair->b, i), 0))
			return false;
	for (i = 0; i < sends; i++) {
		fill(pair->a.buf + i * SLOT, length_of(i), i);
		if (!CHECK_CALL(post_send(&pair->a, i, i * SLOT, length_of(i),
					  IBV_SEND_SIGNALED), 0))
			return false;
	}
	return true;
}

static void all_sent(struct pair *pair, int sends)
{
	int i;

	for (i = 0; i < sends; i++)
		if (!EXPECT(pair->a.scq, pair->a.qp, .wr_id = i,
			    .opcode = IBV_WC_SEND))
			return;
}

/*
 * Waits double until a receive request is posted.  So the time that the receiver takes
 * per request limits their number, which is largest if the times are equal.  One more
 * is for rounding.
 */
static long long most_waits(const struct unready *test,
			    const struct receiver *receiver)
{
	long long gaps = test->sends - RECEIVES;
	long long us = receiver->ms * 1000 / gaps, wait = 10;
	long long waits = test->brief ? 2 : 1;

	for (; test->brief && us > wait; us -= wait, wait *= 2)
		waits++;
	return gaps * waits;
}

/* The NAKs of a brief wait must not take the time that it saves. */
static void compare(const struct unready *test, uint64_t ms)
{
	static uint64_t brief_ms[2];

	if (test->brief)
		brief_ms[test->srq] = ms;
	else
		CHECK(brief_ms[test->srq] <= 2 * ms + LATE_MS);
}

static void judge(const struct unready *test, const struct counts *before,
		  const struct receiver *receiver)
{
	struct counts now = counts_now();
	long long naks = now.naks - before->naks;
	long long waits = now.waits - before->waits;
	long long probes = now.probes - before->probes;

	diag("timer %d: %lld RNR NAKs, %lld waits, %lld probes, %llu ms",
	     test->timer, naks, waits, probes,
	     (unsigned long long)receiver->ms);
	/* A probe may be refused, too, while the wait runs already. */
	CHECK(waits <= naks && naks <= waits + probes);
	CHECK_CALL(now.timeouts - before->timeouts, 0);
	CHECK_CALL(now.gaps - before->gaps, 0);
	/* In each wait all requests that were used up are posted again. */
	if (!test->surely)
		CHECK(waits <= most_waits(test, receiver));
	else if (receiver->longest < LATE_MS)
		CHECK(waits < test->sends / RECEIVES);
	else
		diag("the receiver was kept from running for %llu ms",
		     (unsigned long long)receiver->longest);
	compare(test, receiver->ms);
}

static void run_out(const void *arg)
{
	const struct unready *test = arg;
	/* It has to be shorter than the longest wait, and not than a delay. */
	const struct options options = {
		.wr = SENDS, .size = SENDS * SLOT, .timeout = 17,
		.srq = test->srq ? RECEIVES : 0,
	};
	struct counts before = counts_now();
	struct receiver receiver = { .sends = test->sends };
	pthread_t thread;
	struct pair pair;

	REQUIRE(pair_up(&pair, &options) && set_timer(&pair.b, test->timer));
	receiver.side = &pair.b;
	REQUIRE(post_all(&pair, test->sends) &&
		CHECK(counter_leaves(&hosts[1], "tx_nak_rnr", before.naks)));
	REQUIRE(CHECK_CALL(pthread_create(&thread, NULL, receive_all,
					  &receiver), 0));
	all_sent(&pair, test->sends);
	pthread_join(thread, NULL);
	CHECK(receiver.good);
	CHECK(quiet(pair.a.scq) && quiet(pair.b.rcq));
	judge(test, &before, &receiver);
	pair_down(&pair);
}

COMMAND(unready)
{
	static const struct unready tests[] = {
		{ "10 us", 1, SENDS, .brief = true },
		{ "10 us, SRQ", 1, SENDS, .srq = true, .brief = true },
		{ "640 us", 12, SENDS },
		{ "640 us, SRQ", 12, SENDS, .srq = true },
		{ "960 us", 13, SENDS },
		{ "960 us, SRQ", 13, SENDS, .srq = true },
		{ "655 ms", 0, FEW_SENDS, .surely = true },
		{ "655 ms, SRQ", 0, FEW_SENDS, .srq = true, .surely = true },
	};
	size_t i;

	fabric_open();
	for (i = 0; i < ARRAY_SIZE(tests); i++)
		run_test(run_out, &tests[i], "few receive requests, RNR timer %s",
			 tests[i].name);
	return tests_done();
}
