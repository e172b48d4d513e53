// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "targets.h"

#define QPS(t, s, ...)							\
	{ .name = #t " in " #s, .state = IBV_QPS_##s,			\
	  .options = { .type = IBV_QPT_##t, .size = 65536, .wr = 64,	\
		       .cqe = 1024, .timeout = 18, .rnr_retry = 3,	\
		       __VA_ARGS__ } }

struct target targets[NUM_TARGETS] = {
	QPS(RC, RTS),
	QPS(RC, RTS, .rd_atomic = 1, .mtu = IBV_MTU_256),
	QPS(RC, RTS, .srq = 64),
	QPS(RC, RTS, .qp_access = IBV_ACCESS_REMOTE_READ),
	QPS(RC, RTR),
	QPS(UC, RTS),
	QPS(UC, RTS, .srq = 64, .mtu = IBV_MTU_512),
	QPS(UD, RTS),
	QPS(UD, RTS, .srq = 64),
	QPS(XRC_SEND, RTS),
	QPS(XRC_SEND, RTS, .srq = 64),	/* the receiving side */
	QPS(RC, INIT),
	QPS(RC, RESET),
	QPS(RC, SQD),
	QPS(UC, ERR),
	QPS(UD, INIT),
};

static struct host attacker;
static struct ibv_qp attacker_qp;
static const struct side attacker_side = {
	.host = &attacker, .qp = &attacker_qp,
};

/* The bytes between the regions. */
static const struct {
	uint32_t from, to;
} canaries[] = {
	{ 0, OPEN_AT },
	{ OPEN_AT + OPEN_BYTES, SLOTS_AT },	/* the readable one, too */
	{ SLOTS_AT + SLOTS * SLOT_STRIDE, 65536 },
};

static void plant(struct target *t)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(canaries); i++)
		fill(t->side.buf + canaries[i].from,
		     canaries[i].to - canaries[i].from, i);
	for (i = 0; i < SLOTS; i++)
		fill(t->side.buf + SLOTS_AT + i * SLOT_STRIDE + SLOT_BYTES,
		     SLOT_STRIDE - SLOT_BYTES, i);
}

bool target_intact(const struct target *t)
{
	bool good = true;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(canaries); i++)
		good &= CHECK(filled(t->side.buf + canaries[i].from,
				     canaries[i].to - canaries[i].from, i));
	for (i = 0; i < SLOTS; i++)
		good &= CHECK(filled(t->side.buf + SLOTS_AT + i * SLOT_STRIDE +
				     SLOT_BYTES, SLOT_STRIDE - SLOT_BYTES, i));
	if (!good)
		diag("memory of %s", t->name);
	return good;
}

static bool regions(struct target *t)
{
	struct side *side = &t->side;

	if (!CHECK_CALL(ibv_dereg_mr(side->mr), 0))
		return false;
	side->mr = ibv_reg_mr(side->pd, side->buf + OPEN_AT, OPEN_BYTES,
			      ALL_ACCESS);
	t->readable = ibv_reg_mr(side->pd, side->buf + READ_AT, READ_BYTES,
				 IBV_ACCESS_REMOTE_READ);
	t->slots = ibv_reg_mr(side->pd, side->buf + SLOTS_AT,
			      SLOTS * SLOT_STRIDE, IBV_ACCESS_LOCAL_WRITE);
	return CHECK(side->mr && t->readable && t->slots);
}

/* Into all slots; posts that fail do not matter. */
static void receives(struct target *t)
{
	struct ibv_recv_wr *bad, wr = { .num_sge = 1 };
	struct ibv_sge sge = { .length = SLOT_BYTES, .lkey = t->slots->lkey };
	int i;

	wr.sg_list = &sge;
	for (i = 0; i < SLOTS; i++) {
		sge.addr = (uintptr_t)t->side.buf + SLOTS_AT + i * SLOT_STRIDE;
		if (t->side.srq)
			ibv_post_srq_recv(t->side.srq, &wr, &bad);
		else
			ibv_post_recv(t->side.qp, &wr, &bad);
	}
}

/* So that responses match outstanding requests. */
static void requests(struct target *t, struct chance *c)
{
	struct ibv_sge sge = {
		(uintptr_t)t->side.buf + OPEN_AT + draw_below(c, 4000),
		draw_below(c, 4000), t->side.mr->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge, .num_sge = 1,
		.opcode = draw_below(c, 7),
		.wr.rdma = { 0x10000, 0x1234 },
		.qp_type.xrc.remote_srqn = 0x777,
	};

	if (t->state != IBV_QPS_RTS || t->options.type == IBV_QPT_UD)
		return;
	if (wr.opcode >= IBV_WR_ATOMIC_CMP_AND_SWP) {
		sge.length = 8;
		wr.wr.atomic.rkey = 0x1234;
	}
	if (t->options.type == IBV_QPT_UC && wr.opcode >= IBV_WR_RDMA_READ)
		return;
	ibv_post_send(t->side.qp, &wr, &bad);
}

static bool connect_target(struct target *t, struct chance *c)
{
	bool good;

	t->options.psn = one_in(c, 3) ? 0xfffff8 : draw(c) & 0xffffff;
	t->busy = -1;
	if (t->state == IBV_QPS_RESET)
		return true;
	t->options.stop_at = t->state == IBV_QPS_SQD ||
			     t->state == IBV_QPS_ERR ? IBV_QPS_RTS : t->state;
	good = side_connect(&t->side, &attacker_side, &t->options);
	if (good && t->options.stop_at != t->state)
		good = CHECK_CALL(to_state(&t->side, t->state), 0);
	receives(t);
	return good;
}

static bool target_domain(const struct target *t)
{
	return t->options.type == IBV_QPT_XRC_SEND && t->options.srq;
}

static bool target_up(struct target *t, struct host *host, struct chance *c)
{
	if (!side_create(&t->side, host, &t->options, target_domain(t)))
		return false;
	if (target_domain(t))
		t->side.srqn = srq_number(t->side.srq);
	plant(t);
	return regions(t) && connect_target(t, c);
}

bool targets_up(struct host *host, const struct host *from, uint32_t qpn)
{
	struct chance c = { 1 };
	int i;

	attacker = *from;
	attacker_qp.qp_num = qpn;
	for (i = 0; i < NUM_TARGETS; i++)
		if (!target_up(&targets[i], host, &c)) {
			diag("%s", targets[i].name);
			return false;
		}
	return true;
}

void targets_down(void)
{
	int i;

	for (i = 0; i < NUM_TARGETS; i++) {
		struct target *t = &targets[i];

		CHECK_CALL(ibv_destroy_qp(t->side.qp), 0);
		t->side.qp = NULL;
		CHECK_CALL(ibv_dereg_mr(t->readable), 0);
		CHECK_CALL(ibv_dereg_mr(t->slots), 0);
		side_destroy(&t->side);
	}
}

static void drain(struct ibv_cq *cq)
{
	struct ibv_wc wc[32];

	while (ibv_poll_cq(cq, 32, wc) > 0)
		;
}

bool target_refresh(struct target *t, struct chance *c)
{
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	drain(t->side.scq);
	drain(t->side.rcq);
	if (!CHECK_CALL(ibv_query_qp(t->side.qp, &attr, IBV_QP_STATE |
				     IBV_QP_RQ_PSN | IBV_QP_SQ_PSN, &init), 0))
		return false;
	if (attr.qp_state != t->state) {
		t->broken++;
		if (!CHECK_CALL(to_reset(&t->side), 0) ||
		    !connect_target(t, c))
			return false;
		attr.rq_psn = t->options.psn;
		attr.sq_psn = t->options.psn;
	} else if (one_in(c, 2)) {
		receives(t);
	}
	if (attr.rq_psn != t->psn)
		t->busy = -1;
	t->psn = attr.rq_psn;
	t->sq_psn = attr.sq_psn;
	if (one_in(c, 3))
		requests(t, c);
	return true;
}
