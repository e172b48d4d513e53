// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Input: a byte with the number of linear bytes, then a packet from the BTH on. */
#include <assert.h>
#include <stdlib.h>
#include "input.h"
#include "packet.h"

/* Building a parsed packet again gives the same headers. */
static void check_rebuilt(const struct sroce_pkt *pkt, const u8 *p)
{
	u32 feth = pkt->op->length - SROCE_RETH_BYTES - SROCE_FETH_BYTES;
	u8 *built = malloc(pkt->op->length);

	assert(sroce_build(built, pkt) == pkt->op->length);
	/* Bits that no packet of ours has; MigReq is always set. */
	assert(built[1] == (p[1] | SROCE_BTH_MIGREQ));
	assert((built[8] & SROCE_BTH_ACKREQ) == (p[8] & SROCE_BTH_ACKREQ));
	assert(!memcmp(built + 5, p + 5, 3) && !memcmp(built + 9, p + 9, 3));
	/* So are those before the number of an SRQ. */
	if (pkt->op->headers & SROCE_XRCETH)
		built[SROCE_BTH_BYTES] = p[SROCE_BTH_BYTES];
	if (pkt->op->headers & SROCE_FETH) {
		memcpy(built + feth, p + feth, 3);
		built[feth + 3] |= p[feth + 3] & 0xc0;
	}
	if (!(pkt->op->headers & SROCE_DETH))
		assert(!memcmp(built + SROCE_BTH_BYTES, p + SROCE_BTH_BYTES,
			       pkt->op->length - SROCE_BTH_BYTES));
	free(built);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { data, size };
	struct sroce_pkt pkt = {};
	u32 linear, len;
	u8 *p;

	packets++;
	linear = input_u8(&in);
	len = in.left;
	if (linear > len)
		linear = len;
	p = malloc(linear);
	memcpy(p, in.p, linear);
	if (!sroce_parse(&pkt, p, linear, len)) {
		assert(pkt.op->kind != SROCE_KIND_NONE);
		assert(len == pkt.op->length + pkt.payload + pkt.pad +
			      SROCE_ICRC_BYTES);
		assert(!pkt.payload || pkt.op->headers & SROCE_PAYLOAD);
		assert(pkt.psn <= 0xffffff && pkt.qpn <= 0xffffff);
		check_rebuilt(&pkt, p);
	}
	free(p);
	return 0;
}
