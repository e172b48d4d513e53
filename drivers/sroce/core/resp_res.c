// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder resources: requests with their own response, kept to send the
 * responses and to repeat them for duplicates (IBTA vol. 1, 9.7.5.2).
 */
#include "aeth.h"
#include "params.h"
#include "resp_res.h"

static struct sroce_resource *res_entry(const struct sroce_resp_res *res, u32 i)
{
	u32 place = res->first + i;

	return &res->reads[place < res->size ? place : place - res->size];
}

static bool is_answered(const struct sroce_resource *read)
{
	return read->next == read->end;
}

bool sroce_resp_res_room(const struct sroce_resp_res *res)
{
	if (res->count < res->size)
		return true;
	/*
	 * A peer that sends a new request has received the response to the
	 * oldest one.  A late duplicate of the oldest must not block it.
	 */
	return res->size && (is_answered(res_entry(res, 0)) || res_entry(res, 0)->again);
}

static void forget_oldest(struct sroce_resp_res *res)
{
	const struct sroce_resource *oldest = res_entry(res, 0);

	if (!is_answered(oldest))
		res->waiting--;
	/* The peer has received the whole response at once. */
	if (oldest->second != SROCE_MAX_PACKETS && !oldest->again)
		res->spoiled = 0;
	if (res->first_pending)
		res->first_pending--;
	res->first = res->first + 1 < res->size ? res->first + 1 : 0;
	res->count--;
}

struct sroce_resource *sroce_resp_res_move(struct sroce_resp_res *res,
					   struct sroce_resource *reads, u32 size)
{
	struct sroce_resource *old = res->reads;
	u32 i;

	while (res->count > size)
		forget_oldest(res);
	for (i = 0; i < res->count; i++)
		reads[i] = *res_entry(res, i);
	res->reads = reads;
	res->size = size;
	res->first = 0;
	return old;
}

void sroce_resp_res_add(struct sroce_resp_res *res, const struct sroce_pkt *pkt,
			u64 original, u32 msn)
{
	bool data = pkt->op->kind == SROCE_KIND_READ;
	struct sroce_resource *read;

	if (res->count == res->size)
		forget_oldest(res);
	read = res_entry(res, res->count++);
	read->va = pkt->va;
	read->original = original;
	read->rkey = pkt->rkey;
	read->length = data ? pkt->dma_len : 0;
	read->psn = pkt->psn;
	read->packets = sroce_packets(read->length, res->mtu);
	read->msn = msn;
	read->srqn = res->transport == SROCE_XRC ? pkt->srqn : 0;
	read->from = 0;
	read->next = 0;
	read->end = read->packets;
	read->stop = read->length;
	read->kind = pkt->op->kind;
	read->again = false;
	read->second = SROCE_MAX_PACKETS;
	read->resp_done = false;
	read->ignored = 0;
	read->lone = false;
	res->waiting++;
}

static bool entry_covers(const struct sroce_resource *read, u32 psn)
{
	s32 at = sroce_psn_diff(psn, read->psn);

	return at >= 0 && at < (s32)read->packets;
}

bool sroce_resp_res_covers(const struct sroce_resp_res *res, u32 psn)
{
	u32 i;

	for (i = 0; i < res->count; i++)
		if (entry_covers(res_entry(res, i), psn))
			return true;
	return false;
}

/* A duplicate READ may request any part of the original, but nothing else. */
static bool same_read(const struct sroce_resource *read,
		      const struct sroce_pkt *pkt, u64 skipped)
{
	return pkt->rkey == read->rkey && pkt->va == read->va + skipped &&
	       skipped + pkt->dma_len <= read->length;
}

/* The packets before @at have arrived, or the peer would request them, too. */
static void judge_burst(struct sroce_resp_res *res, const struct sroce_resource *read,
			u32 at)
{
	if (at > read->second)
		res->spoiled = 0;
	else if (at == read->second && res->spoiled < SROCE_USO_SPOILED)
		res->spoiled += read->lone ? SROCE_USO_LOST : 1;
}

static bool repeat_entry(struct sroce_resp_res *res, struct sroce_resource *read,
			 const struct sroce_pkt *pkt)
{
	u32 at = sroce_psn_diff(pkt->psn, read->psn);
	u64 skipped = (u64)at * res->mtu;

	if (read->kind != pkt->op->kind ||
	    (res->transport == SROCE_XRC && pkt->srqn != read->srqn))
		return false;
	if (read->kind == SROCE_KIND_READ) {
		if (!same_read(read, pkt, skipped))
			return false;
		read->stop = skipped + pkt->dma_len;
		read->end = at + sroce_packets(pkt->dma_len, res->mtu);
	} else {
		read->end = 1;
	}
	judge_burst(res, read, at);
	read->lone = at == read->from;
	read->from = at;
	read->next = at;
	read->again = true;
	read->second = SROCE_MAX_PACKETS;
	return true;
}

/* Can the response to @later directly follow the response to the duplicate? */
static bool entry_follows(const struct sroce_resource *read, const struct sroce_resource *later)
{
	return read->end == read->packets && later->next == later->from;
}

bool sroce_resp_res_repeat(struct sroce_resp_res *res, const struct sroce_pkt *pkt)
{
	u32 i, j;

	/* Newest first: PSNs wrap, so a very old entry may match as well. */
	for (i = res->count; i > 0; i--)
		if (entry_covers(res_entry(res, i - 1), pkt->psn))
			break;
	if (!i || !repeat_entry(res, res_entry(res, --i), pkt))
		return false;
	res->waiting = 0;
	res->first_pending = 0;
	for (j = 0; j < res->count; j++) {
		if (j > i && !entry_follows(res_entry(res, i), res_entry(res, j)))
			res_entry(res, j)->next = res_entry(res, j)->end;
		if (!is_answered(res_entry(res, j)))
			res->waiting++;
	}
	return true;
}

bool sroce_resp_res_spoiled(struct sroce_resp_res *res)
{
	if (res->spoiled < SROCE_USO_SPOILED)
		return false;
	res->spoiled = 0;
	return true;
}

struct sroce_resource *sroce_resp_res_pending(struct sroce_resp_res *res)
{
	if (!res->waiting)
		return NULL;
	while (is_answered(res_entry(res, res->first_pending)))
		res->first_pending++;
	return res_entry(res, res->first_pending);
}

u32 sroce_resp_res_more(const struct sroce_resource *read)
{
	if (read->next == read->from || read->next + 2 >= read->end)
		return 0;
	return read->end - read->next - 2;
}

void sroce_resp_res_sent(struct sroce_resp_res *res, struct sroce_resource *read,
			 u32 count)
{
	read->next += count;
	if (read->next == read->end)
		res->waiting--;
}

static u8 response_opcode(const struct sroce_resource *read)
{
	bool last = read->next + 1 == read->end;

	/* A repeated response begins with FIRST, wherever it starts. */
	if (read->next == read->from)
		return last ? SROCE_READ_RESPONSE_ONLY :
			      SROCE_READ_RESPONSE_FIRST;
	return last ? SROCE_READ_RESPONSE_LAST : SROCE_READ_RESPONSE_MIDDLE;
}

u32 sroce_resp_res_next(const struct sroce_resp_res *res,
			const struct sroce_resource *read, struct sroce_pkt *pkt)
{
	u32 offset = read->next * res->mtu;

	pkt->psn = sroce_psn_add(read->psn, read->next);
	pkt->syndrome = SROCE_ACK_CREDITS_INVALID;
	pkt->msn = read->msn;
	/* Response to atomic WRITE and FLUSH: a READ response of 0 bytes. */
	if (read->kind == SROCE_KIND_ATOMIC) {
		pkt->opcode = res->transport | SROCE_ATOMIC_ACKNOWLEDGE;
		pkt->original = read->original;
		pkt->payload = 0;
	} else {
		pkt->opcode = res->transport | response_opcode(read);
		pkt->payload = min(res->mtu, read->stop - offset);
	}
	pkt->pad = -pkt->payload & 3;
	return offset;
}
