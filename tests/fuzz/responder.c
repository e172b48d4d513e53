// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Input: attributes of a QP, then request packets and the reactions of its driver.
 * A shadow of the message in progress shows which bytes may be accessed.
 */
#include <assert.h>
#include "input.h"
#include "invariants.h"

#define READS 16

struct shadow {
	u64 va;
	u64 length;
	u64 done;
	bool taken;
};

struct fuzz {
	struct sroce_responder r;
	struct sroce_resource reads[READS];
	struct shadow shadow;
	bool failed;
};

static void setup(struct fuzz *f, struct input *in)
{
	u8 byte = input_u8(in);
	u32 mtu = 256 << (byte & 7) % 5;

	f->r = (struct sroce_responder) {
		.mtu = mtu,
		.transport = byte & 8 ? SROCE_UC :
			     (byte & 7) == 7 ? SROCE_XRC : SROCE_RC,
		.permissions = (~(byte >> 4) & 7) << 1 | SROCE_MAY_FLUSH |
			       SROCE_MAY_PERSIST,
		.res = { .reads = f->reads, .mtu = mtu },
	};
	f->r.res.transport = f->r.transport;
	f->r.res.size = sroce_responder_reliable(&f->r) ?
		        input_u8(in) % (READS + 1) : 0;
	f->r.epsn = input_psn(in, 0);
}

static struct sroce_pkt request(struct fuzz *f, struct input *in)
{
	struct sroce_pkt pkt = {};
	u8 byte;

	pkt.opcode = input_u8(in) % 0x1e | f->r.transport;
	pkt.op = &sroce_opcodes[pkt.opcode];
	pkt.psn = input_psn(in, f->r.epsn);
	pkt.va = input_u8(in) << 3;
	byte = input_u8(in);
	pkt.rkey = byte & 1;
	pkt.flush_type = byte >> 1 & 0xf;
	pkt.flush_level = byte >> 5 & 3;
	pkt.srqn = pkt.rkey;
	if (pkt.op->headers & SROCE_RETH)
		pkt.dma_len = input_length(in, f->r.mtu);
	/* No packet that came over the network is longer. */
	if (pkt.op->headers & SROCE_PAYLOAD)
		pkt.payload = input_length(in, f->r.mtu) & 0xffff;
	return pkt;
}

/* The request is in order: does what it may touch agree with the shadow? */
static void check_execute(struct fuzz *f, const struct sroce_pkt *pkt,
			  const struct sroce_request *req)
{
	struct shadow *s = &f->shadow;

	assert(pkt->psn == f->r.epsn);
	assert(req->begins == !!(pkt->op->pos & SROCE_FIRST));
	assert(req->completes == !!(pkt->op->pos & SROCE_LAST));
	if (req->begins) {
		s->va = pkt->va;
		s->length = pkt->op->kind == SROCE_KIND_WRITE ?
			    pkt->dma_len : SROCE_MAX_MSG;
		s->done = 0;
	}
	if (pkt->op->kind == SROCE_KIND_WRITE ||
	    pkt->op->kind == SROCE_KIND_SEND) {
		assert(pkt->payload <= f->r.mtu);
		assert(req->offset == s->done);
		assert(s->done + pkt->payload <= s->length);
	}
	if (pkt->op->kind == SROCE_KIND_WRITE) {
		assert(req->va == s->va + s->done);
		assert(req->completes ==
		       (s->done + pkt->payload == s->length));
	}
	if (pkt->op->kind == SROCE_KIND_ATOMIC_WRITE)
		assert(pkt->payload == 8 && pkt->dma_len == 8 &&
		       !(pkt->va & 7));
	if (pkt->op->kind == SROCE_KIND_FLUSH)
		assert(pkt->flush_type && pkt->flush_type < 4 &&
		       pkt->flush_level < 2);
	assert(!req->take || !s->taken);
	assert(!req->receives || req->take || s->taken);
}

static void execute(struct fuzz *f, const struct sroce_pkt *pkt,
		    const struct sroce_request *req, u8 choice)
{
	check_execute(f, pkt, req);
	if (req->take && (choice & 3) == 3) {
		if (sroce_responder_reliable(&f->r))
			sroce_responder_rnr(&f->r);
		return;
	}
	/* Key refused: ends a reliable connection, costs UC the message. */
	if ((choice & 12) == 12 && !req->take) {
		f->failed = sroce_responder_reliable(&f->r);
		return;
	}
	sroce_responder_done(&f->r, pkt, req, choice);
	f->shadow.done += pkt->payload;
	if (req->take)
		f->shadow.taken = true;
	if (req->receives)
		f->shadow.taken = false;
}

/*
 * A peer may have READs unanswered for more PSNs than can be ordered.  It gets
 * answers that it cannot tell apart.
 */
static bool disordered(const struct sroce_resp_res *res)
{
	u64 packets = 0;
	u32 i;

	for (i = 0; i < res->count; i++)
		packets += res->reads[(res->first + i) % res->size].packets;
	/* An input has less than a thousand requests of one PSN. */
	return packets > SROCE_PSN_WINDOW - 1000;
}

static void answer(struct fuzz *f, u32 most)
{
	struct sroce_resp_res *res = &f->r.res;
	struct sroce_resource *read;
	struct sroce_pkt pkt = {};

	while (most-- && (read = sroce_resp_res_pending(res))) {
		u32 offset = sroce_resp_res_next(res, read, &pkt);
		const struct sroce_opcode *op = &sroce_opcodes[pkt.opcode];

		assert(op->kind >= SROCE_KIND_RESPONSES);
		assert(pkt.payload <= res->mtu);
		assert((u64)offset + pkt.payload <= read->length);
		assert(op->pos & SROCE_LAST ||
		       pkt.payload == res->mtu);
		/* Only what lies before the expected PSN was executed. */
		assert(disordered(res) ||
		       sroce_psn_before(pkt.psn, f->r.epsn));
		assert(read->next < read->packets);
		sroce_resp_res_sent(res, read, 1);
	}
}

/* Packets like @pkt that are predicted together must pass one by one, too. */
static void check_more(const struct fuzz *f, const struct sroce_pkt *pkt, u32 n)
{
	struct sroce_responder r = f->r;
	struct sroce_pkt next = *pkt;
	struct sroce_request req;

	if (!sroce_responder_predicts_more(&r, pkt, n))
		return;
	while (n--) {
		next.psn = sroce_psn_add(next.psn, 1);
		assert(sroce_responder_check(&r, &next, &req) == SROCE_EXECUTE);
		assert(!req.begins && !req.completes && !req.take);
		sroce_responder_done(&r, &next, &req, 0);
	}
}

static void step(struct fuzz *f, struct input *in)
{
	struct sroce_pkt pkt = request(f, in);
	struct sroce_request req;
	u8 choice = input_u8(in);
	bool nak_sent = f->r.nak_sent;
	u32 epsn = f->r.epsn;

	enum sroce_request_verdict verdict;
	bool predicted;

	if (pkt.op->kind == SROCE_KIND_NONE ||
	    pkt.op->kind >= SROCE_KIND_RESPONSES)
		return;
	packets++;
	predicted = predicted_request(&f->r, &pkt);
	verdict = sroce_responder_check(&f->r, &pkt, &req);
	assert(!predicted || verdict == SROCE_EXECUTE);
	switch (verdict) {
	case SROCE_EXECUTE:
		execute(f, &pkt, &req, choice);
		check_more(f, &pkt, 1 + choice % 64);
		break;
	case SROCE_REFUSE:
		assert(req.reason > SROCE_NO_ERROR &&
		       req.reason < SROCE_RESP_ERRORS);
		assert(!sroce_responder_reliable(&f->r) || pkt.psn == epsn);
		f->failed = sroce_responder_reliable(&f->r);
		break;
	case SROCE_AHEAD:
		assert(sroce_psn_before(epsn, pkt.psn));
		assert(sroce_responder_gap(&f->r, 0, 1 << 30) == !nak_sent);
		break;
	case SROCE_RESEND_RESPONSE:
		assert(sroce_resp_res_pending(&f->r.res));
		assert(sroce_psn_before(pkt.psn, epsn) && sroce_responder_reliable(&f->r));
		break;
	case SROCE_RESEND_ACK:
		assert(sroce_psn_before(pkt.psn, epsn) && sroce_responder_reliable(&f->r));
		break;
	case SROCE_IGNORE:
		break;
	}
	answer(f, choice >> 4);
	check_responder(&f->r);
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
