// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random programs with a determined result: each buffer is written once, by a
 * request whose order relative to its readers is guaranteed.
 */
#include <stdlib.h>
#include "world.h"

/* Messages of a stream. */
#define STREAM	400

static u32 random_length(struct world *w)
{
	u32 mtu = w->mtu;

	if (w->stream)
		return w->stream * mtu;
	switch (rng_between(&w->rng, 0, 7)) {
	case 0:
		return 0;
	case 1:
		return rng_between(&w->rng, 1, 8);
	case 2:
		return mtu * rng_between(&w->rng, 1, 4);
	case 3:
		return mtu * rng_between(&w->rng, 1, 4) +
		       rng_between(&w->rng, 0, 2) - 1;
	case 4:
		return rng_between(&w->rng, 0, 12 * mtu);
	default:
		return rng_between(&w->rng, 1, mtu);
	}
}

/* A new buffer, with room around it that nobody may touch. */
static u32 allocate(struct world *w, struct side *side, u32 length)
{
	u32 at = side->ep.size + rng_between(&w->rng, 0, 3);

	side->ep.size = at + length + rng_between(&w->rng, 1, 5);
	return at;
}

static u8 random_opcode(struct world *w)
{
	static const u8 all[] = {
		SROCE_OP_WRITE, SROCE_OP_WRITE_IMM, SROCE_OP_SEND,
		SROCE_OP_SEND_IMM, SROCE_OP_SEND_INV, SROCE_OP_READ,
		SROCE_OP_READ, SROCE_OP_CMP_SWP, SROCE_OP_FETCH_ADD,
		SROCE_OP_ATOMIC_WRITE, SROCE_OP_FLUSH,
	};

	if (w->stream)
		return w->stream_op;
	return all[rng_between(&w->rng, 0,
			       w->transport == SROCE_UC ? 3 : 10)];
}

static bool receives(u8 opcode)
{
	return opcode == SROCE_OP_WRITE_IMM || opcode == SROCE_OP_SEND ||
	       opcode == SROCE_OP_SEND_IMM || opcode == SROCE_OP_SEND_INV;
}

static void add_receive(struct world *w, struct side *side, u32 length)
{
	/* Any message may be lost, so all must fit. */
	if (w->transport == SROCE_UC)
		length = 12 * w->mtu;
	else if (rng_permille(&w->rng, 300))
		length += rng_between(&w->rng, 1, 100);
	side->recvs[side->recv_count] = (struct receive) {
		.id = side->recv_count,
		.offset = allocate(w, side, length),
		.length = length,
	};
	side->recv_count++;
}

/* READ what an earlier WRITE wrote, or send what an earlier READ brought. */
static void reuse(struct world *w, struct side *side, struct op *op)
{
	const struct op *before;

	if (op == side->ops || w->transport == SROCE_UC)
		return;
	before = &side->ops[rng_between(&w->rng, 0, op - side->ops - 1)];
	if (before->wr.opcode == SROCE_OP_WRITE &&
	    op->wr.opcode == SROCE_OP_READ) {
		op->wr.remote_addr = before->wr.remote_addr;
		op->wr.length = before->wr.length;
	} else if (before->wr.opcode == SROCE_OP_READ &&
		   !sroce_wr_reads(&op->wr)) {
		op->local = before->local;
		op->wr.length = before->wr.length;
		op->wr.flags |= SROCE_FENCE;
	}
}

static void aim_atomic(struct world *w, struct op *op)
{
	op->wr.remote_addr = 8 * rng_between(&w->rng, 0, CELLS - 1);
	op->wr.length = 8;
	/* Small numbers, so that some comparisons hold. */
	op->wr.compare_add = rng_between(&w->rng, 0, 3);
	op->wr.swap = rng_between(&w->rng, 0, 3);
}

static void aim_word(struct world *w, struct op *op, struct side *peer)
{
	op->wr.length = 8;
	op->wr.remote_addr = (allocate(w, peer, 8 + 7) + 7) & ~7ull;
}

/* It has no effect except its place among the others. */
static void aim_flush(struct world *w, struct op *op)
{
	op->wr.remote_addr = 0;
	op->wr.flush.type = SROCE_FLUSH_GLOBAL;
	op->wr.flush.level = rng_between(&w->rng, 0, 1);
}

static void aim(struct world *w, struct op *op, struct side *side,
		struct side *peer)
{
	struct sroce_wr *wr = &op->wr;

	op->recv = NO_RECV;
	wr->length = random_length(w);
	wr->rkey = RKEY;
	wr->srqn = rng_between(&w->rng, 0, SROCE_SRQN_MASK);
	reuse(w, side, op);
	if (sroce_wr_atomic(wr))
		aim_atomic(w, op);
	else if (wr->opcode == SROCE_OP_ATOMIC_WRITE)
		aim_word(w, op, peer);
	else if (wr->opcode == SROCE_OP_FLUSH)
		aim_flush(w, op);
	else if (wr->opcode == SROCE_OP_WRITE ||
		 wr->opcode == SROCE_OP_WRITE_IMM ||
		 (wr->opcode == SROCE_OP_READ && !wr->remote_addr))
		wr->remote_addr = allocate(w, peer, wr->length);
	if (!op->local)
		op->local = allocate(w, side, wr->length);
	if (receives(wr->opcode)) {
		op->recv = peer->recv_count;
		add_receive(w, peer, wr->opcode == SROCE_OP_WRITE_IMM ?
			       0 : wr->length);
	}
}

static void write_op(struct world *w, struct side *side, struct side *peer)
{
	struct op *op = &side->ops[side->count];
	struct sroce_wr *wr = &op->wr;

	wr->wr_id = side->count++;
	wr->opcode = random_opcode(w);
	wr->flags = rng_permille(&w->rng, 500) ? SROCE_SIGNALED : 0;
	if (!w->stream && rng_permille(&w->rng, 100))
		wr->flags |= SROCE_FENCE;
	if (rng_permille(&w->rng, 100))
		wr->flags |= SROCE_SOLICITED;
	wr->imm = rng_next(&w->rng);
	aim(w, op, side, peer);
	wr->packets = wr->opcode == SROCE_OP_FLUSH ? 1 :
		      sroce_packets(wr->length, w->mtu);
}

void program_write(struct world *w, u32 most)
{
	u32 i, n[2];

	for (i = 0; i < 2; i++) {
		struct side *side = &w->sides[i];

		n[i] = w->stream ? (i ? 0 : STREAM) :
		       rng_between(&w->rng, i ? 0 : 1, most);
		side->ops = calloc(n[i] + 1, sizeof(*side->ops));
		side->ep.size = 8 * CELLS;
	}
	for (i = 0; i < 2; i++)
		w->sides[!i].recvs = calloc(n[i] + 1, sizeof(struct receive));
	for (i = 0; i < 2; i++)
		while (w->sides[i].count < n[i])
			write_op(w, &w->sides[i], &w->sides[!i]);
}

static void model_atomic(const struct op *op, struct side *side,
			 struct side *peer)
{
	u64 original, value;

	memcpy(&original, peer->model + op->wr.remote_addr, 8);
	value = op->wr.opcode == SROCE_OP_FETCH_ADD ?
		original + op->wr.compare_add :
		original == op->wr.compare_add ? op->wr.swap : original;
	memcpy(peer->model + op->wr.remote_addr, &value, 8);
	memcpy(side->model + op->local, &original, 8);
}

static void model_op(const struct op *op, struct side *side, struct side *peer)
{
	u8 *local = side->model + op->local;

	switch (op->wr.opcode) {
	case SROCE_OP_WRITE:
	case SROCE_OP_WRITE_IMM:
	case SROCE_OP_ATOMIC_WRITE:
		memcpy(peer->model + op->wr.remote_addr, local, op->wr.length);
		break;
	case SROCE_OP_READ:
		memcpy(local, peer->model + op->wr.remote_addr, op->wr.length);
		break;
	case SROCE_OP_CMP_SWP:
	case SROCE_OP_FETCH_ADD:
		model_atomic(op, side, peer);
		break;
	case SROCE_OP_FLUSH:
		break;
	default:
		memcpy(peer->model + peer->recvs[op->recv].offset, local,
		       op->wr.length);
	}
}

/* Memory is filled; then the model runs both programs. */
void program_model(struct world *w)
{
	u32 i, j, count;

	for (i = 0; i < 2; i++) {
		struct side *side = &w->sides[i];

		side->ep.memory = malloc(side->ep.size);
		side->model = malloc(side->ep.size);
		memset(side->ep.memory, 0, 8 * CELLS);
		rng_fill(&w->rng, side->ep.memory + 8 * CELLS,
			 side->ep.size - 8 * CELLS);
		memcpy(side->model, side->ep.memory, side->ep.size);
	}
	if (w->ending == UNRELIABLE)
		return;
	for (i = 0; i < 2; i++) {
		count = w->sides[i].count;
		if (!i)
			count = min(count, w->failing);
		for (j = 0; j < count; j++)
			model_op(&w->sides[i].ops[j], &w->sides[i],
				 &w->sides[!i]);
	}
}
