// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "opcode.h"
#include "optable.h"
#include "tap.h"

/* IBTA vol. 1, tables 38 and 61, and annex A19: written independently of the driver. */
static const struct {
	u8 op;
	u8 only;
	u8 wc;
	u8 recv_wc;
	u16 rights;
	const char *transports;
} known[] = {
	{ 0, 0x0a, 1, 0, 0x2, "RUX" },
	{ 1, 0x0b, 1, 129, 0x2, "RUX" },
	{ 2, 0x04, 0, 128, 0, "RUDX" },
	{ 3, 0x05, 0, 128, 0, "RUDX" },
	{ 4, 0x0c, 2, 0, 0x4, "RX" },
	{ 5, 0x13, 3, 0, 0x8, "RX" },
	{ 6, 0x14, 4, 0, 0x8, "RX" },
	{ 9, 0x17, 0, 128, 0, "RX" },
	{ 14, 0x1c, 8, 0, 0x300, "RX" },
	{ 15, 0x1d, 9, 0, 0x2, "RX" },
	{ 7, 0, 6, 0, 0, "RUX" },
	{ 8, 0, 5, 0, 0, "RUX" },
	{ 16, 0, 127, 0, 0, "RUX" },
};

static u8 transport_bits(const char *names)
{
	u8 bits = 0;

	for (; *names; names++)
		bits |= sroce_transport_bit(*names == 'R' ? SROCE_RC :
					    *names == 'U' ? SROCE_UC :
					    *names == 'D' ? SROCE_UD :
							    SROCE_XRC);
	return bits;
}

TEST(optable, table_matches_specification)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(known); i++) {
		const struct sroce_op_row *op = &sroce_optable[known[i].op];

		EQUAL(op->packets[SROCE_ONLY], known[i].only);
		EQUAL(op->wc, known[i].wc);
		EQUAL(op->recv_wc, known[i].recv_wc);
		EQUAL(op->rights, known[i].rights);
		EQUAL(op->transports, transport_bits(known[i].transports));
	}
}

TEST(optable, other_operations_have_no_transport)
{
	u32 i, count = 0;

	for (i = 0; i < SROCE_OPS; i++)
		count += !!sroce_optable[i].transports;
	EQUAL(count, ARRAY_SIZE(known));
	EQUAL(sroce_optable[SROCE_OP_NONE].transports, 0);
}

/* The packets of @op must be in the opcode table, which must name @op. */
static void check_packets(u32 op, u8 transport)
{
	const struct sroce_op_row *row = &sroce_optable[op];
	bool alone = !row->packets[SROCE_FIRST] && !row->packets[SROCE_LAST];
	u32 pos;

	for (pos = 0; pos < 4; pos++) {
		const struct sroce_opcode *pkt =
			&sroce_opcodes[transport | row->packets[pos]];
		bool ends = pos & SROCE_LAST;

		if ((alone || transport == SROCE_UD) && pos != SROCE_ONLY)
			continue;
		EQUAL(pkt->pos, pos);
		CHECK(pkt->kind > SROCE_KIND_NONE &&
		      pkt->kind < SROCE_KIND_RESPONSES);
		if (ends)
			EQUAL(pkt->operation, op);
		EQUAL(sroce_optable[pkt->operation].rights, row->rights);
		EQUAL(sroce_optable[pkt->operation].response, row->response);
		EQUAL(!!(pkt->headers & SROCE_IETH),
		      ends && row->traits & SROCE_TRAIT_INVALIDATES);
	}
}

TEST(optable, packet_opcodes_match_their_operation)
{
	static const u8 transports[] = { SROCE_RC, SROCE_UC, SROCE_UD,
					 SROCE_XRC };
	u32 op, i;

	for (op = 0; op < SROCE_OPS; op++)
		for (i = 0; i < ARRAY_SIZE(transports); i++)
			if (sroce_optable[op].transports &
				    sroce_transport_bit(transports[i]) &&
			    !(sroce_optable[op].traits & SROCE_TRAIT_LOCAL))
				check_packets(op, transports[i]);
}

TEST(optable, fetching_operation_has_response)
{
	u32 op;

	for (op = 0; op < SROCE_OPS; op++)
		if (sroce_optable[op].traits & SROCE_TRAIT_FETCHES)
			CHECK(sroce_optable[op].response);
}
