// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "icrc_start.h"
#include "icrc_state.h"
#include "tap.h"

/* CRC-32 by its definition: one bit at a time. */
static u32 bitwise(u32 crc, const u8 *p, u32 len)
{
	u32 i;

	while (len--) {
		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

TEST(icrc, crc32_has_standard_check_value)
{
	EQUAL((u32)~sroce_crc32(~0u, "123456789", 9), 0xcbf43926);
}

TEST(icrc, crc32_matches_bitwise_definition)
{
	u8 data[100];
	u32 i;

	for (i = 0; i < sizeof(data); i++)
		data[i] = i * 37 + 11;
	for (i = 0; i <= sizeof(data); i++)
		EQUAL(sroce_crc32(i, data, i), bitwise(i, data, i));
}

struct packet {
	u8 ip[40 + 8];
	u8 bth[SROCE_BTH_BYTES];
	u32 ip_bytes;
};

static struct packet sample(bool ipv6)
{
	struct packet p = { .ip_bytes = ipv6 ? 40 : 20 };
	u32 i;

	for (i = 0; i < sizeof(p.ip); i++)
		p.ip[i] = i * 7 + 1;
	for (i = 0; i < sizeof(p.bth); i++)
		p.bth[i] = i * 5 + 3;
	p.ip[0] = ipv6 ? 0x60 : 0x45;
	return p;
}

static u32 headers(const struct packet *p)
{
	return icrc_state(p->ip, 0, p->bth, 60);
}

/* Bits that routers or segmentation may change; see annex A17.3.3. */
static bool masked(bool ipv6, u32 byte, u32 bit)
{
	u32 udp = ipv6 ? 40 : 20;

	if (byte == udp + 4 || byte == udp + 5)
		return true;	/* the length is an argument */
	if (byte == udp + 6 || byte == udp + 7)
		return true;
	if (!ipv6)
		return byte == 1 || byte == 2 || byte == 3 || byte == 8 ||
		       byte == 10 || byte == 11;
	return (byte == 0 && bit < 4) || (byte >= 1 && byte <= 5) || byte == 7;
}

static void flip_all_bits(bool ipv6)
{
	struct packet p = sample(ipv6);
	u32 before = headers(&p);
	u32 byte, bit;

	for (byte = 0; byte < p.ip_bytes + 8; byte++)
		for (bit = 0; bit < 8; bit++) {
			if (!byte && bit >= 4)
				continue;	/* IP version */
			p.ip[byte] ^= 1 << bit;
			EQUAL(headers(&p) == before, masked(ipv6, byte, bit));
			p.ip[byte] ^= 1 << bit;
		}
	for (byte = 0; byte < SROCE_BTH_BYTES; byte++) {
		p.bth[byte] ^= 0x10;
		EQUAL(headers(&p) == before, byte == 4);
		p.bth[byte] ^= 0x10;
	}
}

TEST(icrc, invariant_ipv4_fields_are_covered)
{
	flip_all_bits(false);
}

TEST(icrc, invariant_ipv6_fields_are_covered)
{
	flip_all_bits(true);
}

TEST(icrc, length_is_covered)
{
	struct packet p = sample(false);

	CHECK(icrc_state(p.ip, 0, p.bth, 60) != icrc_state(p.ip, 0, p.bth, 64));
}

/* Segmentation increments the identification; it wraps around. */
TEST(icrc, ipv4_id_increments_within_burst)
{
	struct packet first = sample(false), later;

	first.ip[4] = 0xff;
	first.ip[5] = 0xfe;
	later = first;
	later.ip[4] = 0;
	later.ip[5] = 1;
	EQUAL(icrc_state(first.ip, 3, first.bth, 60),
	      icrc_state(later.ip, 0, first.bth, 60));
	CHECK(icrc_state(first.ip, 3, first.bth, 60) !=
	      icrc_state(first.ip, 0, first.bth, 60));
}

/* Some network cards do not increment it. */
TEST(icrc, ipv4_id_may_be_constant_within_burst)
{
	struct packet p = sample(false);
	struct sroce_icrc icrc;

	sroce_icrc_begin(&icrc, p.ip, 0);
	sroce_icrc_head(&icrc, 3, p.bth, 60);
	EQUAL(sroce_crc32(SROCE_ICRC_AFTER_LRH, icrc.head + icrc.ip,
			  SROCE_ICRC_END - icrc.ip),
	      icrc_state(p.ip, 0, p.bth, 60));
}

TEST(icrc, ipv6_burst_has_no_id)
{
	struct packet p = sample(true);

	EQUAL(icrc_state(p.ip, 3, p.bth, 60), icrc_state(p.ip, 0, p.bth, 60));
}

/* The structure is reused for each packet. */
TEST(icrc, reused_state_keeps_nothing_of_previous_packet)
{
	struct packet p = sample(false);
	struct sroce_icrc icrc;
	u8 other[SROCE_BTH_BYTES] = {};

	sroce_icrc_begin(&icrc, p.ip, 1);
	sroce_icrc_head(&icrc, 7, other, 1000);
	sroce_icrc_head(&icrc, 2, p.bth, 60);
	EQUAL(sroce_crc32(SROCE_ICRC_AFTER_LRH, icrc.head + icrc.ip,
			  SROCE_ICRC_END - icrc.ip),
	      icrc_state(p.ip, 2, p.bth, 60));
}

TEST(icrc, crc_starts_with_lrh_of_ones)
{
	const u8 lrh[SROCE_ICRC_LRH_BYTES] = { 0xff, 0xff, 0xff, 0xff,
					       0xff, 0xff, 0xff, 0xff };

	EQUAL(bitwise(~0u, lrh, sizeof(lrh)), SROCE_ICRC_AFTER_LRH);
}

/* A CRC of whole steps that starts at zero must have the same result. */
static void compare_starts(bool ipv6)
{
	struct packet p = sample(ipv6);
	struct sroce_icrc icrc;
	u32 more, start;

	memset(&icrc, 0x5a, sizeof(icrc));
	sroce_icrc_begin(&icrc, p.ip, 1);
	sroce_icrc_head(&icrc, 3, p.bth, 60);
	for (more = 0; more < SROCE_ICRC_STEP; more++) {
		memset(icrc.head + SROCE_ICRC_END, more, more);
		start = sroce_icrc_start(&icrc, more);
		EQUAL((SROCE_ICRC_END + more - start) % SROCE_ICRC_STEP, 0);
		EQUAL(sroce_crc32(0, icrc.head + start,
				  SROCE_ICRC_END + more - start),
		      sroce_crc32(icrc_state(p.ip, 3, p.bth, 60),
				  icrc.head + SROCE_ICRC_END, more));
	}
}

TEST(icrc, start_at_step_gives_same_crc_for_ipv4)
{
	compare_starts(false);
}

TEST(icrc, start_at_step_gives_same_crc_for_ipv6)
{
	compare_starts(true);
}

TEST(icrc, trailer_is_little_endian)
{
	__le32 trailer = sroce_icrc_final(0x01020304);
	const u8 *p = (const u8 *)&trailer;

	EQUAL(p[0], 0xfb);
	EQUAL(p[1], 0xfc);
	EQUAL(p[2], 0xfd);
	EQUAL(p[3], 0xfe);
}
