// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Building of headers: what sroce_build() writes, sroce_parse() reads back. */
#include <stdlib.h>
#include "packet.h"
#include "tap.h"

static u64 rng = 1;

static u64 random_u64(void)
{
	rng = rng * 6364136223846793005ull + 1442695040888963407ull;
	return rng >> 16 ^ rng << 40;
}

static struct sroce_pkt random_values(u8 opcode)
{
	return (struct sroce_pkt) {
		.op = &sroce_opcodes[opcode],
		.opcode = opcode,
		.solicited = random_u64() & 1,
		.ack_req = random_u64() & 1,
		.syndrome = random_u64(),
		.pkey = random_u64(),
		.qpn = random_u64() & 0xffffff,
		.psn = random_u64() & 0xffffff,
		.src_qpn = random_u64() & 0xffffff,
		.qkey = random_u64(),
		.srqn = random_u64() & 0xffffff,
		.rkey = random_u64(),
		.dma_len = random_u64(),
		.msn = random_u64() & 0xffffff,
		.va = random_u64(),
		.swap_add = random_u64(),
		.compare = random_u64(),
		.original = random_u64(),
		.imm = random_u64(),
	};
}

/* sroce_parse() does not set the fields of headers that the packet does not have. */
static void clear_absent_fields(struct sroce_pkt *pkt)
{
	u16 headers = pkt->op->headers;

	if (!(headers & SROCE_DETH)) {
		pkt->qkey = 0;
		pkt->src_qpn = 0;
	}
	if (!(headers & SROCE_XRCETH))
		pkt->srqn = 0;
	if (!(headers & SROCE_RETH))
		pkt->dma_len = 0;
	if (!(headers & (SROCE_RETH | SROCE_ATOMICETH)))
		pkt->va = 0;
	if (!(headers & (SROCE_RETH | SROCE_ATOMICETH | SROCE_IETH)))
		pkt->rkey = 0;
	if (!(headers & SROCE_ATOMICETH)) {
		pkt->swap_add = 0;
		pkt->compare = 0;
	}
	if (!(headers & SROCE_AETH)) {
		pkt->syndrome = 0;
		pkt->msn = 0;
	}
	if (!(headers & SROCE_ATOMICACK))
		pkt->original = 0;
	if (!(headers & SROCE_IMMDT))
		pkt->imm = 0;
}

static void check_same(const struct sroce_pkt *a, const struct sroce_pkt *b)
{
	EQUAL(a->solicited, b->solicited);
	EQUAL(a->ack_req, b->ack_req);
	EQUAL(a->pad, b->pad);
	EQUAL(a->syndrome, b->syndrome);
	EQUAL(a->pkey, b->pkey);
	EQUAL(a->qpn, b->qpn);
	EQUAL(a->psn, b->psn);
	EQUAL(a->src_qpn, b->src_qpn);
	EQUAL(a->qkey, b->qkey);
	EQUAL(a->srqn, b->srqn);
	EQUAL(a->rkey, b->rkey);
	EQUAL(a->dma_len, b->dma_len);
	EQUAL(a->msn, b->msn);
	EQUAL(a->va, b->va);
	EQUAL(a->swap_add, b->swap_add);
	EQUAL(a->compare, b->compare);
	EQUAL(a->original, b->original);
	EQUAL(a->imm, b->imm);
	EQUAL(a->payload, b->payload);
}

static void round_trip(u8 opcode, u32 payload)
{
	struct sroce_pkt in = random_values(opcode), out = {};
	u32 pad = -payload & 3;
	u32 len = sroce_opcodes[opcode].length;
	u8 *p = malloc(len);

	in.payload = payload;
	in.pad = pad;
	EQUAL(sroce_build(p, &in), len);
	EQUAL(sroce_parse(&out, p, len, len + payload + pad + 4), 0);
	EQUAL(!(p[1] & SROCE_BTH_MIGREQ), out.op->kind == SROCE_KIND_CNP);
	EQUAL(p[1] & SROCE_BTH_TVER_MASK, 0);
	clear_absent_fields(&in);
	check_same(&in, &out);
	free(p);
}

TEST(build, built_packet_parses_to_same_values)
{
	u32 opcode, payload, i;

	for (opcode = 0; opcode < 256; opcode++) {
		bool has = sroce_opcodes[opcode].headers & SROCE_PAYLOAD;

		if (sroce_opcodes[opcode].kind == SROCE_KIND_NONE)
			continue;
		for (payload = 0; payload <= (has ? 260 : 0); payload++)
			for (i = 0; i < 8; i++)
				round_trip(opcode, payload);
	}
}

TEST(build, cnp_has_becn_and_16_reserved_bytes)
{
	static const u8 want[28] = { 0x81, 0, 0xff, 0xff, 0x40, 1, 2, 3 };
	const struct sroce_pkt from = {
		.opcode = SROCE_ANY | SROCE_CNP,
		.pkey = 0xffff,
		.qpn = 0x010203,
	};
	struct sroce_pkt pkt = {};
	u8 p[SROCE_MAX_HEADER];

	memset(p, 0xee, sizeof(p));
	EQUAL(sroce_build(p, &from), 28);
	CHECK(!memcmp(p, want, sizeof(want)));
	EQUAL(sroce_parse(&pkt, p, 32, 32), SROCE_WELL_FORMED);
	EQUAL(pkt.op->kind, SROCE_KIND_CNP);
	EQUAL(pkt.qpn, 0x010203);
	EQUAL(pkt.payload, 0);
	/* It must have exactly 16 reserved bytes. */
	EQUAL(sroce_parse(&pkt, p, 28, 28), SROCE_TOO_SHORT);
	EQUAL(sroce_parse(&pkt, p, 36, 36), SROCE_BAD_PAYLOAD);
	/* All packets have FECN, and it has no meaning. */
	p[0] = SROCE_SEND_ONLY;
	p[4] = 0x80;
	EQUAL(sroce_parse(&pkt, p, 32, 32), SROCE_WELL_FORMED);
	EQUAL(pkt.op->kind, SROCE_KIND_SEND);
}
