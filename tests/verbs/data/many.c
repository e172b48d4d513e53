// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Many QPs, both directions at once, several threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

/* Sixteen pairs share one completion queue at each end. */

#define PAIRS	16
#define ROUNDS	12
#define LENGTH	2500

struct crowd {
	struct pair first;
	struct side a[PAIRS], b[PAIRS];
	int next_a[PAIRS], next_b[PAIRS];
};

static bool join(struct side *side, const struct side *model)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = model->scq, .recv_cq = model->rcq,
		.cap = model->cap, .qp_type = IBV_QPT_RC,
	};

	*side = *model;
	side->qp = ibv_create_qp(model->pd, &attr);
	return CHECK(side->qp);
}

static bool crowd_up(struct crowd *crowd)
{
	const struct options options = {
		.size = PAIRS * ROUNDS * LENGTH, .cqe = 2 * PAIRS * ROUNDS,
	};
	int i;

	memset(crowd, 0, sizeof(*crowd));
	if (!pair_create(&crowd->first, &options))
		return false;
	for (i = 0; i < PAIRS; i++) {
		struct pair pair = { .options = options };

		if (!join(&crowd->a[i], &crowd->first.a) ||
		    !join(&crowd->b[i], &crowd->first.b))
			return false;
		pair.a = crowd->a[i];
		pair.b = crowd->b[i];
		if (!pair_connect(&pair))
			return false;
	}
	return true;
}

static void crowd_down(struct crowd *crowd)
{
	int i;

	for (i = 0; i < PAIRS; i++) {
		CHECK_CALL(ibv_destroy_qp(crowd->a[i].qp), 0);
		CHECK_CALL(ibv_destroy_qp(crowd->b[i].qp), 0);
	}
	pair_down(&crowd->first);
}

static size_t place(int i, int round)
{
	return (size_t)(i * ROUNDS + round) * LENGTH;
}

static int member(const struct side *sides, uint32_t qp_num)
{
	int i;

	for (i = 0; i < PAIRS; i++)
		if (sides[i].qp->qp_num == qp_num)
			return i;
	return -1;
}

/* The completions of each QP come in order. */
static void count(struct ibv_cq *cq, const struct side *sides, int *next)
{
	struct ibv_wc wc;
	int n, i;

	for (n = 0; n < PAIRS * ROUNDS; n++) {
		REQUIRE(next_wc(cq, &wc));
		i = member(sides, wc.qp_num);
		REQUIRE(CHECK(i >= 0) && CHECK(!wc.status));
		CHECK_CALL(wc.wr_id, next[i]++);
	}
	CHECK(quiet(cq));
}

static void shared_cq(const void *arg)
{
	struct crowd crowd;
	int i, round;

	(void)arg;
	REQUIRE(crowd_up(&crowd));
	fill(crowd.first.a.buf, crowd.first.a.size, 17);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < PAIRS; i++)
			CHECK_CALL(post_recv(&crowd.b[i], round,
					     place(i, round), LENGTH), 0);
	for (round = 0; round < ROUNDS; round++)
		for (i = 0; i < PAIRS; i++)
			CHECK_CALL(post_send(&crowd.a[i], round,
					     place(i, round), LENGTH,
					     IBV_SEND_SIGNALED), 0);
	count(crowd.first.a.scq, crowd.a, crowd.next_a);
	count(crowd.first.b.rcq, crowd.b, crowd.next_b);
	CHECK(filled(crowd.first.b.buf, crowd.first.b.size, 17));
	crowd_down(&crowd);
}

/* Both directions at once: SENDs one way and the other, WRITEs and READs */

#define MESSAGES	300
#define WINDOW		16
#define SLOT		9000

struct flow {
	struct side *from, *to;
	int sent, received, finished;
	uint32_t seed;
};

static size_t slot(int i, bool receive)
{
	return (size_t)(i % WINDOW + (receive ? WINDOW : 0)) * SLOT;
}

static uint32_t length_of(const struct flow *flow, int i)
{
	return (i * 997 + flow->seed * 13) % SLOT;
}

static void flow_post(struct flow *flow)
{
	int i = flow->sent;

	fill(flow->from->buf + slot(i, false), length_of(flow, i),
	     flow->seed + i);
	CHECK_CALL(post_send(flow->from, i, slot(i, false), length_of(flow, i),
			     IBV_SEND_SIGNALED), 0);
	flow->sent++;
}

static void flow_poll(struct flow *flow)
{
	struct ibv_wc wc;
	int i = flow->received;

	if (ibv_poll_cq(flow->from->scq, 1, &wc)) {
		CHECK(!wc.status && wc.wr_id == (uint64_t)flow->finished);
		flow->finished++;
	}
	if (!ibv_poll_cq(flow->to->rcq, 1, &wc))
		return;
	CHECK(!wc.status && wc.wr_id == (uint64_t)i);
	CHECK(wc.byte_len == length_of(flow, i));
	CHECK(filled(flow->to->buf + slot(i, true), wc.byte_len,
		     flow->seed + i));
	CHECK_CALL(post_recv(flow->to, i + WINDOW, slot(i, true), SLOT), 0);
	flow->received++;
}

static bool flow_step(struct flow *flow)
{
	if (flow->sent < MESSAGES && flow->sent < flow->finished + WINDOW)
		flow_post(flow);
	flow_poll(flow);
	return flow->received < MESSAGES || flow->finished < MESSAGES;
}

static void both_ways(const void *arg)
{
	struct options options = {
		.size = 2 * WINDOW * SLOT, .type = *(const enum ibv_qp_type *)arg,
	};
	struct pair pair;
	struct flow there, back;
	bool more = true;
	long turns;
	int i;

	REQUIRE(pair_up(&pair, &options));
	there = (struct flow) { &pair.a, &pair.b, .seed = 1 };
	back = (struct flow) { &pair.b, &pair.a, .seed = 1000 };
	for (i = 0; i < WINDOW; i++) {
		CHECK_CALL(post_recv(&pair.a, i, slot(i, true), SLOT), 0);
		CHECK_CALL(post_recv(&pair.b, i, slot(i, true), SLOT), 0);
	}
	for (turns = 0; more && turns < 50000000; turns++) {
		more = flow_step(&there);
		more |= flow_step(&back);
	}
	CHECK(!more);
	pair_down(&pair);
}

/* Threads */

#define POSTS	500

struct poster {
	struct pair *pair;
	pthread_t thread;
	uint32_t number;
	bool good;
};

/* Posts 8 byte SENDs with its number and a count, waiting while it is full. */
static void *poster_run(void *arg)
{
	struct poster *p = arg;
	struct side *a = &p->pair->a;
	uint32_t i;

	p->good = true;
	for (i = 0; i < POSTS; i++) {
		uint32_t data[2] = { p->number, i };
		struct ibv_sge sge = { .addr = (uintptr_t)data, .length = 8 };
		struct ibv_send_wr wr = {
			.sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_INLINE |
				      (i % 8 ? 0 : IBV_SEND_SIGNALED),
		};
		int err;

		do {
			err = post_one(a, &wr);
		} while (err == ENOMEM);
		p->good &= !err;
	}
	return NULL;
}

static void drain(struct ibv_cq *cq)
{
	struct ibv_wc wc;

	while (ibv_poll_cq(cq, 1, &wc))
		CHECK(!wc.status);
}

/* Two threads post to one QP, a third takes what arrives. */
static void two_posters(const void *arg)
{
	const struct options options = { .inline_data = 16, .cqe = 1024 };
	uint32_t next[2] = {}, *data;
	struct poster posters[2];
	struct pair pair;
	struct ibv_wc wc;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 64; i++)
		CHECK_CALL(post_recv(&pair.b, i, 8 * i, 8), 0);
	for (i = 0; i < 2; i++) {
		posters[i] = (struct poster) { .pair = &pair, .number = i };
		pthread_create(&posters[i].thread, NULL, poster_run,
			       &posters[i]);
	}
	for (i = 0; i < 2 * POSTS; i++) {
		if (!next_wc(pair.b.rcq, &wc) || !CHECK(!wc.status))
			break;
		data = (uint32_t *)(pair.b.buf + 8 * wc.wr_id);
		CHECK(data[0] < 2 && data[1] == next[data[0] & 1]++);
		CHECK_CALL(post_recv(&pair.b, wc.wr_id, 8 * wc.wr_id, 8), 0);
		drain(pair.a.scq);
	}
	for (i = 0; i < 2; i++) {
		pthread_join(posters[i].thread, NULL);
		CHECK(posters[i].good);
	}
	drain(pair.a.scq);
	pair_down(&pair);
}

struct adder {
	struct pair pair;
	pthread_t thread;
	uint64_t *target;
	uint32_t rkey;
	bool good;
};

static void *adder_run(void *arg)
{
	struct adder *adder = arg;
	struct side *a = &adder->pair.a;
	struct ibv_sge sge = piece(a, 0, 8);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_SIGNALED,
		.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD,
		.wr.atomic.remote_addr = (uintptr_t)adder->target,
		.wr.atomic.rkey = adder->rkey,
		.wr.atomic.compare_add = 3,
	};
	uint64_t last = 0, *got = (uint64_t *)a->buf;
	struct ibv_wc wc;
	int i;

	adder->good = true;
	for (i = 0; i < POSTS && adder->good; i++) {
		adder->good = !post_one(a, &wr);
		while (adder->good && !ibv_poll_cq(a->scq, 1, &wc))
			;
		adder->good &= !wc.status && (!i || *got > last);
		last = *got;
	}
	return NULL;
}

/* Atomics of two QPs on one word, and the CPU's own: none is lost. */
static void adders(const void *arg)
{
	struct adder two[2];
	uint64_t *target;
	struct ibv_mr *mr[2];
	int i;

	(void)arg;
	target = aligned_alloc(4096, 4096);
	*target = 0;
	for (i = 0; i < 2; i++) {
		REQUIRE(pair_up(&two[i].pair, NULL));
		mr[i] = ibv_reg_mr(two[i].pair.b.pd, target, 4096, ALL_ACCESS);
		REQUIRE(CHECK(mr[i]));
		two[i].target = target;
		two[i].rkey = mr[i]->rkey;
	}
	for (i = 0; i < 2; i++)
		pthread_create(&two[i].thread, NULL, adder_run, &two[i]);
	for (i = 0; i < POSTS; i++)
		__atomic_fetch_add(target, 1000000, __ATOMIC_RELAXED);
	for (i = 0; i < 2; i++) {
		pthread_join(two[i].thread, NULL);
		CHECK(two[i].good);
		CHECK_CALL(ibv_dereg_mr(mr[i]), 0);
		pair_down(&two[i].pair);
	}
	CHECK_CALL(*target, POSTS * (2 * 3 + 1000000l));
	free(target);
}

GROUP(many)
{
	static const enum ibv_qp_type rc = IBV_QPT_RC;
	static const struct test tests[] = {
		{ "16 pairs of QPs share completion queues", shared_cq },
		{ "SENDs of all sizes in both directions at once",
		  both_ways, &rc },
		{ "two threads post to one QP", two_posters },
		{ "atomics of two QPs and the CPU on one word", adders },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
