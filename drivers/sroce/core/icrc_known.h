/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_ICRC_KNOWN_H
#define SROCE_CORE_ICRC_KNOWN_H

#include "icrc.h"

/* Bytes of the headers: IPv4 without options, UDP, BTH. */
#define SROCE_ICRC_KNOWN_BYTES	(SROCE_IPV4_BYTES + \
				 SROCE_UDP_BYTES + SROCE_BTH_BYTES)
/* Headers that are remembered, a power of two. */
#define SROCE_ICRC_KNOWN	16

/**
 * struct sroce_icrc_known - headers whose CRC is known
 * @words: the headers, with zeros in the fields that differ from packet to packet
 *	and in those that the ICRC does not cover
 * @state: CRC after the headers, with zeros in the fields that differ
 *
 * All zero is an empty entry.
 */
struct sroce_icrc_known {
	u64 words[SROCE_ICRC_KNOWN_BYTES / sizeof(u64)];
	u32 state;
};

/* Fill the tables.  Context: before the first use of sroce_icrc_known(). */
void sroce_icrc_known_init(void);

/**
 * sroce_icrc_known() - CRC of the headers of an IPv4 packet that is not in a burst
 * @known: SROCE_ICRC_KNOWN entries, that of the headers is updated
 * @headers: SROCE_ICRC_KNOWN_BYTES from the IP header on
 *
 * Return: state of the CRC after the BTH.
 */
u32 sroce_icrc_known(struct sroce_icrc_known *known, const u8 *headers);

#endif /* SROCE_CORE_ICRC_KNOWN_H */
