// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Modules of other releases, and an older libibverbs.  The provider refuses features that
 * they do not have, and ignores features of a module that it does not know itself.
 */
#include "fixture.h"

static void open_or_import(struct fixture *fx, bool import)
{
	fake.bad_request = false;
	fx->context = import ? fake_import() : fake_open();
}

static struct ibv_qp *qp_with(const struct fixture *fx, uint64_t ops)
{
	struct ibv_qp_init_attr_ex attr = fixture_qp_attr(fx, IBV_QPT_RC);

	attr.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
	attr.send_ops_flags = ops;
	errno = 0;
	return ibv_create_qp_ex(fx->context, &attr);
}

static void use_base(struct fixture *fx)
{
	struct ibv_qp *qp;
	struct ibv_mr *mr;

	fx->pd = ibv_alloc_pd(fx->context);
	fx->cq = ibv_create_cq(fx->context, 8, NULL, NULL, 0);
	mr = ibv_reg_mr(fx->pd, fx, sizeof(*fx), IBV_ACCESS_LOCAL_WRITE);
	qp = qp_with(fx, IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE);
	ok(fx->pd && fx->cq && mr && qp, "objects are created");
	ok(!ibv_destroy_qp(qp) && !ibv_dereg_mr(mr), "objects are destroyed");
}

static void end(struct fixture *fx)
{
	ibv_destroy_cq(fx->cq);
	ibv_dealloc_pd(fx->pd);
	fake_close(fx->context);
}

static void newer_module(bool import)
{
	struct fixture fx;
	struct ibv_mr *mr;

	memset(&fake, 0, sizeof(fake));
	fake.newer = true;
	open_or_import(&fx, import);
	ok(fx.context && !fake.bad_request, "a newer module is accepted%s",
	   import ? " in an import" : "");
	use_base(&fx);
	mr = ibv_alloc_null_mr(fx.pd);
	ok(mr && !ibv_dereg_mr(mr), "a newer module has the features of this ABI");
	end(&fx);
}

static void module_without_features(bool import)
{
	struct ibv_alloc_dm_attr dm_attr = { .length = 64 };
	unsigned int calls;
	struct fixture fx;

	memset(&fake, 0, sizeof(fake));
	fake.lacks = SROCE_FEATURE_NULL_MR | SROCE_FEATURE_DM;
	open_or_import(&fx, import);
	ok(fx.context, "a module without some features is accepted%s",
	   import ? " in an import" : "");
	use_base(&fx);
	calls = fake.calls;
	errno = 0;
	ok(!ibv_alloc_null_mr(fx.pd) && errno == EOPNOTSUPP,
	   "a null MR is refused without the feature");
	errno = 0;
	ok(!ibv_alloc_dm(fx.context, &dm_attr) && errno == EOPNOTSUPP,
	   "device memory is refused without the feature");
	errno = 0;
	ok(!ibv_import_dm(fx.context, 1) && errno == EOPNOTSUPP,
	   "importing device memory is refused without the feature");
	ok(fake.calls == calls, "a missing feature is refused without a system call");
	end(&fx);
}

static void module_without_opcodes(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ }, *bad;
	struct fixture fx;
	struct ibv_qp *qp;

	memset(&fake, 0, sizeof(fake));
	fake.lacks_opcodes = 1 << SROCE_WR_ATOMIC_WRITE | 1 << SROCE_WR_FLUSH |
			     1 << SROCE_WR_RDMA_READ;
	open_or_import(&fx, false);
	use_base(&fx);
	if (SROCE_QP_EX_WITH_ATOMIC_WRITE)
		ok(!qp_with(&fx, SROCE_QP_EX_WITH_ATOMIC_WRITE) && errno == EOPNOTSUPP,
		   "a QP with an opcode that the module lacks is refused");
	ok(!qp_with(&fx, IBV_QP_EX_WITH_RDMA_READ) && errno == EOPNOTSUPP,
	   "a QP with READ is refused if the module lacks it");
	if (SROCE_QP_EX_WITH_FLUSH)
		ok(!qp_with(&fx, SROCE_QP_EX_WITH_FLUSH) &&
		   errno == EOPNOTSUPP, "a QP with FLUSH is refused if the module lacks it");
	qp = fixture_qp(&fx, IBV_QPT_RC, false);
	ok(ibv_post_send(qp, &wr, &bad) && bad == &wr && !fake.kicks,
	   "ibv_post_send() refuses an opcode that the module lacks");
	ibv_destroy_qp(qp);
	end(&fx);
}

#ifdef SROCE_HAVE_ATOMIC_WRITE
/* libibverbs looks for the extended interface in the word behind struct ibv_qp_ex. */
static bool found_by_library(const struct ibv_qp *qp)
{
	return *(uint32_t *)((char *)qp + fake.qp_ex_size) == VERBS_QP_EX;
}

/* A libibverbs whose struct ibv_qp_ex has @size bytes: it lacks @missing, but has @ops. */
static void older_library(size_t size, uint64_t ops, uint64_t missing,
			  const char *what)
{
	struct fixture fx;
	struct ibv_qp *qp;
	int mapped;

	fixture_open(&fx);
	fake.qp_ex_size = size;
	qp = qp_with(&fx, ops);
	ok(qp && found_by_library(qp),
	   "a libibverbs without %s finds the extended interface", what);
	ibv_destroy_qp(qp);
	mapped = fake.mapped;
	ok(!qp_with(&fx, missing) && errno == EOPNOTSUPP &&
	   fake.mapped == mapped, "a QP with %s is refused there", what);
	fixture_close(&fx);
}

static void older_libraries(void)
{
	older_library(offsetof(struct ibv_qp_ex, wr_atomic_write),
		      IBV_QP_EX_WITH_SEND, IBV_QP_EX_WITH_ATOMIC_WRITE,
		      "atomic WRITE");
#ifdef SROCE_HAVE_FLUSH
	older_library(offsetof(struct ibv_qp_ex, wr_flush),
		      IBV_QP_EX_WITH_ATOMIC_WRITE, IBV_QP_EX_WITH_FLUSH, "FLUSH");
#endif
}
#endif

static void other_cqe_size(bool import)
{
	struct fixture fx;

	memset(&fake, 0, sizeof(fake));
	fake.cqe_size = 128;
	errno = 0;
	open_or_import(&fx, import);
	ok(!fx.context && errno == EPROTO,
	   "a module with another CQE size is refused%s",
	   import ? " in an import" : "");
}

GROUP(versions)
{
	newer_module(false);
	newer_module(true);
	module_without_features(false);
	module_without_features(true);
	module_without_opcodes();
	other_cqe_size(false);
	other_cqe_size(true);
#ifdef SROCE_HAVE_ATOMIC_WRITE
	older_libraries();
#endif
}
