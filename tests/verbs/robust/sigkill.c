// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Processes are killed with a QP of each type in each state, and with requests in flight
 * in both directions.  Other processes continue, and everything is freed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "neighbours.h"

#define AT_ONCE	6

static const struct {
	const char *name;
	enum ibv_qp_type type;
} types[] = {
	{ "RC", IBV_QPT_RC }, { "UC", IBV_QPT_UC }, { "UD", IBV_QPT_UD },
};

static const struct {
	const char *name;
	enum ibv_qp_state state;
} states[] = {
	{ "RESET", IBV_QPS_RESET }, { "INIT", IBV_QPS_INIT },
	{ "RTR", IBV_QPS_RTR }, { "RTS", IBV_QPS_RTS },
	{ "SQD", IBV_QPS_SQD }, { "SQE", IBV_QPS_SQE },
	{ "ERR", IBV_QPS_ERR },
};

struct death {
	size_t type;
	size_t state;
};

/* The process that is killed */

/* In states without a queue that takes them posts are refused. */
static void post_some(struct side *side, struct side *peer)
{
	int i;

	for (i = 0; i < AT_ONCE; i++) {
		post_recv(peer, 1, 0, 32000);
		if (side->qp->qp_type == IBV_QPT_UD) {
			post_datagram(side, peer, 2, 1000);
			continue;
		}
		post_send(side, 3, 0, 30000, IBV_SEND_SIGNALED);
		post_rdma(side, peer, IBV_WR_RDMA_WRITE, 4, 0, 0, 30000,
			  IBV_SEND_SIGNALED);
		if (side->qp->qp_type == IBV_QPT_UC)
			continue;
		post_rdma(side, peer, IBV_WR_RDMA_READ, 5, 0, 0, 30000,
			  IBV_SEND_SIGNALED);
		post_atomic(side, peer, false, 6, 0, 0, 1, 0);
	}
}

/* A full completion queue would be an error of its own. */
static void take_all(struct side *side)
{
	struct ibv_wc wc[16];

	while (ibv_poll_cq(side->scq, 16, wc) > 0 ||
	       ibv_poll_cq(side->rcq, 16, wc) > 0)
		;
}

static void both_ways(struct pair *pair)
{
	post_some(&pair->a, &pair->b);
	post_some(&pair->b, &pair->a);
}

/* A request whose memory is not ours. */
static bool fail_sending(struct side *side, struct side *peer)
{
	uint64_t end = now_ms() + PATIENCE_MS;

	side->mr->lkey ^= 0x100;
	while (state_of(side) == IBV_QPS_RTS && now_ms() < end) {
		if (side->qp->qp_type == IBV_QPT_UD)
			post_datagram(side, peer, 7, 1000);
		else
			post_send(side, 7, 0, 1000, 0);
		take_all(side);
	}
	side->mr->lkey ^= 0x100;
	return state_of(side) == IBV_QPS_SQE;
}

static bool reach(struct pair *pair, enum ibv_qp_state state)
{
	struct side *side = &pair->a;

	switch (state) {
	case IBV_QPS_RTS:
		return true;
	case IBV_QPS_SQE:
		return fail_sending(side, &pair->b);
	case IBV_QPS_INIT:
		return CHECK_CALL(to_reset(side), 0) &&
		       CHECK_CALL(to_init(side, &pair->options), 0);
	case IBV_QPS_RTR:
		return CHECK_CALL(to_reset(side), 0) &&
		       CHECK_CALL(to_init(side, &pair->options), 0) &&
		       CHECK_CALL(to_rtr(side, &pair->b, &pair->options), 0);
	default:
		return CHECK_CALL(to_state(side, state), 0);
	}
}

/* usage: TYPE STATE SEED, the first two numbers of the tables above. */
int killed_neighbour(char **argv)
{
	enum ibv_qp_state state = states[atoi(argv[1])].state;
	const struct options options = { .type = types[atoi(argv[0])].type };
	struct chance c = { strtoull(argv[2], NULL, 0) };
	struct pair pair;
	int i;

	if (!pair_up(&pair, &options))
		return 1;
	for (i = draw_below(&c, 20); i; i--) {
		both_ways(&pair);
		take_all(&pair.a);
		take_all(&pair.b);
	}
	both_ways(&pair);
	if (!reach(&pair, state) || !CHECK_CALL(state_of(&pair.a), state))
		return 1;
	both_ways(&pair);
	if (write(STDIN_FILENO, "", 1) != 1)
		return 1;
	for (;;) {
		take_all(&pair.a);
		take_all(&pair.b);
		both_ways(&pair);
	}
}

/* The rest of it */

/* Objects of every device, as "rdma resource" counts them. */
static void resources(char *text, size_t size)
{
	FILE *pipe = popen("rdma resource show", "r");
	size_t n = pipe ? fread(text, 1, size - 1, pipe) : 0;

	text[n] = '\0';
	if (pipe)
		pclose(pipe);
}

static bool given_back(const char *before)
{
	uint64_t end = now_ms() + PATIENCE_MS;
	char now[4096];

	for (;;) {
		resources(now, sizeof(now));
		if (!strcmp(now, before))
			return true;
		if (now_ms() >= end)
			break;
		usleep(10000);
	}
	diag("before: %s", before);
	diag("after:  %s", now);
	return false;
}

static bool dies(const struct death *death, struct chance *c)
{
	char type[8], state[8], seed[32], byte;
	char *argv[] = { "neighbours", "killed", type, state, seed, NULL };
	bool good;
	pid_t pid;
	int fd;

	snprintf(type, sizeof(type), "%zu", death->type);
	snprintf(state, sizeof(state), "%zu", death->state);
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)draw(c));
	pid = start_neighbour(argv, &fd);
	if (!CHECK(pid > 0))
		return false;
	good = CHECK(read(fd, &byte, 1) == 1) && CHECK(works(&victim));
	if (one_in(c, 2))
		usleep(draw_below(c, 20000));
	good &= CHECK(kill_neighbour(pid));
	close(fd);
	return good;
}

static void deaths(const void *arg)
{
	const char *text = getenv("SEED"), *number = getenv("ROUNDS");
	unsigned long i, rounds = number ? strtoul(number, NULL, 0) : 2;
	struct chance c = { text ? strtoull(text, NULL, 0) :
				   (uint64_t)time(NULL) };
	const struct death *death = arg;
	char before[4096];

	resources(before, sizeof(before));
	REQUIRE(CHECK(strstr(before, "qp ")));
	for (i = 0; i < rounds; i++) {
		REQUIRE(dies(death, &c));
		CHECK(works(&victim));
		CHECK(given_back(before));
	}
}

void test_killed(void)
{
	struct death death;

	for (death.type = 0; death.type < ARRAY_SIZE(types); death.type++)
		for (death.state = 0; death.state < ARRAY_SIZE(states);
		     death.state++) {
			/* A failed request of RC ends the connection. */
			if (types[death.type].type == IBV_QPT_RC &&
			    states[death.state].state == IBV_QPS_SQE)
				continue;
			run_test(deaths, &death, "killed with %s in %s",
				 types[death.type].name,
				 states[death.state].name);
		}
}
