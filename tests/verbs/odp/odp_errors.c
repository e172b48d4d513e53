// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on demand that does not exist or cannot be accessed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "paging.h"

#define RW	(PROT_READ | PROT_WRITE)

/* A page in the middle is not mapped. */
#define HOLE	(8 * PAGE)

static bool with_hole(struct pair *pair, bool local)
{
	if (!paging_up(pair, 16))
		return false;
	unmap((local ? pair->a.buf : pair->b.buf) + HOLE, PAGE);
	return true;
}

/* The rest of the region still works. */
static void fill_hole(struct pair *pair, bool local)
{
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
	CHECK(transferred(pair, IBV_WR_RDMA_WRITE, HOLE));
	CHECK(map_again((local ? pair->a.buf : pair->b.buf) + HOLE, PAGE, RW));
	CHECK(transferred(pair, IBV_WR_RDMA_WRITE, 16 * PAGE));
	CHECK(works(pair));
	pair_down(pair);
}

static const struct hole {
	enum ibv_wr_opcode opcode;
	bool local;
	enum ibv_wc_status status;
} holes[] = {
	{ IBV_WR_RDMA_WRITE, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_RDMA_WRITE, false, IBV_WC_REM_ACCESS_ERR },
	{ IBV_WR_RDMA_READ, true, IBV_WC_LOC_PROT_ERR },
	{ IBV_WR_RDMA_READ, false, IBV_WC_REM_ACCESS_ERR },
};

static void hole(const void *arg)
{
	const struct hole *h = arg;
	struct pair pair;

	REQUIRE(with_hole(&pair, h->local));
	CHECK_CALL(try_rdma(&pair, h->opcode, 16 * PAGE), h->status);
	fill_hole(&pair, h->local);
}

static void atomic_hole(const void *arg)
{
	bool local = arg;
	struct pair pair;

	REQUIRE(with_hole(&pair, local));
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 3, HOLE, HOLE, 1, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 3,
	       .status = local ? IBV_WC_LOC_PROT_ERR : IBV_WC_REM_ACCESS_ERR);
	/* Nothing may have happened to the peer's memory. */
	CHECK(!local || !pair.b.buf[HOLE]);
	fill_hole(&pair, local);
}

/* A mapping from /proc/self/maps: its address, NULL if there is none, and length. */
static void *mapping(const char *name, size_t *length)
{
	FILE *file = fopen("/proc/self/maps", "r");
	char line[300];
	void *at = NULL, *end;

	while (file && !at && fgets(line, sizeof(line), file))
		if (strstr(line, name) && sscanf(line, "%p-%p", &at, &end) == 2)
			*length = (char *)end - (char *)at;
	if (file)
		fclose(file);
	return at;
}

/*
 * Pages of the kernel, which a process may read.  Before 7.x a device may not: they have no
 * struct page.  In no kernel does an attempt cause a warning, which the suite would find.
 */
static void kernel_pages(const void *arg)
{
	struct pair pair;
	struct ibv_mr *mr;
	struct ibv_sge sge;
	struct ibv_send_wr wr;
	size_t at, length = 0;
	struct ibv_wc wc;
	void *pages;

	(void)arg;
	REQUIRE(paging_up(&pair, 1));
	pages = mapping("[vvar", &length);
	if (!pages) {
		pair_down(&pair);
		skip("this kernel has none");
		return;
	}
	mr = ibv_reg_mr(pair.a.pd, pages, length, IBV_ACCESS_ON_DEMAND);
	REQUIRE(mr);
	for (at = 0; at < length; at += PAGE) {
		sge = (struct ibv_sge) { (uintptr_t)pages + at, 64, mr->lkey };
		ibv_advise_mr(pair.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);
		ibv_advise_mr(pair.a.pd, IBV_ADVISE_MR_ADVICE_PREFETCH,
			      IBV_ADVISE_MR_FLAG_FLUSH, &sge, 1);
	}
	wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, 7, &sge, 1, 0);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	CHECK(next_wc(pair.a.scq, &wc) &&
	      (wc.status == IBV_WC_LOC_PROT_ERR || wc.status == IBV_WC_SUCCESS));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

/* The peer gave up before this was known; it does not count later. */
static void forgotten_hole(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(with_hole(&pair, false));
	pair.options.no_rnr_retry = true;
	CHECK(pair_again(&pair));
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 1, HOLE, HOLE, 1, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1,
	       .status = IBV_WC_RNR_RETRY_EXC_ERR);
	CHECK(quiet(pair.a.scq));
	CHECK(map_again(pair.b.buf + HOLE, PAGE, RW));
	pair.options.no_rnr_retry = false;
	CHECK(pair_again(&pair));
	CHECK_CALL(post_atomic(&pair.a, &pair.b, false, 2, HOLE, HOLE, 1, 0), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_FETCH_ADD);
	CHECK(pair.b.buf[HOLE] == 1);
	pair_down(&pair);
}

static void receive_hole(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(with_hole(&pair, false));
	CHECK_CALL(post_recv(&pair.b, 4, HOLE - 100, 3000), 0);
	CHECK_CALL(post_send(&pair.a, 5, 0, 3000, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 4,
	       .status = IBV_WC_LOC_PROT_ERR);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .status = IBV_WC_REM_OP_ERR);
	fill_hole(&pair, false);
}

/* The length of a SEND becomes known with its last packet.  Memory behind it is not needed. */
static void long_buffer(const void *arg)
{
	struct ibv_sge sges[2];
	struct pair pair;

	(void)arg;
	REQUIRE(with_hole(&pair, false));
	fill(pair.a.buf, HOLE, 1);
	CHECK_CALL(post_recv(&pair.b, 4, 0, 16 * PAGE), 0);
	CHECK_CALL(post_send(&pair.a, 5, 0, HOLE, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 4, .length = HOLE, .opcode = IBV_WC_RECV);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 5, .opcode = IBV_WC_SEND);
	CHECK(filled(pair.b.buf, HOLE, 1));

	/* The second entry is beyond the region. */
	discard(pair.b.buf, HOLE);
	sges[0] = piece(&pair.b, 0, 2 * PAGE);
	sges[1] = piece(&pair.b, 16 * PAGE, PAGE);
	CHECK_CALL(post_recv_sge(&pair.b, 6, sges, 2), 0);
	CHECK_CALL(post_send(&pair.a, 7, 0, 2 * PAGE, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 6, .length = 2 * PAGE, .opcode = IBV_WC_RECV);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 7, .opcode = IBV_WC_SEND);
	CHECK(filled(pair.b.buf, 2 * PAGE, 1));

	/* The message does reach the hole. */
	CHECK_CALL(post_recv(&pair.b, 8, 0, 16 * PAGE), 0);
	CHECK_CALL(post_send(&pair.a, 9, 0, HOLE + 1, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 8, .status = IBV_WC_LOC_PROT_ERR);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 9, .status = IBV_WC_REM_OP_ERR);
	fill_hole(&pair, false);
}

static void datagram_hole(const void *arg)
{
	const struct options options = {
		.type = IBV_QPT_UD,
		.mr_access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_ON_DEMAND,
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	sge = piece(&pair.a, HOLE, 100);
	wr = ud_wr(pair.a.ah, pair.b.qp->qp_num, 6, &sge);
	unmap(pair.a.buf + HOLE, PAGE);
	CHECK_CALL(post_one(&pair.a, &wr), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 6,
	       .status = IBV_WC_LOC_PROT_ERR);
	REQUIRE(map_again(pair.a.buf + HOLE, PAGE, RW));
	pair_down(&pair);
}

/* Memory that the kernel itself may not read. */
static void secret(const void *arg)
{
	struct pair pair;
	void *at;
	int fd;

	(void)arg;
	fd = syscall(SYS_memfd_secret, 0);
	if (fd < 0) {
		skip("no memfd_secret()");
		return;
	}
	REQUIRE(paging_up(&pair, 4));
	CHECK(!ftruncate(fd, 4 * PAGE));
	at = mmap(pair.b.buf, 4 * PAGE, RW, MAP_SHARED | MAP_FIXED, fd, 0);
	if (CHECK(at == pair.b.buf)) {
		memset(at, 1, 4 * PAGE);
		CHECK(try_rdma(&pair, IBV_WR_RDMA_READ, PAGE) ==
		      IBV_WC_REM_ACCESS_ERR);
		CHECK(pair_again(&pair));
		CHECK(try_rdma(&pair, IBV_WR_RDMA_WRITE, PAGE) ==
		      IBV_WC_REM_ACCESS_ERR);
	}
	close(fd);
	pair_down(&pair);
}

static int try_register(struct ibv_pd *pd, uint64_t start, size_t length)
{
	struct ibv_mr *mr = ibv_reg_mr(pd, (void *)(uintptr_t)start, length,
				       ON_DEMAND);
	int err = errno;

	return mr ? ibv_dereg_mr(mr) : err;
}

static void registrations(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(paging_up(&pair, 1));
	CHECK_CALL(try_register(pair.b.pd, 0, PAGE), 0);
	CHECK_CALL(try_register(pair.b.pd, -2 * PAGE, PAGE), 0);
	CHECK_CALL(try_register(pair.b.pd, 0, SIZE_MAX), 0);
	pair_down(&pair);
}

/* Addresses that no process has, by a key for all of them. */
static void nowhere(const void *arg)
{
	static const uint64_t places[] = {
		0, PAGE, 1ull << 46, 1ull << 47, 1ull << 63, -PAGE,
	};
	struct pair pair;
	struct ibv_mr *mr;
	uint8_t *buf;
	size_t i;

	(void)arg;
	REQUIRE(paging_up(&pair, 4));
	buf = pair.b.buf;
	CHECK_CALL(ibv_dereg_mr(pair.b.mr), 0);
	mr = ibv_reg_mr(pair.b.pd, NULL, SIZE_MAX, ON_DEMAND);
	pair.b.mr = mr;
	REQUIRE(CHECK(mr));
	for (i = 0; i < ARRAY_SIZE(places); i++) {
		pair.b.buf = (uint8_t *)(uintptr_t)places[i];
		CHECK_CALL(try_rdma(&pair, IBV_WR_RDMA_WRITE, 3000),
			   IBV_WC_REM_ACCESS_ERR);
		CHECK(pair_again(&pair));
		CHECK_CALL(try_rdma(&pair, IBV_WR_RDMA_READ, 3000),
			   IBV_WC_REM_ACCESS_ERR);
		CHECK(pair_again(&pair));
		forget_events(hosts[0].context);
		forget_events(hosts[1].context);
	}
	pair.b.buf = buf;
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(odp_errors)
{
	static const struct test tests[] = {
		{ "WRITE from unmapped memory", hole, &holes[0] },
		{ "WRITE to unmapped memory", hole, &holes[1] },
		{ "READ to unmapped memory", hole, &holes[2] },
		{ "READ from unmapped memory", hole, &holes[3] },
		{ "atomic whose result goes to unmapped memory",
		  atomic_hole, "local" },
		{ "atomic on unmapped memory", atomic_hole },
		{ "atomic on memory that was unmapped until RESET",
		  forgotten_hole },
		{ "SEND to an unmapped receive buffer", receive_hole },
		{ "SEND to a buffer that is unmapped behind the message", long_buffer },
		{ "datagram from unmapped memory", datagram_hole },
		{ "memory of memfd_secret()", secret },
		{ "pages of the kernel", kernel_pages },
		{ "regions of unmapped addresses can be registered",
		  registrations },
		{ "addresses beyond the process's memory", nowhere },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
