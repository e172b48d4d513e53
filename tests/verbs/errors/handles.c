// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handles that do not exist, or that belong to an object of another type: libibverbs
 * passes the handles in its structures to the kernel unchecked.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "misuse.h"

enum kind { PD, CQ, SRQ, XRCD, QP, MR, MW, DM, AH, KINDS };

static uint32_t *handle_of(struct things *t, enum kind kind)
{
	switch (kind) {
	case PD:
		return &t->pd->handle;
	case CQ:
		return &t->cq->handle;
	case SRQ:
		return &t->srq->handle;
	case QP:
		return &t->qp->handle;
	case MR:
		return &t->mr->handle;
	case MW:
		return &t->mw->handle;
	case AH:
		return &t->ah->handle;
	/* Private to libibverbs: struct verbs_dm and verbs_xrcd. */
	case DM:
		return (uint32_t *)(t->dm + 1);
	case XRCD:
		return (uint32_t *)(t->xrcd + 1) + 1;
	default:
		return NULL;
	}
}

/* The calls; one handle of each will be wrong */

static int alloc_mw(struct things *t)
{
	return NONE(ibv_alloc_mw(t->pd, IBV_MW_TYPE_2));
}

static int reg_mr(struct things *t)
{
	return NONE(ibv_reg_mr(t->pd, t->buf, 4096, 0));
}

static int reg_on_demand(struct things *t)
{
	return NONE(ibv_reg_mr(t->pd, NULL, SIZE_MAX, IBV_ACCESS_ON_DEMAND));
}

static int alloc_null_mr(struct things *t)
{
	return NONE(ibv_alloc_null_mr(t->pd));
}

static int reg_dmabuf_mr(struct things *t)
{
	return NONE(ibv_reg_dmabuf_mr(t->pd, 0, 4096, 0, -1, 0));
}

static int reg_dm_mr(struct things *t)
{
	return NONE(ibv_reg_dm_mr(t->pd, t->dm, 0, 8, IBV_ACCESS_ZERO_BASED));
}

static int rereg_mr(struct things *t)
{
	int err;

	errno = 0;
	err = ibv_rereg_mr(t->mr, IBV_REREG_MR_CHANGE_PD, t->pd, NULL, 0, 0);
	return err ? errno : 0;
}

static int advise_mr(struct things *t)
{
	struct ibv_sge sge = { (uintptr_t)t->buf, 8, t->mr->lkey };

	return ibv_advise_mr(t->pd, IBV_ADVISE_MR_ADVICE_PREFETCH, 0, &sge, 1);
}

static int create_ah(struct things *t)
{
	return NONE(address_of(t->pd, &hosts[0], &hosts[1]));
}

static int create_srq(struct things *t)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 1 } };

	return NONE(ibv_create_srq(t->pd, &attr));
}

static int create_xrc_srq(struct things *t)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr.max_wr = 1,
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC,
		.pd = t->pd,
		.xrcd = t->xrcd,
		.cq = t->cq,
	};

	return NONE(ibv_create_srq_ex(t->context, &attr));
}

static int create_qp(struct things *t)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = t->cq, .recv_cq = t->pair.a.rcq, .srq = t->srq,
		.qp_type = IBV_QPT_RC, .cap.max_send_wr = 1,
	};

	return NONE(ibv_create_qp(t->pd, &attr));
}

static int create_target(struct things *t)
{
	return make_qp(t, (struct ibv_qp_init_attr_ex) {
			.qp_type = IBV_QPT_XRC_RECV,
			.comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = t->xrcd });
}

static int open_qp(struct things *t)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD |
			     IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = t->xrc.b.qp->qp_num,
		.xrcd = t->xrcd,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return NONE(ibv_open_qp(t->context, &attr));
}

static int modify_qp(struct things *t)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

	return ibv_modify_qp(t->qp, &attr, IBV_QP_STATE);
}

static int modify_qp_rate_limit(struct things *t)
{
	struct ibv_qp_rate_limit_attr attr = { .rate_limit = 10000 };

	return ibv_modify_qp_rate_limit(t->qp, &attr);
}

static int query_qp(struct things *t)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	return ibv_query_qp(t->qp, &attr, IBV_QP_STATE, &init);
}

static int attach_mcast(struct things *t)
{
	const union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 9 } };

	return ibv_attach_mcast(t->qp, &group, 0);
}

static int detach_mcast(struct things *t)
{
	const union ibv_gid group = { .raw = { 0xff, 0x0e, [15] = 9 } };

	return ibv_detach_mcast(t->qp, &group, 0);
}

static int resize_cq(struct things *t)
{
	return ibv_resize_cq(t->cq, 8);
}

static int modify_cq(struct things *t)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };

	return ibv_modify_cq(t->cq, &attr);
}

static int modify_srq(struct things *t)
{
	struct ibv_srq_attr attr = { .srq_limit = 1 };

	return ibv_modify_srq(t->srq, &attr, IBV_SRQ_LIMIT);
}

static int resize_srq(struct things *t)
{
	struct ibv_srq_attr attr = { .max_wr = 8 };

	return ibv_modify_srq(t->srq, &attr, IBV_SRQ_MAX_WR);
}

static int query_srq(struct things *t)
{
	struct ibv_srq_attr attr;

	return ibv_query_srq(t->srq, &attr);
}

static int import_pd(struct things *t)
{
	return NONE(ibv_import_pd(t->context, t->pd->handle));
}

static int import_mr(struct things *t)
{
	return NONE(ibv_import_mr(t->pd, t->mr->handle));
}

static int import_dm(struct things *t)
{
	return NONE(ibv_import_dm(t->context, *handle_of(t, DM)));
}

static int dealloc_pd(struct things *t) { return ibv_dealloc_pd(t->pd); }
static int destroy_cq(struct things *t) { return ibv_destroy_cq(t->cq); }
static int destroy_srq(struct things *t) { return ibv_destroy_srq(t->srq); }
static int close_xrcd(struct things *t) { return ibv_close_xrcd(t->xrcd); }
static int destroy_qp(struct things *t) { return ibv_destroy_qp(t->qp); }
static int dereg_mr(struct things *t) { return ibv_dereg_mr(t->mr); }
static int dealloc_mw(struct things *t) { return ibv_dealloc_mw(t->mw); }
static int free_dm(struct things *t) { return ibv_free_dm(t->dm); }
static int destroy_ah(struct things *t) { return ibv_destroy_ah(t->ah); }

/**
 * struct use - a verb and the handle that it takes
 * @verb: name of the verb
 * @what: name of the object
 * @kind: type of the object
 * @call: the call
 * @vague: EINVAL, even if nothing has the handle
 */
struct use {
	const char *verb;
	const char *what;
	enum kind kind;
	int (*call)(struct things *t);
	bool vague;
};

#define USE(call, what, kind)	{ "ibv_" #call, what, kind, call, false }

static const struct use uses[] = {
	USE(alloc_mw, "the PD", PD),
	USE(reg_mr, "the PD", PD),
	{ "ibv_reg_mr, implicit ODP", "the PD", PD,
	  reg_on_demand, false },
	USE(alloc_null_mr, "the PD", PD),
	USE(reg_dmabuf_mr, "the PD", PD),
	USE(reg_dm_mr, "the PD", PD),
	USE(reg_dm_mr, "the DM", DM),
	USE(rereg_mr, "the PD", PD),
	USE(rereg_mr, "the MR", MR),
	USE(advise_mr, "the PD", PD),
	USE(create_ah, "the PD", PD),
	USE(create_srq, "the PD", PD),
	{ "ibv_create_srq_ex, XRC", "the PD", PD,
	  create_xrc_srq, false },
	{ "ibv_create_srq_ex, XRC", "the CQ", CQ,
	  create_xrc_srq, false },
	{ "ibv_create_srq_ex, XRC", "the XRC domain", XRCD,
	  create_xrc_srq, false },
	USE(create_qp, "the PD", PD),
	USE(create_qp, "the CQ", CQ),
	USE(create_qp, "the SRQ", SRQ),
	{ "ibv_create_qp_ex, XRC target", "the XRC domain", XRCD,
	  create_target, false },
	{ "ibv_open_qp", "the XRC domain", XRCD, open_qp, true },
	USE(modify_qp, "the QP", QP),
	USE(modify_qp_rate_limit, "the QP", QP),
	USE(query_qp, "the QP", QP),
	USE(attach_mcast, "the QP", QP),
	USE(detach_mcast, "the QP", QP),
	USE(resize_cq, "the CQ", CQ),
	USE(modify_cq, "the CQ", CQ),
	USE(modify_srq, "the SRQ", SRQ),
	{ "ibv_modify_srq, size", "the SRQ", SRQ,
	  resize_srq, false },
	USE(query_srq, "the SRQ", SRQ),
	USE(import_pd, "the PD", PD),
	USE(import_mr, "the MR", MR),
	USE(import_dm, "the DM", DM),
	USE(dealloc_pd, "the PD", PD),
	USE(destroy_cq, "the CQ", CQ),
	USE(destroy_srq, "the SRQ", SRQ),
	USE(close_xrcd, "the XRC domain", XRCD),
	USE(destroy_qp, "the QP", QP),
	USE(dereg_mr, "the MR", MR),
	USE(dealloc_mw, "the MW", MW),
	USE(free_dm, "the DM", DM),
	USE(destroy_ah, "the AH", AH),
};

static int with(struct things *t, const struct use *use, uint32_t wrong)
{
	uint32_t *handle = handle_of(t, use->kind);
	uint32_t right = *handle;
	int err;

	*handle = wrong;
	err = use->call(t);
	*handle = right;
	return err;
}

/* The result for all these handles, which must be @want; or the first other one. */
static int of_all(struct things *t, const struct use *use,
		  const uint32_t *wrong, size_t n, int want)
{
	int err = want;
	size_t i;

	for (i = 0; i < n && err == want; i++)
		err = with(t, use, wrong[i]);
	return err;
}

static const char *said(const struct use *use, const char *which)
{
	static char text[80];

	snprintf(text, sizeof(text), "%s %s", use->what, which);
	return text;
}

static void missing(struct things *t, const struct use *use,
		    uint32_t destroyed)
{
	static const uint32_t wrong[] = {
		0x123456, 0x7fffffff, 0x80000000, 0xffffffff,
	};
	const size_t n = ARRAY_SIZE(wrong);

	if (use->vague) {
		REFUSED(use->verb, said(use, "does not exist"), EINVAL,
			of_all(t, use, wrong, n, EINVAL));
		return;
	}
	REFUSED(use->verb, said(use, "does not exist"), ENOENT,
		of_all(t, use, wrong, n, ENOENT));
	REFUSED(use->verb, said(use, "was destroyed"), ENOENT,
		with(t, use, destroyed));
}

static void of_other_kinds(struct things *t, const struct use *use)
{
	uint32_t wrong[KINDS];
	int kind, n = 0;

	for (kind = 0; kind < KINDS; kind++)
		if (kind != (int)use->kind)
			wrong[n++] = *handle_of(t, kind);
	REFUSED(use->verb, said(use, "is of another type"), EINVAL,
		of_all(t, use, wrong, n, EINVAL));
}

/*
 * Numbers of objects that there were.  The lowest free number is given out next,
 * so nothing may be made until they have been used.
 */
static bool destroy_some(uint32_t *handles)
{
	struct things d;
	int kind;

	if (!things_up(&d))
		return false;
	d.pd = d.other_pd;
	for (kind = 0; kind < KINDS; kind++)
		handles[kind] = *handle_of(&d, kind);
	d.pd = d.pair.a.pd;
	things_down(&d);
	return true;
}

GROUP(handles)
{
	uint32_t destroyed[KINDS];
	struct things t;
	size_t i;

	if (!things_up(&t) || !destroy_some(destroyed))
		return;
	for (i = 0; i < ARRAY_SIZE(uses); i++) {
		missing(&t, &uses[i], destroyed[uses[i].kind]);
		of_other_kinds(&t, &uses[i]);
	}
	things_down(&t);
}
