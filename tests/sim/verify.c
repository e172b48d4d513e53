// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* After a run every byte and every completion must be as the model predicts. */
#include <stdlib.h>
#include "world.h"

/* The request of the first completion with an error; @posted if none has. */
static u32 first_error(const struct side *side)
{
	u32 i;

	for (i = 0; i < side->ep.sends.count; i++)
		if (side->ep.sends.list[i].status)
			return side->ep.sends.list[i].id;
	return side->posted;
}

/* Signaled successes in order, at most one failure, then flushes of all. */
static bool verify_sends(struct world *w, const struct side *side)
{
	const struct completions *c = &side->ep.sends;
	u32 failed = first_error(side), at = 0, i;

	for (i = 0; i < side->posted; i++) {
		const struct sroce_wr *wr = &side->ops[i].wr;

		if (i < failed && !(wr->flags & SROCE_SIGNALED))
			continue;
		if (at == c->count || c->list[at].id != i ||
		    c->list[at].opcode != wr->opcode)
			return wrong(w, "completion %u is not of request %u",
				     at, i);
		if (i < failed && c->list[at].length != wr->length)
			return wrong(w, "request %u: wrong length", i);
		if (i > failed && c->list[at].status != SROCE_WR_FLUSH_ERR)
			return wrong(w, "request %u is not flushed", i);
		at++;
	}
	if (at != c->count)
		return wrong(w, "%u completions, %u expected", c->count, at);
	return true;
}

static bool verify_ending(struct world *w, u32 i)
{
	const struct side *side = &w->sides[i];
	const struct completions *c = &side->ep.sends;
	u32 failed = first_error(side), at;

	for (at = 0; at < c->count && !c->list[at].status; at++)
		;
	if (w->ending == ALL_DONE || w->ending == UNRELIABLE) {
		if (at < c->count)
			return wrong(w, "request %u fails with status %u",
				     failed, c->list[at].status);
		return true;
	}
	if (w->ending == ONE_FAILS && !i && failed != w->failing)
		return wrong(w, "request %u fails instead of %u", failed,
			     w->failing);
	if (at < c->count && w->status && c->list[at].status != w->status &&
	    !side->ep.refused)
		return wrong(w, "request %u fails with status %u instead of %u",
			     failed, c->list[at].status, w->status);
	return true;
}

static bool same(const struct side *side, u32 at, u32 length)
{
	return !memcmp(side->ep.memory + at, side->model + at, length);
}

/* The promises of a completion. */
static bool verify_effect(struct world *w, const struct op *op,
			  const struct side *side, const struct side *peer)
{
	u32 length = op->wr.length;
	bool ok;

	if (op->wr.opcode == SROCE_OP_FLUSH)
		ok = true;
	else if (sroce_wr_fetches(&op->wr))
		ok = same(side, op->local, length);
	else if (op->wr.opcode == SROCE_OP_WRITE ||
		 op->wr.opcode == SROCE_OP_WRITE_IMM ||
		 op->wr.opcode == SROCE_OP_ATOMIC_WRITE)
		ok = same(peer, op->wr.remote_addr, length);
	else
		ok = same(peer, peer->recvs[op->recv].offset, length);
	return ok || wrong(w, "request %u: wrong data",
			   (u32)op->wr.wr_id);
}

static bool verify_effects(struct world *w, u32 i)
{
	const struct side *side = &w->sides[i];
	u32 failed = first_error(side), j;

	for (j = 0; j < failed; j++)
		if (!verify_effect(w, &side->ops[j], side, &w->sides[!i]))
			return false;
	return true;
}

static bool matches(const struct completion *c, const struct op *op)
{
	return c->opcode == op->wr.opcode && c->length == op->wr.length &&
	       (c->opcode == SROCE_OP_SEND || c->imm == op->wr.imm);
}

/* Receive completions are those of the peer's program, or its beginning. */
static bool verify_receives(struct world *w, u32 i)
{
	const struct completions *c = &w->sides[i].ep.recvs;
	const struct side *peer = &w->sides[!i];
	u32 j, at = 0;

	for (j = 0; j < peer->count && at < c->count; j++) {
		if (peer->ops[j].recv == NO_RECV)
			continue;
		if (c->list[at].status)
			break;
		if (c->list[at].id != at || !matches(&c->list[at],
						     &peer->ops[j]))
			return wrong(w, "receive %u is not of request %u",
				     at, j);
		at++;
	}
	for (; j < peer->count && w->ending == ALL_DONE; j++)
		if (peer->ops[j].recv != NO_RECV)
			return wrong(w, "request %u was not received", j);
	if (at < c->count && c->list[at].status != w->recv_status)
		return wrong(w, "receive %u ends with status %u", at,
			     c->list[at].status);
	if (at == c->count && i && w->ending == ONE_FAILS && w->recv_status)
		return wrong(w, "receive %u does not fail", at);
	return true;
}

static bool verify_memory(struct world *w, const struct side *side)
{
	u32 i = 0;

	if (same(side, 0, side->ep.size))
		return true;
	while (side->ep.memory[i] == side->model[i])
		i++;
	return wrong(w, "byte %u of %s is wrong", i, side->ep.name);
}

/* Is this the message that the receive completion @c tells of? */
static bool delivered(const struct completion *c, const struct op *op,
		      const struct side *side, const struct side *peer)
{
	u32 at = op->wr.opcode == SROCE_OP_WRITE_IMM ?
		 (u32)op->wr.remote_addr : side->recvs[c->id].offset;

	return matches(c, op) && !memcmp(side->ep.memory + at,
					 peer->ep.memory + op->local,
					 op->wr.length);
}

/*
 * Delivered messages are whole and in order; a receive request that a lost
 * message took serves the next one.
 */
static bool verify_unreliable_receives(struct world *w, u32 i)
{
	const struct side *side = &w->sides[i], *peer = &w->sides[!i];
	u32 at = 0, j;

	for (j = 0; j < side->ep.recvs.count; j++)
		if (side->ep.recvs.list[j].id != j)
			return wrong(w, "receive %u was skipped", j);
	for (j = 0; j < peer->count && at < side->ep.recvs.count; j++)
		if (delivered(&side->ep.recvs.list[at], &peer->ops[j], side,
			      peer))
			at++;
	if (at < side->ep.recvs.count)
		return wrong(w, "receive %u is of no message", at);
	return true;
}

/* A lost WRITE may have left some of its packets, and nothing else. */
static bool verify_unreliable_memory(struct world *w, u32 i)
{
	const struct side *side = &w->sides[i], *peer = &w->sides[!i];
	const u8 *memory = side->ep.memory;
	u32 j, k;

	for (j = 0; j < peer->count; j++) {
		const struct op *op = &peer->ops[j];
		u8 *model = side->model + op->wr.remote_addr;

		for (k = 0; op->wr.remote_addr && k < op->wr.length; k++)
			if (memory[op->wr.remote_addr + k] ==
			    peer->ep.memory[op->local + k])
				model[k] = peer->ep.memory[op->local + k];
	}
	for (j = 0; j < side->recv_posted; j++)
		memcpy(side->model + side->recvs[j].offset,
		       memory + side->recvs[j].offset, side->recvs[j].length);
	return verify_memory(w, side);
}

bool verify(struct world *w)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		if (!verify_ending(w, i) || !verify_sends(w, &w->sides[i]))
			return false;
		if (w->ending == UNRELIABLE) {
			if (!verify_unreliable_receives(w, i) ||
			    !verify_unreliable_memory(w, i))
				return false;
			continue;
		}
		if (!verify_receives(w, i) || !verify_effects(w, i))
			return false;
		if (w->ending == ALL_DONE && !verify_memory(w, &w->sides[i]))
			return false;
	}
	return true;
}
