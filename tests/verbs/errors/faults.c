// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faulty work requests: a table of the request that side a posts, the receive that
 * side b has posted, and the completions of both.
 */
#include <string.h>

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
 * @b_lives: side b stays in RTS
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

/* Ways to corrupt a request */

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
	/* The message has taken the receive request already, which fails, too. */
	{ .name = "WRITE with immediate: unknown rkey", .what = WRITE_IMM,
	  .spoil = rkey_unknown, .status = IBV_WC_REM_ACCESS_ERR,
	  .recv_status = IBV_WC_REM_ACCESS_ERR },

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
	{ .name = "add: result of 4 bytes", .what = ADD, .spoil = nothing,
	  .length = 4, .status = IBV_WC_LOC_LEN_ERR, .b_lives = true },
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

/* The bad request, a good one behind it and a receive request all complete. */
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

GROUP(faults)
{
	size_t i;

	bystander_up();
	for (i = 0; i < ARRAY_SIZE(faults); i++)
		run_test(fault, &faults[i], "%s", faults[i].name);
	bystander_is_well();
}
