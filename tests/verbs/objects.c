// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creating, registering and destroying what cannot be, and what is not there.
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

/* Far more than there is: an error, and neither a crash nor a stall. */
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

/* Optional flags are no promise: relaxed ordering is taken and ignored. */
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

/* Queues */

static void bad_cq(const void *arg)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 16 };
	struct ibv_context *c = hosts[0].context;
	struct ibv_device_attr device;

	(void)arg;
	CHECK_CALL(ibv_query_device(c, &device), 0);
	CHECK(device.max_cqe >= 200000);
	OBJECT(ibv_create_cq(c, 0, NULL, NULL, 0), EINVAL);
	OBJECT(ibv_create_cq(c, -1, NULL, NULL, 0), EINVAL);
	OBJECT(ibv_create_cq(c, device.max_cqe + 1, NULL, NULL, 0), EINVAL);
	OBJECT(ibv_create_cq(c, 16, NULL, NULL, c->num_comp_vectors), EINVAL);
	OBJECT(ibv_create_cq(c, 16, NULL, NULL, -1), EINVAL);
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = 1 << 9;
	OBJECT(ibv_create_cq_ex(c, &attr), EOPNOTSUPP);
	attr.comp_mask = 1 << 10;
	attr.flags = 0;
	OBJECT(ibv_create_cq_ex(c, &attr), EOPNOTSUPP);
	attr.comp_mask = 0;
	attr.wc_flags = IBV_WC_EX_WITH_CVLAN;
	OBJECT(ibv_create_cq_ex(c, &attr), EOPNOTSUPP);
}

struct bad_cap {
	const char *name;
	struct ibv_qp_cap cap;
};

static const struct bad_cap bad_caps[] = {
	{ "send requests", { .max_send_wr = 0x10001, .max_recv_wr = 1 } },
	{ "receive requests", { .max_send_wr = 1, .max_recv_wr = 0x10001 } },
	{ "send SGEs", { .max_send_wr = 1, .max_send_sge = 33 } },
	{ "receive SGEs", { .max_recv_wr = 1, .max_recv_sge = 33 } },
	{ "inline data", { .max_send_wr = 1, .max_inline_data = 977 } },
	{ "everything", { -1u, -1u, -1u, -1u, -1u } },
};

static void bad_qp(const void *arg)
{
	struct ibv_qp_init_attr attr = { .qp_type = IBV_QPT_RC };
	struct things t;
	size_t i;

	(void)arg;
	REQUIRE(things_create(&t));
	attr.send_cq = t.cq;
	attr.recv_cq = t.cq;
	for (i = 0; i < ARRAY_SIZE(bad_caps); i++) {
		attr.cap = bad_caps[i].cap;
		OBJECT(ibv_create_qp(t.pd, &attr), EINVAL);
	}
	things_destroy(&t);
}

static void unknown_qp_types(const void *arg)
{
	static const int types[] = {
		IBV_QPT_RAW_PACKET, IBV_QPT_DRIVER, 77,
	};
	struct ibv_qp_init_attr attr = {
		.cap = { 1, 1, 1, 1, 0 },
	};
	struct things t;
	size_t i;

	(void)arg;
	REQUIRE(things_create(&t));
	attr.send_cq = t.cq;
	attr.recv_cq = t.cq;
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		attr.qp_type = types[i];
		OBJECT(ibv_create_qp(t.pd, &attr), EOPNOTSUPP);
	}
	things_destroy(&t);
}

static void unknown_qp_attributes(const void *arg)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_RC, .cap = { 1, 1, 1, 1, 0 },
	};
	struct things t;

	(void)arg;
	REQUIRE(things_create(&t));
	attr.send_cq = t.cq;
	attr.recv_cq = t.cq;
	attr.pd = t.pd;
	/* For RC the RDMA core itself says that there is no such thing. */
	attr.qp_type = IBV_QPT_UD;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS;
	attr.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB;
	OBJECT(ibv_create_qp_ex(t.context, &attr), EOPNOTSUPP);
	attr.qp_type = IBV_QPT_RC;
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_MAX_TSO_HEADER;
	OBJECT(ibv_create_qp_ex(t.context, &attr), EOPNOTSUPP);
	attr.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = IBV_QP_EX_WITH_TSO;
	OBJECT(ibv_create_qp_ex(t.context, &attr), EOPNOTSUPP);
	attr.qp_type = IBV_QPT_UD;
	attr.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE;
	OBJECT(ibv_create_qp_ex(t.context, &attr), EOPNOTSUPP);
	attr.comp_mask = 0;
	OBJECT(ibv_create_qp_ex(t.context, &attr), EINVAL);
	things_destroy(&t);
}

/* Address handles */

static void bad_ah(const void *arg)
{
	struct ibv_ah_attr good = {
		.is_global = 1, .port_num = 1, .grh.hop_limit = 64,
		.grh.sgid_index = hosts[0].gid_index, .grh.dgid = hosts[1].gid,
	};
	struct ibv_ah_attr attr;
	struct things t;
	struct ibv_ah *ah;

	(void)arg;
	REQUIRE(things_create(&t));
	ah = ibv_create_ah(t.pd, &good);
	REQUIRE(CHECK(ah));
	CHECK_CALL(ibv_dealloc_pd(t.pd), EBUSY);
	CHECK_CALL(ibv_destroy_ah(ah), 0);
	attr = good;
	attr.port_num = 2;
	OBJECT(ibv_create_ah(t.pd, &attr), EINVAL);
	attr = good;
	attr.is_global = 0;
	OBJECT(ibv_create_ah(t.pd, &attr), EINVAL);
	attr = good;
	/* The RDMA core says so itself, as in the next test. */
	attr.grh.sgid_index = 200;
	OBJECT(ibv_create_ah(t.pd, &attr), ENODATA);
	things_destroy(&t);
}

/* What is not supported says so. */

static void unsupported(const void *arg)
{
	struct ibv_flow_attr flow = { .type = IBV_FLOW_ATTR_NORMAL };
	struct ibv_rwq_ind_table_init_attr table = {};
	struct ibv_wq_init_attr wq = { .max_wr = 8, .max_sge = 1 };
	struct things t;

	(void)arg;
	REQUIRE(things_create(&t));
	OBJECT(ibv_reg_dmabuf_mr(t.pd, 0, 4096, 0, 0, 0), EINVAL);
	wq.pd = t.pd;
	wq.cq = t.cq;
	OBJECT(ibv_create_wq(t.context, &wq), EOPNOTSUPP);
	OBJECT(ibv_create_rwq_ind_table(t.context, &table), EOPNOTSUPP);
	OBJECT(ibv_create_flow(bystander.a.qp, &flow), EOPNOTSUPP);
	things_destroy(&t);
}

/* What is in use stays. */
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

/* A context has its own handles: those of another one are nothing to it. */
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

void test_objects(void)
{
	static const struct test tests[] = {
		{ "MR: memory that is not there", bad_memory },
		{ "MR: far too much", huge_memory },
		{ "MR: access flags", bad_access },
		{ "MR: optional access flags", optional_access },
		{ "MR: addresses of its own", iova },
		{ "CQ: wrong size, vector, flags", bad_cq },
		{ "QP: wrong sizes", bad_qp },
		{ "QP: types", unknown_qp_types },
		{ "QP: attributes", unknown_qp_attributes },
		{ "AH: port, GRH, GID index, PD in use", bad_ah },
		{ "not supported", unsupported },
		{ "in use", in_use },
		{ "objects of another context", other_context },
	};

	run_tests(tests, ARRAY_SIZE(tests));
}
