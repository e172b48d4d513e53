// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects that cannot be created, because of sizes, flags or combinations; and
 * objects that cannot be destroyed, because they are in use.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
	REFUSED("ibv_reg_mr", "the kernel's memory", EFAULT,
		reg(t->pd, 0xffffffff81000000, 4096, 0xffffffff81000000, 0));
	REFUSED("ibv_reg_mr", "addresses wrap", EINVAL,
		reg(t->pd, -4096ull, 8192, -4096ull, 0));
	REFUSED("ibv_reg_mr_iova", "addresses wrap", EINVAL,
		reg(t->pd, at, 8192, -4096ull, 0));
	REFUSED("ibv_reg_mr_iova", "another offset within a page", EINVAL,
		reg(t->pd, at, 4096, 5, 0));
	REFUSED("ibv_reg_mr", "remote write without local write", EINVAL,
		reg(t->pd, at, 4096, at, IBV_ACCESS_REMOTE_WRITE));
	REFUSED("ibv_reg_mr", "remote atomic without local write", EINVAL,
		reg(t->pd, at, 4096, at, IBV_ACCESS_REMOTE_ATOMIC));
	REFUSED("ibv_reg_mr", "an unknown flag", EINVAL,
		reg(t->pd, at, 4096, at, 1 << 19));
	REFUSED("ibv_reg_mr, ODP", "length 0", EINVAL,
		reg(t->pd, at, 0, at, odp));
	REFUSED("ibv_reg_mr, ODP", "addresses wrap", EINVAL,
		reg(t->pd, -4096ull, 8192, -4096ull, odp));
	REFUSED("ibv_reg_mr, ODP", "remote write without local write", EINVAL,
		reg(t->pd, at, 4096, at, IBV_ACCESS_REMOTE_WRITE | odp));
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
	struct ibv_mw *mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	struct ibv_mr *nothing = ibv_alloc_null_mr(t->pd);
	struct ibv_mr *device;

	device = ibv_reg_dm_mr(t->pd, t->dm, 0, 4096, IBV_ACCESS_ZERO_BASED |
			       IBV_ACCESS_LOCAL_WRITE);
	if (!CHECK(mw && nothing && device))
		return;
	REFUSED("ibv_rereg_mr", "no flags", EINVAL,
		rereg(t->mr, 0, NULL, NULL, 0, 0));
	REFUSED("ibv_rereg_mr", "an unknown flag", EINVAL,
		rereg(t->mr, 1 << 5, NULL, NULL, 0, 0));
	REFUSED("ibv_rereg_mr", "length 0", EINVAL,
		rereg(t->mr, moved, NULL, t->buf, 0, 0));
	REFUSED("ibv_rereg_mr", "length 2^63", EINVAL,
		rereg(t->mr, moved, NULL, t->buf, 1ul << 63, 0));
	REFUSED("ibv_rereg_mr", "address not mapped", EFAULT,
		rereg(t->mr, moved, NULL, (void *)4096, 4096, 0));
	REFUSED("ibv_rereg_mr", "remote write without local write", EINVAL,
		rereg(t->mr, access, NULL, NULL, 0, IBV_ACCESS_REMOTE_WRITE));
	REFUSED("ibv_rereg_mr", "an unknown access flag", EINVAL,
		rereg(t->mr, access, NULL, NULL, 0, 1 << 19));
	REFUSED("ibv_rereg_mr", "of a null MR", EINVAL,
		rereg(nothing, access, NULL, NULL, 0, ALL_ACCESS));
	REFUSED("ibv_rereg_mr", "of an MR of device memory", EINVAL,
		rereg(device, access, NULL, NULL, 0, ALL_ACCESS));
	CHECK_CALL(ibv_dereg_mr(device), 0);
	CHECK_CALL(ibv_dereg_mr(nothing), 0);
	CHECK_CALL(ibv_dealloc_mw(mw), 0);
}

static int alloc_dm(struct things *t, size_t length, uint32_t align)
{
	return NONE(ibv_alloc_dm(t->context, &(struct ibv_alloc_dm_attr) {
			.length = length, .log_align_req = align }));
}

static int reg_dm(struct things *t, uint64_t at, size_t length,
		  unsigned int access)
{
	return NONE(ibv_reg_dm_mr(t->pd, t->dm, at, length, access));
}

static void device_memory(struct things *t)
{
	const unsigned int good = IBV_ACCESS_ZERO_BASED;
	uint32_t word = 0;

	REFUSED("ibv_alloc_dm", "length 0", EINVAL, alloc_dm(t, 0, 0));
	REFUSED("ibv_alloc_dm", "length 2^40", EINVAL,
		alloc_dm(t, 1ul << 40, 0));
	REFUSED("ibv_alloc_dm", "length 2^64 - 1", EINVAL,
		alloc_dm(t, -1ul, 0));
	REFUSED("ibv_alloc_dm", "aligned to more than a page", EOPNOTSUPP,
		alloc_dm(t, 4, 13));
	REFUSED("ibv_alloc_dm", "aligned to 2^(2^32 - 1)", EOPNOTSUPP,
		alloc_dm(t, 4, -1u));
	REFUSED("ibv_reg_dm_mr", "not zero-based", EINVAL,
		reg_dm(t, 0, 8, IBV_ACCESS_LOCAL_WRITE));
	REFUSED("ibv_reg_dm_mr", "beyond its end", EINVAL,
		reg_dm(t, 4092, 8, good));
	REFUSED("ibv_reg_dm_mr", "offset 2^63", EINVAL,
		reg_dm(t, 1ull << 63, 8, good));
	REFUSED("ibv_reg_dm_mr", "offset and length wrap", EINVAL,
		reg_dm(t, -4ull, 8, good));
	REFUSED("ibv_reg_dm_mr", "remote write without local write", EINVAL,
		reg_dm(t, 0, 8, good | IBV_ACCESS_REMOTE_WRITE));
	REFUSED("ibv_memcpy_to_dm", "beyond its end", EINVAL,
		ibv_memcpy_to_dm(t->dm, 4093, &word, 4));
	REFUSED("ibv_memcpy_from_dm", "offset and length wrap", EINVAL,
		ibv_memcpy_from_dm(&word, t->dm, -2ull, 4));
}

static void windows(struct things *t)
{
	REFUSED("ibv_alloc_mw", "type 0", EINVAL,
		NONE(ibv_alloc_mw(t->pd, 0)));
	REFUSED("ibv_alloc_mw", "type 3", EINVAL,
		NONE(ibv_alloc_mw(t->pd, 3)));
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
	REFUSED("ibv_create_cq", "no such vector", EINVAL,
		NONE(ibv_create_cq(t->context, 4, NULL, NULL,
				   t->context->num_comp_vectors)));
	REFUSED("ibv_create_cq", "vector -1", EINVAL,
		NONE(ibv_create_cq(t->context, 4, NULL, NULL, -1)));
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
	REFUSED("ibv_destroy_comp_channel", "a CQ uses it", EBUSY,
		ibv_destroy_comp_channel(t->channel));
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

static int open_xrcd(struct things *t, int fd, int flags, uint32_t mask)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = mask, .fd = fd, .oflags = flags,
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
	int null = open("/dev/null", O_RDWR);

	REFUSED("ibv_open_xrcd", "no file descriptor given", EINVAL,
		open_xrcd(t, -1, O_CREAT, IBV_XRCD_INIT_ATTR_OFLAGS));
	REFUSED("ibv_open_xrcd", "a closed descriptor", EBADF,
		open_xrcd(t, 1000, O_CREAT, both));
	REFUSED("ibv_open_xrcd", "no such domain, and not to be created", EAGAIN,
		open_xrcd(t, null, 0, both));
	REFUSED("ibv_open_xrcd", "an unknown attribute", EOPNOTSUPP,
		open_xrcd(t, -1, O_CREAT, both | 1 << 5));
	close(null);
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
	REFUSED("ibv_create_ah", "port 0", EINVAL, AH(a.port_num = 0));
	REFUSED("ibv_create_ah", "port 2", EINVAL, AH(a.port_num = 2));
	REFUSED("ibv_create_ah", "no GRH", EINVAL, AH(a.is_global = 0));
	REFUSED("ibv_create_ah", "service level 16", EINVAL, AH(a.sl = 16));
	/* The RDMA core itself detects these. */
	REFUSED("ibv_create_ah", "no GID has the index", ENODATA,
		AH(a.grh.sgid_index = 200));
	REFUSED("ibv_create_ah", "a GID of the other family", EINVAL,
		AH(memset(&a.grh.dgid, 0xfd, 16)));
}

/* Multicast groups */

static const union ibv_gid group = {
	.raw = { [10] = 0xff, 0xff, 239, 7, 7, 7 },
};

static void groups(struct things *t)
{
	struct ibv_qp *ud = t->datagrams.a.qp;

	REFUSED("ibv_attach_mcast", "not a group", EINVAL,
		ibv_attach_mcast(ud, &hosts[0].gid, 0));
	REFUSED("ibv_attach_mcast", "an RC QP", EINVAL,
		ibv_attach_mcast(t->pair.a.qp, &group, 0));
	REFUSED("ibv_attach_mcast", "an XRC target", EINVAL,
		ibv_attach_mcast(t->xrc.b.qp, &group, 0));
	REFUSED("ibv_detach_mcast", "not attached", EINVAL,
		ibv_detach_mcast(ud, &group, 0));
	REFUSED("ibv_detach_mcast", "an RC QP", EINVAL,
		ibv_detach_mcast(t->pair.a.qp, &group, 0));
}

/* Asking */

static void queries(struct things *t)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	uint16_t pkey;

	REFUSED("ibv_query_port", "port 0", EINVAL,
		ibv_query_port(t->context, 0, &port));
	REFUSED("ibv_query_port", "port 2", EINVAL,
		ibv_query_port(t->context, 2, &port));
	REFUSED("ibv_query_gid", "port 2", -1,
		ibv_query_gid(t->context, 2, 0, &gid));
	REFUSED("ibv_query_gid", "index -1", -1,
		ibv_query_gid(t->context, 1, -1, &gid));
	REFUSED("ibv_query_gid", "index 2^31 - 1", -1,
		ibv_query_gid(t->context, 1, 0x7fffffff, &gid));
	REFUSED("ibv_query_pkey", "index -1", -1,
		ibv_query_pkey(t->context, 1, -1, &pkey));
	REFUSED("ibv_query_pkey", "index 2^31 - 1", -1,
		ibv_query_pkey(t->context, 1, 0x7fffffff, &pkey));
}

static int query_ece(struct things *t)
{
	struct ibv_ece ece;

	return ibv_query_ece(t->qp, &ece);
}

static void unsupported(struct things *t)
{
	struct ibv_flow_attr flow = { .type = IBV_FLOW_ATTR_NORMAL };
	struct ibv_counters_init_attr counters = {};
	struct ibv_rwq_ind_table_init_attr table = {};
	struct ibv_wq_init_attr wq = {
		.max_wr = 8, .max_sge = 1, .pd = t->pd, .cq = t->cq,
	};

	REFUSED("ibv_create_wq", "any call", EOPNOTSUPP,
		NONE(ibv_create_wq(t->context, &wq)));
	REFUSED("ibv_create_rwq_ind_table", "any call", EOPNOTSUPP,
		NONE(ibv_create_rwq_ind_table(t->context, &table)));
	REFUSED("ibv_create_flow", "any call", EOPNOTSUPP,
		NONE(ibv_create_flow(t->qp, &flow)));
	REFUSED("ibv_create_counters", "any call", EOPNOTSUPP,
		NONE(ibv_create_counters(t->context, &counters)));
	REFUSED("ibv_query_ece", "any call", EOPNOTSUPP, query_ece(t));
}

/* In use */

static void in_use(struct things *t)
{
	struct side *a = &t->pair.a, *target = &t->xrc.b;

	REFUSED("ibv_dealloc_pd", "a QP is in it", EBUSY,
		ibv_dealloc_pd(a->pd));
	REFUSED("ibv_dealloc_pd", "a window is in it", EBUSY,
		ibv_dealloc_pd(t->pd));
	REFUSED("ibv_destroy_cq", "a QP uses it to send", EBUSY,
		ibv_destroy_cq(a->scq));
	REFUSED("ibv_destroy_cq", "a QP uses it to receive", EBUSY,
		ibv_destroy_cq(a->rcq));
	REFUSED("ibv_destroy_cq", "an XRC SRQ uses it", EBUSY,
		ibv_destroy_cq(target->rcq));
	REFUSED("ibv_close_xrcd", "an SRQ is in it", EBUSY,
		ibv_close_xrcd(t->xrcd));
	REFUSED("ibv_close_xrcd", "a target is in it", EBUSY,
		ibv_close_xrcd(target->xrcd));
}

static int pd_of_address(struct things *t)
{
	struct ibv_pd *pd = ibv_alloc_pd(t->context);
	struct ibv_ah *ah = address_of(pd, &hosts[0], &hosts[1]);
	int err = ibv_dealloc_pd(pd);

	CHECK_CALL(ibv_destroy_ah(ah), 0);
	CHECK_CALL(ibv_dealloc_pd(pd), 0);
	return err;
}

static int free_dm_in_use(struct things *t)
{
	struct ibv_mr *mr = ibv_reg_dm_mr(t->pd, t->dm, 0, 8,
					  IBV_ACCESS_ZERO_BASED);
	int err = ibv_free_dm(t->dm);

	CHECK_CALL(ibv_dereg_mr(mr), 0);
	return err;
}

static int destroy_srq_in_use(struct things *t)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = t->cq, .recv_cq = t->cq, .srq = t->srq,
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(t->pd, &attr);
	int err = ibv_destroy_srq(t->srq);

	CHECK_CALL(ibv_destroy_qp(qp), 0);
	return err;
}

static int destroy_attached_qp(struct things *t)
{
	const struct options ud = { .type = IBV_QPT_UD };
	struct side side = t->datagrams.a;
	int err;

	if (!side_qp(&side, &ud) || !CHECK_CALL(to_init(&side, &ud), 0))
		return -1;
	CHECK_CALL(ibv_attach_mcast(side.qp, &group, 0), 0);
	err = ibv_destroy_qp(side.qp);
	if (err) {
		CHECK_CALL(ibv_detach_mcast(side.qp, &group, 0), 0);
		CHECK_CALL(ibv_destroy_qp(side.qp), 0);
	}
	return err;
}

GROUP(creation)
{
	struct things t;

	if (!things_up(&t) || !CHECK_CALL(ibv_query_device(t.context, &limits), 0))
		return;
	regions(&t);
	changed_regions(&t);
	device_memory(&t);
	windows(&t);
	completion_queues(&t);
	polling(&t);
	shared_queues(&t);
	queue_pairs(&t);
	domains(&t);
	addresses(&t);
	groups(&t);
	queries(&t);
	unsupported(&t);
	in_use(&t);
	REFUSED("ibv_dealloc_pd", "an AH is in it", EBUSY, pd_of_address(&t));
	REFUSED("ibv_free_dm", "an MR uses it", EBUSY, free_dm_in_use(&t));
	REFUSED("ibv_destroy_srq", "a QP uses it", EBUSY,
		destroy_srq_in_use(&t));
	REFUSED("ibv_destroy_qp", "a member of a group", EBUSY,
		destroy_attached_qp(&t));
	things_down(&t);
}
