// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows, and keys that are invalidated.
 */
#include <errno.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <string.h>
#include <unistd.h>

#include "transfer.h"
#include "resources.h"

#define LENGTH	3000
#define REMOTE	(IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
#define ACCESS	(ALL_ACCESS | IBV_ACCESS_MW_BIND)

/* A pair whose regions can have windows. */
static bool up(struct pair *pair)
{
	const struct options options = { .mr_access = ACCESS };

	return pair_up(pair, &options);
}

static struct ibv_mw_bind_info part(const struct side *side, size_t at,
				    size_t length, unsigned int access)
{
	return (struct ibv_mw_bind_info) {
		.mr = side->mr,
		.addr = (uintptr_t)side->buf + at,
		.length = length,
		.mw_access_flags = access,
	};
}

static int write_by(struct pair *pair, uint64_t addr, uint32_t key,
		    uint64_t id)
{
	struct ibv_sge sge = piece(&pair->a, 0, LENGTH);
	struct ibv_send_wr wr = {
		.wr_id = id,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = addr, .rkey = key },
	};

	fill(pair->a.buf, LENGTH, id);
	return post_one(&pair->a, &wr);
}

static void accepted(struct pair *pair, size_t at, uint32_t key)
{
	uint8_t *to = pair->b.buf + at;

	memset(to, 0, LENGTH);
	CHECK_CALL(write_by(pair, (uintptr_t)to, key, at + 1), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = at + 1,
	       .opcode = IBV_WC_RDMA_WRITE);
	CHECK(filled(to, LENGTH, at + 1));
}

static void refused(struct pair *pair, uint64_t addr, uint32_t key)
{
	CHECK_CALL(write_by(pair, addr, key, 99), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 99,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

static void refused_at(struct pair *pair, size_t at, uint32_t key)
{
	refused(pair, (uintptr_t)pair->b.buf + at, key);
}

static void bind1(struct pair *pair, struct ibv_mw *mw, size_t at, size_t length,
		  enum ibv_wc_status status)
{
	struct ibv_mw_bind request = {
		.wr_id = 7,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_info = part(&pair->b, at, length, REMOTE),
	};

	CHECK_CALL(ibv_bind_mw(pair->b.qp, mw, &request), 0);
	EXPECT(pair->b.scq, pair->b.qp, .wr_id = 7, .status = status,
	       .opcode = IBV_WC_BIND_MW);
}

static void type1(const void *arg)
{
	struct pair pair;
	struct ibv_mw *mw;
	uint32_t old;

	(void)arg;
	REQUIRE(up(&pair));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mw));
	old = mw->rkey;
	refused_at(&pair, 0, old);
	bind1(&pair, mw, 4096, 8192, IBV_WC_SUCCESS);
	CHECK(mw->rkey != old && mw->rkey >> 8 == old >> 8);
	accepted(&pair, 4096, mw->rkey);
	accepted(&pair, 4096 + 8192 - LENGTH, mw->rkey);
	refused_at(&pair, 4095, mw->rkey);
	refused_at(&pair, 4096 + 8192 - LENGTH + 1, mw->rkey);
	refused_at(&pair, 4096, old);
	/* Moved, and then unbound. */
	old = mw->rkey;
	bind1(&pair, mw, 20000, 5000, IBV_WC_SUCCESS);
	accepted(&pair, 20000, mw->rkey);
	refused_at(&pair, 4096, mw->rkey);
	refused_at(&pair, 20000, old);
	CHECK_CALL(ibv_dereg_mr(pair.b.mr), EBUSY);
	bind1(&pair, mw, 20000, 0, IBV_WC_SUCCESS);
	refused_at(&pair, 20000, mw->rkey);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* More than are executed in one lock section. */
static void many_binds(const void *arg)
{
	const struct options options = { .mr_access = ACCESS, .wr = 1000 };
	struct ibv_mw_bind request = { .send_flags = 0 };
	struct pair pair;
	struct ibv_mw *mw;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mw));
	for (i = 0; i < 990; i++) {
		request.bind_info = part(&pair.b, i, LENGTH, REMOTE);
		CHECK_CALL(ibv_bind_mw(pair.b.qp, mw, &request), 0);
	}
	bind1(&pair, mw, 5000, LENGTH, IBV_WC_SUCCESS);
	accepted(&pair, 5000, mw->rkey);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/*
 * One response completes thousands of requests, more than in one lock section.  The
 * last one is refused (@arg), or not: each has its own status, in order.
 */
#define LOCAL_ONES	5000

static void many_behind_one(const void *arg)
{
	const struct options options = {
		.mr_access = ACCESS, .wr = LOCAL_ONES + 2, .cqe = LOCAL_ONES + 8,
		.min_rnr_timer = 14,
	};
	struct ibv_mw_bind request = { .send_flags = IBV_SEND_SIGNALED };
	bool refused = arg;
	struct pair pair;
	struct ibv_mw *mw;
	size_t i;

	REQUIRE(pair_up(&pair, &options));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	REQUIRE(CHECK(mw));
	CHECK_CALL(post_send(&pair.b, 0, 0, LENGTH, IBV_SEND_SIGNALED), 0);
	for (i = 1; i <= LOCAL_ONES; i++) {
		request.wr_id = i;
		request.bind_info = part(&pair.b, i % 100, LENGTH, REMOTE);
		CHECK_CALL(ibv_bind_mw(pair.b.qp, mw, &request), 0);
	}
	CHECK_CALL(post_rdma(&pair.b, &pair.a, IBV_WR_RDMA_WRITE, i, 0,
			     refused ? pair.a.size : 0, LENGTH,
			     IBV_SEND_SIGNALED), 0);
	CHECK(quiet(pair.b.scq));
	CHECK_CALL(post_recv(&pair.a, 1, 0, LENGTH), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 0, .opcode = IBV_WC_SEND);
	for (i = 1; i <= LOCAL_ONES; i++)
		EXPECT(pair.b.scq, pair.b.qp, .wr_id = i,
		       .opcode = IBV_WC_BIND_MW);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = i,
	       .status = refused ? IBV_WC_REM_ACCESS_ERR : IBV_WC_SUCCESS,
	       .opcode = IBV_WC_RDMA_WRITE);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

static int bind2(struct side *side, struct ibv_mw *mw, uint32_t key,
		 struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr = {
		.wr_id = 8,
		.opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { .mw = mw, .rkey = key, .bind_info = info },
	};

	return post_one(side, &wr);
}

static void bound2(struct side *side, struct ibv_mw *mw, uint32_t key,
		   struct ibv_mw_bind_info info, enum ibv_wc_status status)
{
	CHECK_CALL(bind2(side, mw, key, info), 0);
	EXPECT(side->scq, side->qp, .wr_id = 8, .status = status,
	       .opcode = IBV_WC_BIND_MW);
}

/* The rest of the request is ignored. */
static int invalidate(struct side *side, uint64_t id, uint32_t key)
{
	struct ibv_sge sge = { .length = 8 };
	struct ibv_send_wr wr = {
		.wr_id = id,
		.opcode = IBV_WR_LOCAL_INV,
		.sg_list = &sge,
		.num_sge = 1,
		.send_flags = IBV_SEND_SIGNALED | (id % 2 ? IBV_SEND_INLINE : 0),
		.invalidate_rkey = key,
	};

	return post_one(side, &wr);
}

/* QPs of the second pair must not use windows that are bound to the first pair. */
static void type2(const void *arg)
{
	struct pair pair, other;
	struct ibv_pd *pd;
	struct ibv_mw *mw;
	uint32_t key;

	(void)arg;
	REQUIRE(up(&pair) && pair_create(&other, NULL));
	CHECK_CALL(ibv_destroy_qp(other.b.qp), 0);
	pd = other.b.pd;
	other.b.pd = pair.b.pd;
	REQUIRE(CHECK(side_qp(&other.b, &other.options)));
	other.b.pd = pd;
	REQUIRE(pair_connect(&other));

	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	key = ibv_inc_rkey(mw->rkey);
	bound2(&pair.b, mw, key, part(&pair.b, 4096, 8192, REMOTE),
	       IBV_WC_SUCCESS);
	accepted(&pair, 5000, key);
	CHECK_CALL(write_by(&other, (uintptr_t)pair.b.buf + 5000, key, 5), 0);
	EXPECT(other.a.scq, other.a.qp, .wr_id = 5,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK_CALL(invalidate(&pair.b, 6, key), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 6, .opcode = IBV_WC_LOCAL_INV);
	refused_at(&pair, 5000, key);
	/* With another key, and from 0. */
	key = ibv_inc_rkey(key);
	bound2(&pair.b, mw, key, part(&pair.b, 777, 8192, REMOTE |
				      IBV_ACCESS_ZERO_BASED), IBV_WC_SUCCESS);
	CHECK_CALL(write_by(&pair, 100, key, 11), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 11, .opcode = IBV_WC_RDMA_WRITE);
	CHECK(filled(pair.b.buf + 777 + 100, LENGTH, 11));
	refused(&pair, 8192 - LENGTH + 1, key);
	/* It goes with everything bound. */
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	refused(&pair, 100, key);
	pair_down(&other);
	pair_down(&pair);
}

/* A SEND invalidates the peer's key before it can be used again. */
static void send_inv(const void *arg)
{
	struct ibv_send_wr wr = {
		.wr_id = 2,
		.opcode = IBV_WR_SEND_WITH_INV,
		.send_flags = IBV_SEND_SIGNALED,
	};
	struct ibv_sge sge;
	struct pair pair;
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t key;

	(void)arg;
	REQUIRE(up(&pair));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	key = ibv_inc_rkey(mw->rkey);
	bound2(&pair.b, mw, key, part(&pair.b, 0, 8192, REMOTE), IBV_WC_SUCCESS);
	accepted(&pair, 0, key);
	sge = piece(&pair.a, 0, 500);
	wr.sg_list = &sge;
	wr.num_sge = 1;
	wr.invalidate_rkey = key;
	CHECK_CALL(post_recv(&pair.b, 3, 8192, 1000), 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	CHECK_CALL(write_by(&pair, (uintptr_t)pair.b.buf, key, 4), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4,
	       .status = IBV_WC_REM_ACCESS_ERR);
	REQUIRE(CHECK(next_wc(pair.b.rcq, &wc)));
	CHECK(wc.wr_id == 3 && !wc.status && wc.byte_len == 500);
	CHECK(wc.wc_flags & IBV_WC_WITH_INV && wc.invalidated_rkey == key);
	/* A region's key cannot be invalidated. */
	CHECK(pair_again(&pair));
	wr.invalidate_rkey = pair.b.mr->rkey;
	CHECK_CALL(post_recv(&pair.b, 5, 8192, 1000), 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2,
	       .status = IBV_WC_REM_ACCESS_ERR);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 5,
	       .status = IBV_WC_REM_ACCESS_ERR);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

/* One after the other, in the middle of a stream, and in its order. */
static void in_order(const void *arg)
{
	struct pair pair;
	struct ibv_mw *mw;
	uint32_t key;
	uint64_t id;
	int i;

	(void)arg;
	REQUIRE(up(&pair));
	mw = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	key = mw->rkey;
	for (id = 100, i = 0; i < 8; i++) {
		key = ibv_inc_rkey(key);
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_WRITE, id++,
				     0, 0, 30000, IBV_SEND_SIGNALED), 0);
		CHECK_CALL(bind2(&pair.a, mw, key,
				 part(&pair.a, 0, 100, REMOTE)), 0);
		CHECK_CALL(post_rdma(&pair.a, &pair.b, IBV_WR_RDMA_READ, id++,
				     30000, 0, 30000, IBV_SEND_SIGNALED), 0);
		CHECK_CALL(invalidate(&pair.a, id++, key), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id - 3,
		       .opcode = IBV_WC_RDMA_WRITE);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = 8,
		       .opcode = IBV_WC_BIND_MW);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id - 2,
		       .opcode = IBV_WC_RDMA_READ, .length = 30000);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = id - 1,
		       .opcode = IBV_WC_LOCAL_INV);
	}
	CHECK(works(&pair));
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

/**
 * struct writer - thread that writes through a window
 * @pair: writes from its side a
 * @key: key of the window, which is bound to all of side b's buffer
 * @wc: the first completion that was no success
 */
struct writer {
	struct pair *pair;
	uint32_t key;
	struct ibv_wc wc;
};

/* Each WRITE stores other bytes than the one before it. */
static void *write_until_refused(void *arg)
{
	struct writer *writer = arg;
	struct side *from = &writer->pair->a;
	struct ibv_sge sge = piece(from, 0, from->size);
	struct ibv_send_wr wr = rdma_wr(&writer->pair->b, IBV_WR_RDMA_WRITE, 1,
					&sge, 1, 0);
	uint64_t end = now_ms() + 10000;
	int n;

	wr.send_flags = IBV_SEND_SIGNALED;
	wr.wr.rdma.rkey = writer->key;
	do {
		memset(from->buf, ++from->buf[0], from->size);
		if (post_one(from, &wr))
			return NULL;
		while (!(n = ibv_poll_cq(from->scq, 1, &writer->wc)))
			if (now_ms() > end)
				return NULL;
	} while (n == 1 && !writer->wc.status);
	return NULL;
}

static void invalidate_under(struct pair *pair, struct ibv_mw *mw, uint32_t key,
			     int round)
{
	struct writer writer = { .pair = pair, .key = key };
	struct side *side = &pair->b;
	static uint8_t then[65536];
	pthread_t thread;

	REQUIRE(CHECK(side->size == sizeof(then)));
	bound2(side, mw, key, part(side, 0, side->size, REMOTE), IBV_WC_SUCCESS);
	REQUIRE(CHECK(!pthread_create(&thread, NULL, write_until_refused,
				      &writer)));
	/* At another point of a WRITE each time */
	usleep(500 + round * 37);
	CHECK_CALL(invalidate(side, 6, key), 0);
	EXPECT(side->scq, side->qp, .wr_id = 6, .opcode = IBV_WC_LOCAL_INV);
	memcpy(then, side->buf, side->size);
	pthread_join(thread, NULL);
	CHECK(writer.wc.status == IBV_WC_REM_ACCESS_ERR);
	CHECK(!memcmp(then, side->buf, side->size));
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

/* Nothing is stored through a window after the end of its invalidation. */
static void under_writes(const void *arg)
{
	struct pair pair;
	struct ibv_mw *mw;
	uint32_t key;
	int i;

	(void)arg;
	REQUIRE(up(&pair));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	key = mw->rkey;
	for (i = 0; i < 50; i++) {
		key = ibv_inc_rkey(key);
		invalidate_under(&pair, mw, key, i);
	}
	CHECK(works(&pair));
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	pair_down(&pair);
}

/* If each destruction waited for a grace period, a process could not exit. */
static void thousands(const void *arg)
{
	static struct ibv_mw *mws[4000];
	struct pair pair;
	size_t i, n;

	(void)arg;
	REQUIRE(up(&pair));
	for (n = 0; n < ARRAY_SIZE(mws); n++) {
		mws[n] = ibv_alloc_mw(pair.b.pd, 1 + n % 2);
		if (!CHECK(mws[n]))
			break;
	}
	if (n)
		bind1(&pair, mws[0], 4096, LENGTH, IBV_WC_SUCCESS);
	for (i = 0; i < n; i++)
		CHECK_CALL(ibv_dealloc_mw(mws[i]), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

static void bad_bind(struct pair *pair, struct ibv_mw *mw,
		     struct ibv_mw_bind_info info)
{
	bound2(&pair->b, mw, ibv_inc_rkey(mw->rkey), info, IBV_WC_MW_BIND_ERR);
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

static void bad_use(const void *arg)
{
	struct ibv_mw_bind_info info;
	struct ibv_mr *plain, *read_only;
	struct ibv_mw *mw, *mw1, *foreign;
	struct pair pair;

	(void)arg;
	REQUIRE(up(&pair));
	mw = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_2);
	mw1 = ibv_alloc_mw(pair.b.pd, IBV_MW_TYPE_1);
	foreign = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	plain = ibv_reg_mr(pair.b.pd, pair.b.buf, 8192, ALL_ACCESS);
	read_only = ibv_reg_mr(pair.b.pd, pair.b.buf, 8192,
			       IBV_ACCESS_MW_BIND);
	REQUIRE(CHECK(mw && mw1 && foreign && plain && read_only));
	info = part(&pair.b, 0, 4096, REMOTE);
	CHECK_CALL(bind2(&pair.b, mw1, mw1->rkey, info), EINVAL);
	bad_bind(&pair, foreign, info);
	bad_bind(&pair, mw, part(&pair.b, 1, pair.b.size, REMOTE));
	bad_bind(&pair, mw, part(&pair.b, 0, 0, REMOTE));
	bad_bind(&pair, mw, part(&pair.b, 0, 10, 1 << 19));
	info.mr = plain;
	bad_bind(&pair, mw, info);
	info.mr = read_only;
	bad_bind(&pair, mw, info);
	info.mr = pair.b.mr;
	/* Bound already. */
	bound2(&pair.b, mw, ibv_inc_rkey(mw->rkey), info, IBV_WC_SUCCESS);
	bad_bind(&pair, mw, info);
	CHECK(ibv_rereg_mr(pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   ALL_ACCESS) && errno == EBUSY);
	/* Neither a window of another type nor a region. */
	CHECK_CALL(invalidate(&pair.b, 1, mw1->rkey), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 1,
	       .status = IBV_WC_MW_BIND_ERR);
	CHECK(pair_again(&pair));
	CHECK_CALL(invalidate(&pair.b, 2, pair.b.mr->rkey), 0);
	EXPECT(pair.b.scq, pair.b.qp, .wr_id = 2,
	       .status = IBV_WC_MW_BIND_ERR);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	CHECK_CALL(ibv_dealloc_mw(mw1), 0);
	CHECK_CALL(ibv_dealloc_mw(foreign), 0);
	CHECK_CALL(ibv_dereg_mr(plain), 0);
	CHECK_CALL(ibv_dereg_mr(read_only), 0);
	pair_down(&pair);
}

/* By the command itself, without the type check of the library */
static int alloc_by_write(const struct ibv_pd *pd, uint8_t type)
{
	struct ib_uverbs_alloc_mw_resp resp;
	struct {
		struct ib_uverbs_cmd_hdr hdr;
		struct ib_uverbs_alloc_mw cmd;
	} raw = {
		.hdr = { .command = IB_USER_VERBS_CMD_ALLOC_MW,
			 .in_words = sizeof(raw) / 4,
			 .out_words = sizeof(resp) / 4 },
		.cmd = { .response = (uintptr_t)&resp, .pd_handle = pd->handle,
			 .mw_type = type },
	};

	return write(pd->context->cmd_fd, &raw, sizeof(raw)) == sizeof(raw) ?
	       0 : errno;
}

static void no_type(const void *arg)
{
	static const uint8_t types[] = { 0, 3, 7, 0x81, 255 };
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(up(&pair));
	for (i = 0; i < ARRAY_SIZE(types); i++)
		if (!CHECK_CALL(alloc_by_write(pair.a.pd, types[i]), EINVAL))
			diag("type %u", types[i]);
	CHECK(works(&pair));
	/* If there were a window, its PD could not be destroyed. */
	pair_down(&pair);
}

GROUP(windows)
{
	static const struct test tests[] = {
		{ "MW: type 1, bound, used, bound again", type1 },
		{ "MW: a thousand binds at once", many_binds },
		{ "MW: thousands of binds behind a SEND without a receive",
		  many_behind_one },
		{ "MW: thousands of binds before a WRITE that is refused",
		  many_behind_one, "refused" },
		{ "MW: type 2 belongs to its QP", type2 },
		{ "MW: SEND with invalidation revokes the key", send_inv },
		{ "MW: binding and invalidating in order", in_order },
		{ "MW: invalidation under WRITEs", under_writes },
		{ "MW: thousands", thousands },
		{ "MW: invalid binds fail", bad_use },
		{ "MW: unknown window types are refused", no_type },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
