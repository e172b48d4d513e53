// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Parser and builder of packet headers. */
#include "packet.h"

static void parse_bth(struct sroce_pkt *pkt, const u8 *p)
{
	pkt->solicited = p[1] & SROCE_BTH_SE;
	pkt->pad = (p[1] >> SROCE_BTH_PAD_SHIFT) & SROCE_BTH_PAD_MASK;
	pkt->pkey = sroce_bth_pkey(p);
	pkt->qpn = sroce_bth_qpn(p);
	pkt->ack_req = p[8] & SROCE_BTH_ACKREQ;
	pkt->psn = sroce_bth_psn(p);
}

static const u8 *parse_deth(struct sroce_pkt *pkt, const u8 *p)
{
	pkt->qkey = get_unaligned_be32(p);
	pkt->src_qpn = get_unaligned_be32(p + 4) & SROCE_QPN_MASK;
	return p + SROCE_DETH_BYTES;
}

static const u8 *parse_feth(struct sroce_pkt *pkt, const u8 *p)
{
	u32 feth = get_unaligned_be32(p);

	pkt->flush_type = feth & SROCE_FETH_TYPE_MASK;
	pkt->flush_level = feth >> SROCE_FETH_LEVEL_SHIFT &
			   SROCE_FETH_LEVEL_MASK;
	return p + SROCE_FETH_BYTES;
}

static const u8 *parse_reth(struct sroce_pkt *pkt, const u8 *p)
{
	pkt->va = get_unaligned_be64(p);
	pkt->rkey = get_unaligned_be32(p + 8);
	pkt->dma_len = get_unaligned_be32(p + 12);
	return p + SROCE_RETH_BYTES;
}

static const u8 *parse_atomiceth(struct sroce_pkt *pkt, const u8 *p)
{
	pkt->va = get_unaligned_be64(p);
	pkt->rkey = get_unaligned_be32(p + 8);
	pkt->swap_add = get_unaligned_be64(p + 12);
	pkt->compare = get_unaligned_be64(p + 20);
	return p + SROCE_ATOMICETH_BYTES;
}

static const u8 *parse_aeth(struct sroce_pkt *pkt, const u8 *p)
{
	pkt->syndrome = p[0];
	pkt->msn = get_unaligned_be32(p) & SROCE_MSN_MASK;
	return p + SROCE_AETH_BYTES;
}

/* Headers that are rare in RC packets. */
static const u8 *parse_first(struct sroce_pkt *pkt, const u8 *p)
{
	u16 headers = pkt->op->headers;

	if (headers & SROCE_DETH)
		p = parse_deth(pkt, p);
	if (headers & SROCE_XRCETH) {
		pkt->srqn = get_unaligned_be32(p) & SROCE_SRQN_MASK;
		p += SROCE_XRCETH_BYTES;
	}
	if (headers & SROCE_FETH)
		p = parse_feth(pkt, p);
	return p;
}

static void parse_extended(struct sroce_pkt *pkt, const u8 *p)
{
	u16 headers = pkt->op->headers;

	if (headers & (SROCE_DETH | SROCE_XRCETH | SROCE_FETH))
		p = parse_first(pkt, p);
	if (headers & SROCE_RETH)
		p = parse_reth(pkt, p);
	if (headers & SROCE_ATOMICETH)
		p = parse_atomiceth(pkt, p);
	if (headers & SROCE_AETH)
		p = parse_aeth(pkt, p);
	if (headers & SROCE_ATOMICACK) {
		pkt->original = get_unaligned_be64(p);
		p += SROCE_ATOMICACK_BYTES;
	}
	if (headers & SROCE_IMMDT) {
		memcpy(&pkt->imm, p, SROCE_IMMDT_BYTES);
		p += SROCE_IMMDT_BYTES;
	}
	if (headers & SROCE_IETH)
		pkt->rkey = get_unaligned_be32(p);
}

enum sroce_malformed sroce_parse(struct sroce_pkt *pkt, const u8 *p,
				 u32 linear, u32 len)
{
	u32 rest;

	if (linear < SROCE_BTH_BYTES)
		return SROCE_TOO_SHORT;
	pkt->opcode = p[0];
	pkt->op = &sroce_opcodes[p[0]];
	if (pkt->op->kind == SROCE_KIND_NONE)
		return SROCE_BAD_OPCODE;
	if (p[1] & SROCE_BTH_TVER_MASK)
		return SROCE_BAD_VERSION;
	if (linear < pkt->op->length ||
	    len < pkt->op->length + SROCE_ICRC_BYTES)
		return SROCE_TOO_SHORT;

	parse_bth(pkt, p);
	rest = len - pkt->op->length - SROCE_ICRC_BYTES;
	/* The pad rounds the payload up to a multiple of four bytes (9.2.3). */
	if (pkt->pad > rest || rest & 3)
		return SROCE_BAD_PAD;
	pkt->payload = rest - pkt->pad;
	if (rest && !(pkt->op->headers & SROCE_PAYLOAD))
		return SROCE_BAD_PAYLOAD;
	parse_extended(pkt, p + SROCE_BTH_BYTES);
	return SROCE_WELL_FORMED;
}

/* Building */

static u8 *build_bth(u8 *p, const struct sroce_pkt *pkt)
{
	p[0] = pkt->opcode;
	p[1] = (pkt->solicited ? SROCE_BTH_SE : 0) | SROCE_BTH_MIGREQ |
	       pkt->pad << SROCE_BTH_PAD_SHIFT;
	put_unaligned_be16(pkt->pkey, p + 2);
	put_unaligned_be32(pkt->qpn, p + 4);
	put_unaligned_be32(pkt->psn, p + 8);
	if (pkt->ack_req)
		p[8] |= SROCE_BTH_ACKREQ;
	return p + SROCE_BTH_BYTES;
}

static u8 *build_deth(u8 *p, const struct sroce_pkt *pkt)
{
	put_unaligned_be32(pkt->qkey, p);
	put_unaligned_be32(pkt->src_qpn, p + 4);
	return p + SROCE_DETH_BYTES;
}

static u8 *build_feth(u8 *p, const struct sroce_pkt *pkt)
{
	put_unaligned_be32(pkt->flush_level << SROCE_FETH_LEVEL_SHIFT |
			   pkt->flush_type, p);
	return p + SROCE_FETH_BYTES;
}

static u8 *build_reth(u8 *p, const struct sroce_pkt *pkt)
{
	put_unaligned_be64(pkt->va, p);
	put_unaligned_be32(pkt->rkey, p + 8);
	put_unaligned_be32(pkt->dma_len, p + 12);
	return p + SROCE_RETH_BYTES;
}

static u8 *build_atomiceth(u8 *p, const struct sroce_pkt *pkt)
{
	put_unaligned_be64(pkt->va, p);
	put_unaligned_be32(pkt->rkey, p + 8);
	put_unaligned_be64(pkt->swap_add, p + 12);
	put_unaligned_be64(pkt->compare, p + 20);
	return p + SROCE_ATOMICETH_BYTES;
}

static u8 *build_aeth(u8 *p, const struct sroce_pkt *pkt)
{
	put_unaligned_be32(pkt->msn & SROCE_MSN_MASK, p);
	p[0] = pkt->syndrome;
	return p + SROCE_AETH_BYTES;
}

static void build_cnp(u8 *p)
{
	p[1] &= ~SROCE_BTH_MIGREQ;
	p[4] |= SROCE_BTH_BECN;
	memset(p + SROCE_BTH_BYTES, 0, SROCE_CNPRSV_BYTES);
}

/* Headers that are rare in RC packets. */
static u8 *build_first(u8 *p, const struct sroce_pkt *pkt, u16 headers)
{
	if (headers & SROCE_DETH)
		p = build_deth(p, pkt);
	if (headers & SROCE_XRCETH) {
		put_unaligned_be32(pkt->srqn, p);
		p += SROCE_XRCETH_BYTES;
	}
	if (headers & SROCE_FETH)
		p = build_feth(p, pkt);
	return p;
}

u32 sroce_build(u8 *p, const struct sroce_pkt *pkt)
{
	const struct sroce_opcode *op = &sroce_opcodes[pkt->opcode];
	u16 headers = op->headers;

	if (headers & SROCE_CNPRSV) {
		build_bth(p, pkt);
		build_cnp(p);
		return op->length;
	}
	p = build_bth(p, pkt);
	if (headers & (SROCE_DETH | SROCE_XRCETH | SROCE_FETH))
		p = build_first(p, pkt, headers);
	if (headers & SROCE_RETH)
		p = build_reth(p, pkt);
	if (headers & SROCE_ATOMICETH)
		p = build_atomiceth(p, pkt);
	if (headers & SROCE_AETH)
		p = build_aeth(p, pkt);
	if (headers & SROCE_ATOMICACK) {
		put_unaligned_be64(pkt->original, p);
		p += SROCE_ATOMICACK_BYTES;
	}
	if (headers & SROCE_IMMDT) {
		memcpy(p, &pkt->imm, SROCE_IMMDT_BYTES);
		p += SROCE_IMMDT_BYTES;
	}
	if (headers & SROCE_IETH)
		put_unaligned_be32(pkt->rkey, p);
	return op->length;
}
