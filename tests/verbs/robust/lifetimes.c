// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that are destroyed while packets for them are in flight, in every order; and
 * a process that always has such objects, for tests that remove its devices.
 *
 *	SEED, ROUNDS
 *
 * usage: lifetimes		tests
 *	  lifetimes churn	uses D1 and D2 until something fails
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "transfer.h"

static uint64_t seed;
static unsigned long rounds;
static struct pair victim;

/* Requests in flight whose completions nobody polls */

static void send_from(struct side *side, const struct side *peer,
		      struct chance *c)
{
	struct ibv_sge sge = piece(side, draw_below(c, 1000),
				   draw_below(c, 30000));
	struct ibv_send_wr wr = rdma_wr(peer, draw_below(c, 7), 1, &sge, 1, 0);

	wr.send_flags = draw_below(c, 8) & ~IBV_SEND_INLINE;
	if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = (uintptr_t)peer->buf;
		wr.wr.atomic.rkey = rkey_of(peer);
	}
	if (side->qp->qp_type == IBV_QPT_UD) {
		wr.opcode = IBV_WR_SEND;
		sge.length %= 1000;
		wr.wr.ud.ah = side->ah;
		wr.wr.ud.remote_qpn = peer->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	post_one(side, &wr);
}

static void receive_at(struct side *side, struct chance *c)
{
	struct ibv_sge sge = piece(side, 0, 30000 + draw_below(c, 100));
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (side->srq)
		ibv_post_srq_recv(side->srq, &wr, &bad);
	else if (side->qp->qp_type != IBV_QPT_XRC_SEND)
		ibv_post_recv(side->qp, &wr, &bad);
}

static void under_way(struct pair *pair, struct chance *c)
{
	bool one_way = pair->a.qp->qp_type == IBV_QPT_XRC_SEND;
	uint32_t i, n = 1 + draw_below(c, 12);

	for (i = 0; i < n; i++) {
		receive_at(&pair->b, c);
		receive_at(&pair->a, c);
		send_from(&pair->a, &pair->b, c);
		if (!one_way)
			send_from(&pair->b, &pair->a, c);
	}
	ibv_req_notify_cq(pair->a.scq, 0);
	ibv_req_notify_cq(pair->b.rcq, 1);
}

/* Events of their life */

static void drop_region(struct pair *pair, struct chance *c)
{
	struct side *side = one_in(c, 2) ? &pair->a : &pair->b;

	CHECK_CALL(ibv_dereg_mr(side->mr), 0);
	side->mr = NULL;
}

static void drop_qp(struct pair *pair, struct chance *c)
{
	struct side *side = one_in(c, 2) ? &pair->a : &pair->b;

	forget_events(side->host->context);
	CHECK_CALL(ibv_destroy_qp(side->qp), 0);
	side->qp = NULL;
}

static void change_state(struct pair *pair, struct chance *c)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_ERR, IBV_QPS_RESET, IBV_QPS_SQD,
	};

	to_state(one_in(c, 2) ? &pair->a : &pair->b, PICK(c, states));
}

static void change_region(struct pair *pair, struct chance *c)
{
	struct ibv_mr *mr = pair->b.mr;

	/* Refused for memory on demand. */
	ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     one_in(c, 2) ? 0 : ALL_ACCESS);
}

static void resize_queue(struct pair *pair, struct chance *c)
{
	ibv_resize_cq(pair->b.rcq, 100 + draw_below(c, 1000));
	ibv_resize_cq(pair->a.scq, 100 + draw_below(c, 1000));
}

static void drop_address(struct pair *pair, struct chance *c)
{
	(void)c;
	if (!pair->a.ah)
		return;
	CHECK_CALL(ibv_destroy_ah(pair->a.ah), 0);
	pair->a.ah = NULL;
}

static void write_to(struct pair *pair, uint64_t addr, uint32_t rkey,
		     struct chance *c)
{
	struct ibv_sge sge = piece(&pair->a, 0, draw_below(c, 8192));
	struct ibv_send_wr wr = rdma_wr(&pair->b, one_in(c, 2) ?
		IBV_WR_RDMA_WRITE : IBV_WR_RDMA_READ, 4, &sge, 1, 0);

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = rkey;
	post_one(&pair->a, &wr);
}

/* The request that binds it may still be queued when the window is destroyed. */
static void drop_window(struct pair *pair, struct chance *c)
{
	struct side *side = &pair->b;
	struct ibv_mw_bind bind = {
		.bind_info = {
			.addr = (uintptr_t)side->buf,
			.length = 8192,
			.mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
					   IBV_ACCESS_REMOTE_READ,
		},
	};
	struct ibv_mw *mw = ibv_alloc_mw(side->pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr = ibv_reg_mr(side->pd, side->buf, side->size,
				       ALL_ACCESS | IBV_ACCESS_MW_BIND);

	if (!CHECK(mw) || !CHECK(mr))
		return;
	bind.bind_info.mr = mr;
	if (side->qp->qp_type == IBV_QPT_RC)
		ibv_bind_mw(side->qp, mw, &bind);
	if (pair->a.qp->qp_type != IBV_QPT_UD)
		write_to(pair, (uintptr_t)side->buf, mw->rkey, c);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
}

static void drop_device_memory(struct pair *pair, struct chance *c)
{
	struct ibv_alloc_dm_attr attr = { .length = 8192 };
	struct side *side = &pair->b;
	struct ibv_dm *dm = ibv_alloc_dm(side->host->context, &attr);
	struct ibv_mr *mr;

	if (!CHECK(dm))
		return;
	mr = ibv_reg_dm_mr(side->pd, dm, 0, 8192,
			   ALL_ACCESS | IBV_ACCESS_ZERO_BASED);
	if (!CHECK(mr))
		return;
	if (pair->a.qp->qp_type != IBV_QPT_UD)
		write_to(pair, 0, mr->rkey, c);
	CHECK(ibv_free_dm(dm));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK_CALL(ibv_free_dm(dm), 0);
}

/* The QP leaves a group while datagrams for it are under way. */
static void leave_group(struct pair *pair, struct chance *c)
{
	struct ibv_sge sge = piece(&pair->a, 0, draw_below(c, 1000));
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .num_sge = 1 };
	struct host group = *pair->b.host;

	if (pair->a.qp->qp_type != IBV_QPT_UD)
		return;
	group.gid = (union ibv_gid) {
		.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 5 },
	};
	wr.sg_list = &sge;
	wr.wr.ud.ah = address_of(pair->a.pd, pair->a.host, &group);
	wr.wr.ud.remote_qpn = 0xffffff;
	wr.wr.ud.remote_qkey = QKEY;
	if (!CHECK(wr.wr.ud.ah))
		return;
	CHECK_CALL(ibv_attach_mcast(pair->b.qp, &group.gid, 0), 0);
	post_one(&pair->a, &wr);
	if (one_in(c, 2))
		to_state(&pair->b, IBV_QPS_ERR);
	CHECK_CALL(ibv_detach_mcast(pair->b.qp, &group.gid, 0), 0);
	CHECK_CALL(ibv_destroy_ah(wr.wr.ud.ah), 0);
}

static void use_up(struct pair *pair, struct chance *c)
{
	struct ibv_wc wc[16];
	uint32_t n;

	for (n = draw_below(c, 20); n; n--)
		ibv_poll_cq(pair->a.scq, 16, wc);
}

static void refuse_busy(struct pair *pair, struct chance *c)
{
	(void)c;
	CHECK(ibv_destroy_cq(pair->a.scq));
	CHECK(ibv_dealloc_pd(pair->b.pd));
	if (pair->b.own_srq && pair->b.qp->qp_type != IBV_QPT_XRC_RECV)
		CHECK(ibv_destroy_srq(pair->b.srq));
}

static void (*const events[])(struct pair *pair, struct chance *c) = {
	drop_region, drop_qp, change_state, change_region, resize_queue,
	drop_address, drop_window, drop_device_memory, leave_group, use_up,
	refuse_busy,
};

static const struct options kinds[] = {
	{ .type = IBV_QPT_RC }, { .type = IBV_QPT_RC, .srq = 20 },
	{ .type = IBV_QPT_UC }, { .type = IBV_QPT_UD },
	{ .type = IBV_QPT_XRC_SEND },
	{ .type = IBV_QPT_RC, .mr_access = ALL_ACCESS | IBV_ACCESS_ON_DEMAND },
};

static bool objects_round(struct chance *c)
{
	struct pair pair;
	uint32_t i;

	if (!pair_up(&pair, &kinds[draw_below(c, ARRAY_SIZE(kinds))]))
		return false;
	under_way(&pair, c);
	for (i = draw_below(c, 3); i && pair.a.qp && pair.b.qp && pair.a.mr &&
				   pair.b.mr; i--)
		PICK(c, events)(&pair, c);
	pair_down(&pair);
	return true;
}

static void objects(const void *arg)
{
	struct chance c = { seed };
	unsigned long i;

	(void)arg;
	for (i = 0; i < rounds; i++) {
		if (!CHECK(objects_round(&c)) ||
		    (i % 50 == 49 && !CHECK(works(&victim)))) {
			diag("round %lu of seed %llu", i,
			     (unsigned long long)seed);
			break;
		}
	}
	diag("%lu rounds", i);
}

/* A process ends with all its objects, now or a little later. */
static bool killed_round(struct chance *c)
{
	int status, ready[2];
	pid_t pid;
	char byte;

	if (pipe2(ready, O_CLOEXEC))
		return false;
	pid = fork();
	if (!pid) {
		dup2(ready[1], STDIN_FILENO);
		execl("/proc/self/exe", "lifetimes", "churn", NULL);
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) == 1)
		usleep(draw_below(c, 20000));
	close(ready[0]);
	kill(pid, SIGKILL);
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status);
}

static void killed(const void *arg)
{
	unsigned long i, n = rounds / 10;
	struct chance c = { seed ^ 0x9 };

	(void)arg;
	for (i = 0; i < n; i++)
		if (!CHECK(killed_round(&c)) || !CHECK(works(&victim)))
			break;
	diag("%lu processes killed", i);
}

/* A fork while packets are under way: the child has the memory, not the QPs. */
static void forked(const void *arg)
{
	unsigned long i, n = rounds / 10;
	struct chance c = { seed ^ 0xf };
	struct pair pair;
	pid_t pid;

	(void)arg;
	for (i = 0; i < n; i++) {
		REQUIRE(pair_up(&pair, &kinds[draw_below(&c, 3)]));
		under_way(&pair, &c);
		pid = fork();
		if (!pid) {
			memset(pair.a.buf, i, pair.a.size);
			_exit(0);
		}
		pair_down(&pair);
		CHECK(waitpid(pid, NULL, 0) == pid);
		REQUIRE(works(&victim));
	}
	diag("%lu forks", i);
}

static bool gone(const struct host *host)
{
	struct ibv_port_attr attr;

	return ibv_query_port(host->context, 1, &attr);
}

/* Connect QPs again that are in error, or have lost their address. */
static bool connected(struct pair *pair)
{
	return (state_of(&pair->a) == IBV_QPS_RTS &&
		state_of(&pair->b) != IBV_QPS_ERR) || pair_again(pair);
}

/* For tests that remove the devices: continues until they are gone. */
static int churn(void)
{
	struct chance c = { (uint64_t)getpid() << 20 ^ time(NULL) };
	struct pair pairs[ARRAY_SIZE(kinds)];
	size_t i;
	int n;

	if (!freopen("/dev/null", "w", stdout))
		return 1;
	fabric_open();
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!pair_up(&pairs[i], &kinds[i]))
			return 1;
	for (n = 0; n < 400 && !gone(&hosts[0]) && !gone(&hosts[1]); n++) {
		for (i = 0; i < ARRAY_SIZE(kinds); i++) {
			if (!connected(&pairs[i]))
				return 0;
			under_way(&pairs[i], &c);
			use_up(&pairs[i], &c);
		}
		if (!n && write(STDIN_FILENO, "", 1) != 1)
			diag("nobody waits for us");
		forget_events(hosts[0].context);
		forget_events(hosts[1].context);
	}
	return 0;
}

COMMAND(lifetimes)
{
	const char *text = getenv("SEED"), *number = getenv("ROUNDS");

	if (argc > 1 && !strcmp(argv[1], "churn"))
		return churn();
	seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	rounds = number ? strtoul(number, NULL, 0) : 300;
	diag("seed %llu", (unsigned long long)seed);
	fabric_open();
	if (!pair_up(&victim, NULL)) {
		printf("Bail out! no connection\n");
		return 1;
	}
	run_test(objects, NULL, "objects are destroyed while they are in use");
	run_test(killed, NULL,
		 "processes are killed while their objects are in use");
	run_test(forked, NULL, "processes fork while their objects are in use");
	pair_down(&victim);
	return tests_done();
}
