// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Responder resources: requests with their own response, kept to send the
 * responses and to repeat them for duplicates (IBTA vol. 1, 9.7.5.2).
 */
#include "aeth.h"
#include "params.h"
#include "resp_res.h"

static struct sroce_resource *log_entry(const struct sroce_resp_res *log, u32 i)
{
	u32 place = log->first + i;

	return &log->reads[place < log->size ? place : place - log->size];
}

static bool is_answered(const struct sroce_resource *read)
{
	return read->next == read->end;
}

bool sroce_resp_res_room(const struct sroce_resp_res *log)
{
	if (log->count < log->size)
		return true;
	/*
	 * A peer that sends a new request has received the response to the
	 * oldest one.  A late duplicate of the oldest must not block it.
	 */
	return log->size && (is_answered(log_entry(log, 0)) || log_entry(log, 0)->again);
}

static void forget_oldest(struct sroce_resp_res *log)
{
	const struct sroce_resource *oldest = log_entry(log, 0);

	if (!is_answered(oldest))
		log->waiting--;
	/* The peer has received the whole response at once. */
	if (oldest->burst && !oldest->again)
		log->spoiled = 0;
	if (log->first_pending)
		log->first_pending--;
	log->first = log->first + 1 < log->size ? log->first + 1 : 0;
	log->count--;
}

struct sroce_resource *sroce_resp_res_move(struct sroce_resp_res *log,
					   struct sroce_resource *reads, u32 size)
{
	struct sroce_resource *old = log->reads;
	u32 i;

	while (log->count > size)
		forget_oldest(log);
	for (i = 0; i < log->count; i++)
		reads[i] = *log_entry(log, i);
	log->reads = reads;
	log->size = size;
	log->first = 0;
	return old;
}

void sroce_resp_res_add(struct sroce_resp_res *log, const struct sroce_pkt *pkt,
			u64 original, u32 msn)
{
	bool data = pkt->op->kind == SROCE_KIND_READ;
	struct sroce_resource *read;

	if (log->count == log->size)
		forget_oldest(log);
	read = log_entry(log, log->count++);
	read->va = pkt->va;
	read->original = original;
	read->rkey = pkt->rkey;
	read->length = data ? pkt->dma_len : 0;
	read->psn = pkt->psn;
	read->packets = sroce_packets(read->length, log->mtu);
	read->msn = msn;
	read->srqn = log->transport == SROCE_XRC ? pkt->srqn : 0;
	read->from = 0;
	read->next = 0;
	read->end = read->packets;
	read->stop = read->length;
	read->kind = pkt->op->kind;
	read->again = false;
	read->burst = false;
	read->resp_done = false;
	read->ignored = 0;
	log->waiting++;
}

static bool entry_covers(const struct sroce_resource *read, u32 psn)
{
	s32 at = sroce_psn_diff(psn, read->psn);

	return at >= 0 && at < (s32)read->packets;
}

bool sroce_resp_res_covers(const struct sroce_resp_res *log, u32 psn)
{
	u32 i;

	for (i = 0; i < log->count; i++)
		if (entry_covers(log_entry(log, i), psn))
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
static void judge_burst(struct sroce_resp_res *log, const struct sroce_resource *read,
			u32 at)
{
	if (!read->burst || at <= read->from)
		return;
	if (at > read->from + 1)
		log->spoiled = 0;
	else if (log->spoiled < SROCE_USO_SPOILED)
		log->spoiled++;
}

static bool repeat_entry(struct sroce_resp_res *log, struct sroce_resource *read,
			 const struct sroce_pkt *pkt)
{
	u32 at = sroce_psn_diff(pkt->psn, read->psn);
	u64 skipped = (u64)at * log->mtu;

	if (read->kind != pkt->op->kind ||
	    (log->transport == SROCE_XRC && pkt->srqn != read->srqn))
		return false;
	if (read->kind == SROCE_KIND_READ) {
		if (!same_read(read, pkt, skipped))
			return false;
		read->stop = skipped + pkt->dma_len;
		read->end = at + sroce_packets(pkt->dma_len, log->mtu);
	} else {
		read->end = 1;
	}
	judge_burst(log, read, at);
	read->from = at;
	read->next = at;
	read->again = true;
	read->burst = false;
	return true;
}

/* Can the response to @later directly follow the response to the duplicate? */
static bool entry_follows(const struct sroce_resource *read, const struct sroce_resource *later)
{
	return read->end == read->packets && later->next == later->from;
}

bool sroce_resp_res_repeat(struct sroce_resp_res *log, const struct sroce_pkt *pkt)
{
	u32 i, j;

	/* Newest first: PSNs wrap, so a very old entry may match as well. */
	for (i = log->count; i > 0; i--)
		if (entry_covers(log_entry(log, i - 1), pkt->psn))
			break;
	if (!i || !repeat_entry(log, log_entry(log, --i), pkt))
		return false;
	log->waiting = 0;
	log->first_pending = 0;
	for (j = 0; j < log->count; j++) {
		if (j > i && !entry_follows(log_entry(log, i), log_entry(log, j)))
			log_entry(log, j)->next = log_entry(log, j)->end;
		if (!is_answered(log_entry(log, j)))
			log->waiting++;
	}
	return true;
}

bool sroce_resp_res_spoiled(struct sroce_resp_res *log)
{
	if (log->spoiled < SROCE_USO_SPOILED)
		return false;
	log->spoiled = 0;
	return true;
}

struct sroce_resource *sroce_resp_res_pending(struct sroce_resp_res *log)
{
	if (!log->waiting)
		return NULL;
	while (is_answered(log_entry(log, log->first_pending)))
		log->first_pending++;
	return log_entry(log, log->first_pending);
}

u32 sroce_resp_res_more(const struct sroce_resource *read)
{
	if (read->next == read->from || read->next + 2 >= read->end)
		return 0;
	return read->end - read->next - 2;
}

void sroce_resp_res_sent(struct sroce_resp_res *log, struct sroce_resource *read,
			 u32 count)
{
	read->next += count;
	if (read->next == read->end)
		log->waiting--;
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

u32 sroce_resp_res_next(const struct sroce_resp_res *log,
			const struct sroce_resource *read, struct sroce_pkt *pkt)
{
	u32 offset = read->next * log->mtu;

	pkt->psn = sroce_psn_add(read->psn, read->next);
	pkt->syndrome = SROCE_ACK_CREDITS_INVALID;
	pkt->msn = read->msn;
	/* Response to atomic WRITE and FLUSH: a READ response of 0 bytes. */
	if (read->kind == SROCE_KIND_ATOMIC) {
		pkt->opcode = log->transport | SROCE_ATOMIC_ACKNOWLEDGE;
		pkt->original = read->original;
		pkt->payload = 0;
	} else {
		pkt->opcode = log->transport | response_opcode(read);
		pkt->payload = min(log->mtu, read->stop - offset);
	}
	pkt->pad = -pkt->payload & 3;
	return offset;
}
