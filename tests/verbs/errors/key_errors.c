// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A revoked key stops the next packet: once the call that revokes it has returned, no
 * byte moves through it, whatever requests of the peer are in flight.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "misuse.h"

#define SIZE	(1 << 19)
/* Large enough to take some time. */
#define STREAM	12
#define OLD	0x11
#define SECRET	0xee

/**
 * struct access - memory that a peer may access
 * @pair: side a is the peer, b has the memory
 * @mw: a window on all of it, or NULL for the region
 * @key: of either
 * @other: memory elsewhere
 */
struct access {
	struct pair pair;
	struct ibv_mw *mw;
	uint32_t key;
	uint8_t *other;
};

/**
 * struct way - a way to revoke a key
 * @name: for the output
 * @window: type of the window that the key belongs to; 0 for a region
 * @take: revokes the key, which is invalid when this returns
 */
struct way {
	const char *name;
	int window;
	void (*take)(struct access *access);
};

/* Windows */

static bool bind(struct access *access, int type)
{
	struct side *b = &access->pair.b;
	struct ibv_mw_bind_info info = {
		.mr = b->mr, .addr = (uintptr_t)b->buf, .length = SIZE,
		.mw_access_flags = IBV_ACCESS_REMOTE_WRITE |
				   IBV_ACCESS_REMOTE_READ |
				   IBV_ACCESS_REMOTE_ATOMIC,
	};
	struct ibv_mw_bind one = {
		.wr_id = 1, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};
	struct ibv_send_wr two = {
		.wr_id = 1, .opcode = IBV_WR_BIND_MW,
		.send_flags = IBV_SEND_SIGNALED,
	};

	access->mw = ibv_alloc_mw(b->pd, type);
	if (!CHECK(access->mw))
		return false;
	access->key = ibv_inc_rkey(access->mw->rkey);
	two.bind_mw.mw = access->mw;
	two.bind_mw.rkey = access->key;
	two.bind_mw.bind_info = info;
	CHECK_CALL(type == IBV_MW_TYPE_1 ? ibv_bind_mw(b->qp, access->mw, &one) :
					   post_one(b, &two), 0);
	return EXPECT(b->scq, b->qp, .wr_id = 1, .opcode = IBV_WC_BIND_MW);
}

static bool access_up(struct access *access, enum ibv_qp_type type, int window)
{
	const struct options options = {
		.type = type, .size = SIZE,
		.mr_access = ALL_ACCESS | IBV_ACCESS_MW_BIND,
	};

	memset(access, 0, sizeof(*access));
	if (!pair_up(&access->pair, &options))
		return false;
	memset(access->pair.b.buf, OLD, SIZE);
	access->key = access->pair.b.mr->rkey;
	access->other = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return CHECK(access->other != MAP_FAILED) &&
	       (!window || bind(access, window));
}

static void access_down(struct access *access)
{
	if (access->mw)
		CHECK_CALL(ibv_dealloc_mw(access->mw), 0);
	pair_down(&access->pair);
	munmap(access->other, SIZE);
}

/* Ways */

static void dereg(struct access *access)
{
	CHECK_CALL(ibv_dereg_mr(access->pair.b.mr), 0);
	access->pair.b.mr = NULL;
}

static void fewer_rights(struct access *access)
{
	CHECK_CALL(ibv_rereg_mr(access->pair.b.mr, IBV_REREG_MR_CHANGE_ACCESS,
				NULL, NULL, 0, IBV_ACCESS_LOCAL_WRITE), 0);
}

static void elsewhere(struct access *access)
{
	CHECK_CALL(ibv_rereg_mr(access->pair.b.mr,
				IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				access->other, SIZE, 0), 0);
}

static void dealloc(struct access *access)
{
	CHECK_CALL(ibv_dealloc_mw(access->mw), 0);
	access->mw = NULL;
}

static void invalidate(struct access *access)
{
	struct side *b = &access->pair.b;
	struct ibv_send_wr wr = {
		.wr_id = 2, .opcode = IBV_WR_LOCAL_INV,
		.send_flags = IBV_SEND_SIGNALED,
		.invalidate_rkey = access->key,
	};

	CHECK_CALL(post_one(b, &wr), 0);
	EXPECT(b->scq, b->qp, .wr_id = 2, .opcode = IBV_WC_LOCAL_INV);
}

static void unbind(struct access *access)
{
	struct side *b = &access->pair.b;
	struct ibv_mw_bind nothing = {
		.wr_id = 2, .send_flags = IBV_SEND_SIGNALED,
	};

	CHECK_CALL(ibv_bind_mw(b->qp, access->mw, &nothing), 0);
	EXPECT(b->scq, b->qp, .wr_id = 2, .opcode = IBV_WC_BIND_MW);
}

static const struct way ways[] = {
	{ "ibv_dereg_mr", 0, dereg },
	{ "ibv_rereg_mr, rights", 0, fewer_rights },
	{ "ibv_rereg_mr, memory", 0, elsewhere },
	{ "ibv_dealloc_mw, type 1", IBV_MW_TYPE_1, dealloc },
	{ "ibv_dealloc_mw, type 2", IBV_MW_TYPE_2, dealloc },
	{ "ibv_bind_mw to nothing", IBV_MW_TYPE_1, unbind },
	{ "local invalidation", IBV_MW_TYPE_2, invalidate },
};

/* The peer */

enum what { WRITE, READ, ADD, OPERATIONS };

static const char *const operations[] = { "WRITE", "READ", "add" };

static int post_access(struct access *access, enum what what, uint64_t id)
{
	struct side *a = &access->pair.a;
	struct ibv_sge sge = piece(a, 0, what == ADD ? 8 : SIZE);
	struct ibv_send_wr wr;

	wr = rdma_wr(&access->pair.b, what == READ ? IBV_WR_RDMA_READ :
		     IBV_WR_RDMA_WRITE, id, &sge, 1, 0);
	wr.wr.rdma.rkey = access->key;
	if (what == ADD) {
		wr.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
		wr.wr.atomic.remote_addr = (uintptr_t)access->pair.b.buf;
		wr.wr.atomic.compare_add = 1;
		wr.wr.atomic.rkey = access->key;
	}
	return post_one(a, &wr);
}

static void start(struct access *access, enum what what)
{
	int i;

	/* Its own bytes differ from all bytes that b has or will have. */
	memset(access->pair.a.buf, 0x22, SIZE);
	for (i = 0; i < STREAM; i++)
		CHECK_CALL(post_access(access, what, i), 0);
}

/* Somewhere in the middle, not always at the same place. */
static void let_it_run(struct access *access, int round)
{
	struct ibv_wc wc;
	int i;

	for (i = 0; i < 200 * round; i++)
		if (access->pair.b.buf[SIZE - 1] != OLD ||
		    ibv_poll_cq(access->pair.b.rcq, 1, &wc))
			break;
}

static bool has(const uint8_t *buf, uint8_t byte)
{
	return memchr(buf, byte, SIZE);
}

/* The stream may have been over: one more request cannot be. */
static void stopped(struct access *access, enum what what)
{
	CHECK_CALL(post_access(access, what, STREAM), 0);
	CHECK(ends_with(&access->pair, STREAM + 1, IBV_WC_REM_ACCESS_ERR));
}

/*
 * Writing to the pages of a response in flight spoils its ICRC, and the peer drops it.
 * The peer repeats the request, and may get no response.
 */
static void failed(struct access *access)
{
	struct ibv_wc wc;
	int i;

	CHECK_CALL(post_access(access, READ, STREAM), 0);
	for (i = 0; i <= STREAM && next_wc(access->pair.a.scq, &wc); i++)
		CHECK(!wc.status || wc.status == IBV_WC_WR_FLUSH_ERR ||
		      wc.status == IBV_WC_REM_ACCESS_ERR ||
		      wc.status == IBV_WC_RETRY_EXC_ERR);
	CHECK(i == STREAM + 1 && wc.status);
}

/*
 * Nobody reads data that b writes after the key has gone.  Responses that are on
 * their way within this machine are b's own pages, until they have arrived.
 */
static void kept_secret(const void *arg)
{
	const struct way *way = arg;
	struct access access;

	REQUIRE(access_up(&access, IBV_QPT_RC, way->window));
	start(&access, READ);
	way->take(&access);
	usleep(100000);
	memset(access.pair.b.buf, SECRET, SIZE);
	failed(&access);
	CHECK(!has(access.pair.a.buf, SECRET));
	access_down(&access);
}

struct taken {
	const struct way *way;
	enum what what;
};

static void taken(const void *arg)
{
	const struct taken *taken = arg;
	uint8_t *copy = malloc(SIZE);
	struct access access;
	int round;

	for (round = 0; round < 2; round++) {
		REQUIRE(access_up(&access, IBV_QPT_RC, taken->way->window));
		start(&access, taken->what);
		let_it_run(&access, round);
		taken->way->take(&access);
		memcpy(copy, access.pair.b.buf, SIZE);
		stopped(&access, taken->what);
		CHECK(!memcmp(copy, access.pair.b.buf, SIZE));
		access_down(&access);
	}
	free(copy);
}

/* UC: there is no error, and nothing is written. */
static void unreliable(const void *arg)
{
	const struct way *way = arg;
	uint8_t *copy = malloc(SIZE);
	struct access access;

	REQUIRE(access_up(&access, IBV_QPT_UC, way->window));
	start(&access, WRITE);
	way->take(&access);
	memcpy(copy, access.pair.b.buf, SIZE);
	CHECK(ends_with(&access.pair, STREAM, IBV_WC_SUCCESS));
	CHECK(!memcmp(copy, access.pair.b.buf, SIZE));
	access_down(&access);
	free(copy);
}

/* The peer revokes it itself, and then uses it by mistake. */
static void by_the_peer(const void *arg)
{
	enum what what = *(const enum what *)arg;
	struct ibv_send_wr wr = {
		.wr_id = 50, .opcode = IBV_WR_SEND_WITH_INV,
		/* There are still responses to READs before it to send. */
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE,
	};
	uint8_t *copy = malloc(SIZE);
	struct access access;
	struct ibv_wc wc;
	struct pair *pair = &access.pair;
	int i;

	REQUIRE(access_up(&access, IBV_QPT_RC, IBV_MW_TYPE_2));
	CHECK_CALL(post_recv(&pair->b, 9, 0, 0), 0);
	memset(pair->a.buf, 0x22, SIZE);
	for (i = 0; i < 4; i++)
		CHECK_CALL(post_access(&access, what, i), 0);
	wr.invalidate_rkey = access.key;
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	for (i = 0; i < 4; i++)
		CHECK_CALL(post_access(&access, what, 60 + i), 0);
	REQUIRE(CHECK(next_wc(pair->b.rcq, &wc)));
	CHECK(wc.wc_flags & IBV_WC_WITH_INV &&
	      wc.invalidated_rkey == access.key);
	if (what == READ)
		memset(pair->b.buf, SECRET, SIZE);
	memcpy(copy, pair->b.buf, SIZE);
	for (i = 0; i < 4; i++)
		CHECK(next_wc(pair->a.scq, &wc) && !wc.status);
	CHECK(next_wc(pair->a.scq, &wc) && !wc.status && wc.wr_id == 50);
	CHECK(ends_with(pair, 4, IBV_WC_REM_ACCESS_ERR));
	CHECK(!memcmp(copy, pair->b.buf, SIZE));
	CHECK(!has(pair->a.buf, SECRET));
	access_down(&access);
	free(copy);
}

GROUP(key_errors)
{
	struct taken t;
	size_t i;
	int what;

	for (i = 0; i < ARRAY_SIZE(ways); i++)
		for (what = WRITE; what < OPERATIONS; what++) {
			t = (struct taken) { &ways[i], what };
			run_test(taken, &t, "a stream of %s and then %s",
				 operations[what], ways[i].name);
		}
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		run_test(kept_secret, &ways[i],
			 "what is written after %s is not read", ways[i].name);
	for (i = 0; i < ARRAY_SIZE(ways); i++)
		run_test(unreliable, &ways[i],
			 "UC, a stream of WRITE and then %s", ways[i].name);
	for (what = WRITE; what < OPERATIONS; what++)
		run_test(by_the_peer, &what,
			 "%s after SEND with invalidation", operations[what]);
}
