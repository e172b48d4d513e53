// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"
#include "tap.h"

/* IBTA vol. 1, table 38, and annex A14: written independently of the driver, as header bytes. */
static const struct {
	u8 opcode;
	u8 length;
	u8 kind;
	u8 pos;
	bool payload;
} known[] = {
	{ 0x00, 12, SROCE_KIND_SEND, SROCE_FIRST, true },
	{ 0x01, 12, SROCE_KIND_SEND, SROCE_MIDDLE, true },
	{ 0x02, 12, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0x03, 16, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0x04, 12, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x05, 16, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x06, 28, SROCE_KIND_WRITE, SROCE_FIRST, true },
	{ 0x07, 12, SROCE_KIND_WRITE, SROCE_MIDDLE, true },
	{ 0x08, 12, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0x09, 16, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0x0a, 28, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0x0b, 32, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0x0c, 28, SROCE_KIND_READ, SROCE_ONLY, false },
	{ 0x0d, 16, SROCE_KIND_READ_RESPONSE, SROCE_FIRST, true },
	{ 0x0e, 12, SROCE_KIND_READ_RESPONSE, SROCE_MIDDLE, true },
	{ 0x0f, 16, SROCE_KIND_READ_RESPONSE, SROCE_LAST, true },
	{ 0x10, 16, SROCE_KIND_READ_RESPONSE, SROCE_ONLY, true },
	{ 0x11, 16, SROCE_KIND_ACK, SROCE_ONLY, false },
	{ 0x12, 24, SROCE_KIND_ATOMIC_ACK, SROCE_ONLY, false },
	{ 0x13, 40, SROCE_KIND_ATOMIC, SROCE_ONLY, false },
	{ 0x14, 40, SROCE_KIND_ATOMIC, SROCE_ONLY, false },
	{ 0x16, 16, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0x17, 16, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x1c, 32, SROCE_KIND_FLUSH, SROCE_ONLY, false },
	{ 0x1d, 28, SROCE_KIND_ATOMIC_WRITE, SROCE_ONLY, true },
	{ 0x20, 12, SROCE_KIND_SEND, SROCE_FIRST, true },
	{ 0x21, 12, SROCE_KIND_SEND, SROCE_MIDDLE, true },
	{ 0x22, 12, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0x23, 16, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0x24, 12, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x25, 16, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x26, 28, SROCE_KIND_WRITE, SROCE_FIRST, true },
	{ 0x27, 12, SROCE_KIND_WRITE, SROCE_MIDDLE, true },
	{ 0x28, 12, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0x29, 16, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0x2a, 28, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0x2b, 32, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0x64, 20, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x65, 24, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0x81, 28, SROCE_KIND_CNP, SROCE_ONLY, false },
	{ 0xa0, 16, SROCE_KIND_SEND, SROCE_FIRST, true },
	{ 0xa1, 16, SROCE_KIND_SEND, SROCE_MIDDLE, true },
	{ 0xa2, 16, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0xa3, 20, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0xa4, 16, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0xa5, 20, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0xa6, 32, SROCE_KIND_WRITE, SROCE_FIRST, true },
	{ 0xa7, 16, SROCE_KIND_WRITE, SROCE_MIDDLE, true },
	{ 0xa8, 16, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0xa9, 20, SROCE_KIND_WRITE, SROCE_LAST, true },
	{ 0xaa, 32, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0xab, 36, SROCE_KIND_WRITE, SROCE_ONLY, true },
	{ 0xac, 32, SROCE_KIND_READ, SROCE_ONLY, false },
	{ 0xad, 16, SROCE_KIND_READ_RESPONSE, SROCE_FIRST, true },
	{ 0xae, 12, SROCE_KIND_READ_RESPONSE, SROCE_MIDDLE, true },
	{ 0xaf, 16, SROCE_KIND_READ_RESPONSE, SROCE_LAST, true },
	{ 0xb0, 16, SROCE_KIND_READ_RESPONSE, SROCE_ONLY, true },
	{ 0xb1, 16, SROCE_KIND_ACK, SROCE_ONLY, false },
	{ 0xb2, 24, SROCE_KIND_ATOMIC_ACK, SROCE_ONLY, false },
	{ 0xb3, 44, SROCE_KIND_ATOMIC, SROCE_ONLY, false },
	{ 0xb4, 44, SROCE_KIND_ATOMIC, SROCE_ONLY, false },
	{ 0xb6, 20, SROCE_KIND_SEND, SROCE_LAST, true },
	{ 0xb7, 20, SROCE_KIND_SEND, SROCE_ONLY, true },
	{ 0xbc, 36, SROCE_KIND_FLUSH, SROCE_ONLY, false },
	{ 0xbd, 32, SROCE_KIND_ATOMIC_WRITE, SROCE_ONLY, true },
};

#define KNOWN ARRAY_SIZE(known)

TEST(opcode, table_matches_specification)
{
	u32 i;

	for (i = 0; i < KNOWN; i++) {
		const struct sroce_opcode *op = &sroce_opcodes[known[i].opcode];

		EQUAL(op->length, known[i].length);
		EQUAL(op->kind, known[i].kind);
		EQUAL(op->pos, known[i].pos);
		EQUAL(!!(op->headers & SROCE_PAYLOAD), known[i].payload);
	}
}

TEST(opcode, other_opcodes_are_unknown)
{
	u32 i, count = 0;

	for (i = 0; i < 256; i++)
		if (sroce_opcodes[i].kind != SROCE_KIND_NONE &&
		    sroce_opcodes[i].kind != SROCE_KIND_RESERVED)
			count++;
	EQUAL(count, KNOWN);
}

TEST(opcode, reserved_opcodes_of_reliable_transports_continue_nothing)
{
	static const u8 reserved[] = { 0x15, 0x18, 0x19, 0x1a, 0x1b, 0x1e, 0x1f,
				       0xb5, 0xb8, 0xb9, 0xba, 0xbb, 0xbe, 0xbf };
	u32 i, count = 0;

	for (i = 0; i < sizeof(reserved); i++) {
		EQUAL(sroce_opcodes[reserved[i]].kind, SROCE_KIND_RESERVED);
		EQUAL(sroce_opcodes[reserved[i]].pos, SROCE_LAST);
		EQUAL(sroce_opcodes[reserved[i]].length, SROCE_BTH_BYTES);
	}
	for (i = 0; i < 256; i++)
		count += sroce_opcodes[i].kind == SROCE_KIND_RESERVED;
	EQUAL(count, sizeof(reserved));
}

TEST(opcode, immdt_and_ieth_are_in_correct_opcodes)
{
	static const u8 imm[] = { 0x03, 0x05, 0x09, 0x0b, 0x23, 0x25, 0x29,
				  0x2b, 0x65, 0xa3, 0xa5, 0xa9, 0xab };
	u32 i, imms = 0, invs = 0;

	for (i = 0; i < sizeof(imm); i++)
		CHECK(sroce_opcodes[imm[i]].headers & SROCE_IMMDT);
	CHECK(sroce_opcodes[0x16].headers & SROCE_IETH);
	CHECK(sroce_opcodes[0x17].headers & SROCE_IETH);
	CHECK(sroce_opcodes[0xb6].headers & SROCE_IETH);
	CHECK(sroce_opcodes[0xb7].headers & SROCE_IETH);
	for (i = 0; i < 256; i++) {
		imms += !!(sroce_opcodes[i].headers & SROCE_IMMDT);
		invs += !!(sroce_opcodes[i].headers & SROCE_IETH);
	}
	EQUAL(imms, sizeof(imm));
	EQUAL(invs, 4);
}

TEST(opcode, headers_fit_maximum_length)
{
	u32 i;

	for (i = 0; i < 256; i++)
		CHECK(sroce_opcodes[i].length <= SROCE_MAX_HEADER);
}
