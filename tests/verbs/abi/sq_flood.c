// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A process that posts endlessly to a QP in error, only by storing tails.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "rings.h"

#define MANY	4096
#define BYTES	64

struct poster {
	struct abuser abuser;
	pthread_t thread;
	atomic_bool stop;
};

static uint32_t load(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static void store(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/* Both rings are filled again as soon as an entry is free. */
static void *post_on(void *arg)
{
	struct poster *poster = arg;
	struct sroce_qp_slot *slot = poster->abuser.slot;

	while (!atomic_load(&poster->stop)) {
		store(&slot->sq_tail, load(&slot->sq_head) + MANY);
		store(&slot->rq_tail, load(&slot->rq_head) + MANY);
	}
	return NULL;
}

static bool poster_up(struct poster *poster, enum ibv_qp_type type)
{
	const struct options options = { .type = type, .wr = MANY };

	atomic_init(&poster->stop, false);
	return abuser_doorbells(&poster->abuser, &options);
}

static void poster_starts(struct poster *poster)
{
	pthread_create(&poster->thread, NULL, post_on, poster);
}

static void poster_down(struct poster *poster)
{
	atomic_store(&poster->stop, true);
	pthread_join(poster->thread, NULL);
	forget_events(hosts[0].context);
	abuser_down(&poster->abuser);
	victim_works();
}

/* Flushing runs on the processor where a QP fails. */
static void stay(void)
{
	cpu_set_t one;

	CPU_ZERO(&one);
	CPU_SET(sched_getcpu(), &one);
	CHECK(!sched_setaffinity(0, sizeof(one), &one));
}

static bool others_are_flushed(struct pair *pair)
{
	return CHECK_CALL(post_recv(&pair->b, 5, 0, BYTES), 0) &&
	       CHECK_CALL(to_state(&pair->b, IBV_QPS_ERR), 0) &&
	       EXPECT(pair->b.rcq, pair->b.qp, .wr_id = 5,
		      .status = IBV_WC_WR_FLUSH_ERR) &&
	       CHECK(pair_again(pair));
}

static void in_error(const void *arg)
{
	struct poster poster;
	struct pair other;
	cpu_set_t before;
	int i;

	(void)arg;
	sched_getaffinity(0, sizeof(before), &before);
	REQUIRE(poster_up(&poster, IBV_QPT_RC) && pair_up(&other, NULL));
	CHECK_CALL(to_state(&poster.abuser.pair.a, IBV_QPS_ERR), 0);
	poster_starts(&poster);
	stay();
	CHECK_CALL(kick(&poster.abuser), 0);
	for (i = 0; i < 20; i++) {
		if (!others_are_flushed(&other))
			break;
		CHECK_CALL(kick(&poster.abuser), 0);
	}
	sched_setaffinity(0, sizeof(before), &before);
	CHECK(works(&other));
	pair_down(&other);
	poster_down(&poster);
}

static bool to_sqe(struct side *side)
{
	struct ibv_sge sge = piece(side, 0, BYTES);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud = { .ah = side->ah, .remote_qkey = QKEY },
	};

	sge.lkey = ~sge.lkey;
	return CHECK_CALL(post_one(side, &wr), 0) &&
	       EXPECT(side->scq, side->qp, .wr_id = 1,
		      .status = IBV_WC_LOC_PROT_ERR) &&
	       CHECK(state_of(side) == IBV_QPS_SQE);
}

/* Flushing ends before the QP sends again. */
static void out_of_sqe(const void *arg)
{
	struct poster poster;
	struct side *side = &poster.abuser.pair.a;

	(void)arg;
	REQUIRE(poster_up(&poster, IBV_QPT_UD));
	REQUIRE(to_sqe(side));
	poster_starts(&poster);
	CHECK_CALL(to_state(side, IBV_QPS_RTS), 0);
	poster_down(&poster);
}

GROUP(sq_flood)
{
	static const struct test tests[] = {
		{ "posting without end into a QP in error", in_error },
		{ "posting without end into a QP in SQE", out_of_sqe },
	};

	other_process_goes_on();
	run_tests(tests, ARRAY_SIZE(tests));
}
