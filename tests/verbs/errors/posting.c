// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that the posting call itself refuses, and requests that the type of QP does
 * not support.
 */
#include <stdio.h>
#include <string.h>

#include "misuse.h"

/* Opcodes and types of QPs */

static const char *const opcodes[] = {
	[IBV_WR_RDMA_WRITE] = "WRITE",
	[IBV_WR_RDMA_WRITE_WITH_IMM] = "WRITE with immediate",
	[IBV_WR_SEND] = "SEND",
	[IBV_WR_SEND_WITH_IMM] = "SEND with immediate",
	[IBV_WR_RDMA_READ] = "READ",
	[IBV_WR_ATOMIC_CMP_AND_SWP] = "compare-and-swap",
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = "fetch-and-add",
	[IBV_WR_LOCAL_INV] = "local invalidation",
	[IBV_WR_BIND_MW] = "bind",
	[IBV_WR_SEND_WITH_INV] = "SEND with invalidation",
	[IBV_WR_TSO] = "TSO",
	[IBV_WR_DRIVER1] = "driver-specific opcode",
};

#define BIT(opcode)	(1 << IBV_WR_##opcode)
#define SENDS		(BIT(SEND) | BIT(SEND_WITH_IMM))
#define UNRELIABLE	(SENDS | BIT(RDMA_WRITE) | BIT(RDMA_WRITE_WITH_IMM) | \
			 BIT(LOCAL_INV) | BIT(BIND_MW))
#define RELIABLE	(UNRELIABLE | BIT(RDMA_READ) |			\
			 BIT(ATOMIC_CMP_AND_SWP) |			\
			 BIT(ATOMIC_FETCH_AND_ADD) | BIT(SEND_WITH_INV))

static int post_opcode(struct things *t, struct side *side, int opcode)
{
	struct ibv_sge sge = piece(side, 0, 8);
	struct ibv_send_wr wr = {
		.sg_list = &sge, .num_sge = 1, .opcode = opcode,
	}, *bad = NULL;
	int err = ibv_post_send(side->qp, &wr, &bad);

	(void)t;
	CHECK(!err || bad == &wr);
	return err;
}

static void opcodes_of(struct things *t, const char *verb, struct side *side,
		       int allowed)
{
	static const int unknown[] = { 12, 13, 31, 32, 63, 255, 256, -1 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++)
		if (allowed >> i & 1)
			;
		else if (i == IBV_WR_TSO && allowed)
			REFUSED(verb, opcodes[i], EOPNOTSUPP,
				post_opcode(t, side, i));
		else
			REFUSED(verb, opcodes[i], EINVAL,
				post_opcode(t, side, i));
	for (i = 0; i < ARRAY_SIZE(unknown) - 1; i++)
		if (post_opcode(t, side, unknown[i]) != EINVAL)
			break;
	REFUSED(verb, "an unknown opcode", EINVAL,
		post_opcode(t, side, unknown[i]));
}

static void all_opcodes(struct things *t)
{
	const struct options uc = { .type = IBV_QPT_UC };
	struct pair pair;

	opcodes_of(t, "ibv_post_send, RC", &t->pair.a, RELIABLE);
	if (pair_up(&pair, &uc)) {
		opcodes_of(t, "ibv_post_send, UC", &pair.a, UNRELIABLE);
		pair_down(&pair);
	}
	opcodes_of(t, "ibv_post_send, UD", &t->datagrams.a, SENDS);
	opcodes_of(t, "ibv_post_send, XRC initiator", &t->xrc.a, RELIABLE);
	opcodes_of(t, "ibv_post_send, XRC target", &t->xrc.b, 0);
}

/* Lists, flags */

static int post_wr(struct side *side, struct ibv_send_wr wr)
{
	struct ibv_send_wr *bad = NULL;
	int err = ibv_post_send(side->qp, &wr, &bad);

	CHECK(!err || bad == &wr);
	return err;
}

static void send_lists(struct things *t)
{
	struct side *a = &t->pair.a;
	struct ibv_sge sge[64] = {};
	struct ibv_send_wr wr;
	unsigned int bit;

	sge[0] = piece(a, 0, 8);
	wr = rdma_wr(&t->pair.b, IBV_WR_RDMA_WRITE, 1, sge, 1, 0);
	wr.num_sge = a->cap.max_send_sge + 1;
	REFUSED("ibv_post_send", "SGEs: one too many", EINVAL, post_wr(a, wr));
	wr.num_sge = 0x7fffffff;
	REFUSED("ibv_post_send", "SGEs: 2^31 - 1", EINVAL, post_wr(a, wr));
	wr.num_sge = -1;
	REFUSED("ibv_post_send", "SGEs: -1", EINVAL, post_wr(a, wr));
	wr.num_sge = 1;
	wr.send_flags = IBV_SEND_INLINE;
	sge[0].length = a->cap.max_inline_data + 1;
	REFUSED("ibv_post_send", "inline bytes: one too many", EINVAL,
		post_wr(a, wr));
	sge[0].length = 0xffffffff;
	REFUSED("ibv_post_send", "inline bytes: 2^32 - 1", EINVAL,
		post_wr(a, wr));
	sge[0].length = 8;
	for (bit = 1 << 5; bit; bit <<= 1) {
		wr.send_flags = bit;
		if (post_wr(a, wr) != EINVAL)
			break;
	}
	REFUSED("ibv_post_send", "an unknown flag", EINVAL, post_wr(a, wr));
	wr.send_flags = IBV_SEND_IP_CSUM;
	REFUSED("ibv_post_send", "the flag for IP checksums", EINVAL,
		post_wr(a, wr));
}

/* Those before the bad one are posted, and complete. */
static int third_of_list(struct things *t)
{
	struct side *a = &t->pair.a;
	struct ibv_send_wr wr[4], *bad = NULL;
	struct ibv_sge sge = piece(a, 0, 8);
	int i, err;

	for (i = 0; i < 4; i++) {
		wr[i] = rdma_wr(&t->pair.b, IBV_WR_RDMA_WRITE, i, &sge, 1, 0);
		wr[i].next = i < 3 ? &wr[i + 1] : NULL;
	}
	wr[2].num_sge = -1;
	err = ibv_post_send(a->qp, wr, &bad);
	CHECK(bad == &wr[2]);
	for (i = 0; i < 2; i++)
		EXPECT(a->scq, a->qp, .wr_id = i, .opcode = IBV_WC_RDMA_WRITE);
	CHECK(quiet(a->scq));
	return err;
}

/* Into the queue of a QP in INIT, which nothing empties. */
static int too_many_receives(struct ibv_srq *srq, struct ibv_qp *qp)
{
	struct ibv_recv_wr wr = {}, *bad;
	int i, err = 0;

	for (i = 0; i < 70000 && !err; i++)
		err = srq ? ibv_post_srq_recv(srq, &wr, &bad) :
			    ibv_post_recv(qp, &wr, &bad);
	return err;
}

static int too_many_sends(struct things *t)
{
	struct side *a = &t->pair.a;
	int i, err = 0;

	/* A queue that is not processed: nothing completes. */
	CHECK_CALL(to_state(a, IBV_QPS_SQD), 0);
	for (i = 0; i < 70000 && !err; i++)
		err = post_rdma(a, &t->pair.b, IBV_WR_RDMA_WRITE, i, 0, 0, 8, 0);
	CHECK(pair_again(&t->pair));
	return err;
}

/* Receiving */

static int post_receive(struct ibv_qp *qp, struct ibv_srq *srq, int pieces)
{
	struct ibv_sge sge[8] = {};
	struct ibv_recv_wr wr = { .sg_list = sge, .num_sge = pieces }, *bad;
	int err;

	err = srq ? ibv_post_srq_recv(srq, &wr, &bad) :
		    ibv_post_recv(qp, &wr, &bad);
	CHECK(!err || bad == &wr);
	return err;
}

static void receives(struct things *t)
{
	struct ibv_qp *qp = t->pair.a.qp;
	int one_too_many = t->pair.a.cap.max_recv_sge + 1;
	const struct options shared = { .srq = 8 };
	struct pair pair;

	REFUSED("ibv_post_recv", "the QP is in RESET", EINVAL,
		post_receive(t->qp, NULL, 0));
	REFUSED("ibv_post_recv", "SGEs: one too many", EINVAL,
		post_receive(qp, NULL, one_too_many));
	REFUSED("ibv_post_recv", "SGEs: 2^31 - 1", EINVAL,
		post_receive(qp, NULL, 0x7fffffff));
	REFUSED("ibv_post_recv", "SGEs: -1", EINVAL,
		post_receive(qp, NULL, -1));
	REFUSED("ibv_post_recv", "an XRC initiator", EINVAL,
		post_receive(t->xrc.a.qp, NULL, 0));
	REFUSED("ibv_post_recv", "an XRC target", EINVAL,
		post_receive(t->xrc.b.qp, NULL, 0));
	REFUSED("ibv_post_srq_recv", "SGEs: one too many", EINVAL,
		post_receive(NULL, t->srq, 8));
	REFUSED("ibv_post_srq_recv", "SGEs: -1", EINVAL,
		post_receive(NULL, t->srq, -1));
	REFUSED("ibv_post_srq_recv", "the queue is full", ENOMEM,
		too_many_receives(t->srq, NULL));
	if (!CHECK(pair_up(&pair, &shared)))
		return;
	REFUSED("ibv_post_recv", "the QP has an SRQ", EINVAL,
		post_receive(pair.a.qp, NULL, 0));
	pair_down(&pair);
}

/* States */

static int send_in(enum ibv_qp_state state)
{
	const struct options options = { .stop_at = state };
	struct pair pair;
	int err = -1;

	if (state == IBV_QPS_RESET ? pair_create(&pair, NULL) :
				     pair_up(&pair, &options))
		err = post_send(&pair.a, 1, 0, 8, 0);
	pair_down(&pair);
	return err;
}

/* Extended posting: errors are returned at the end of the batch. */

enum wrong { PIECES, BYTES, NOTHING };

static int post_extended(const struct options *options, enum wrong wrong, int n)
{
	static struct ibv_sge sge[64];
	struct ibv_qp_ex *ex;
	struct pair pair;
	int i, err;

	if (!pair_up(&pair, options))
		return -1;
	ex = ibv_qp_to_qp_ex(pair.a.qp);
	ibv_wr_start(ex);
	for (i = 0; i < n; i++) {
		ibv_wr_rdma_write(ex, rkey_of(&pair.b),
				  (uintptr_t)pair.b.buf);
		if (wrong == PIECES)
			ibv_wr_set_sge_list(ex, 64, sge);
		else if (wrong == BYTES)
			ibv_wr_set_inline_data(ex, pair.a.buf, 4096);
		else
			ibv_wr_set_sge(ex, pair.a.mr->lkey,
				       (uintptr_t)pair.a.buf, 8);
	}
	err = ibv_wr_complete(ex);
	/* No request of the batch was sent. */
	CHECK(quiet(pair.a.scq) &&
	      state_of(&pair.a) == (options->stop_at ? options->stop_at :
				    IBV_QPS_RTS));
	pair_down(&pair);
	return err;
}

static void extended(void)
{
	const struct options good = { .extended = true };
	const struct options early = { .extended = true,
				       .stop_at = IBV_QPS_RTR };

	REFUSED("ibv_wr_complete", "SGEs: too many", EINVAL,
		post_extended(&good, PIECES, 1));
	REFUSED("ibv_wr_complete", "inline bytes: too many", EINVAL,
		post_extended(&good, BYTES, 1));
	REFUSED("ibv_wr_complete", "more requests than the queue holds", ENOMEM,
		post_extended(&good, NOTHING, 1000));
	REFUSED("ibv_wr_complete", "the QP is in RTR", EINVAL,
		post_extended(&early, NOTHING, 1));
}

/* Windows */

static int bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mr *mr,
		   unsigned int access, unsigned int flags)
{
	struct ibv_mw_bind bind = {
		.send_flags = flags,
		.bind_info = {
			.mr = mr, .addr = mr ? (uintptr_t)mr->addr : 0,
			.length = mr ? 8 : 0, .mw_access_flags = access,
		},
	};

	return ibv_bind_mw(qp, mw, &bind);
}

static void binds(struct things *t)
{
	struct ibv_mw *one = ibv_alloc_mw(t->pd, IBV_MW_TYPE_1);
	struct ibv_mw *elsewhere = ibv_alloc_mw(t->other_pd, IBV_MW_TYPE_1);
	struct ibv_qp *qp = t->pair.a.qp;
	struct ibv_mr *mr = t->pair.a.mr;
	struct ibv_mr *far = ibv_reg_mr(t->other_pd, t->buf, 4096, ALL_ACCESS |
					IBV_ACCESS_MW_BIND);

	if (!CHECK(one && elsewhere && far))
		return;
	REFUSED("ibv_bind_mw", "type 2", EINVAL, bind_mw(qp, t->mw, mr, 0, 0));
	REFUSED("ibv_bind_mw", "an MR of another PD", EPERM,
		bind_mw(qp, one, far, 0, 0));
	REFUSED("ibv_bind_mw", "a window of another PD", EPERM,
		bind_mw(qp, elsewhere, mr, 0, 0));
	REFUSED("ibv_bind_mw", "an unknown flag", EINVAL,
		bind_mw(qp, one, mr, 0, 1 << 20));
	REFUSED("ibv_bind_mw", "the QP is in RESET", EINVAL,
		bind_mw(t->qp, one, mr, 0, 0));
	REFUSED("ibv_bind_mw", "UD", EINVAL,
		bind_mw(t->datagrams.a.qp, one, NULL, 0, 0));
	CHECK_CALL(ibv_dereg_mr(far), 0);
	CHECK_CALL(ibv_dealloc_mw(elsewhere), 0);
	CHECK_CALL(ibv_dealloc_mw(one), 0);
}

GROUP(posting)
{
	struct things t;

	if (!things_up(&t))
		return;
	all_opcodes(&t);
	send_lists(&t);
	REFUSED("ibv_post_send", "the third request of a list is invalid", EINVAL,
		third_of_list(&t));
	REFUSED("ibv_post_send", "the queue is full", ENOMEM,
		too_many_sends(&t));
	REFUSED("ibv_post_send", "the QP is in RESET", EINVAL,
		send_in(IBV_QPS_RESET));
	REFUSED("ibv_post_send", "the QP is in INIT", EINVAL,
		send_in(IBV_QPS_INIT));
	REFUSED("ibv_post_send", "the QP is in RTR", EINVAL,
		send_in(IBV_QPS_RTR));
	receives(&t);
	extended();
	binds(&t);
	things_down(&t);
}
