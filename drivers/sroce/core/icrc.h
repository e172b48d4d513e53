/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_ICRC_H
#define SROCE_CORE_ICRC_H

#include "wire.h"

/*
 * The CRC starts as ones and first goes over SROCE_ICRC_LRH_BYTES bytes of ones,
 * in place of InfiniBand's LRH: after them it is always this.
 */
#define SROCE_ICRC_AFTER_LRH	0xdebb20e3u
#define SROCE_ICRC_LRH_BYTES	8
#define SROCE_ICRC_IPV4_BYTES	20
#define SROCE_ICRC_IPV6_BYTES	40
#define SROCE_ICRC_UDP_BYTES	8

/* Ones and zeros for a CRC in steps of so many bytes. */
#define SROCE_ICRC_STEP		16
/* Where the parts of struct sroce_icrc's @head begin and end, from its end. */
#define SROCE_ICRC_END		(SROCE_ICRC_STEP + 64)
#define SROCE_ICRC_BTH		(SROCE_ICRC_END - SROCE_BTH_BYTES)
#define SROCE_ICRC_UDP		(SROCE_ICRC_BTH - SROCE_ICRC_UDP_BYTES)

/**
 * struct sroce_icrc - what the invariant CRC of a packet begins with
 * @head: masked headers up to the BTH, which ends at SROCE_ICRC_END; room for
 *	SROCE_ICRC_STEP bytes more behind it; in front of it the LRH.  That has
 *	zeros instead of its first 4 bytes, and more zeros before: so a CRC may
 *	start as zero at any of these instead of as ones at the LRH
 * @ip: where the IP header begins
 * @id: IPv4 identification of the first packet of the burst
 * @id_step: how much it grows from packet to packet
 * @ipv4: else IPv6
 */
struct sroce_icrc {
	u8 head[SROCE_ICRC_END + SROCE_ICRC_STEP];
	u8 ip;
	u16 id;
	u16 id_step;
	bool ipv4;
};

/**
 * sroce_icrc_begin() - prepare for the packets of a burst
 * @icrc: to be used by sroce_icrc_head()
 * @ip: IPv4 header without options, or IPv6 header, followed by the UDP
 *	header; lengths and IPv4 header checksum in it are not looked at
 * @id_step: 1 as of segmentation, which numbers IPv4 packets from that of the
 *	first on; 0 if all packets have the identification of the first
 */
void sroce_icrc_begin(struct sroce_icrc *icrc, const u8 *ip, u16 id_step);

/**
 * sroce_icrc_head() - the masked headers of a packet
 * @icrc: burst
 * @index: of the packet in the burst
 * @bth: base transport header
 * @udp_len: UDP length of this packet alone, bytes
 *
 * Fills @icrc->head: the CRC goes from SROCE_ICRC_AFTER_LRH over it from
 * @icrc->ip on, and then over everything between BTH and ICRC.
 */
static __always_inline void sroce_icrc_head(struct sroce_icrc *icrc, u32 index,
					    const u8 *bth, u16 udp_len)
{
	u8 *ip = icrc->head + icrc->ip;
	u8 *p = icrc->head;

	memcpy(p + SROCE_ICRC_BTH, bth, SROCE_BTH_BYTES);
	p[SROCE_ICRC_BTH + 4] = 0xff;		/* FECN, BECN, reserved */
	put_unaligned_be16(udp_len, p + SROCE_ICRC_UDP + 4);
	if (icrc->ipv4) {
		put_unaligned_be16(SROCE_ICRC_IPV4_BYTES + udp_len, ip + 2);
		put_unaligned_be16(icrc->id + index * icrc->id_step, ip + 4);
	} else {
		put_unaligned_be16(udp_len, ip + 4);
	}
}

/**
 * sroce_icrc_start() - where a CRC in steps of SROCE_ICRC_STEP bytes begins
 * @icrc: headers
 * @more: bytes behind the headers that belong to them, less than a step
 *
 * Return: where in @icrc->head; the state is zero there.
 */
static inline u32 sroce_icrc_start(const struct sroce_icrc *icrc, u32 more)
{
	u32 lrh = icrc->ip - SROCE_ICRC_LRH_BYTES + 4;

	/* A multiple, as the end is: at or before the first of the zeros. */
	return (lrh & ~(SROCE_ICRC_STEP - 1)) -
	       (more ? SROCE_ICRC_STEP - more : 0);
}

/* The trailer as it is on the wire. */
static inline __le32 sroce_icrc_final(u32 state)
{
	return cpu_to_le32(~state);
}

#endif /* SROCE_CORE_ICRC_H */
