// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work requests with something wrong in them.  A table of faults: what side a
 * posts, what side b has posted, and what both are told.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "errors.h"

enum what { SEND, WRITE, READ, SWAP, ADD, WRITE_IMM };

/**
 * struct fault - one bad request of side a
 * @name: of the test
 * @what: operation
 * @length: bytes [64]
 * @recv: bytes of b's receive request [64, for operations that need one]
 * @spoil: makes it bad
 * @options: of the pair
 * @status: how it completes
 * @recv_status: how b's receive request completes; only if it is to complete
 * @event: at b; 0 for none
 * @b_lives: b stays in RTS
 */
struct fault {
	const char *name;
	enum what what;
	uint32_t length;
	uint32_t recv;
	void (*spoil)(struct pair *pair, struct ibv_send_wr *wr,
		      struct ibv_sge *recv);
	struct options options;
	enum ibv_wc_status status;
	enum ibv_wc_status recv_status;
	enum ibv_event_type event;
	bool b_lives;
};

/* Ways of spoiling */

static struct ibv_pd *other_pd;
static struct ibv_mr *other_mr;

static struct ibv_mr *mr_elsewhere(const struct side *side)
{
	other_pd = ibv_alloc_pd(side->host->context);
	other_mr = ibv_reg_mr(other_pd, side->buf, side->size, ALL_ACCESS);
	CHECK(other_mr);
	return other_mr;
}

static struct ibv_mr *mr_with(const struct side *side, int access)
{
	other_pd = NULL;
	other_mr = ibv_reg_mr(side->pd, side->buf, side->size, access);
	CHECK(other_mr);
	return other_mr;
}

static void clean_up(void)
{
	if (other_mr)
		CHECK_CALL(ibv_dereg_mr(other_mr), 0);
	if (other_pd)
		CHECK_CALL(ibv_dealloc_pd(other_pd), 0);
	other_mr = NULL;
	other_pd = NULL;
}

static void set_rkey(struct ibv_send_wr *wr, uint32_t rkey)
{
	if (wr->opcode == IBV_WR_ATOMIC_CMP_AND_SWP ||
	    wr->opcode == IBV_WR_ATOMIC_FETCH_AND_ADD)
		wr->wr.atomic.rkey = rkey;
	else
		wr->wr.rdma.rkey = rkey;
}

#define SPOIL(name)							\
	static void name(struct pair *pair __attribute__((unused)),	\
			 struct ibv_send_wr *wr __attribute__((unused)),\
			 struct ibv_sge *recv __attribute__((unused)))

SPOIL(lkey_unknown) { wr->sg_list->lkey ^= 0x01010100; }
SPOIL(lkey_variant) { wr->sg_list->lkey ^= 1; }
SPOIL(lkey_zero) { wr->sg_list->lkey = 0; }
SPOIL(lkey_of_other_pd) { wr->sg_list->lkey = mr_elsewhere(&pair->a)->lkey; }
SPOIL(lkey_of_peer) { wr->sg_list->lkey = pair->b.mr->lkey; }
SPOIL(sge_beyond) { wr->sg_list->addr += pair->a.size - 63; }
SPOIL(sge_before) { wr->sg_list->addr -= 1; }
SPOIL(sge_wraps) { wr->sg_list->addr = UINT64_MAX - 7; }
SPOIL(sge_of_kernel) { wr->sg_list->addr = 0xffff888000000000; }
SPOIL(sge_read_only) { wr->sg_list->lkey = mr_with(&pair->a, 0)->lkey; }

SPOIL(recv_lkey_unknown) { recv->lkey ^= 0x01010100; }
SPOIL(recv_of_other_pd) { recv->lkey = mr_elsewhere(&pair->b)->lkey; }
SPOIL(recv_beyond) { recv->addr += pair->b.size - 1; }
SPOIL(recv_read_only) { recv->lkey = mr_with(&pair->b, 0)->lkey; }

SPOIL(rkey_unknown) { set_rkey(wr, pair->b.mr->rkey ^ 0x01010100); }
SPOIL(rkey_variant) { set_rkey(wr, pair->b.mr->rkey ^ 0x80); }
SPOIL(rkey_zero) { set_rkey(wr, 0); }
SPOIL(rkey_of_other_pd) { set_rkey(wr, mr_elsewhere(&pair->b)->rkey); }
SPOIL(remote_beyond) { wr->wr.rdma.remote_addr += pair->b.size - 63; }
SPOIL(remote_before) { wr->wr.rdma.remote_addr -= 1; }
SPOIL(remote_wraps) { wr->wr.rdma.remote_addr = UINT64_MAX - 31; }
SPOIL(remote_highest) { wr->wr.rdma.remote_addr = UINT64_MAX - 63; }
SPOIL(remote_next_page) { wr->wr.rdma.remote_addr += pair->b.size; }
SPOIL(atomic_beyond) { wr->wr.atomic.remote_addr += pair->b.size; }
SPOIL(atomic_wraps) { wr->wr.atomic.remote_addr = -8ull; }
SPOIL(misaligned) { wr->wr.atomic.remote_addr += 4; }
SPOIL(misaligned_by_one) { wr->wr.atomic.remote_addr += 1; }
SPOIL(mr_no_write)
{
	set_rkey(wr, mr_with(&pair->b, ALL_ACCESS &
			     ~IBV_ACCESS_REMOTE_WRITE)->rkey);
}
SPOIL(mr_no_read)
{
	set_rkey(wr, mr_with(&pair->b, ALL_ACCESS &
			     ~IBV_ACCESS_REMOTE_READ)->rkey);
}
SPOIL(mr_no_atomic)
{
	set_rkey(wr, mr_with(&pair->b, ALL_ACCESS &
			     ~IBV_ACCESS_REMOTE_ATOMIC)->rkey);
}
SPOIL(nothing) { }

#define NO(access) { .qp_access = ALL_ACCESS & ~IBV_ACCESS_REMOTE_##access }

#define LOCAL(n, w, s)							\
	{ .name = n, .what = w, .spoil = s,				\
	  .status = IBV_WC_LOC_PROT_ERR, .b_lives = true }
#define RECV(n, s)							\
	{ .name = n, .what = SEND, .spoil = s,				\
	  .status = IBV_WC_REM_OP_ERR, .recv_status = IBV_WC_LOC_PROT_ERR }
#define REMOTE(n, w, s)							\
	{ .name = n, .what = w, .spoil = s,				\
	  .status = IBV_WC_REM_ACCESS_ERR, .event = IBV_EVENT_QP_ACCESS_ERR }
#define INVALID(n, w, s, ...)						\
	{ .name = n, .what = w, .spoil = s,				\
	  .status = IBV_WC_REM_INV_REQ_ERR, .event = IBV_EVENT_QP_REQ_ERR, \
	  __VA_ARGS__ }

static const struct fault faults[] = {
	LOCAL("SEND: unknown lkey", SEND, lkey_unknown),
	LOCAL("SEND: lkey of another variant", SEND, lkey_variant),
	LOCAL("SEND: lkey 0", SEND, lkey_zero),
	LOCAL("SEND: lkey of another PD", SEND, lkey_of_other_pd),
	LOCAL("SEND: lkey of another device", SEND, lkey_of_peer),
	LOCAL("SEND: SGE beyond its region", SEND, sge_beyond),
	LOCAL("SEND: SGE before its region", SEND, sge_before),
	LOCAL("SEND: SGE wraps", SEND, sge_wraps),
	LOCAL("SEND: SGE with an address of the kernel", SEND, sge_of_kernel),
	LOCAL("WRITE: unknown lkey", WRITE, lkey_unknown),
	LOCAL("WRITE: SGE beyond its region", WRITE, sge_beyond),
	LOCAL("READ: unknown lkey", READ, lkey_unknown),
	LOCAL("READ: SGE beyond its region", READ, sge_beyond),
	LOCAL("READ: region without local write", READ, sge_read_only),
	LOCAL("atomic: unknown lkey", ADD, lkey_unknown),
	LOCAL("atomic: region without local write", SWAP, sge_read_only),

	RECV("receive: unknown lkey", recv_lkey_unknown),
	RECV("receive: lkey of another PD", recv_of_other_pd),
	RECV("receive: SGE beyond its region", recv_beyond),
	RECV("receive: region without local write", recv_read_only),

	REMOTE("WRITE: unknown rkey", WRITE, rkey_unknown),
	REMOTE("WRITE: rkey of another variant", WRITE, rkey_variant),
	REMOTE("WRITE: rkey 0", WRITE, rkey_zero),
	REMOTE("WRITE: rkey of another PD", WRITE, rkey_of_other_pd),
	REMOTE("WRITE: beyond the region", WRITE, remote_beyond),
	REMOTE("WRITE: before the region", WRITE, remote_before),
	REMOTE("WRITE: address and length wrap", WRITE, remote_wraps),
	REMOTE("WRITE: highest addresses", WRITE, remote_highest),
	REMOTE("WRITE: right behind the region", WRITE, remote_next_page),
	REMOTE("WRITE: region without remote write", WRITE, mr_no_write),
	REMOTE("READ: unknown rkey", READ, rkey_unknown),
	REMOTE("READ: rkey of another PD", READ, rkey_of_other_pd),
	REMOTE("READ: beyond the region", READ, remote_beyond),
	REMOTE("READ: before the region", READ, remote_before),
	REMOTE("READ: address and length wrap", READ, remote_wraps),
	REMOTE("READ: region without remote read", READ, mr_no_read),
	REMOTE("swap: unknown rkey", SWAP, rkey_unknown),
	REMOTE("swap: region without remote atomic", SWAP, mr_no_atomic),
	REMOTE("swap: beyond the region", SWAP, atomic_beyond),
	REMOTE("swap: address and length wrap", SWAP, atomic_wraps),
	REMOTE("add: unknown rkey", ADD, rkey_unknown),
	REMOTE("add: region without remote atomic", ADD, mr_no_atomic),
	REMOTE("WRITE with immediate: unknown rkey", WRITE_IMM, rkey_unknown),

	INVALID("WRITE: not enabled on the QP", WRITE, nothing,
		.options = NO(WRITE)),
	INVALID("READ: not enabled on the QP", READ, nothing,
		.options = NO(READ)),
	INVALID("swap: not enabled on the QP", SWAP, nothing,
		.options = NO(ATOMIC)),
	INVALID("add: not enabled on the QP", ADD, nothing,
		.options = NO(ATOMIC)),
	INVALID("swap: misaligned", SWAP, misaligned),
	INVALID("add: misaligned by one", ADD, misaligned_by_one),

	{ .name = "SEND: longer than the receive buffer", .what = SEND,
	  .spoil = nothing, .length = 65, .recv = 64,
	  .status = IBV_WC_REM_INV_REQ_ERR,
	  .recv_status = IBV_WC_LOC_LEN_ERR },
	{ .name = "SEND: many packets too long", .what = SEND,
	  .spoil = nothing, .length = 60000, .recv = 5000,
	  .status = IBV_WC_REM_INV_REQ_ERR,
	  .recv_status = IBV_WC_LOC_LEN_ERR },
	{ .name = "SEND: no receive request, rnr_retry 0", .what = SEND,
	  .spoil = nothing, .recv = -1u, .options = { .no_rnr_retry = true },
	  .status = IBV_WC_RNR_RETRY_EXC_ERR, .b_lives = true },
	{ .name = "SEND: no receive request, rnr_retry 3", .what = SEND,
	  .spoil = nothing, .recv = -1u, .options = { .rnr_retry = 3 },
	  .status = IBV_WC_RNR_RETRY_EXC_ERR, .b_lives = true },
	{ .name = "READ: max_rd_atomic 0", .what = READ, .spoil = nothing,
	  .options = { .no_reads = true }, .status = IBV_WC_LOC_QP_OP_ERR,
	  .b_lives = true },
	{ .name = "swap: max_rd_atomic 0", .what = SWAP, .spoil = nothing,
	  .options = { .no_reads = true }, .status = IBV_WC_LOC_QP_OP_ERR,
	  .b_lives = true },
	{ .name = "swap: result of 7 bytes", .what = SWAP, .spoil = nothing,
	  .length = 7, .status = IBV_WC_LOC_LEN_ERR, .b_lives = true },
	{ .name = "add: result of 16 bytes", .what = ADD, .spoil = nothing,
	  .length = 16, .status = IBV_WC_LOC_LEN_ERR, .b_lives = true },
};

/* Making and running one */

static struct ibv_send_wr good_request(const struct pair *pair,
				       const struct fault *f,
				       struct ibv_sge *sge)
{
	static const enum ibv_wr_opcode opcodes[] = {
		[SEND] = IBV_WR_SEND, [WRITE] = IBV_WR_RDMA_WRITE,
		[READ] = IBV_WR_RDMA_READ, [SWAP] = IBV_WR_ATOMIC_CMP_AND_SWP,
		[ADD] = IBV_WR_ATOMIC_FETCH_AND_ADD,
		[WRITE_IMM] = IBV_WR_RDMA_WRITE_WITH_IMM,
	};
	bool atomic = f->what == SWAP || f->what == ADD;
	struct ibv_send_wr wr;

	*sge = piece(&pair->a, 0, f->length ? f->length : atomic ? 8 : 64);
	wr = rdma_wr(&pair->b, opcodes[f->what], 11, sge, 1, 0);
	if (atomic) {
		wr.wr.atomic.remote_addr = (uintptr_t)pair->b.buf;
		wr.wr.atomic.rkey = rkey_of(&pair->b);
		wr.wr.atomic.compare_add = 1;
	}
	return wr;
}

static bool takes_receive(const struct fault *f)
{
	return (f->what == SEND || f->what == WRITE_IMM) && f->recv != -1u;
}

static void check_b(struct pair *pair, const struct fault *f)
{
	if (f->event)
		CHECK(wait_event(&pair->b, f->event));
	if (f->recv_status)
		EXPECT(pair->b.rcq, pair->b.qp, .wr_id = 21,
		       .status = f->recv_status);
	CHECK_CALL(state_of(&pair->b),
		   f->b_lives ? IBV_QPS_RTS : IBV_QPS_ERR);
	if (!f->b_lives && takes_receive(f) && !f->recv_status)
		EXPECT(pair->b.rcq, pair->b.qp, .wr_id = 21,
		       .status = IBV_WC_WR_FLUSH_ERR);
}

/* The bad one, a good one behind it and a receive request: all complete. */
static void check_a(struct pair *pair, const struct fault *f)
{
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 11, .status = f->status);
	CHECK_CALL(state_of(&pair->a), IBV_QPS_ERR);
	EXPECT(pair->a.rcq, pair->a.qp, .wr_id = 31,
	       .status = IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_WRITE, 12, 0, 0, 8,
			     0), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 12,
	       .status = IBV_WC_WR_FLUSH_ERR);
}

static bool b_untouched(const struct pair *pair)
{
	size_t i;

	for (i = 0; i < pair->b.size; i++)
		if (pair->b.buf[i])
			return false;
	return true;
}

static void fault(const void *arg)
{
	const struct fault *f = arg;
	struct ibv_sge sge, recv;
	struct ibv_send_wr wr;
	struct pair pair;

	REQUIRE(pair_up(&pair, &f->options));
	memset(pair.a.buf, 0x77, pair.a.size);
	wr = good_request(&pair, f, &sge);
	recv = piece(&pair.b, 0, f->recv ? f->recv : 64);
	f->spoil(&pair, &wr, &recv);
	CHECK_CALL(post_recv(&pair.a, 31, 0, 8), 0);
	if (takes_receive(f))
		CHECK_CALL(post_recv_sge(&pair.b, 21, &recv, 1), 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	check_a(&pair, f);
	check_b(&pair, f);
	if (f->recv_status != IBV_WC_LOC_LEN_ERR)
		CHECK(b_untouched(&pair));
	CHECK(works(&bystander));
	clean_up();
	/* And the QPs can be used again. */
	forget_events(hosts[1].context);
	if (!f->options.qp_access && !f->options.no_reads) {
		CHECK(pair_again(&pair));
		CHECK(works(&pair));
	}
	pair_down(&pair);
}

/* Good ones, that look bad */

static void zero_length(const void *arg)
{
	static const enum ibv_wr_opcode opcodes[] = {
		IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
	};
	struct ibv_send_wr wr;
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		wr = rdma_wr(&pair.b, opcodes[i], i, NULL, 0, 0);
		wr.wr.rdma.rkey = 0x12345;
		wr.wr.rdma.remote_addr = 0xdead;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = i ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE);
	}
	works(&pair);
	pair_down(&pair);
}

/* Whatever it waits for, the receive request comes in the end. */
static void rnr_then_success(const void *arg)
{
	const struct options options = {
		.rnr_retry = 7, .min_rnr_timer = *(const int *)arg,
	};
	long long naks = counter(&hosts[1], "tx_nak_rnr");
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, &options));
	for (i = 0; i < 4; i++) {
		fill(pair.a.buf, 5000, i);
		CHECK_CALL(post_send(&pair.a, i, 0, 5000, IBV_SEND_SIGNALED), 0);
		CHECK(quiet(pair.a.scq));
		CHECK_CALL(post_recv(&pair.b, i, 0, 5000), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .opcode = IBV_WC_SEND);
		EXPECT(pair.b.rcq, pair.b.qp, .wr_id = i, .opcode = IBV_WC_RECV,
		       .length = 5000);
		CHECK(filled(pair.b.buf, 5000, i));
	}
	CHECK(counter(&hosts[1], "tx_nak_rnr") >= naks + 4);
	pair_down(&pair);
}

/* A peer that is gone: retries run out, what is behind is flushed. */
static void peer_gone(const void *arg)
{
	const struct options options = { .timeout = 8, .retry_cnt = 3 };
	long long retries = counter(&hosts[0], "tx_timeouts");
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(ibv_destroy_qp(pair.b.qp), 0);
	pair.b.qp = NULL;
	for (i = 0; i < 10; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, i & 1 ? IBV_WR_RDMA_READ :
				     IBV_WR_RDMA_WRITE, i, 0, 0, 3000, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 0,
	       .status = IBV_WC_RETRY_EXC_ERR);
	for (i = 1; i < 10; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .status = IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_ERR);
	CHECK(counter(&hosts[0], "tx_timeouts") == retries + 4);
	works(&bystander);
	pair_down(&pair);
}

/* The b's QP fails; a's next request finds nobody, with retry_cnt 0 at once. */
static void no_retry(const void *arg)
{
	const struct options options = { .timeout = 10, .no_retry = true };
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK_CALL(to_state(&pair.b, IBV_QPS_ERR), 0);
	CHECK_CALL(post_send(&pair.a, 1, 0, 10, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_RETRY_EXC_ERR);
	pair_down(&pair);
}

/* Memory deregistered under a transfer: it ends, well or badly, and at once. */
static void dereg_in_flight(const void *arg)
{
	const struct options options = { .size = 16 << 20 };
	bool remote = *(const bool *)arg;
	struct pair pair;
	struct side *side;
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 6; i++) {
		REQUIRE(pair_up(&pair, &options));
		side = remote ? &pair.b : &pair.a;
		CHECK_CALL(post_rdma(&pair.a, &pair.b, i & 1 ? IBV_WR_RDMA_READ :
				     IBV_WR_RDMA_WRITE, 1, 0, 0, 16 << 20,
				     IBV_SEND_SIGNALED), 0);
		CHECK_CALL(ibv_dereg_mr(side->mr), 0);
		side->mr = NULL;
		REQUIRE(next_wc(pair.a.scq, &wc));
		if (wc.status)
			CHECK_CALL(wc.status, remote ? IBV_WC_REM_ACCESS_ERR :
						       IBV_WC_LOC_PROT_ERR);
		forget_events(hosts[1].context);
		works(&bystander);
		pair_down(&pair);
	}
}

/* 2 GiB and a byte, without a key that it could be read with. */
static void too_long(const void *arg)
{
	enum ibv_wr_opcode opcode = *(const enum ibv_wr_opcode *)arg;
	struct ibv_send_wr wr;
	struct ibv_sge sge[3];
	struct pair pair;
	int i;

	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 3; i++)
		sge[i] = piece(&pair.a, 0, i < 2 ? 0x40000000 : 1);
	wr = rdma_wr(&pair.b, opcode, 5, sge, 3, 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .status = IBV_WC_LOC_LEN_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	pair_down(&pair);
}

/* What the provider refuses itself. */
static void refused_by_post(const void *arg)
{
	const struct options options = { .inline_data = 32, .sge = 2 };
	struct ibv_sge sge[100] = {};
	struct ibv_send_wr wr;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, 1, sge,
		     pair.a.cap.max_send_sge + 1, 0);
	CHECK_CALL(post_one(&pair.a, &wr), EINVAL);
	CHECK_CALL(post_recv_sge(&pair.a, 1, sge, pair.a.cap.max_recv_sge + 1),
		   EINVAL);
	CHECK_CALL(post_recv_sge(&pair.a, 1, sge, -1), EINVAL);
	wr.num_sge = -1;
	CHECK_CALL(post_one(&pair.a, &wr), EINVAL);
	wr.num_sge = 1;
	sge[0] = piece(&pair.a, 0, pair.a.cap.max_inline_data + 1);
	wr.send_flags |= IBV_SEND_INLINE;
	CHECK_CALL(post_one(&pair.a, &wr), EINVAL);
	wr.send_flags = 1 << 20;
	CHECK_CALL(post_one(&pair.a, &wr), EINVAL);
	CHECK(works(&pair));
	pair_down(&pair);
}

static bool cq_error(const struct side *side)
{
	struct ibv_async_event event;
	bool found = false;

	while (!found && next_event(side->host->context, &event, PATIENCE_MS)) {
		found = event.event_type == IBV_EVENT_CQ_ERR &&
			event.element.cq == side->scq;
		ibv_ack_async_event(&event);
	}
	return found;
}

/* More completions than the queue holds: an event, and an error state. */
static void cq_overflow(const void *arg)
{
	const struct options options = { .cqe = 4 };
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	forget_events(hosts[0].context);
	for (i = 0; i < 8; i++)
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, i, 0,
				     0, 8, IBV_SEND_SIGNALED), 0);
	CHECK(cq_error(&pair.a));
	for (i = 0; i < 4; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(state_of(&pair.a), IBV_QPS_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	works(&bystander);
	pair_down(&pair);
}

/* A faulty request waits its turn: those before it succeed first. */
static void in_order(const void *arg)
{
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < 30; i++) {
		sge = piece(&pair.a, 0, 2000);
		wr = rdma_wr(&pair.b, i % 3 ? IBV_WR_RDMA_WRITE :
			     IBV_WR_RDMA_READ, i, &sge, 1, 2000);
		if (i == 20)
			sge.lkey ^= 0x100;
		if (i == 25)
			wr.wr.rdma.rkey ^= 0x100;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
	}
	for (i = 0; i < 30; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 2000,
		       .opcode = i % 3 ? IBV_WC_RDMA_WRITE : IBV_WC_RDMA_READ,
		       .status = i < 20 ? IBV_WC_SUCCESS : i == 20 ?
				 IBV_WC_LOC_PROT_ERR : IBV_WC_WR_FLUSH_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_RTS);
	pair_down(&pair);
}

/* READs before a bad WRITE are answered, and the WRITE is refused. */
static void read_then_refused(const void *arg)
{
	const struct options options = { .size = 1 << 20 };
	struct ibv_send_wr wr[5];
	struct ibv_sge sge[5];
	struct ibv_send_wr *bad;
	struct pair pair;
	int i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	fill(pair.b.buf, 400000, 6);
	for (i = 0; i < 5; i++) {
		sge[i] = piece(&pair.a, 100000 * i, 100000);
		wr[i] = rdma_wr(&pair.b, i < 4 ? IBV_WR_RDMA_READ :
				IBV_WR_RDMA_WRITE, i, &sge[i], 1, 100000 * i);
		wr[i].next = i < 4 ? &wr[i + 1] : NULL;
	}
	sge[4].length = 8;
	wr[4].wr.rdma.rkey ^= 0x100;
	CHECK_CALL(ibv_post_send(pair.a.qp, wr, &bad), 0);
	for (i = 0; i < 4; i++)
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i, .length = 100000,
		       .opcode = IBV_WC_RDMA_READ);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(filled(pair.a.buf, 400000, 6));
	forget_events(hosts[1].context);
	pair_down(&pair);
}

/* Datagrams */

static void ud_with(struct pair *pair, struct ibv_ah *ah, uint32_t lkey,
		    enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&pair->a, 0, 8);
	struct ibv_send_wr wr = {
		.wr_id = 1, .sg_list = &sge, .num_sge = 1,
		.opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED,
		.wr.ud.ah = ah, .wr.ud.remote_qpn = pair->b.qp->qp_num,
		.wr.ud.remote_qkey = QKEY,
	};

	sge.lkey ^= lkey;
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1, .status = status);
	if (status) {
		CHECK_CALL(state_of(&pair->a), IBV_QPS_SQE);
		CHECK_CALL(to_state(&pair->a, IBV_QPS_RTS), 0);
	}
}

static void ud_faults(const void *arg)
{
	const struct options options = { .type = IBV_QPT_UD };
	struct ibv_ah *other;
	struct ibv_pd *pd;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	pd = ibv_alloc_pd(hosts[0].context);
	other = address_of(pd, &hosts[0], &hosts[1]);
	REQUIRE(CHECK(other));
	ud_with(&pair, other, 0, IBV_WC_LOC_QP_OP_ERR);
	ud_with(&pair, pair.a.ah, 0x100, IBV_WC_LOC_PROT_ERR);
	ud_with(&pair, pair.a.ah, 0, IBV_WC_SUCCESS);
	CHECK_CALL(ibv_destroy_ah(other), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	/* A receive request that cannot be stored to is our own fault. */
	pair.b.mr->lkey ^= 0x100;
	CHECK_CALL(post_recv(&pair.b, 5, 0, 100), 0);
	pair.b.mr->lkey ^= 0x100;
	ud_with(&pair, pair.a.ah, 0, IBV_WC_SUCCESS);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5,
	       .status = IBV_WC_LOC_PROT_ERR);
	CHECK_CALL(state_of(&pair.b), IBV_QPS_ERR);
	pair_down(&pair);
}

void test_requests(void)
{
	static const bool local = false, remote = true;
	static const int soon = 1, later = 14;
	static const enum ibv_wr_opcode send = IBV_WR_SEND,
		write = IBV_WR_RDMA_WRITE, read = IBV_WR_RDMA_READ;
	static const struct test tests[] = {
		{ "length 0 needs no key", zero_length },
		{ "a receive request comes later, timer 10 us",
		  rnr_then_success, &soon },
		{ "a receive request comes later, timer 1.28 ms",
		  rnr_then_success, &later },
		{ "the peer is gone", peer_gone },
		{ "retry_cnt 0", no_retry },
		{ "local memory deregistered under way", dereg_in_flight,
		  &local },
		{ "remote memory deregistered under way", dereg_in_flight,
		  &remote },
		{ "SEND longer than 2 GiB", too_long, &send },
		{ "WRITE longer than 2 GiB", too_long, &write },
		{ "READ longer than 2 GiB", too_long, &read },
		{ "refused by the post itself", refused_by_post },
		{ "completion queue overflow", cq_overflow },
		{ "what is before a fault succeeds", in_order },
		{ "READs before a bad WRITE are answered", read_then_refused },
		{ "UD: wrong PD, key, receive buffer", ud_faults },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(faults); i++)
		run_test(fault, &faults[i], "%s", faults[i].name);
	run_tests(tests, ARRAY_SIZE(tests));
}
