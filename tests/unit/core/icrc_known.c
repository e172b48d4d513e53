// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>

#include "icrc_known.h"
#include "psn.h"
#include "icrc_state.h"
#include "tap.h"

#define BTH	(SROCE_IPV4_BYTES + SROCE_UDP_BYTES)
#define LENGTH	24

static void sample(u8 *headers)
{
	u32 i;

	for (i = 0; i < SROCE_ICRC_KNOWN_BYTES; i++)
		headers[i] = i * 7 + 1;
	headers[0] = 0x45;
	put_unaligned_be16(SROCE_IPV4_BYTES + LENGTH, headers + 2);
	put_unaligned_be16(LENGTH, headers + SROCE_IPV4_BYTES + 4);
}

static void as_defined(struct sroce_icrc_known *known, const u8 *headers)
{
	EQUAL(sroce_icrc_known(known, headers),
	      icrc_state(headers, 0, headers + BTH,
			 get_unaligned_be16(headers + SROCE_IPV4_BYTES + 4)));
}

TEST(icrc_known, first_packet_has_right_crc)
{
	struct sroce_icrc_known known[SROCE_ICRC_KNOWN] = {};
	u8 headers[SROCE_ICRC_KNOWN_BYTES];

	sroce_icrc_known_init();
	sample(headers);
	as_defined(known, headers);
}

/* Each bit by itself, after the same headers without the change. */
TEST(icrc_known, every_changed_bit_counts)
{
	struct sroce_icrc_known known[SROCE_ICRC_KNOWN] = {};
	u8 headers[SROCE_ICRC_KNOWN_BYTES];
	u32 bit;

	sroce_icrc_known_init();
	sample(headers);
	for (bit = 0; bit < 8 * sizeof(headers); bit++) {
		/* Version and lengths are as the caller says. */
		if (bit < 8 || bit / 8 == 2 || bit / 8 == 3 ||
		    bit / 8 == SROCE_IPV4_BYTES + 4 ||
		    bit / 8 == SROCE_IPV4_BYTES + 5)
			continue;
		as_defined(known, headers);
		headers[bit / 8] ^= 1 << bit % 8;
		as_defined(known, headers);
		headers[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(icrc_known, other_length_is_not_taken_for_the_same)
{
	struct sroce_icrc_known known[SROCE_ICRC_KNOWN] = {};
	u8 headers[SROCE_ICRC_KNOWN_BYTES];

	sroce_icrc_known_init();
	sample(headers);
	as_defined(known, headers);
	put_unaligned_be16(SROCE_IPV4_BYTES + LENGTH + 8, headers + 2);
	put_unaligned_be16(LENGTH + 8, headers + SROCE_IPV4_BYTES + 4);
	as_defined(known, headers);
}

/* Identification and PSN of many packets of more connections than are remembered. */
TEST(icrc_known, packets_of_many_connections)
{
	struct sroce_icrc_known known[SROCE_ICRC_KNOWN] = {};
	u8 headers[SROCE_ICRC_KNOWN_BYTES];
	u32 i;

	sroce_icrc_known_init();
	sample(headers);
	srand(1);
	for (i = 0; i < 10000; i++) {
		put_unaligned_be16(rand(), headers + 4);
		put_unaligned_be32(rand() % 40, headers + BTH + 4);
		put_unaligned_be32(rand() & SROCE_PSN_MASK, headers + BTH + 8);
		as_defined(known, headers);
	}
}

/* An entry that is known is used: only then the CRC is cheap. */
TEST(icrc_known, only_identification_and_psn_differ)
{
	struct sroce_icrc_known known[SROCE_ICRC_KNOWN] = {}, before[SROCE_ICRC_KNOWN];
	u8 headers[SROCE_ICRC_KNOWN_BYTES];

	sroce_icrc_known_init();
	sample(headers);
	as_defined(known, headers);
	memcpy(before, known, sizeof(known));
	put_unaligned_be16(0xbeef, headers + 4);
	headers[1] ^= 3;	/* marked by a router */
	headers[8]--;		/* forwarded */
	headers[BTH + 9] ^= 0x12;
	headers[BTH + 11]++;
	as_defined(known, headers);
	CHECK(!memcmp(before, known, sizeof(known)));
}
