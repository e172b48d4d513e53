// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ICRCs of short packets.  Most of the bytes that such an ICRC covers are headers,
 * and from packet to packet of a connection only identification and PSN change.  A
 * CRC is linear: that of the headers with zeros in these two fields is remembered,
 * and what each byte of them adds is in a table.
 */
#include "icrc_known.h"

#define WORDS	(SROCE_ICRC_KNOWN_BYTES / sizeof(u64))
/* Offset of the BTH in the headers. */
#define BTH	(SROCE_IPV4_BYTES + SROCE_UDP_BYTES)

/* Offsets of the bytes that differ from packet to packet, ascending: identification, PSN. */
static const u8 places[] = { 4, 5, BTH + 9, BTH + 10, BTH + 11 };

/* By such a byte and its value: the change of the CRC of the headers, if the byte was 0. */
static u32 adds[sizeof(places)][256];

/* Ones where headers have to be equal. */
static const u8 equal[SROCE_ICRC_KNOWN_BYTES] = {
	0xff, 0x00, 0xff, 0xff,		/* version, -, total length */
	0x00, 0x00, 0xff, 0xff,		/* -, fragment offset */
	0x00, 0xff, 0x00, 0x00,		/* -, protocol, - */
	0xff, 0xff, 0xff, 0xff,		/* source address */
	0xff, 0xff, 0xff, 0xff,		/* destination address */
	0xff, 0xff, 0xff, 0xff,		/* ports */
	0xff, 0xff, 0x00, 0x00,		/* length, - */
	0xff, 0xff, 0xff, 0xff,		/* opcode, flags, P_Key */
	0x00, 0xff, 0xff, 0xff,		/* -, QP */
	0xff, 0x00, 0x00, 0x00,		/* acknowledge request, - */
};

/* Ones where the ICRC takes ones instead of the headers. */
static const u8 masked[SROCE_ICRC_KNOWN_BYTES] = {
	[1] = 0xff,			/* type of service */
	[8] = 0xff,			/* time to live */
	[10] = 0xff, [11] = 0xff,	/* IPv4 header checksum */
	[BTH - 2] = 0xff, [BTH - 1] = 0xff, /* UDP checksum */
	[BTH + 4] = 0xff,		/* FECN, BECN, reserved */
};

static __always_inline u64 word_at(const u8 *p, u32 i)
{
	u64 word;

	memcpy(&word, p + i * sizeof(word), sizeof(word));
	return word;
}

void sroce_icrc_known_init(void)
{
	u8 zeros[SROCE_ICRC_KNOWN_BYTES] = {};
	u32 i, byte;

	for (i = 0; i < sizeof(places); i++)
		for (byte = 0; byte < 256; byte++) {
			/* The CRC begins here, so earlier places do not matter. */
			zeros[places[i]] = byte;
			adds[i][byte] = sroce_crc32(0, zeros + places[i],
						    sizeof(zeros) - places[i]);
		}
}

/* With a constant index the masks are constants in the code. */
static __always_inline u64 key_word(const u8 *headers, u32 i)
{
	return word_at(headers, i) & word_at(equal, i);
}

static void remember(struct sroce_icrc_known *known, const u8 *headers)
{
	u64 head[WORDS];
	u32 i;

	for (i = 0; i < WORDS; i++) {
		known->words[i] = key_word(headers, i);
		head[i] = known->words[i] | word_at(masked, i);
	}
	known->state = sroce_crc32(SROCE_ICRC_AFTER_LRH, head, sizeof(head));
}

u32 sroce_icrc_known(struct sroce_icrc_known *known, const u8 *headers)
{
	const u64 *words;

	/* The QP number is random, and the opcode tells requests and responses apart. */
	known += (headers[BTH + 7] + headers[BTH]) % SROCE_ICRC_KNOWN;
	words = known->words;
	if (words[0] != key_word(headers, 0) || words[1] != key_word(headers, 1) ||
	    words[2] != key_word(headers, 2) || words[3] != key_word(headers, 3) ||
	    words[4] != key_word(headers, 4))
		remember(known, headers);
	return known->state ^ adds[0][headers[places[0]]] ^
	       adds[1][headers[places[1]]] ^ adds[2][headers[places[2]]] ^
	       adds[3][headers[places[3]]] ^ adds[4][headers[places[4]]];
}
