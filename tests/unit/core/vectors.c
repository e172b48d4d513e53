// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets that the in-tree rxe sent, captured on a veth device with
 * vectors/capture.  Each must parse, build to the same bytes, and have the
 * computed ICRC.
 */
#include <stdio.h>
#include <stdlib.h>
#include "icrc_state.h"
#include "packet.h"
#include "tap.h"

#define ETHERNET	14
#define UDP		8

struct capture {
	FILE *file;
	u32 opcodes[256];
	u32 pads[4];
	u32 packets;
};

static bool next_frame(struct capture *c, u8 *frame, u32 *len)
{
	u32 header[4];

	if (fread(header, sizeof(header), 1, c->file) != 1)
		return false;
	CHECK(header[2] == header[3] && header[2] <= 2048);
	*len = header[2];
	return fread(frame, *len, 1, c->file) == 1;
}

static void check_build(const struct sroce_pkt *pkt, const u8 *bth)
{
	u8 built[SROCE_MAX_HEADER];

	EQUAL(sroce_build(built, pkt), pkt->op->length);
	/* rxe leaves MigReq clear.  Both values are valid without migration. */
	built[1] &= ~SROCE_BTH_MIGREQ;
	CHECK((built[1] | (bth[1] & SROCE_BTH_MIGREQ)) == bth[1]);
	built[1] = bth[1];
	CHECK(!memcmp(built, bth, pkt->op->length));
}

static void check_frame(struct capture *c, const u8 *frame, u32 frame_len)
{
	const u8 *ip = frame + ETHERNET;
	const u8 *udp = ip + (ip[0] >> 4 == 4 ? 20 : 40);
	const u8 *bth = udp + UDP;
	u32 len = get_unaligned_be16(udp + 4) - UDP;
	u32 body = len - SROCE_BTH_BYTES - SROCE_ICRC_BYTES;
	struct sroce_pkt pkt = {};
	u32 state;
	__le32 icrc;

	CHECK(bth + len <= frame + frame_len);
	EQUAL(get_unaligned_be16(udp + 2), SROCE_UDP_PORT);
	EQUAL(sroce_parse(&pkt, bth, len, len), SROCE_WELL_FORMED);
	check_build(&pkt, bth);
	state = icrc_state(ip, 0, bth, len + UDP);
	state = sroce_crc32(state, bth + SROCE_BTH_BYTES, body);
	icrc = sroce_icrc_final(state);
	CHECK(!memcmp(&icrc, bth + len - SROCE_ICRC_BYTES, SROCE_ICRC_BYTES));
	c->opcodes[pkt.opcode]++;
	c->pads[pkt.pad]++;
	c->packets++;
}

static void check_capture(const char *name)
{
	struct capture c = { .file = fopen(name, "rb") };
	u8 frame[2048];
	u32 len, i;

	CHECK(c.file);
	CHECK(!fseek(c.file, 24, SEEK_SET));
	while (next_frame(&c, frame, &len))
		check_frame(&c, frame, len);
	fclose(c.file);
	CHECK(c.packets > 80);
	for (i = 0; i < 4; i++)
		CHECK(c.pads[i]);
	/* rxe 6.1 has all operations of sroce, except XRC and these three. */
	for (i = 0; i < SROCE_XRC; i++)
		EQUAL(!!c.opcodes[i], sroce_opcodes[i].kind &&
		      sroce_opcodes[i].kind != SROCE_KIND_RESERVED &&
		      i != SROCE_FLUSH && i != SROCE_ATOMIC_WRITE &&
		      i != (SROCE_ANY | SROCE_CNP));
}

TEST(vectors, packets_of_rxe_over_ipv4_are_valid)
{
	check_capture(VECTORS "/rxe-ipv4.pcap");
}

TEST(vectors, packets_of_rxe_over_ipv6_are_valid)
{
	check_capture(VECTORS "/rxe-ipv6.pcap");
}
