// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every pair of states and every attribute: allowed transitions, and query_qp().
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "transfer.h"

#define STATES	(IBV_QPS_ERR + 1)

static const char *const names[STATES] = {
	[IBV_QPS_RESET] = "RESET", [IBV_QPS_INIT] = "INIT",
	[IBV_QPS_RTR] = "RTR", [IBV_QPS_RTS] = "RTS", [IBV_QPS_SQD] = "SQD",
	[IBV_QPS_SQE] = "SQE", [IBV_QPS_ERR] = "ERR",
};

static const char *type_name(enum ibv_qp_type type)
{
	return type == IBV_QPT_RC ? "RC" : type == IBV_QPT_UC ? "UC" : "UD";
}

/* The legal steps (IBTA vol. 1, figure 124): a row per state, bits by target */
#define TO(state)	(1 << IBV_QPS_##state)

static const unsigned int legal[STATES] = {
	[IBV_QPS_RESET] = TO(RESET) | TO(INIT),
	[IBV_QPS_INIT] = TO(RESET) | TO(INIT) | TO(RTR) | TO(ERR),
	[IBV_QPS_RTR] = TO(RESET) | TO(RTS) | TO(ERR),
	[IBV_QPS_RTS] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[IBV_QPS_SQD] = TO(RESET) | TO(RTS) | TO(SQD) | TO(ERR),
	[IBV_QPS_SQE] = TO(RESET) | TO(RTS) | TO(ERR),
	[IBV_QPS_ERR] = TO(RESET) | TO(ERR),
};

/* A fault of our own, which the send queue alone does not survive */
static void make_fault(struct side *side)
{
	struct ibv_sge sge = { .addr = 4096, .length = 8, .lkey = 0x123 };
	struct ibv_send_wr wr = ud_wr(side->ah, 5, 1, &sge);

	CHECK_CALL(post_one(side, &wr), 0);
	EXPECT(side->scq, side->qp, .wr_id = 1,
	       .status = IBV_WC_LOC_PROT_ERR);
}

/* Takes side a of a pair from RESET to @state by the usual way. */
static bool bring(struct pair *pair, enum ibv_qp_state state)
{
	const struct options *o = &pair->options;
	struct side *a = &pair->a;

	if (!CHECK_CALL(to_reset(a), 0) || state == IBV_QPS_RESET)
		return state == IBV_QPS_RESET;
	if (!CHECK_CALL(to_init(a, o), 0) || state == IBV_QPS_INIT)
		return state == IBV_QPS_INIT;
	if (!CHECK_CALL(to_rtr(a, &pair->b, o), 0) || state == IBV_QPS_RTR)
		return state == IBV_QPS_RTR;
	if (!CHECK_CALL(to_rts(a, o), 0) || state == IBV_QPS_RTS)
		return state == IBV_QPS_RTS;
	if (state == IBV_QPS_SQE)
		make_fault(a);
	else
		CHECK_CALL(to_state(a, state), 0);
	return CHECK(state_of(a) == state);
}

/* With all the attributes that the step needs when it is a legal one. */
static int step(struct pair *pair, enum ibv_qp_state from,
		enum ibv_qp_state to)
{
	switch (to) {
	case IBV_QPS_INIT:
		return to_init(&pair->a, &pair->options);
	case IBV_QPS_RTR:
		return to_rtr(&pair->a, &pair->b, &pair->options);
	case IBV_QPS_RTS:
		if (from == IBV_QPS_RTR || !(legal[from] & TO(RTS)))
			return to_rts(&pair->a, &pair->options);
		return to_state(&pair->a, to);
	default:
		return to_state(&pair->a, to);
	}
}

static void try_step(struct pair *pair, enum ibv_qp_state from,
		     enum ibv_qp_state to)
{
	bool may = legal[from] >> to & 1;
	bool good;

	if (!bring(pair, from))
		return;
	good = CHECK_CALL(step(pair, from, to), may ? 0 : EINVAL);
	good &= CHECK(state_of(&pair->a) == (may ? to : from));
	if (!may) {
		good &= CHECK_CALL(to_state(&pair->a, to), EINVAL);
		good &= CHECK(state_of(&pair->a) == from);
	}
	if (!good)
		diag("from %s to %s", names[from], names[to]);
}

struct from {
	enum ibv_qp_type type;
	enum ibv_qp_state state;
};

static void all_steps(const void *arg)
{
	const struct from *from = arg;
	const struct options options = { .type = from->type };
	struct pair pair;
	int to;

	REQUIRE(pair_create(&pair, &options));
	if (from->type == IBV_QPT_UD)
		pair.a.ah = address_of(pair.a.pd, &hosts[0], &hosts[1]);
	for (to = IBV_QPS_RESET; to < STATES; to++)
		try_step(&pair, from->state, to);
	pair_down(&pair);
}

static void test_steps(void)
{
	static const enum ibv_qp_type types[] = {
		IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD,
	};
	struct from from;
	size_t i;
	int state;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		for (state = IBV_QPS_RESET; state < STATES; state++) {
			if (types[i] == IBV_QPT_RC && state == IBV_QPS_SQE)
				continue;	/* RC goes to ERR */
			from = (struct from) { types[i], state };
			run_test(all_steps, &from, "%s: from %s to all states",
				 type_name(types[i]), names[state]);
		}
}

/* Attributes */

#define AT(attribute)	offsetof(struct ibv_qp_attr, attribute)

struct range {
	const char *what;
	enum ibv_qp_state step;
	int mask;
	size_t at;
	size_t size;
	uint32_t value;
};

#define RANGE(step, mask, field, value)					\
	{ #field " " #value, IBV_QPS_##step, IBV_QP_##mask, AT(field),	\
	  sizeof(((struct ibv_qp_attr *)0)->field), value }

/* attributes.c has those that can be changed later. */
static const struct range ranges[] = {
	RANGE(INIT, PORT, port_num, 0),
	RANGE(INIT, PORT, port_num, 2),
	RANGE(INIT, PKEY_INDEX, pkey_index, 1),
	RANGE(RTR, PATH_MTU, path_mtu, 0),
	RANGE(RTR, PATH_MTU, path_mtu, 6),
	RANGE(RTR, DEST_QPN, dest_qp_num, 0x1000000),
};

static void step_attr(struct pair *pair, enum ibv_qp_state to,
		      struct ibv_qp_attr *attr, int *mask)
{
	enum ibv_qp_type type = pair->a.qp->qp_type;

	if (to == IBV_QPS_INIT)
		init_attr(attr, mask, type, &pair->options);
	else if (to == IBV_QPS_RTR)
		rtr_attr(attr, mask, type, &pair->a, &pair->b, &pair->options);
	else
		rts_attr(attr, mask, type, &pair->options);
}

static enum ibv_qp_state before(enum ibv_qp_state state)
{
	return state - 1;
}

static void out_of_range(const void *arg)
{
	const struct range *range = arg;
	struct ibv_qp_attr attr;
	struct pair pair;
	int mask;

	REQUIRE(pair_create(&pair, NULL));
	bring(&pair, before(range->step));
	step_attr(&pair, range->step, &attr, &mask);
	CHECK(mask & range->mask);
	memcpy((char *)&attr + range->at, &range->value, range->size);
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask), EINVAL);
	CHECK(state_of(&pair.a) == before(range->step));
	/* Nothing has changed. */
	CHECK_CALL(step(&pair, before(range->step), range->step), 0);
	pair_down(&pair);
}

/* The largest values are valid. */
static void largest(const void *arg)
{
	struct ibv_qp_attr attr;
	struct pair pair;
	int mask;

	(void)arg;
	REQUIRE(pair_create(&pair, NULL));
	bring(&pair, IBV_QPS_INIT);
	step_attr(&pair, IBV_QPS_RTR, &attr, &mask);
	attr.path_mtu = hosts[0].mtu;
	attr.dest_qp_num = 0xffffff;
	attr.max_dest_rd_atomic = 128;
	attr.min_rnr_timer = 31;
	attr.rq_psn = 0xffffff;
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask), 0);
	step_attr(&pair, IBV_QPS_RTS, &attr, &mask);
	attr.timeout = 31;
	attr.retry_cnt = 7;
	attr.rnr_retry = 7;
	attr.max_rd_atomic = 128;
	attr.sq_psn = 0xffffff;
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask), 0);
	pair_down(&pair);
}

/* A path MTU above that of the port. */
static void mtu_above_active(const void *arg)
{
	struct ibv_qp_attr attr;
	struct pair pair;
	int mask;

	(void)arg;
	if (hosts[0].mtu == IBV_MTU_4096) {
		skip("the port has the largest");
		return;
	}
	REQUIRE(pair_create(&pair, NULL));
	bring(&pair, IBV_QPS_INIT);
	step_attr(&pair, IBV_QPS_RTR, &attr, &mask);
	attr.path_mtu = hosts[0].mtu + 1;
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, mask), EINVAL);
	pair_down(&pair);
}

/* The attributes that were set */

static const struct options peculiar = {
	.mtu = IBV_MTU_512, .psn = 0xabcdef, .rd_atomic = 5, .timeout = 9,
	.retry_cnt = 3, .rnr_retry = 2, .min_rnr_timer = 21, .wr = 50,
	.sge = 3, .inline_data = 77,
	.qp_access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_LOCAL_WRITE,
};

static void query_path(const struct ibv_qp_attr *attr)
{
	CHECK(attr->ah_attr.is_global && attr->ah_attr.port_num == 1);
	CHECK(!memcmp(&attr->ah_attr.grh.dgid, &hosts[1].gid, 16));
	CHECK_CALL(attr->ah_attr.grh.sgid_index, hosts[0].gid_index);
	CHECK_CALL(attr->ah_attr.grh.hop_limit, 64);
}

static void query(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &peculiar));
	CHECK_CALL(ibv_query_qp(pair.a.qp, &attr, 0xfffff, &init), 0);
	CHECK(attr.qp_state == IBV_QPS_RTS && attr.cur_qp_state == IBV_QPS_RTS);
	CHECK(attr.path_mtu == IBV_MTU_512);
	CHECK(attr.rq_psn == 0xabcdef && attr.sq_psn == 0xabcdef);
	CHECK(attr.dest_qp_num == pair.b.qp->qp_num);
	CHECK(attr.max_rd_atomic == 5 && attr.max_dest_rd_atomic == 5);
	CHECK_CALL(attr.timeout, 9);
	CHECK_CALL(attr.retry_cnt, 3);
	CHECK_CALL(attr.rnr_retry, 2);
	CHECK_CALL(attr.min_rnr_timer, 21);
	CHECK_CALL(attr.port_num, 1);
	CHECK_CALL(attr.pkey_index, 0);
	CHECK_CALL(attr.qp_access_flags, peculiar.qp_access);
	CHECK(!attr.sq_draining);
	query_path(&attr);
	CHECK(attr.cap.max_send_wr >= 50 && attr.cap.max_recv_wr >= 50);
	CHECK(attr.cap.max_send_sge >= 3 && attr.cap.max_recv_sge >= 3);
	CHECK(attr.cap.max_inline_data >= 77);
	CHECK(!memcmp(&attr.cap, &pair.a.cap, sizeof(attr.cap)));
	CHECK(init.qp_type == IBV_QPT_RC && !init.sq_sig_all);
	CHECK(init.send_cq == pair.a.scq && init.recv_cq == pair.a.rcq);
	CHECK(init.qp_context == &pair.a && !init.srq);
	pair_down(&pair);
}

/* RTS to RTS changes what may be changed then. */
static void modify_rts(const void *arg)
{
	struct ibv_qp_attr attr = {
		.min_rnr_timer = 30, .qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};
	struct ibv_qp_init_attr init;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(ibv_modify_qp(pair.a.qp, &attr, IBV_QP_MIN_RNR_TIMER |
				 IBV_QP_ACCESS_FLAGS), 0);
	CHECK_CALL(ibv_query_qp(pair.a.qp, &attr, 0xfffff, &init), 0);
	CHECK(attr.qp_state == IBV_QPS_RTS && attr.min_rnr_timer == 30);
	CHECK(attr.qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
	CHECK(attr.timeout == 14 && attr.retry_cnt == 7);
	pair_down(&pair);
}

static void query_reset(const void *arg)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &peculiar));
	CHECK_CALL(to_reset(&pair.a), 0);
	CHECK_CALL(ibv_query_qp(pair.a.qp, &attr, 0xfffff, &init), 0);
	CHECK(attr.qp_state == IBV_QPS_RESET);
	CHECK(!attr.dest_qp_num && !attr.timeout && !attr.qp_access_flags);
	CHECK(attr.cap.max_send_wr == pair.a.cap.max_send_wr);
	pair_down(&pair);
}

GROUP(transitions)
{
	static const struct test tests[] = {
		{ "the largest values of every attribute", largest },
		{ "path MTU above that of the port", mtu_above_active },
		{ "ibv_query_qp() returns the attributes that were set",
		  query },
		{ "RTS to RTS changes attributes", modify_rts },
		{ "RESET clears the attributes", query_reset },
	};
	size_t i;

	test_steps();
	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		run_test(out_of_range, &ranges[i], "refused: %s",
			 ranges[i].what);
	run_tests(tests, ARRAY_SIZE(tests));
}

/* The path, by two threads at once */

#define MOVES	3000

/**
 * struct mover - a thread that moves a QP to a path, again and again
 * @thread: the thread
 * @qp: the QP, which the other thread uses, too
 * @attr: with the path
 * @err: last result of modify_qp()
 */
struct mover {
	pthread_t thread;
	struct ibv_qp *qp;
	struct ibv_qp_attr attr;
	int err;
};

static void *mover_run(void *arg)
{
	struct mover *m = arg;
	int i;

	for (i = 0; i < MOVES && !m->err; i++)
		m->err = ibv_modify_qp(m->qp, &m->attr, IBV_QP_AV);
	return NULL;
}

/* The same device with another address, if the environment has its index. */
static bool other_address(struct host *host, const struct host *model,
			  const char *index)
{
	const char *value = getenv(index);

	*host = *model;
	host->gid_index = value ? atoi(value) : 0;
	return value &&
	       CHECK_CALL(ibv_query_gid(host->context, 1, host->gid_index,
					&host->gid), 0);
}

static void use_addresses(struct pair *pair, struct host *from)
{
	pair->a.host = &from[0];
	pair->b.host = &from[1];
}

static void move_at_once(struct pair *pair, struct host *const paths[2])
{
	struct mover movers[2] = {};
	int i, mask;

	for (i = 0; i < 2; i++) {
		use_addresses(pair, paths[i]);
		movers[i].qp = pair->a.qp;
		rtr_attr(&movers[i].attr, &mask, IBV_QPT_RC, &pair->a, &pair->b,
			 &pair->options);
	}
	for (i = 0; i < 2; i++)
		REQUIRE(!pthread_create(&movers[i].thread, NULL, mover_run,
					&movers[i]));
	for (i = 0; i < 2; i++) {
		pthread_join(movers[i].thread, NULL);
		CHECK_CALL(movers[i].err, 0);
	}
}

/* The address is still there, and good for a connection. */
static void still_works(struct host *from)
{
	union ibv_gid gid;
	struct pair pair;

	REQUIRE(pair_create(&pair, NULL));
	use_addresses(&pair, from);
	CHECK(pair_connect(&pair) && works(&pair));
	pair_down(&pair);
	CHECK_CALL(ibv_query_gid(from->context, 1, from->gid_index, &gid), 0);
	CHECK(!memcmp(&gid, &from->gid, sizeof(gid)));
}

/* Dropping a reference to a GID twice would remove the GID. */
static void two_movers(const void *arg)
{
	struct host six[2];
	struct host *const paths[2] = { hosts, six };
	struct pair pair;

	(void)arg;
	if (!other_address(&six[0], &hosts[0], "G1_6") ||
	    !other_address(&six[1], &hosts[1], "G2_6")) {
		skip("G1_6 and G2_6 are not set");
		return;
	}
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(to_state(&pair.a, IBV_QPS_SQD), 0);
	move_at_once(&pair, paths);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_SQD);
	pair_down(&pair);
	still_works(hosts);
	still_works(six);
}

GROUP(paths)
{
	run_test(two_movers, NULL, "two threads modify the path of a QP");
}
