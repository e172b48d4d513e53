// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: re-registration, and every flag.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "transfer.h"
#include "resources.h"

#define LENGTH	3000

/* The result of a WRITE to side b's memory at @addr by @key. */
static void write_to(struct pair *pair, uint64_t addr, uint32_t key,
		     enum ibv_wc_status status)
{
	struct ibv_sge sge = piece(&pair->a, 0, LENGTH);
	struct ibv_send_wr wr = {
		.wr_id = addr,
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma.remote_addr = addr,
		.wr.rdma.rkey = key,
	};

	fill(pair->a.buf, LENGTH, addr);
	CHECK_CALL(post_one(&pair->a, &wr), 0);
	EXPECT(pair->a.scq, pair->a.qp, .wr_id = addr, .status = status,
	       .opcode = IBV_WC_RDMA_WRITE);
}

static void refused(struct pair *pair, uint64_t addr, uint32_t key)
{
	write_to(pair, addr, key, IBV_WC_REM_ACCESS_ERR);
	CHECK(pair_again(pair));
	forget_events(hosts[0].context);
	forget_events(hosts[1].context);
}

static void accepted(struct pair *pair, const void *at, uint32_t key)
{
	uint64_t addr = (uintptr_t)at;

	write_to(pair, addr, key, IBV_WC_SUCCESS);
	CHECK(filled(at, LENGTH, addr));
}

static void rereg_access(const void *arg)
{
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	mr = pair.b.mr;
	accepted(&pair, pair.b.buf, mr->rkey);
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				IBV_ACCESS_LOCAL_WRITE), 0);
	refused(&pair, (uintptr_t)pair.b.buf, mr->rkey);
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				ALL_ACCESS), 0);
	accepted(&pair, pair.b.buf + 4096, mr->rkey);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Pinned for reading, and then changed to allow writes. */
static void rereg_writable(const void *arg)
{
	const struct options options = { .mr_access = IBV_ACCESS_REMOTE_READ };
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	mr = pair.b.mr;
	refused(&pair, (uintptr_t)pair.b.buf, mr->rkey);
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
				ALL_ACCESS), 0);
	accepted(&pair, pair.b.buf, mr->rkey);
	pair_down(&pair);
}

static void rereg_pd(const void *arg)
{
	struct ibv_pd *pd;
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	mr = pair.b.mr;
	pd = ibv_alloc_pd(hosts[1].context);
	REQUIRE(CHECK(pd));
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, NULL, 0, 0), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), EBUSY);
	refused(&pair, (uintptr_t)pair.b.buf, mr->rkey);
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pair.b.pd, NULL, 0,
				0), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	accepted(&pair, pair.b.buf, mr->rkey);
	pair_down(&pair);
}

static void rereg_translation(const void *arg)
{
	const size_t size = 1 << 20;
	struct pair pair;
	struct ibv_mr *mr;
	uint8_t *other;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	mr = pair.b.mr;
	other = mmap(NULL, size, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(CHECK(other != MAP_FAILED));
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
				other + 100, size - 100, 0), 0);
	CHECK(mr->addr == other + 100 && mr->length == size - 100);
	refused(&pair, (uintptr_t)pair.b.buf, mr->rkey);
	refused(&pair, (uintptr_t)other, mr->rkey);
	accepted(&pair, other + 100, mr->rkey);
	accepted(&pair, other + size - LENGTH, mr->rkey);
	/* A call that fails changes nothing. */
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, NULL,
			   (void *)4096, 4096, 0));
	accepted(&pair, other + 5000, mr->rkey);
	/* All at once, and back. */
	CHECK_CALL(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION |
				IBV_REREG_MR_CHANGE_ACCESS, NULL, pair.b.buf,
				pair.b.size, ALL_ACCESS), 0);
	munmap(other, size);
	accepted(&pair, pair.b.buf, mr->rkey);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* Addresses are offsets, for the peer and for local access. */
static void zero_based(const void *arg)
{
	struct pair pair;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	const size_t at = 777, size = 20000;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	mr = ibv_reg_mr(pair.b.pd, pair.b.buf + at, size,
			ALL_ACCESS | IBV_ACCESS_ZERO_BASED);
	REQUIRE(CHECK(mr));
	write_to(&pair, 0, mr->rkey, IBV_WC_SUCCESS);
	CHECK(filled(pair.b.buf + at, LENGTH, 0));
	write_to(&pair, size - LENGTH, mr->rkey, IBV_WC_SUCCESS);
	CHECK(filled(pair.b.buf + at + size - LENGTH, LENGTH, size - LENGTH));
	refused(&pair, size - LENGTH + 1, mr->rkey);
	refused(&pair, (uintptr_t)pair.b.buf + at, mr->rkey);
	sge = (struct ibv_sge) { .addr = 5, .length = 64, .lkey = mr->lkey };
	CHECK_CALL(post_recv_sge(&pair.b, 3, &sge, 1), 0);
	fill(pair.a.buf, 64, 8);
	CHECK_CALL(post_send(&pair.a, 4, 0, 64, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 3, .opcode = IBV_WC_RECV,
	       .length = 64);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4, .opcode = IBV_WC_SEND);
	CHECK(filled(pair.b.buf + at + 5, 64, 8));
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	pair_down(&pair);
}

/* SGE lists in which one entry is a null region. */
static void null_region(const void *arg)
{
	const size_t nothing = 70000, size = 200000;
	const struct options options = { .size = 1 << 18 };
	struct ibv_sge sge[3];
	struct pair pair;
	struct ibv_mr *mr;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	mr = ibv_alloc_null_mr(pair.a.pd);
	REQUIRE(CHECK(mr));
	sge[0] = piece(&pair.a, 0, 100);
	sge[1] = (struct ibv_sge) { 0x777, nothing, mr->lkey };
	sge[2] = piece(&pair.a, 100, 5000);
	fill(pair.a.buf, 5100, 4);
	memset(pair.b.buf, 0xee, size);
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 1, .sg_list = sge, .num_sge = 3,
			.opcode = IBV_WR_RDMA_WRITE,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)pair.b.buf,
				     pair.b.mr->rkey } }), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 1, .opcode = IBV_WC_RDMA_WRITE);
	for (i = 100; i < 100 + nothing && !pair.b.buf[i]; i++)
		;
	CHECK(i == 100 + nothing);
	CHECK(!memcmp(pair.b.buf, pair.a.buf, 100));
	CHECK(!memcmp(pair.b.buf + i, pair.a.buf + 100, 5000));
	/* The other way around: data for the middle entry is discarded. */
	fill(pair.b.buf, size, 8);
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 2, .sg_list = sge, .num_sge = 3,
			.opcode = IBV_WR_RDMA_READ,
			.send_flags = IBV_SEND_SIGNALED,
			.wr.rdma = { (uintptr_t)pair.b.buf,
				     pair.b.mr->rkey } }), 0);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_RDMA_READ,
	       .length = 5100 + nothing);
	CHECK(!memcmp(pair.b.buf, pair.a.buf, 100));
	CHECK(!memcmp(pair.b.buf + 100 + nothing, pair.a.buf + 100, 5000));
	/* It still reads as zero, from any address. */
	sge[1].addr = -100ull;
	CHECK_CALL(post_recv(&pair.b, 3, 0, nothing), 0);
	CHECK_CALL(post_one(&pair.a, &(struct ibv_send_wr) {
			.wr_id = 4, .sg_list = sge + 1, .num_sge = 1,
			.opcode = IBV_WR_SEND,
			.send_flags = IBV_SEND_SIGNALED }), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 3, .opcode = IBV_WC_RECV,
	       .length = nothing);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 4, .opcode = IBV_WC_SEND);
	for (i = 0; i < nothing && !pair.b.buf[i]; i++)
		;
	CHECK(i == nothing);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* As a receive buffer; and remote access, which is refused. */
static void null_received(const void *arg)
{
	struct ibv_sge sge;
	struct pair pair;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	mr = ibv_alloc_null_mr(pair.b.pd);
	REQUIRE(CHECK(mr));
	sge = (struct ibv_sge) { .length = 30000, .lkey = mr->lkey };
	CHECK_CALL(post_recv_sge(&pair.b, 1, &sge, 1), 0);
	CHECK_CALL(post_send(&pair.a, 2, 0, 30000, IBV_SEND_SIGNALED), 0);
	EXPECT(pair.b.rcq, pair.b.qp, .wr_id = 1, .opcode = IBV_WC_RECV,
	       .length = 30000);
	EXPECT(pair.a.scq, pair.a.qp, .wr_id = 2, .opcode = IBV_WC_SEND);
	refused(&pair, 0, mr->lkey);
	CHECK(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   ALL_ACCESS) == IBV_REREG_MR_ERR_INPUT);
	CHECK_CALL(ibv_dereg_mr(mr), 0);
	CHECK(works(&pair));
	pair_down(&pair);
}

/* The largest addresses that the region can have, and the smallest. */
static void iova(const void *arg)
{
	static const uint64_t iovas[] = {
		0, 0x10000, 0x7fffffff0000, -65536ull,
	};
	struct ibv_mr *mr;
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		mr = ibv_reg_mr_iova(pair.b.pd, pair.b.buf, 65536, iovas[i],
				     ALL_ACCESS);
		REQUIRE(CHECK(mr));
		write_to(&pair, iovas[i] + 60000, mr->rkey, IBV_WC_SUCCESS);
		CHECK(filled(pair.b.buf + 60000, LENGTH, iovas[i] + 60000));
		CHECK_CALL(ibv_dereg_mr(mr), 0);
	}
	pair_down(&pair);
}

/* Far more memory than there is: an error, and no crash or hang. */
static void huge(const void *arg)
{
	static const int bits[] = { 40, 46, 50, 56, 62, 63 };
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		CHECK(!ibv_reg_mr(pair.a.pd, pair.a.buf, 1ul << bits[i], 0));
		CHECK(errno == ENOMEM || errno == EFAULT || errno == EINVAL);
	}
	pair_down(&pair);
}

/* A flag that a driver may ignore. */
static void relaxed_ordering(const void *arg)
{
	const struct options options = {
		.mr_access = ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING,
	};
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, &options));
	CHECK(works(&pair));
	pair_down(&pair);
}

GROUP(memory)
{
	static const struct test tests[] = {
		{ "ibv_rereg_mr(): other access flags", rereg_access },
		{ "ibv_rereg_mr(): pages that were read-only become writable",
		  rereg_writable },
		{ "ibv_rereg_mr(): another PD", rereg_pd },
		{ "ibv_rereg_mr(): another buffer", rereg_translation },
		{ "MR: zero-based addresses", zero_based },
		{ "MR: null region in WRITEs, READs and SENDs", null_region },
		{ "MR: null region as a receive buffer", null_received },
		{ "MR: lowest and highest virtual addresses", iova },
		{ "MR: far more memory than there is", huge },
		{ "MR: relaxed ordering is accepted", relaxed_ordering },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
