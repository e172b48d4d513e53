// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "mutate.h"

uint32_t foreign_qpns[2];

uint32_t mtu_of(const struct target *t)
{
	enum ibv_mtu mtu = t->options.mtu ? t->options.mtu : IBV_MTU_1024;

	return 128 << mtu;
}

static uint8_t transport_of(const struct target *t)
{
	switch (t->options.type) {
	case IBV_QPT_UC:
		return UC;
	case IBV_QPT_UD:
		return UD;
	case IBV_QPT_XRC_SEND:
		return XRC;
	default:
		return RC;
	}
}

/* Proposals */

/* Somewhere in the open region. */
static void aim(struct target *t, struct chance *c, struct packet *p)
{
	uint32_t at = draw_below(c, OPEN_BYTES - p->dma_len);

	p->va = (uintptr_t)t->side.buf + OPEN_AT + at;
	p->rkey = t->side.mr->rkey;
}

/* SEND or WRITE of several packets. */
static void first(struct target *t, struct chance *c, struct packet *p)
{
	uint32_t mtu = mtu_of(t);

	t->busy = one_in(c, 2) ? SEND_FIRST : WRITE_FIRST;
	t->left = draw_below(c, 6 * mtu);
	p->opcode |= t->busy;
	p->dma_len = mtu + t->left;
	p->length = mtu;
	aim(t, c, p);
	if (!t->left)
		t->busy = -1;
}

static void next(struct target *t, struct chance *c, struct packet *p)
{
	uint32_t mtu = mtu_of(t);
	int op = t->busy;

	if (t->left > mtu) {
		p->length = mtu;
		p->opcode |= op + 1;
		t->left -= mtu;
		return;
	}
	p->length = t->left;
	p->opcode |= op + (one_in(c, 3) ? 3 : 2);
	t->busy = -1;
}

static void only(struct target *t, struct chance *c, struct packet *p)
{
	static const uint8_t operations[] = {
		SEND_ONLY, SEND_ONLY_IMM, WRITE_ONLY, WRITE_ONLY_IMM,
		READ_REQUEST, COMPARE_SWAP, FETCH_ADD, ATOMIC_WRITE,
		READ_REQUEST,
	};
	bool reliable = p->opcode != UC;
	uint8_t op = operations[draw_below(c, reliable ? 9 : 4)];
	bool word;

	if (reliable && one_in(c, 30))
		op = one_in(c, 2) ? SEND_ONLY_INV : FLUSH;
	word = op == COMPARE_SWAP || op == FETCH_ADD || op == ATOMIC_WRITE;
	p->opcode |= op;
	p->dma_len = draw_below(c, op == READ_REQUEST ? 6000 : mtu_of(t) + 1);
	if (word)
		p->dma_len = 8;
	if (opcode_carries(p->opcode))
		p->length = p->dma_len;
	aim(t, c, p);
	if (op == READ_REQUEST && one_in(c, 4)) {
		p->va = (uintptr_t)t->side.buf + READ_AT;
		p->rkey = t->readable->rkey;
	}
	if (word)
		p->va &= ~7ull;
}

static void request(struct target *t, struct chance *c, struct packet *p)
{
	uint32_t psns = 1;

	p->psn = t->psn;
	if (t->busy >= 0)
		next(t, c, p);
	else if (one_in(c, 3))
		first(t, c, p);
	else
		only(t, c, p);
	if ((p->opcode & 0x1f) == READ_REQUEST && p->dma_len)
		psns = (p->dma_len + mtu_of(t) - 1) / mtu_of(t);
	t->psn = (t->psn + psns) & 0xffffff;
}

static void answer(struct target *t, struct chance *c, struct packet *p)
{
	p->opcode |= READ_RESPONSE_FIRST + draw_below(c, 6);
	p->psn = (t->sq_psn - draw_below(c, 9)) & 0xffffff;
	p->aeth = 0x1f000000 | draw_below(c, 1000);
	if (one_in(c, 3))
		p->aeth = (0x20 | draw_below(c, 32)) << 24;
	if (one_in(c, 8))
		p->aeth = (0x60 | draw_below(c, 6)) << 24;
	p->original = draw(c);
	if (!opcode_carries(p->opcode))
		return;
	p->length = mtu_of(t);
	if (one_in(c, 2))
		p->length = draw_below(c, mtu_of(t) + 1);
}

static void datagram(struct chance *c, struct packet *p)
{
	p->opcode = UD | (one_in(c, 2) ? SEND_ONLY : SEND_ONLY_IMM);
	p->length = draw_below(c, 1400);
}

static void common(struct chance *c, struct packet *p)
{
	memset(p, 0, sizeof(*p));
	p->pkey = 0xffff;
	p->flags = one_in(c, 4) ? 0xc0 : 0x40;
	p->ask = one_in(c, 2) ? 0x80 : 0;
	p->qkey = QKEY;
	p->src_qpn = 0x123456;
	p->imm = draw(c);
	p->ieth = draw(c);
	p->feth = 1 + draw_below(c, 3);
	p->swap_add = draw(c);
	p->compare = draw(c);
}

void propose_mad(struct chance *c, struct packet *p)
{
	common(c, p);
	p->opcode = UD | SEND_ONLY;
	p->qpn = 1;
	p->qkey = 0x80010000;
	p->length = one_in(c, 4) ? draw_below(c, 400) : 256;
	packet_pad(p);
}

void propose(struct target *t, struct chance *c, struct packet *p)
{
	enum ibv_qp_type type = t->options.type;

	common(c, p);
	p->qpn = t->side.qp->qp_num;
	p->srqn = t->side.srqn;
	p->opcode = transport_of(t);
	if (type == IBV_QPT_UD)
		datagram(c, p);
	else if (type == IBV_QPT_XRC_SEND && !t->options.srq)
		answer(t, c, p);
	else if (type == IBV_QPT_RC && one_in(c, 4))
		answer(t, c, p);
	else
		request(t, c, p);
	packet_pad(p);
}

/* Kinds of faults */

static void spoil_qpn(struct chance *c, struct packet *p)
{
	const uint32_t numbers[] = {
		0, 1, 0xffffff, draw(c), foreign_qpns[0], foreign_qpns[1],
		targets[draw_below(c, NUM_TARGETS)].side.qp->qp_num,
		targets[draw_below(c, NUM_TARGETS)].side.qp->qp_num,
	};

	p->qpn = PICK(c, numbers) & 0xffffff;
}

static void spoil_psn(struct chance *c, struct packet *p)
{
	const int32_t steps[] = {
		1, 2, 3, -1, -2, -3, 1 + draw_below(c, 600),
		-(int32_t)draw_below(c, 600), 0x800000, 0x7fffff, -0x7fffff,
		draw(c),
	};

	p->psn = (p->psn + PICK(c, steps)) & 0xffffff;
}

static void spoil_va(struct chance *c, struct packet *p)
{
	const uint64_t addresses[] = {
		0, p->va + 1, p->va - 1, p->va + OPEN_BYTES,
		p->va - OPEN_BYTES, ~0ull, -8ull, -p->dma_len, 1ull << 63,
		p->va + (1ull << 32), p->va | 1ull << 47, draw(c),
	};

	p->va = PICK(c, addresses);
}

static void spoil_key(struct chance *c, struct packet *p)
{
	const struct target *other = &targets[draw_below(c, NUM_TARGETS)];
	const uint32_t keys[] = {
		0, ~0u, p->rkey ^ 1, p->rkey ^ 0x100, p->rkey + 1, draw(c),
		other->side.mr->rkey, other->readable->rkey,
		other->slots->rkey, other->slots->lkey,
	};

	p->rkey = PICK(c, keys);
	p->ieth = PICK(c, keys);
}

static void spoil_dma(struct chance *c, struct packet *p)
{
	const uint32_t lengths[] = {
		0, 1, p->dma_len + 1, p->dma_len - 1, OPEN_BYTES,
		OPEN_BYTES + 1, 0x7fffffff, 0x80000000, 0x80000001,
		0xffffffff, 0xfffffffc, draw(c),
	};

	p->dma_len = PICK(c, lengths);
}

static void spoil_length(struct chance *c, struct packet *p)
{
	const uint32_t lengths[] = {
		0, 1, 2, 3, 4, 255, 256, 257, 1023, 1024, 1025,
		draw_below(c, 1400), p->length + 1, p->length + 4,
		one_in(c, 4) ? draw_below(c, 8900) : 100,
	};

	p->length = PICK(c, lengths);
	if (!one_in(c, 4))
		packet_pad(p);
}

static void spoil_opcode(struct chance *c, struct packet *p)
{
	if (one_in(c, 2))
		p->opcode = draw(c);
	else
		p->opcode = (p->opcode & 0xe0) | draw_below(c, 0x1e);
	if (!opcode_carries(p->opcode) && !one_in(c, 8))
		p->length = 0;
}

static void spoil_bth(struct chance *c, struct packet *p)
{
	static const uint16_t pkeys[] = { 0, 0x7fff, 0x8000, 0x1234, 0xfffe };

	switch (draw_below(c, 5)) {
	case 0:
		p->flags ^= 1 << draw_below(c, 8);
		break;
	case 1:
		p->flags = draw(c);
		break;
	case 2:
		p->pkey = PICK(c, pkeys);
		break;
	case 3:
		p->becn = draw(c);
		break;
	case 4:
		p->ask = draw(c);
		break;
	}
}

static void spoil_extended(struct chance *c, struct packet *p)
{
	switch (draw_below(c, 6)) {
	case 0:
		p->aeth = draw(c);
		break;
	case 1:
		p->qkey = draw(c);
		break;
	case 2:
		p->src_qpn = draw(c);
		break;
	case 3:
		p->srqn = draw(c);
		break;
	case 4:
		p->qkey = 0x80010000;
		break;
	case 5:
		p->feth = draw(c);
		break;
	}
}

void spoil(struct target *t, struct chance *c, struct packet *p)
{
	static void (*const ways[])(struct chance *c, struct packet *p) = {
		spoil_qpn, spoil_psn, spoil_psn, spoil_va, spoil_key,
		spoil_dma, spoil_length, spoil_opcode, spoil_bth,
		spoil_extended,
	};
	uint32_t n = 1 + (one_in(c, 3) ? draw_below(c, 3) : 0);

	/* The peer may treat the message in any way now. */
	t->busy = one_in(c, 2) ? t->busy : -1;
	while (n--)
		PICK(c, ways)(c, p);
}

/* Bytes */

uint32_t spoil_body(struct chance *c, uint8_t *body, uint32_t length)
{
	static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
	uint32_t at = draw_below(c, length), i;

	switch (draw_below(c, 4)) {
	case 0:			/* bits, mostly of headers */
		for (i = 1 + draw_below(c, 4); i; i--) {
			at = draw_below(c, one_in(c, 8) || length < 44 ?
					length : 44);
			body[at] ^= 1 << draw_below(c, 8);
		}
		return length;
	case 1:
		body[at] = PICK(c, values);
		return length;
	case 2:			/* shorter */
		return at;
	default:		/* longer */
		i = one_in(c, 8) ? draw_below(c, BODY_ROOM - length) :
				   1 + draw_below(c, 40);
		memset(body + length, draw(c), i);
		return length + i;
	}
}

/* The IP header's own length, total, protocol and so on; its sum is right. */
static void spoil_ip(struct chance *c, struct frame *frame)
{
	uint8_t *ip = frame->bytes + ETHERNET_BYTES;
	uint32_t header = ip[0] >> 4 == 6 ? 40 : 20;

	ip[draw_below(c, 12)] ^= 1 << draw_below(c, 8);
	if (one_in(c, 2))
		put16(ip + header + 4, draw(c));	/* UDP length */
	if (one_in(c, 4) && header == 20)
		put16(ip + 2, draw_below(c, 2 * frame->length));
	frame_checksum(frame);
}

void spoil_frame(struct chance *c, struct frame *frame)
{
	uint32_t at = ETHERNET_BYTES +
		      draw_below(c, frame->length - ETHERNET_BYTES);

	switch (draw_below(c, 5)) {
	case 0:			/* the ICRC, or bytes that it covers */
		frame->bytes[at] ^= 1 << draw_below(c, 8);
		break;
	case 1:
		frame->bytes[frame->length - 1 - draw_below(c, 4)] ^= 0x10;
		break;
	case 2:
		frame->length = at;
		break;
	case 3:
		spoil_ip(c, frame);
		break;
	case 4:
		spoil_ip(c, frame);
		frame_icrc(frame);
		break;
	}
}
