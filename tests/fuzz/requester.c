// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Input: attributes of a QP, then actions of its driver: post, send, handle a
 * response, let a timer expire.
 */
#include <assert.h>
#include "aeth.h"
#include "completer.h"
#include "input.h"
#include "invariants.h"
#include "recovery.h"

#define STORE 16

struct fuzz {
	struct sroce_requester r;
	struct sroce_wr wrs[STORE];
	bool failed;
};

static void setup(struct fuzz *f, struct input *in)
{
	u8 byte = input_u8(in);
	u32 psn = input_psn(in, 0);
	u32 window = 1 + (input_u8(in) & 0x7f);

	f->r = (struct sroce_requester) {
		.in = { f->wrs, STORE - 1, -3, -3, -3 },
		.psn = psn,
		.una = psn,
		.sent = psn,
		.mtu = 256 << byte % 5,
		.cc = { .window = window, .max_window = window },
		.transport = byte & 0x80 ? SROCE_UC : SROCE_RC,
		.max_reads = 1 + (byte >> 4 & 7),
		.retry_count = 7,
		.retry_left = 7,
	};
	f->r.rnr_retry = input_u8(in) & 7;
	f->r.rnr_left = f->r.rnr_retry;
}

static void complete(struct fuzz *f)
{
	while (sroce_requester_finished(&f->r)) {
		assert(f->r.in.head != f->r.in.tail);
		sroce_requester_retire(&f->r);
	}
}

static void post(struct fuzz *f, struct input *in)
{
	static const u8 ops[] = {
		SROCE_OP_WRITE, SROCE_OP_WRITE_IMM, SROCE_OP_SEND,
		SROCE_OP_SEND_IMM, SROCE_OP_READ, SROCE_OP_CMP_SWP,
		SROCE_OP_FETCH_ADD, SROCE_OP_SEND_INV,
		SROCE_OP_ATOMIC_WRITE, SROCE_OP_FLUSH,
	};
	struct sroce_inflight *store = &f->r.in;
	u8 byte = input_u8(in);
	struct sroce_wr wr = {
		.opcode = byte & 0x60 ? ops[byte & 7] : ops[8 + (byte & 1)],
		.flags = byte >> 3 & SROCE_FENCE,
		.remote_addr = 0x123456789abcdef0,
	};

	wr.length = sroce_wr_atomic(&wr) || wr.opcode == SROCE_OP_ATOMIC_WRITE ?
		    8 : input_length(in, f->r.mtu);
	wr.packets = wr.opcode == SROCE_OP_FLUSH ? 1 :
		     sroce_packets(wr.length, f->r.mtu);
	if (byte == 0xff)
		wr.status = SROCE_LOC_PROT_ERR;
	if (f->r.transport == SROCE_UC && (sroce_wr_reads(&wr) ||
					   wr.opcode == SROCE_OP_SEND_INV))
		return;
	if (store->tail - store->head == STORE || wr.length > SROCE_MAX_MSG ||
	    wr.packets > SROCE_MAX_PACKETS)
		return;
	*sroce_inflight_wr(store, store->tail++) = wr;
}

/* Is the packet a part of its request, at its place? */
static void check_outgoing(const struct fuzz *f,
			   const struct sroce_outgoing *out)
{
	const struct sroce_pkt *pkt = &out->pkt;
	const struct sroce_opcode *op = &sroce_opcodes[pkt->opcode];

	assert(op->kind > SROCE_KIND_NONE && op->kind < SROCE_KIND_RESPONSES);
	assert(pkt->psn == f->r.psn && pkt->pad == (-pkt->payload & 3));
	assert(out->wr == sroce_inflight_wr(&f->r.in, out->index));
	assert(!pkt->payload || op->headers & SROCE_PAYLOAD);
	if (op->kind == SROCE_KIND_READ) {
		assert(out->offset + pkt->dma_len == out->wr->length ||
		       (pkt->dma_len && pkt->dma_len == out->count * f->r.mtu));
		assert(out->offset + pkt->dma_len <= out->wr->length);
		assert(pkt->va == out->wr->remote_addr + out->offset);
		return;
	}
	assert(pkt->payload <= f->r.mtu);
	assert(op->pos & SROCE_LAST || pkt->payload == f->r.mtu);
	if (op->headers & SROCE_PAYLOAD) {
		assert(!(op->pos & SROCE_FIRST) == !!out->offset);
		assert(!(op->pos & SROCE_LAST) ==
		       (out->offset + pkt->payload < out->wr->length));
	}
}

static void send(struct fuzz *f, u32 most)
{
	struct sroce_outgoing out;

	while (most-- && !sroce_requester_next(&f->r, &out)) {
		packets++;
		check_outgoing(f, &out);
		sroce_requester_sent(&f->r, &out);
		if (f->r.transport == SROCE_UC)
			complete(f);
		check_requester(&f->r);
	}
}

static struct sroce_pkt answer(struct fuzz *f, struct input *in)
{
	static const u8 opcodes[] = {
		SROCE_ACKNOWLEDGE, SROCE_ATOMIC_ACKNOWLEDGE,
		SROCE_READ_RESPONSE_FIRST, SROCE_READ_RESPONSE_MIDDLE,
		SROCE_READ_RESPONSE_LAST, SROCE_READ_RESPONSE_ONLY,
	};
	u8 byte = input_u8(in);
	struct sroce_pkt pkt = { .opcode = opcodes[byte % 6] };

	pkt.op = &sroce_opcodes[pkt.opcode];
	pkt.psn = input_psn(in, byte & 0x80 ? f->r.sent : f->r.una);
	pkt.syndrome = byte & 0x40 ? input_u8(in) : SROCE_ACK_CREDITS_INVALID;
	if (pkt.op->headers & SROCE_PAYLOAD)
		pkt.payload = byte & 0x20 ? input_length(in, f->r.mtu) & 0xffff
					  : f->r.mtu;
	return pkt;
}

static void check_answer(const struct fuzz *f, const struct sroce_pkt *pkt,
			 enum sroce_ack_verdict verdict,
			 const struct sroce_ack_result *a)
{
	const struct sroce_requester *r = &f->r;
	const struct sroce_wr *wr = sroce_inflight_wr(&r->in, a->index);

	assert(!sroce_psn_before(a->up_to, r->una));
	assert(!sroce_psn_before(r->sent, a->up_to));
	assert(verdict != SROCE_RESP_FAIL || a->status);
	if (verdict != SROCE_RESP_DATA && verdict != SROCE_RESP_ATOMIC)
		return;
	/* Data is taken in order only, into the request that asked for it. */
	assert(a->up_to == pkt->psn && a->psn == sroce_psn_add(pkt->psn, 1));
	assert(a->index - r->in.head < r->in.tail - r->in.head);
	assert(wr->started && sroce_wr_fetches(wr));
	assert(sroce_wr_atomic(wr) == (verdict == SROCE_RESP_ATOMIC));
	if (verdict == SROCE_RESP_DATA)
		assert((u64)a->offset + pkt->payload <= wr->length);
}

/* A refusal before its turn is kept, and then fails the oldest request. */
static void settle(struct fuzz *f, const struct sroce_pkt *pkt, u8 status)
{
	struct sroce_ack_result a = {};

	if (status) {
		f->r.refusal = status;
		f->r.refused = pkt->psn;
	}
	if (!sroce_completer_refused(&f->r, &a))
		return;
	assert(f->r.refusal && a.status == f->r.refusal);
	assert(!sroce_psn_before(a.up_to, f->r.una));
	assert(!sroce_psn_before(f->r.sent, a.up_to));
	sroce_requester_acknowledge(&f->r, a.up_to);
	complete(f);
	f->failed = true;
}

static void take(struct fuzz *f, struct input *in)
{
	struct sroce_pkt pkt = answer(f, in);
	enum sroce_ack_verdict verdict;
	struct sroce_ack_result a = {};

	if (f->r.transport == SROCE_UC)
		return;
	packets++;
	verdict = sroce_completer_check(&f->r, &pkt, &a);
	if (verdict == SROCE_RESP_IGNORE)
		return;
	check_answer(f, &pkt, verdict, &a);
	sroce_requester_acknowledge(&f->r, a.up_to);
	complete(f);
	if (verdict == SROCE_RESP_DATA || verdict == SROCE_RESP_ATOMIC)
		sroce_requester_acknowledge(&f->r, a.psn);
	complete(f);
	if (verdict == SROCE_RESP_AHEAD &&
	    sroce_requester_ahead(&f->r, pkt.psn))
		sroce_completer_ask(&f->r, false);
	if (verdict == SROCE_RESP_ASK)
		sroce_completer_ask(&f->r, true);
	if (verdict == SROCE_RESP_REPAIR)
		f->failed = !sroce_completer_repair(&f->r);
	if (verdict == SROCE_RESP_RETRY)
		f->failed = !sroce_completer_retry(&f->r);
	if (verdict == SROCE_RESP_RNR)
		f->failed = !sroce_completer_rnr(&f->r);
	if (verdict == SROCE_RESP_FAIL)
		f->failed = true;
	else
		settle(f, &pkt, a.status);
	assert(!f->failed || f->r.in.head != f->r.in.tail);
}

static void step(struct fuzz *f, struct input *in)
{
	u8 what = input_u8(in);

	switch (what & 7) {
	case 0:
	case 1:
		post(f, in);
		break;
	case 2:
	case 3:
		send(f, 1 + (what >> 3));
		break;
	case 4:
	case 5:
		take(f, in);
		break;
	case 6:
		if (what & 8)
			f->r.rnr_wait = false;
		else if (sroce_requester_waits(&f->r))
			f->failed = !sroce_completer_retry(&f->r);
		break;
	case 7:
		if (what & 8)
			f->r.drain = what & 16;
		else if (f->r.psn != f->r.una)
			sroce_requester_refused(&f->r,
						sroce_psn_add(f->r.psn, -1));
		break;
	}
	check_requester(&f->r);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct fuzz f = {};

	setup(&f, &in);
	while (in.left && !f.failed)
		step(&f, &in);
	return 0;
}
