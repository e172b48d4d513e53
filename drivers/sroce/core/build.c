// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "parse.h"

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

/* What packets of RC have but rarely. */
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
