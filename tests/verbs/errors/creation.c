// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that sroce does not create or change, because of sizes, flags or
 * combinations.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "misuse.h"

static struct ibv_device_attr limits;

/* Sizes: 0, one too many, and the largest values of the field. */
struct size {
	const char *name;
	uint32_t value;
};

#define TOO_MANY(limit)							\
	{ "one too many", (limit) + 1 }, { "2^31", 0x80000000 },	\
	{ "2^32 - 1", 0xffffffff }

static const char *named(const char *what, const struct size *size)
{
	static char text[100];

	snprintf(text, sizeof(text), "%s %s", what, size->name);
	return text;
}

/* Regions */

static int reg(struct ibv_pd *pd, uint64_t at, uint64_t length, uint64_t iova,
	       unsigned int access)
{
	return NONE(ibv_reg_mr_iova2(pd, (void *)(uintptr_t)at, length, iova,
				     access));
}

/* One page is mapped, with @prot. */
static int reg_mapped(struct things *t, int prot, size_t length,
		      unsigned int access)
{
	char *at = mmap(NULL, 8192, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err;

	munmap(at + 4096, 4096);
	err = NONE(ibv_reg_mr(t->pd, at, length, access));
	munmap(at, 4096);
	return err;
}

static void regions(struct things *t)
{
	const uint64_t at = (uintptr_t)t->buf;
	const unsigned int odp = IBV_ACCESS_ON_DEMAND;

	REFUSED("ibv_reg_mr", "length 0", EINVAL, reg(t->pd, at, 0, at, 0));
	REFUSED("ibv_reg_mr", "length 2^63", EINVAL,
		reg(t->pd, at, 1ull << 63, at, 0));
	REFUSED("ibv_reg_mr", "length 2^64 - 1", EINVAL,
		reg(t->pd, at, -1ull, at, 0));
	REFUSED("ibv_reg_mr", "address not mapped", EFAULT,
		reg(t->pd, 4096, 4096, 4096, 0));
	REFUSED("ibv_reg_mr", "the last page not mapped", EFAULT,
		reg_mapped(t, PROT_READ | PROT_WRITE, 8192, 0));
	REFUSED("ibv_reg_mr", "local write to read-only memory", EFAULT,
		reg_mapped(t, PROT_READ, 4096, IBV_ACCESS_LOCAL_WRITE));
	REFUSED("ibv_reg_mr", "the kernel's memory", EFAULT,
		reg(t->pd, 0xffffffff81000000, 4096, 0xffffffff81000000, 0));
	REFUSED("ibv_reg_mr", "addresses wrap", EINVAL,
		reg(t->pd, -4096ull, 8192, -4096ull, 0));
	REFUSED("ibv_reg_mr_iova", "addresses wrap", EINVAL,
		reg(t->pd, at, 8192, -4096ull, 0));
	REFUSED("ibv_reg_mr, ODP", "length 0", EINVAL,
		reg(t->pd, at, 0, at, odp));
	REFUSED("ibv_reg_mr, ODP", "addresses wrap", EINVAL,
		reg(t->pd, -4096ull, 8192, -4096ull, odp));
	REFUSED("ibv_reg_mr, implicit ODP", "not from address 0", EINVAL,
		reg(t->pd, at, -1ull, at, odp));
}

static int rereg(struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *at,
		 size_t length, int access)
{
	errno = 0;
	return ibv_rereg_mr(mr, flags, pd, at, length, access) ? errno : 0;
}

static void changed_regions(struct things *t)
{
	const int moved = IBV_REREG_MR_CHANGE_TRANSLATION;
	const int access = IBV_REREG_MR_CHANGE_ACCESS;
	struct ibv_mr *nothing = ibv_alloc_null_mr(t->pd);
	if (!CHECK(nothing))
		return;
	REFUSED("ibv_rereg_mr", "length 0", EINVAL,
		rereg(t->mr, moved, NULL, t->buf, 0, 0));
	REFUSED("ibv_rereg_mr", "length 2^63", EINVAL,
		rereg(t->mr, moved, NULL, t->buf, 1ul << 63, 0));
	REFUSED("ibv_rereg_mr", "address not mapped", EFAULT,
		rereg(t->mr, moved, NULL, (void *)4096, 4096, 0));
	REFUSED("ibv_rereg_mr", "of a null MR", EINVAL,
		rereg(nothing, access, NULL, NULL, 0, ALL_ACCESS));
	CHECK_CALL(ibv_dereg_mr(nothing), 0);
}

static int alloc_dm(struct things *t, size_t length, uint32_t align,
		    uint32_t mask)
{
	return NONE(ibv_alloc_dm(t->context, &(struct ibv_alloc_dm_attr) {
			.length = length, .log_align_req = align,
			.comp_mask = mask }));
}

static void device_memory(struct things *t)
{
	uint32_t word = 0;

	REFUSED("ibv_alloc_dm", "length 0", EINVAL, alloc_dm(t, 0, 0, 0));
	REFUSED("ibv_alloc_dm", "length 2^40", EINVAL,
		alloc_dm(t, 1ul << 40, 0, 0));
	REFUSED("ibv_alloc_dm", "length 2^64 - 1", EINVAL,
		alloc_dm(t, -1ul, 0, 0));
	REFUSED("ibv_alloc_dm", "aligned to more than a page", EOPNOTSUPP,
		alloc_dm(t, 4, 13, 0));
	REFUSED("ibv_alloc_dm", "aligned to 2^(2^32 - 1)", EOPNOTSUPP,
		alloc_dm(t, 4, -1u, 0));
	REFUSED("ibv_alloc_dm", "an unknown attribute", EOPNOTSUPP,
		alloc_dm(t, 4, 0, 1));
	REFUSED("ibv_reg_dm_mr", "on demand", EOPNOTSUPP,
		NONE(ibv_reg_dm_mr(t->pd, t->dm, 0, 8, IBV_ACCESS_ZERO_BASED |
				   IBV_ACCESS_ON_DEMAND)));
	REFUSED("ibv_memcpy_to_dm", "beyond its end", EINVAL,
		ibv_memcpy_to_dm(t->dm, 97, &word, 4));
	REFUSED("ibv_memcpy_from_dm", "offset and length wrap", EINVAL,
		ibv_memcpy_from_dm(&word, t->dm, -2ull, 4));
}

/* Completion queues */

static int make_cq(struct things *t, struct ibv_cq_init_attr_ex attr)
{
	struct ibv_cq_ex *cq;

	errno = 0;
	cq = ibv_create_cq_ex(t->context, &attr);
	if (!cq)
		return errno;
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	return 0;
}

static int moderate(struct things *t, uint32_t mask)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = mask };

	return ibv_modify_cq(t->cq, &attr);
}

static void completion_queues(struct things *t)
{
	const struct size sizes[] = {
		{ "0", 0 }, TOO_MANY(limits.max_cqe),
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		REFUSED("ibv_create_cq", named("entries:", &sizes[i]), EINVAL,
			NONE(ibv_create_cq(t->context, sizes[i].value, NULL,
					   NULL, 0)));
		REFUSED("ibv_create_cq_ex", named("entries:", &sizes[i]),
			EINVAL, make_cq(t, (struct ibv_cq_init_attr_ex) {
				.cqe = sizes[i].value }));
		REFUSED("ibv_resize_cq", named("entries:", &sizes[i]), EINVAL,
			ibv_resize_cq(t->cq, sizes[i].value));
	}
	REFUSED("ibv_create_cq_ex", "an unknown attribute", EOPNOTSUPP,
		make_cq(t, (struct ibv_cq_init_attr_ex) {
			.cqe = 4, .comp_mask = 1 << 10 }));
	REFUSED("ibv_create_cq_ex", "an unknown flag", EOPNOTSUPP,
		make_cq(t, (struct ibv_cq_init_attr_ex) {
			.cqe = 4, .flags = 1 << 9,
			.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS }));
	REFUSED("ibv_create_cq_ex", "an unknown field", EOPNOTSUPP,
		make_cq(t, (struct ibv_cq_init_attr_ex) {
			.cqe = 4, .wc_flags = IBV_WC_EX_WITH_CVLAN }));
	REFUSED("ibv_modify_cq", "an unknown attribute", EINVAL,
		moderate(t, 1 << 5));
}

static int poll_ex(struct things *t, uint32_t mask)
{
	struct ibv_cq_init_attr_ex init = { .cqe = 4 };
	struct ibv_poll_cq_attr attr = { .comp_mask = mask };
	struct ibv_cq_ex *cq = ibv_create_cq_ex(t->context, &init);
	int err;

	if (!CHECK(cq))
		return -1;
	err = ibv_start_poll(cq, &attr);
	ibv_destroy_cq(ibv_cq_ex_to_cq(cq));
	return err;
}

static void polling(struct things *t)
{
	struct ibv_wc wc;

	REFUSED("ibv_poll_cq", "the CQ is empty", 0, ibv_poll_cq(t->cq, 1, &wc));
	REFUSED("ibv_poll_cq", "0 entries requested", 0,
		ibv_poll_cq(t->cq, 0, &wc));
	REFUSED("ibv_start_poll", "the CQ is empty", ENOENT, poll_ex(t, 0));
	REFUSED("ibv_start_poll", "an unknown attribute", EINVAL,
		poll_ex(t, 1));
}

/* Shared receive queues */

static int make_srq(struct things *t, uint32_t wr, uint32_t sge)
{
	struct ibv_srq_init_attr attr = {
		.attr = { .max_wr = wr, .max_sge = sge },
	};

	return NONE(ibv_create_srq(t->pd, &attr));
}

static int make_srq_ex(struct things *t, struct ibv_srq_init_attr_ex attr)
{
	struct ibv_srq *srq;

	attr.pd = t->pd;
	if (!attr.attr.max_wr)
		attr.attr.max_wr = 4;
	errno = 0;
	srq = ibv_create_srq_ex(t->context, &attr);
	if (!srq)
		return errno;
	ibv_destroy_srq(srq);
	return 0;
}

static int change_srq(struct ibv_srq *srq, int mask, uint32_t wr,
		      uint32_t limit)
{
	struct ibv_srq_attr attr = { .max_wr = wr, .srq_limit = limit };

	return ibv_modify_srq(srq, &attr, mask);
}

static void shared_sizes(struct things *t)
{
	const struct size sizes[] = {
		{ "0", 0 }, TOO_MANY(limits.max_srq_wr),
	};
	const struct size pieces[] = { TOO_MANY(limits.max_srq_sge) };
	const struct size most[] = { TOO_MANY(4) };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		REFUSED("ibv_create_srq", named("requests:", &sizes[i]), EINVAL,
			make_srq(t, sizes[i].value, 1));
		REFUSED("ibv_modify_srq", named("requests:", &sizes[i]), EINVAL,
			change_srq(t->srq, IBV_SRQ_MAX_WR, sizes[i].value, 0));
	}
	for (i = 0; i < ARRAY_SIZE(pieces); i++)
		REFUSED("ibv_create_srq", named("SGEs:", &pieces[i]), EINVAL,
			make_srq(t, 4, pieces[i].value));
	for (i = 0; i < ARRAY_SIZE(most); i++)
		REFUSED("ibv_modify_srq", named("limit:", &most[i]), EINVAL,
			change_srq(t->srq, IBV_SRQ_LIMIT, 0, most[i].value));
}

static void shared_queues(struct things *t)
{
	const uint32_t all = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ;
	uint32_t number;

	shared_sizes(t);
	REFUSED("ibv_modify_srq", "an unknown attribute", EINVAL,
		change_srq(t->srq, 1 << 7, 0, 0));
	REFUSED("ibv_modify_srq", "a limit above the new size", EINVAL,
		change_srq(t->srq, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR, 2, 3));
	REFUSED("ibv_create_srq_ex", "type tag matching", EOPNOTSUPP,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all, .srq_type = IBV_SRQT_TM,
			.xrcd = t->xrcd, .cq = t->cq }));
	REFUSED("ibv_create_srq_ex", "an unknown type", EOPNOTSUPP,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all, .srq_type = 77,
			.xrcd = t->xrcd, .cq = t->cq }));
	REFUSED("ibv_create_srq_ex", "an unknown attribute", EOPNOTSUPP,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all | 1 << 20, .srq_type = IBV_SRQT_XRC,
			.xrcd = t->xrcd, .cq = t->cq }));
	REFUSED("ibv_create_srq_ex, XRC", "no CQ", EINVAL,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all & ~IBV_SRQ_INIT_ATTR_CQ,
			.srq_type = IBV_SRQT_XRC, .xrcd = t->xrcd }));
	REFUSED("ibv_create_srq_ex, XRC", "no domain", EINVAL,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all & ~IBV_SRQ_INIT_ATTR_XRCD,
			.srq_type = IBV_SRQT_XRC, .cq = t->cq }));
	REFUSED("ibv_create_srq_ex, XRC", "requests: one too many", EINVAL,
		make_srq_ex(t, (struct ibv_srq_init_attr_ex) {
			.comp_mask = all, .srq_type = IBV_SRQT_XRC,
			.attr.max_wr = limits.max_srq_wr + 1,
			.xrcd = t->xrcd, .cq = t->cq }));
	REFUSED("ibv_get_srq_num", "not an XRC SRQ", EINVAL,
		ibv_get_srq_num(t->srq, &number));
}

/* Queue pairs */

struct bad_cap {
	const char *what;
	size_t at;
	uint32_t limit;
};

static void caps(struct things *t)
{
	const struct bad_cap bad[] = {
		{ "send requests:", offsetof(struct ibv_qp_cap, max_send_wr),
		  limits.max_qp_wr },
		{ "receive requests:", offsetof(struct ibv_qp_cap, max_recv_wr),
		  limits.max_qp_wr },
		{ "send SGEs:", offsetof(struct ibv_qp_cap, max_send_sge),
		  limits.max_sge },
		{ "receive SGEs:", offsetof(struct ibv_qp_cap, max_recv_sge),
		  limits.max_sge },
		/* No attribute of the device has this limit. */
		{ "inline bytes:", offsetof(struct ibv_qp_cap, max_inline_data),
		  976 },
	};
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		const struct size sizes[] = { TOO_MANY(bad[i].limit) };

		for (j = 0; j < ARRAY_SIZE(sizes); j++) {
			struct ibv_qp_init_attr attr = {
				.send_cq = t->cq, .recv_cq = t->cq,
				.qp_type = IBV_QPT_RC,
			};

			memcpy((char *)&attr.cap + bad[i].at, &sizes[j].value,
			       sizeof(uint32_t));
			REFUSED("ibv_create_qp", named(bad[i].what, &sizes[j]),
				EINVAL, NONE(ibv_create_qp(t->pd, &attr)));
		}
	}
}

static struct ibv_qp_init_attr_ex good_qp(struct things *t,
						enum ibv_qp_type type)
{
	return (struct ibv_qp_init_attr_ex) {
		.send_cq = t->cq, .recv_cq = t->cq, .qp_type = type,
		.cap = { 4, 4, 1, 1, 0 },
		.comp_mask = IBV_QP_INIT_ATTR_PD, .pd = t->pd,
	};
}

#define QP(type, ...)							\
	({								\
		struct ibv_qp_init_attr_ex a = good_qp(t, IBV_QPT_##type); \
		__VA_ARGS__;						\
		make_qp(t, a);						\
	})

static void queue_pairs(struct things *t)
{
	caps(t);
	REFUSED("ibv_create_qp", "type raw packet", EOPNOTSUPP, QP(RAW_PACKET));
	REFUSED("ibv_create_qp", "type driver", EOPNOTSUPP, QP(DRIVER));
	REFUSED("ibv_create_qp", "an unknown type", EOPNOTSUPP,
		QP(RC, a.qp_type = 77));
	REFUSED("ibv_create_qp", "no CQ to send", EINVAL,
		QP(RC, a.send_cq = NULL));
	REFUSED("ibv_create_qp", "no CQ to receive", EINVAL,
		QP(UD, a.recv_cq = NULL));
	REFUSED("ibv_create_qp", "an XRC SRQ", EINVAL,
		QP(RC, a.srq = t->xrc_srq));
	REFUSED("ibv_create_qp_ex", "no PD", EINVAL, QP(RC, a.comp_mask = 0));
	REFUSED("ibv_create_qp_ex", "an unknown attribute", EOPNOTSUPP,
		QP(RC, a.comp_mask |= 1 << 20));
	REFUSED("ibv_create_qp_ex", "a TSO header", EOPNOTSUPP,
		QP(UD, a.comp_mask |= IBV_QP_INIT_ATTR_MAX_TSO_HEADER));
	REFUSED("ibv_create_qp_ex", "a flag", EOPNOTSUPP,
		QP(UD, a.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		   a.create_flags = IBV_QP_CREATE_BLOCK_SELF_MCAST_LB));
	REFUSED("ibv_create_qp_ex", "an unknown flag", EINVAL,
		QP(UD, a.comp_mask |= IBV_QP_INIT_ATTR_CREATE_FLAGS;
		   a.create_flags = 1u << 30));
	REFUSED("ibv_create_qp_ex", "RC that sends TSO", EOPNOTSUPP,
		QP(RC, a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		   a.send_ops_flags = IBV_QP_EX_WITH_TSO));
	REFUSED("ibv_create_qp_ex", "UD that WRITEs", EOPNOTSUPP,
		QP(UD, a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		   a.send_ops_flags = IBV_QP_EX_WITH_RDMA_WRITE));
	REFUSED("ibv_create_qp_ex", "UC that READs", EOPNOTSUPP,
		QP(UC, a.comp_mask |= IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
		   a.send_ops_flags = IBV_QP_EX_WITH_RDMA_READ));
	REFUSED("ibv_create_qp_ex, XRC initiator", "no CQ", EINVAL,
		QP(XRC_SEND, a.send_cq = NULL));
	REFUSED("ibv_create_qp_ex, XRC initiator", "an SRQ", EINVAL,
		QP(XRC_SEND, a.srq = t->srq));
	REFUSED("ibv_create_qp_ex, XRC target", "no domain", EINVAL,
		QP(XRC_RECV));
	REFUSED("ibv_create_qp_ex, XRC target", "an SRQ", EINVAL,
		QP(XRC_RECV, a.comp_mask = IBV_QP_INIT_ATTR_XRCD;
		   a.xrcd = t->xrcd; a.srq = t->xrc_srq));
}

/* Domains and addresses */

static int open_xrcd(struct things *t, uint32_t mask)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = mask, .fd = -1, .oflags = O_CREAT,
	};

	return NONE(ibv_open_xrcd(t->context, &attr));
}

static int parent(struct things *t, struct ibv_context *context, uint32_t mask,
		  struct ibv_pd *pd, struct ibv_td *td)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd, .td = td, .comp_mask = mask,
	};

	(void)t;
	return NONE(ibv_alloc_parent_domain(context, &attr));
}

static void domains(struct things *t)
{
	const uint32_t both = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
	struct ibv_parent_domain_init_attr attr = { .pd = t->pd, .td = t->td };
	struct ibv_context *there = hosts[1].context;
	struct ibv_pd *inner;
	struct ibv_qp *qp;

	REFUSED("ibv_open_xrcd", "an unknown attribute", EOPNOTSUPP,
		open_xrcd(t, both | 1 << 5));
	REFUSED("ibv_alloc_td", "an unknown attribute", EOPNOTSUPP,
		NONE(ibv_alloc_td(t->context, &(struct ibv_td_init_attr) {
			.comp_mask = 1 })));
	REFUSED("ibv_alloc_parent_domain", "no PD", EINVAL,
		parent(t, t->context, 0, NULL, NULL));
	REFUSED("ibv_alloc_parent_domain", "a PD of another context", EINVAL,
		parent(t, there, 0, t->pd, NULL));
	REFUSED("ibv_alloc_parent_domain", "a thread domain of another context",
		EINVAL, parent(t, there, 0, t->pair.b.pd, t->td));
	REFUSED("ibv_alloc_parent_domain", "an unknown attribute", EOPNOTSUPP,
		parent(t, t->context, 1 << 9, t->pd, NULL));
	REFUSED("ibv_alloc_parent_domain", "invalid allocators", EINVAL,
		parent(t, t->context, IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS,
		       t->pd, NULL));
	inner = ibv_alloc_parent_domain(t->context, &attr);
	if (!CHECK(inner))
		return;
	REFUSED("ibv_dealloc_pd", "a parent domain uses it", EBUSY,
		ibv_dealloc_pd(t->pd));
	REFUSED("ibv_dealloc_td", "a parent domain uses it", EBUSY,
		ibv_dealloc_td(t->td));
	qp = ibv_create_qp(inner, &(struct ibv_qp_init_attr) {
		.send_cq = t->cq, .recv_cq = t->cq, .qp_type = IBV_QPT_UD,
		.cap = { .max_send_wr = 1, .max_send_sge = 1 } });
	if (CHECK(qp)) {
		REFUSED("ibv_dealloc_pd", "a QP is of the parent domain",
			EBUSY, ibv_dealloc_pd(inner));
		CHECK_CALL(ibv_destroy_qp(qp), 0);
	}
	CHECK_CALL(ibv_dealloc_pd(inner), 0);
}

static int make_ah(struct things *t, struct ibv_ah_attr attr)
{
	struct ibv_ah *ah;

	errno = 0;
	ah = ibv_create_ah(t->pd, &attr);
	if (!ah)
		return errno;
	ibv_destroy_ah(ah);
	return 0;
}

#define AH(...)								\
	({								\
		struct ibv_ah_attr a = {				\
			.is_global = 1, .port_num = 1,			\
			.grh.sgid_index = hosts[0].gid_index,		\
			.grh.dgid = hosts[1].gid,			\
		};							\
		__VA_ARGS__;						\
		make_ah(t, a);						\
	})

static void addresses(struct things *t)
{
	REFUSED("ibv_create_ah", "service level 16", EINVAL, AH(a.sl = 16));
	REFUSED("ibv_create_ah", "a GID of the other family", EINVAL,
		AH(memset(&a.grh.dgid, 0xfd, 16)));
}

GROUP(creation)
{
	struct things t;

	if (!things_up(&t) || !CHECK_CALL(ibv_query_device(t.context, &limits), 0))
		return;
	regions(&t);
	changed_regions(&t);
	device_memory(&t);
	completion_queues(&t);
	polling(&t);
	shared_queues(&t);
	queue_pairs(&t);
	domains(&t);
	addresses(&t);
	things_down(&t);
}
