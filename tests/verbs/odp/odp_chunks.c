// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A region on demand keeps tables for a limited number of chunks of 1 MiB.  At the
 * limit a new chunk replaces an old one.
 */
#include <string.h>
#include <sys/mman.h>

#include "paging.h"

#define CHUNK	((size_t)1 << 20)
/* SROCE_ODP_MAX_CHUNKS of core/params.h, and a few more */
#define CHUNKS	((size_t)16384 + 32)
#define AT_ONCE	64

/* Makes the first page of each chunk present. */
static bool touch_all(struct pair *pair)
{
	struct ibv_sge sge[AT_ONCE];
	size_t i, j;

	for (i = 0; i < CHUNKS; i += AT_ONCE) {
		size_t n = CHUNKS - i < AT_ONCE ? CHUNKS - i : AT_ONCE;

		for (j = 0; j < n; j++)
			sge[j] = piece(&pair->b, (i + j) * CHUNK, PAGE);
		if (!CHECK_CALL(ibv_advise_mr(pair->b.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
					      IBV_ADVISE_MR_FLAG_FLUSH, sge, n), 0))
			return false;
	}
	return true;
}

/* READ of the first bytes of a chunk, which are zero. */
static void read_chunk(struct pair *pair, size_t chunk)
{
	static const uint8_t zeros[64];

	memset(pair->a.buf, 1, sizeof(zeros));
	CHECK_CALL(post_rdma(&pair->a, &pair->b, IBV_WR_RDMA_READ, 1, 0,
			     chunk * CHUNK, sizeof(zeros), IBV_SEND_SIGNALED), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_READ,
	       .length = sizeof(zeros));
	CHECK(!memcmp(pair->a.buf, zeros, sizeof(zeros)));
}

TEST(odp_chunks, new_chunk_replaces_old_one)
{
	uint8_t *big = mmap(NULL, CHUNKS * CHUNK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	struct side before;
	struct pair pair;
	long faults;

	REQUIRE(CHECK(big != MAP_FAILED));
	REQUIRE(paging_up(&pair, 1));
	before = pair.b;
	pair.b.buf = big;
	pair.b.size = CHUNKS * CHUNK;
	pair.b.mr = ibv_reg_mr(pair.b.pd, big, pair.b.size, ON_DEMAND);
	REQUIRE(CHECK(pair.b.mr));
	REQUIRE(touch_all(&pair));
	CHECK_CALL(statistic(" page_prefetch "), CHUNKS);
	read_chunk(&pair, CHUNKS - 1);
	faults = statistic(" page_faults ");
	read_chunk(&pair, CHUNKS - 1);
	CHECK_CALL(statistic(" page_faults "), faults);
	read_chunk(&pair, 0);
	CHECK_CALL(statistic(" page_faults "), faults + 1);
	fill(pair.a.buf, PAGE, 5);
	CHECK(transferred(&pair, IBV_WR_RDMA_WRITE, PAGE));
	CHECK(filled(big, PAGE, 5));
	CHECK_CALL(ibv_dereg_mr(pair.b.mr), 0);
	pair.b = before;
	CHECK(works(&pair));
	pair_down(&pair);
	munmap(big, CHUNKS * CHUNK);
}
