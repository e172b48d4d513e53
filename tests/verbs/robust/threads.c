// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that change on one processor while another one uses them: some threads keep
 * requests in flight, others change queue pairs, queues, regions, windows and the memory
 * itself.  Requests may fail; the kernel must not, and the queue pairs of others work.
 *
 *	SEED
 *
 * usage: threads SECONDS
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "chance.h"
#include "transfer.h"

#define BYTES		20000
#define IN_FLIGHT	8
#define CHANGERS	3

static const struct options kinds[] = {
	{ .type = IBV_QPT_RC }, { .type = IBV_QPT_RC, .srq = 100 },
	{ .type = IBV_QPT_UC }, { .type = IBV_QPT_UD },
	{ .type = IBV_QPT_RC, .mr_access = ALL_ACCESS | IBV_ACCESS_ON_DEMAND },
};

static struct pair pairs[ARRAY_SIZE(kinds)], victim;
static uint64_t seed;
static bool over;

static bool is_over(void)
{
	return __atomic_load_n(&over, __ATOMIC_RELAXED);
}

/* Requests.  Only one thread posts them and connects the pair, so indices agree. */

static void connect_side(struct side *side, const struct side *peer,
			 const struct options *o)
{
	if (!to_reset(side) && !to_init(side, o) && !to_rtr(side, peer, o))
		to_rts(side, o);
}

static void connect_again(struct pair *pair)
{
	connect_side(&pair->a, &pair->b, &pair->options);
	connect_side(&pair->b, &pair->a, &pair->options);
}

static void post_any(struct side *side, const struct side *peer, struct chance *c)
{
	struct ibv_sge sge = piece(side, draw_below(c, 1000), draw_below(c, BYTES));
	struct ibv_send_wr *bad, wr = rdma_wr(peer, draw_below(c, 7), 1, &sge, 1, 0);

	wr.send_flags = IBV_SEND_SIGNALED | draw_below(c, 2) * IBV_SEND_SOLICITED;
	if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		sge.length = 8;
		wr.wr.atomic.remote_addr = (uintptr_t)peer->buf;
		wr.wr.atomic.rkey = rkey_of(peer);
	}
	if (side->qp->qp_type == IBV_QPT_UC && wr.opcode >= IBV_WR_RDMA_READ)
		wr.opcode = IBV_WR_RDMA_WRITE;
	if (side->qp->qp_type == IBV_QPT_UD) {
		wr.opcode = IBV_WR_SEND;
		sge.length %= 1000;
		wr.wr.ud.ah = side->ah;
		wr.wr.ud.remote_qpn = peer->qp->qp_num;
		wr.wr.ud.remote_qkey = QKEY;
	}
	ibv_post_send(side->qp, &wr, &bad);
}

static void receive_at(struct side *side)
{
	struct ibv_sge sge = piece(side, 0, BYTES + 1000);
	struct ibv_recv_wr *bad, wr = { .sg_list = &sge, .num_sge = 1 };

	if (side->srq)
		ibv_post_srq_recv(side->srq, &wr, &bad);
	else
		ibv_post_recv(side->qp, &wr, &bad);
}

static void take_completions(struct side *side)
{
	struct ibv_wc wc[16];

	while (ibv_poll_cq(side->scq, 16, wc) > 0)
		;
	while (ibv_poll_cq(side->rcq, 16, wc) > 0)
		;
}

static void *post_requests(void *arg)
{
	struct pair *pair = arg;
	struct chance c = { seed ^ (uintptr_t)pair };
	int i;

	while (!is_over()) {
		if (state_of(&pair->a) != IBV_QPS_RTS || state_of(&pair->b) != IBV_QPS_RTS)
			connect_again(pair);
		for (i = 0; i < IN_FLIGHT; i++) {
			receive_at(&pair->a);
			receive_at(&pair->b);
			post_any(&pair->a, &pair->b, &c);
			post_any(&pair->b, &pair->a, &c);
		}
		take_completions(&pair->a);
		take_completions(&pair->b);
	}
	return NULL;
}

/* Changes, by other threads */

static void change_state(struct pair *pair, struct side *side, struct chance *c)
{
	static const enum ibv_qp_state states[] = {
		IBV_QPS_ERR, IBV_QPS_SQD, IBV_QPS_SQD, IBV_QPS_RTS,
	};

	(void)pair;
	to_state(side, PICK(c, states));
}

static void resize_queue(struct pair *pair, struct side *side, struct chance *c)
{
	struct ibv_srq_attr attr = { .max_wr = 100 + draw_below(c, 1000), .srq_limit = 50 };

	(void)pair;
	if (side->srq && one_in(c, 2))
		ibv_modify_srq(side->srq, &attr, IBV_SRQ_LIMIT);
	ibv_resize_cq(one_in(c, 2) ? side->scq : side->rcq, 300 + draw_below(c, 1000));
}

static void change_region(struct pair *pair, struct side *side, struct chance *c)
{
	(void)pair;
	ibv_rereg_mr(side->mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
		     one_in(c, 4) ? IBV_ACCESS_LOCAL_WRITE : ALL_ACCESS);
}

static void ask_for_events(struct pair *pair, struct side *side, struct chance *c)
{
	(void)pair;
	ibv_req_notify_cq(side->scq, one_in(c, 2));
	ibv_req_notify_cq(side->rcq, one_in(c, 2));
	forget_events(side->host->context);
}

/* The peer writes to a region that is deregistered meanwhile. */
static void drop_region(struct pair *pair, struct side *side, struct chance *c)
{
	int access = ALL_ACCESS | draw_below(c, 2) * IBV_ACCESS_ON_DEMAND;
	struct ibv_mr *mr = ibv_reg_mr(side->pd, side->buf, side->size, access);
	struct side peer = *(side == &pair->a ? &pair->b : &pair->a);
	struct side named = *side;

	if (!mr)
		return;
	named.mr = mr;
	if (peer.qp->qp_type == IBV_QPT_RC)
		post_any(&peer, &named, c);
	ibv_dereg_mr(mr);
}

static void drop_window(struct pair *pair, struct side *side, struct chance *c)
{
	struct ibv_mw_bind bind = {
		.bind_info = { .addr = (uintptr_t)side->buf, .length = 8192,
			       .mw_access_flags = IBV_ACCESS_REMOTE_WRITE },
	};
	struct ibv_mr *mr = ibv_reg_mr(side->pd, side->buf, 8192,
				       ALL_ACCESS | IBV_ACCESS_MW_BIND);
	struct ibv_mw *mw = ibv_alloc_mw(side->pd, IBV_MW_TYPE_1);

	(void)pair;
	bind.bind_info.mr = mr;
	if (mr && mw && side->qp->qp_type == IBV_QPT_RC) {
		ibv_bind_mw(side->qp, mw, &bind);
		if (one_in(c, 2))
			ibv_bind_mw(side->qp, mw, &bind);
	}
	if (mw)
		ibv_dealloc_mw(mw);
	if (mr)
		ibv_dereg_mr(mr);
}

static void move_memory(struct pair *pair, struct side *side, struct chance *c)
{
	pid_t pid;

	(void)pair;
	switch (draw_below(c, 3)) {
	case 0:
		madvise(side->buf, side->size, MADV_DONTNEED);
		break;
	case 1:
		mprotect(side->buf, side->size, PROT_READ);
		mprotect(side->buf, side->size, PROT_READ | PROT_WRITE);
		break;
	default:
		pid = fork();
		if (!pid)
			_exit(0);
		waitpid(pid, NULL, 0);
	}
}

/* The handle goes right after its datagram was posted. */
static void drop_address(struct pair *pair, struct side *side, struct chance *c)
{
	struct side *peer = side == &pair->a ? &pair->b : &pair->a;
	struct side sender = *side;

	sender.ah = address_of(side->pd, side->host, peer->host);
	if (!sender.ah)
		return;
	if (side->qp->qp_type == IBV_QPT_UD)
		post_any(&sender, peer, c);
	ibv_destroy_ah(sender.ah);
}

static void leave_group(struct pair *pair, struct side *side, struct chance *c)
{
	union ibv_gid gid = {
		.raw = { [10] = 0xff, [11] = 0xff, [12] = 239, 1, 2, 6 },
	};

	(void)pair;
	(void)c;
	if (side->qp->qp_type == IBV_QPT_UD && !ibv_attach_mcast(side->qp, &gid, 0))
		ibv_detach_mcast(side->qp, &gid, 0);
}

static void (*const changes[])(struct pair *pair, struct side *side, struct chance *c) = {
	change_state, resize_queue, change_region, ask_for_events, drop_region,
	drop_window, move_memory, drop_address, leave_group,
};

static void *change_objects(void *arg)
{
	struct chance c = { seed ^ (uintptr_t)arg };
	struct pair *pair;

	while (!is_over()) {
		pair = &PICK(&c, pairs);
		PICK(&c, changes)(pair, one_in(&c, 2) ? &pair->a : &pair->b, &c);
	}
	return NULL;
}

/* Queue pairs come and go, with requests in flight. */
static void *destroy_pairs(void *arg)
{
	struct chance c = { seed ^ (uintptr_t)arg };
	struct pair pair;

	while (!is_over()) {
		if (!pair_up(&pair, &PICK(&c, kinds)))
			return "";
		receive_at(&pair.b);
		post_any(&pair.a, &pair.b, &c);
		pair_down(&pair);
	}
	return NULL;
}

static void used_and_changed(const void *arg)
{
	pthread_t threads[ARRAY_SIZE(kinds) + CHANGERS + 1];
	const unsigned int *seconds = arg;
	size_t i, n = 0;
	void *failed;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		REQUIRE(!pthread_create(&threads[n++], NULL, post_requests, &pairs[i]));
	for (i = 0; i < CHANGERS; i++)
		REQUIRE(!pthread_create(&threads[n++], NULL, change_objects, &threads[i]));
	REQUIRE(!pthread_create(&threads[n++], NULL, destroy_pairs, threads));
	sleep(*seconds);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (i = 0; i < n; i++) {
		REQUIRE(!pthread_join(threads[i], &failed));
		CHECK(!failed);
	}
	CHECK(works(&victim));
}

COMMAND(threads)
{
	unsigned int seconds = argc > 1 ? atoi(argv[1]) : 5;
	const char *text = getenv("SEED");
	size_t i;

	seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
	diag("seed %llu", (unsigned long long)seed);
	fabric_open();
	if (!pair_up(&victim, NULL))
		return 1;
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!pair_up(&pairs[i], &kinds[i]))
			return 1;
	run_test(used_and_changed, &seconds, "objects change while other threads use them");
	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		pair_down(&pairs[i]);
	pair_down(&victim);
	return tests_done();
}
