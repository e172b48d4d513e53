// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bad use of every verb.
 *
 *	ROWS		file to write the rows to, for the script "table"
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "misuse.h"

/* Rows */

struct row {
	const char *name;
	int want;
	int got;
	const char *file;
	int line;
};

/* For the script "table"; NULL if nobody wants it. */
static FILE *rows_file(void)
{
	static FILE *file;

	if (!file && getenv("ROWS"))
		file = fopen(getenv("ROWS"), "we");
	return file;
}

static void compare(const void *arg)
{
	const struct row *row = arg;

	check_equal(row->got, row->want, "what the call returns", row->name,
		    row->file, row->line);
}

void refused(const char *verb, const char *what, const char *name, int want,
	     int got, const char *file, int line)
{
	const struct row row = { name, want, got, file, line };

	run_test(compare, &row, "%s: %s: %s", verb, what, name);
	if (rows_file())
		fprintf(rows_file(), "%s\t%s\t%s\n", verb, what, name);
}

/* Objects of the rows */

static bool pairs_up(struct things *t)
{
	const struct options windows = {
		.mr_access = ALL_ACCESS | IBV_ACCESS_MW_BIND,
	};
	const struct options ud = { .type = IBV_QPT_UD };
	const struct options xrc = { .type = IBV_QPT_XRC_SEND };

	return pair_up(&t->pair, &windows) && pair_up(&t->datagrams, &ud) &&
	       pair_up(&t->xrc, &xrc);
}

static struct ibv_qp *idle_qp(struct things *t)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = t->cq, .recv_cq = t->cq, .qp_type = IBV_QPT_RC,
		.cap = { 4, 4, 1, 1, 0 },
	};

	return ibv_create_qp(t->pd, &attr);
}

static bool objects_up(struct things *t)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	const struct options small = { .srq = 4, .sge = 1 };

	t->channel = ibv_create_comp_channel(t->context);
	t->cq = ibv_create_cq(t->context, 4, NULL, t->channel, 0);
	t->srq = ibv_create_srq(t->pd, &srq);
	t->xrcd = xrcd_open(t->context);
	if (!CHECK(t->cq && t->srq && t->xrcd))
		return false;
	t->xrc_srq = xrc_srq(t->pd, t->xrcd, t->cq, &small);
	t->qp = idle_qp(t);
	t->mr = ibv_reg_mr(t->pd, t->buf, 8192, ALL_ACCESS);
	t->mw = ibv_alloc_mw(t->pd, IBV_MW_TYPE_2);
	t->dm = ibv_alloc_dm(t->context, &(struct ibv_alloc_dm_attr) {
			.length = 100 });
	t->ah = address_of(t->pd, &hosts[0], &hosts[1]);
	t->td = ibv_alloc_td(t->context, &(struct ibv_td_init_attr) {});
	return CHECK(t->xrc_srq && t->qp && t->mr && t->mw) &&
	       CHECK(t->dm && t->ah && t->td);
}

bool things_up(struct things *t)
{
	memset(t, 0, sizeof(*t));
	if (!pairs_up(t))
		return false;
	t->context = hosts[0].context;
	t->pd = t->pair.a.pd;
	t->other_pd = ibv_alloc_pd(t->context);
	t->buf = mmap(NULL, 8192, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return CHECK(t->other_pd && t->buf != MAP_FAILED) && objects_up(t);
}

static void pairs_work(struct things *t)
{
	CHECK(works(&t->pair));
	CHECK(transfer(&t->xrc, &(const struct transfer) {
			.opcode = IBV_WR_SEND, .length = 100 }));
}

static void down(const void *arg)
{
	struct things *t = (struct things *)arg;

	pairs_work(t);
	CHECK_CALL(ibv_dealloc_td(t->td), 0);
	CHECK_CALL(ibv_destroy_ah(t->ah), 0);
	CHECK_CALL(ibv_free_dm(t->dm), 0);
	CHECK_CALL(ibv_dealloc_mw(t->mw), 0);
	CHECK_CALL(ibv_dereg_mr(t->mr), 0);
	CHECK_CALL(ibv_destroy_qp(t->qp), 0);
	CHECK_CALL(ibv_destroy_srq(t->xrc_srq), 0);
	CHECK_CALL(ibv_close_xrcd(t->xrcd), 0);
	CHECK_CALL(ibv_destroy_srq(t->srq), 0);
	CHECK_CALL(ibv_destroy_cq(t->cq), 0);
	CHECK_CALL(ibv_destroy_comp_channel(t->channel), 0);
	CHECK_CALL(ibv_dealloc_pd(t->other_pd), 0);
	munmap(t->buf, 8192);
	pair_down(&t->xrc);
	pair_down(&t->datagrams);
	pair_down(&t->pair);
}

void things_down(struct things *t)
{
	run_test(down, t, "objects still work after the calls that failed");
}

int make_qp(struct things *t, struct ibv_qp_init_attr_ex attr)
{
	struct ibv_qp *qp;

	errno = 0;
	qp = ibv_create_qp_ex(t->context, &attr);
	if (!qp)
		return errno;
	ibv_destroy_qp(qp);
	return 0;
}
