// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of several regions in one list, so that their packets share bursts.
 */
#include <string.h>

#include "transfer.h"

#define REGIONS		3
#define REQUESTS	24
#define ROOM		8192	/* of each message */
#define HALF		(REQUESTS * ROOM)

/* Number of the region of the request with that index, and of its second piece. */
static int same(int i)
{
	(void)i;
	return 0;
}

static int in_turn(int i)
{
	return i % REGIONS;
}

static int two_by_two(int i)
{
	return i / 2 % REGIONS;
}

/**
 * struct shape - how a list uses the regions
 * @name: for the test's name
 * @region: region of a request
 * @pieces: pieces of a request, each from the next region
 * @bind: bind a window after every third request
 */
static const struct shape {
	const char *name;
	int (*region)(int i);
	int pieces;
	bool bind;
} shapes[] = {
	{ "one region", same, 1, false },
	{ "regions in turn", in_turn, 1, false },
	{ "regions two by two", two_by_two, 1, false },
	{ "two regions in each request", in_turn, 2, false },
	{ "windows bound between requests", same, 1, true },
	{ "windows bound between requests of several regions", in_turn, 1, true },
};

struct series {
	const struct shape *shape;
	enum ibv_wr_opcode opcode;
};

/* Many packets that are alike, and lengths that are not a multiple of anything. */
static uint32_t length_of(int i)
{
	return i % 3 ? 1024 * (1 + i % 7) : 1031 * (1 + i % 7);
}

static bool add_regions(struct side *side, struct ibv_mr **mrs)
{
	int i;

	for (i = 0; i < REGIONS; i++) {
		mrs[i] = ibv_reg_mr(side->pd, side->buf, side->size,
				    ALL_ACCESS | IBV_ACCESS_MW_BIND);
		if (!CHECK(mrs[i]))
			return false;
	}
	return true;
}

/* The list, in which windows may be bound between the requests. */
static int post_list(struct pair *pair, const struct series *s, struct ibv_mr **mrs,
		     struct ibv_mw *mw)
{
	struct ibv_send_wr wrs[2 * REQUESTS] = {}, *bad;
	struct ibv_sge sges[REQUESTS][2];
	bool reads = s->opcode == IBV_WR_RDMA_READ;
	int i, k, n = 0;

	for (i = 0; i < REQUESTS; i++) {
		uint32_t first = s->shape->pieces == 2 ? length_of(i) / 3 : length_of(i);
		uint64_t from = (uintptr_t)pair->a.buf + (size_t)i * ROOM;
		struct ibv_send_wr *wr = &wrs[n++];

		for (k = 0; k < s->shape->pieces; k++)
			sges[i][k] = (struct ibv_sge) {
				.addr = from + k * first,
				.length = k ? length_of(i) - first : first,
				.lkey = reads ? pair->a.mr->lkey :
						mrs[(s->shape->region(i) + k) % REGIONS]->lkey,
			};
		*wr = (struct ibv_send_wr) {
			.wr_id = i,
			.opcode = s->opcode,
			.sg_list = sges[i],
			.num_sge = s->shape->pieces,
			.send_flags = i == REQUESTS - 1 ? IBV_SEND_SIGNALED : 0,
			.wr.rdma = {
				.remote_addr = (uintptr_t)pair->b.buf + (size_t)i * ROOM,
				.rkey = reads ? mrs[s->shape->region(i)]->rkey :
						pair->b.mr->rkey,
			},
		};
		if (s->shape->bind && i % 3 == 1) {
			wr = &wrs[n++];
			wr->opcode = IBV_WR_BIND_MW;
			wr->bind_mw.mw = mw;
			wr->bind_mw.rkey = ibv_inc_rkey(mw->rkey);
			wr->bind_mw.bind_info.mr = mrs[0];
			wr->bind_mw.bind_info.addr = from;
			wr->bind_mw.bind_info.length = ROOM;
			wr->bind_mw.bind_info.mw_access_flags = IBV_ACCESS_REMOTE_READ;
			wr[1].opcode = IBV_WR_LOCAL_INV;
			wr[1].invalidate_rkey = wr->bind_mw.rkey;
			mw->rkey = wr->bind_mw.rkey;
			n++;
		}
	}
	for (i = 0; i + 1 < n; i++)
		wrs[i].next = &wrs[i + 1];
	return ibv_post_send(pair->a.qp, wrs, &bad);
}

static void series(const void *arg)
{
	const struct series *s = arg;
	const struct options options = { .size = HALF, .wr = 2 * REQUESTS };
	bool reads = s->opcode == IBV_WR_RDMA_READ;
	struct ibv_mr *mrs[REGIONS];
	struct side *from, *to;
	struct ibv_mw *mw;
	struct pair pair;
	int i, round;

	REQUIRE(pair_up(&pair, &options));
	from = reads ? &pair.b : &pair.a;
	to = reads ? &pair.a : &pair.b;
	REQUIRE(add_regions(from, mrs));
	mw = ibv_alloc_mw(pair.a.pd, IBV_MW_TYPE_2);
	REQUIRE(CHECK(mw));
	for (round = 0; round < 4; round++) {
		for (i = 0; i < REQUESTS; i++)
			fill(from->buf + i * ROOM, ROOM, 100 * round + i);
		memset(to->buf, 0, HALF);
		CHECK_CALL(post_list(&pair, s, mrs, mw), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = REQUESTS - 1,
		       .opcode = reads ? IBV_WC_RDMA_READ : IBV_WC_RDMA_WRITE,
		       .length = length_of(REQUESTS - 1));
		for (i = 0; i < REQUESTS; i++) {
			CHECK(filled(to->buf + i * ROOM, length_of(i), 100 * round + i));
			CHECK(!to->buf[i * ROOM + length_of(i)]);
		}
	}
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
	for (i = 0; i < REGIONS; i++)
		CHECK_CALL(ibv_dereg_mr(mrs[i]), 0);
	pair_down(&pair);
}

GROUP(regions)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(shapes); i++)
		run_test(series, &(const struct series) { &shapes[i], IBV_WR_RDMA_WRITE },
			 "WRITEs, %s", shapes[i].name);
	for (i = 0; i < 3; i++)
		run_test(series, &(const struct series) { &shapes[i], IBV_WR_RDMA_READ },
			 "READs, %s", shapes[i].name);
}
