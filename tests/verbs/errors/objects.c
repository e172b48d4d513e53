// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registering memory that does not exist, and destroying objects that are in use.
 * creation.c has objects that cannot be created.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "errors.h"

#define OBJECT(call, want)						\
	do {								\
		errno = 0;						\
		CHECK(!(call));						\
		CHECK_CALL(errno, want);				\
	} while (0)

struct things {
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
};

static bool things_create(struct things *t)
{
	t->context = hosts[0].context;
	t->pd = ibv_alloc_pd(t->context);
	t->cq = ibv_create_cq(t->context, 16, NULL, NULL, 0);
	return CHECK(t->pd && t->cq);
}

static void things_destroy(struct things *t)
{
	CHECK_CALL(ibv_destroy_cq(t->cq), 0);
	CHECK_CALL(ibv_dealloc_pd(t->pd), 0);
}

/* Memory regions */

static void *pages(size_t length, int prot)
{
	return mmap(NULL, length, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void bad_memory(const void *arg)
{
	char *there = pages(8192, PROT_READ | PROT_WRITE);
	char *fixed = pages(4096, PROT_READ);
	struct things t;

	(void)arg;
	REQUIRE(things_create(&t));
	munmap(there + 4096, 4096);
	OBJECT(ibv_reg_mr(t.pd, there, 8192, 0), EFAULT);
	OBJECT(ibv_reg_mr(t.pd, there + 4096, 1, 0), EFAULT);
	OBJECT(ibv_reg_mr(t.pd, NULL, 4096, 0), EFAULT);
	OBJECT(ibv_reg_mr(t.pd, fixed, 4096, IBV_ACCESS_LOCAL_WRITE), EFAULT);
	OBJECT(ibv_reg_mr(t.pd, (void *)0xffffffff81000000, 4096, 0), EFAULT);
	OBJECT(ibv_reg_mr(t.pd, there, 0, 0), EINVAL);
	OBJECT(ibv_reg_mr(t.pd, (void *)-4096, 8192, 0), EINVAL);
	things_destroy(&t);
}

/* Far more memory than there is: an error, and no crash or hang. */
static void huge_memory(const void *arg)
{
	static const int bits[] = { 40, 46, 50, 56, 62, 63 };
	char *there = pages(4096, PROT_READ | PROT_WRITE);
	struct things t;
	size_t i;

	(void)arg;
	REQUIRE(things_create(&t));
	for (i = 0; i < ARRAY_SIZE(bits); i++) {
		CHECK(!ibv_reg_mr(t.pd, there, 1ul << bits[i], 0));
		CHECK(errno == ENOMEM || errno == EFAULT || errno == EINVAL);
	}
	CHECK(!ibv_reg_mr(t.pd, there, -1ul, 0));
	things_destroy(&t);
}

static void bad_access(const void *arg)
{
	static const struct {
		unsigned int access;
		int err;
	} cases[] = {
		{ IBV_ACCESS_REMOTE_WRITE, EINVAL },
		{ IBV_ACCESS_REMOTE_ATOMIC, EINVAL },
		{ 1 << 11, EINVAL },
		{ 1 << 19 | IBV_ACCESS_LOCAL_WRITE, EINVAL },
	};
	char *there = pages(4096, PROT_READ | PROT_WRITE);
	struct things t;
	size_t i;

	(void)arg;
	REQUIRE(things_create(&t));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		OBJECT(ibv_reg_mr(t.pd, there, 4096, cases[i].access),
		       cases[i].err);
	things_destroy(&t);
}

/* Optional flags: relaxed ordering is accepted and ignored. */
static void optional_access(const void *arg)
{
	char *there = pages(4096, PROT_READ | PROT_WRITE);
	struct things t;
	struct ibv_mr *mr;

	(void)arg;
	REQUIRE(things_create(&t));
	mr = ibv_reg_mr(t.pd, there, 4096,
			ALL_ACCESS | IBV_ACCESS_RELAXED_ORDERING);
	CHECK(mr);
	if (mr)
		CHECK_CALL(ibv_dereg_mr(mr), 0);
	things_destroy(&t);
}

/* An address of its own for the region, as far up as there is. */
static void iova(const void *arg)
{
	static const uint64_t iovas[] = {
		0, 0x10000, 0x7fffffff0000, -65536ull,
	};
	struct ibv_send_wr wr;
	struct ibv_sge sge;
	struct ibv_mr *mr;
	struct pair pair;
	size_t i;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	for (i = 0; i < ARRAY_SIZE(iovas); i++) {
		mr = ibv_reg_mr_iova(pair.b.pd, pair.b.buf, 65536, iovas[i],
				     ALL_ACCESS);
		REQUIRE(CHECK(mr));
		fill(pair.a.buf, 3000, i);
		sge = piece(&pair.a, 0, 3000);
		wr = rdma_wr(&pair.b, IBV_WR_RDMA_WRITE, i, &sge, 1, 0);
		wr.wr.rdma.remote_addr = iovas[i] + 62536;
		wr.wr.rdma.rkey = mr->rkey;
		CHECK_CALL(post_one(&pair.a, &wr), 0);
		EXPECT(pair.a.scq, pair.a.qp, .wr_id = i,
		       .opcode = IBV_WC_RDMA_WRITE);
		CHECK(filled(pair.b.buf + 62536, 3000, i));
		CHECK_CALL(ibv_dereg_mr(mr), 0);
	}
	OBJECT(ibv_reg_mr_iova(pair.b.pd, pair.b.buf, 65536, -4096ull,
			       ALL_ACCESS), EINVAL);
	OBJECT(ibv_reg_mr_iova(pair.b.pd, pair.b.buf, 65536, 5, ALL_ACCESS),
	       EINVAL);
	pair_down(&pair);
}

/* Use */

/* Objects in use stay. */
static void in_use(const void *arg)
{
	struct pair pair;

	(void)arg;
	REQUIRE(pair_up(&pair, NULL));
	CHECK_CALL(ibv_dealloc_pd(pair.a.pd), EBUSY);
	CHECK_CALL(ibv_destroy_cq(pair.a.scq), EBUSY);
	CHECK_CALL(ibv_destroy_cq(pair.a.rcq), EBUSY);
	CHECK_CALL(ibv_destroy_comp_channel(pair.a.channel), EBUSY);
	CHECK(works(&pair));
	CHECK_CALL(ibv_destroy_qp(pair.a.qp), 0);
	pair.a.qp = NULL;
	CHECK_CALL(ibv_dealloc_pd(pair.a.pd), EBUSY);
	pair_down(&pair);
}

/* Handles of another context are not valid. */
static void other_context(const void *arg)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 },
	};
	struct host again;
	struct things t;
	struct ibv_cq *cqs[64];
	int i;

	(void)arg;
	REQUIRE(things_create(&t));
	REQUIRE(CHECK(host_open(&again, hosts[0].name, hosts[0].gid_index)));
	/* A handle that the other context certainly does not have */
	for (i = 0; i < 64; i++)
		cqs[i] = ibv_create_cq(again.context, 1, NULL, NULL, 0);
	attr.send_cq = cqs[63];
	attr.recv_cq = cqs[63];
	OBJECT(ibv_create_qp(t.pd, &attr), ENOENT);
	for (i = 0; i < 64; i++)
		CHECK_CALL(ibv_destroy_cq(cqs[i]), 0);
	CHECK_CALL(ibv_close_device(again.context), 0);
	things_destroy(&t);
}

GROUP(objects)
{
	static const struct test tests[] = {
		{ "MR: memory that is not there", bad_memory },
		{ "MR: far too much", huge_memory },
		{ "MR: access flags", bad_access },
		{ "MR: optional access flags", optional_access },
		{ "MR: addresses of its own", iova },
		{ "in use", in_use },
		{ "objects of another context", other_context },
	};

	bystander_up();
	run_tests(tests, ARRAY_SIZE(tests));
	bystander_is_well();
}
