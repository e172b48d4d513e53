// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Each packet buffer has exactly the length of its packet, so that the address
 * sanitizer detects reads behind the end.
 */
#include <stdlib.h>
#include "packet.h"
#include "tap.h"

static enum sroce_malformed expected(u8 opcode, u32 len, u8 pad, u8 tver)
{
	const struct sroce_opcode *op = &sroce_opcodes[opcode];
	u32 rest;

	if (len < SROCE_BTH_BYTES)
		return SROCE_TOO_SHORT;
	if (op->kind == SROCE_KIND_NONE)
		return SROCE_BAD_OPCODE;
	if (tver)
		return SROCE_BAD_VERSION;
	if (len < op->length + SROCE_ICRC_BYTES)
		return SROCE_TOO_SHORT;
	rest = len - op->length - SROCE_ICRC_BYTES;
	if (rest % 4 || pad > rest)
		return SROCE_BAD_PAD;
	if (rest && !(op->headers & SROCE_PAYLOAD))
		return SROCE_BAD_PAYLOAD;
	return SROCE_WELL_FORMED;
}

static void check_parse(u8 *p, u32 len, u8 opcode, u8 pad, u8 tver)
{
	struct sroce_pkt pkt = {};
	enum sroce_malformed result;

	if (len > 0)
		p[0] = opcode;
	if (len > 1)
		p[1] = pad << 4 | tver;
	result = sroce_parse(&pkt, p, len, len);
	EQUAL(result, expected(opcode, len, pad, tver));
	if (result == SROCE_WELL_FORMED)
		EQUAL(pkt.payload + pkt.pad + pkt.op->length +
		      SROCE_ICRC_BYTES, len);
}

TEST(parse, malformed_packet_is_refused)
{
	u32 len, opcode, i;

	for (len = 0; len <= 300; len++) {
		u8 *p = malloc(len);

		memset(p, 0xa5, len);
		for (opcode = 0; opcode < 256; opcode++)
			for (i = 0; i < 64; i++)
				check_parse(p, len, opcode, i & 3, i >> 2);
		free(p);
	}
}

TEST(parse, headers_must_be_linear)
{
	u32 linear, len, opcode;

	for (linear = 0; linear <= 64; linear++) {
		u8 *p = calloc(1, linear);

		for (opcode = 0; opcode < 256; opcode++) {
			const struct sroce_opcode *op = &sroce_opcodes[opcode];

			if (linear)
				p[0] = opcode;
			for (len = linear; len <= 128; len++) {
				struct sroce_pkt pkt = {};
				bool ok = !sroce_parse(&pkt, p, linear, len);

				CHECK(!ok || linear >= op->length);
				if (linear >= op->length && op->length)
					EQUAL(ok, !expected(opcode, len, 0, 0));
			}
		}
		free(p);
	}
}

TEST(parse, fields_of_compare_swap_are_parsed)
{
	static const u8 cas[] = {
		0x13, 0xc0, 0x12, 0x34, 0xc0, 0xab, 0xcd, 0xef,
		0x80, 0x01, 0x02, 0x03,
		1, 2, 3, 4, 5, 6, 7, 8, 0xde, 0xad, 0xbe, 0xef,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0, 0, 0, 0,
	};
	struct sroce_pkt pkt = {};

	EQUAL(sroce_parse(&pkt, cas, sizeof(cas), sizeof(cas)), 0);
	CHECK(pkt.solicited && pkt.ack_req);
	EQUAL(pkt.pkey, 0x1234);
	EQUAL(pkt.qpn, 0xabcdef);
	EQUAL(pkt.psn, 0x010203);
	EQUAL(pkt.va, 0x0102030405060708);
	EQUAL(pkt.rkey, 0xdeadbeef);
	EQUAL(pkt.swap_add, 0x1112131415161718);
	EQUAL(pkt.compare, 0x2122232425262728);
	EQUAL(pkt.payload, 0);
}

TEST(parse, fields_of_ud_send_are_parsed)
{
	static const u8 ud[] = {
		0x65, 0x10, 0xff, 0xff, 0, 0, 0, 1, 0, 0, 0, 9,
		0x80, 0x01, 0, 0, 0xff, 0, 0, 7, 1, 2, 3, 4,
		'a', 'b', 'c', 0, 0, 0, 0, 0,
	};
	struct sroce_pkt pkt = {};

	EQUAL(sroce_parse(&pkt, ud, sizeof(ud), sizeof(ud)), 0);
	EQUAL(pkt.qkey, SROCE_QKEY_GSI);
	EQUAL(pkt.src_qpn, 7);
	EQUAL(pkt.payload, 3);
	EQUAL(pkt.pad, 1);
	CHECK(!memcmp(&pkt.imm, ud + 20, 4));
}

/* Annex A19: FETH comes before RETH; its reserved bits are ignored. */
TEST(parse, feth_of_flush_is_parsed)
{
	u8 p[SROCE_BTH_BYTES + 4 + 16 + SROCE_ICRC_BYTES] = { SROCE_FLUSH };
	struct sroce_pkt pkt = {};

	memset(p + 12, 0xff, 3);
	p[15] = 0xc0 | 1 << 4 | 3;
	p[23] = 0x42;
	p[31] = 9;
	EQUAL(sroce_parse(&pkt, p, sizeof(p), sizeof(p)), SROCE_WELL_FORMED);
	EQUAL(pkt.flush_type, SROCE_FLUSH_GLOBAL | SROCE_FLUSH_PERSISTENT);
	EQUAL(pkt.flush_level, SROCE_FLUSH_REGION);
	EQUAL(pkt.va, 0x42);
	EQUAL(pkt.dma_len, 9);
	EQUAL(pkt.payload, 0);
}

TEST(parse, srq_number_of_xrc_is_parsed)
{
	static const u8 write[] = {
		0xab, 0x00, 0xff, 0xff, 0, 0, 0, 2, 0, 0, 0, 1,
		0xee, 0x12, 0x34, 0x56,
		1, 2, 3, 4, 5, 6, 7, 8, 0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 4,
		9, 8, 7, 6, 'd', 'a', 't', 'a', 0, 0, 0, 0,
	};
	struct sroce_pkt pkt = {};

	EQUAL(sroce_parse(&pkt, write, sizeof(write), sizeof(write)), 0);
	/* The eight bits before the SRQ number are reserved. */
	EQUAL(pkt.srqn, 0x123456);
	EQUAL(pkt.va, 0x0102030405060708);
	EQUAL(pkt.rkey, 0xdeadbeef);
	EQUAL(pkt.dma_len, 4);
	CHECK(!memcmp(&pkt.imm, write + 32, 4));
	EQUAL(pkt.payload, 4);
}
