/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_ICRC_H
#define SROCE_CORE_ICRC_H

#include "wire.h"

/*
 * State after the masked LRH: the initial value is all ones, and the first
 * SROCE_ICRC_LRH_BYTES bytes are 0xff, in place of InfiniBand's LRH.
 */
#define SROCE_ICRC_AFTER_LRH	0xdebb20e3u
#define SROCE_ICRC_LRH_BYTES	8

/* A CRC engine may take this many bytes at a time. */
#define SROCE_ICRC_STEP		16
/* Offsets in @head of struct sroce_icrc: end of BTH, BTH, UDP header. */
#define SROCE_ICRC_END		(SROCE_ICRC_STEP + 64)
#define SROCE_ICRC_BTH		(SROCE_ICRC_END - SROCE_BTH_BYTES)
#define SROCE_ICRC_UDP		(SROCE_ICRC_BTH - SROCE_UDP_BYTES)

/**
 * struct sroce_icrc - masked headers, the first bytes that the ICRC covers
 * @head: LRH and masked headers up to the BTH, which ends at SROCE_ICRC_END,
 *	and SROCE_ICRC_STEP bytes of room.  The first 4 bytes of the LRH, and
 *	all bytes before it, are zero.  A CRC with initial value 0 that starts
 *	at any of these zeros equals one with initial value ones at the LRH
 * @ip: offset of the IP header in @head
 * @id: IPv4 identification of the first packet of the burst
 * @id_step: increment of the identification per packet
 * @ipv4: IPv4, otherwise IPv6
 * @way: how net/fast_crc computes it
 */
struct sroce_icrc {
	u8 head[SROCE_ICRC_END + SROCE_ICRC_STEP];
	u8 ip;
	u16 id;
	u16 id_step;
	bool ipv4;
#ifdef SROCE_OUT_OF_TREE
	u8 way;
#endif
};

/**
 * sroce_icrc_begin() - prepare the masked headers of a burst
 * @icrc: result
 * @ip: IPv4 header without options, or IPv6 header, and the UDP header after
 *	it; lengths and the IPv4 header checksum are not used
 * @id_step: 1 if the IPv4 identification counts up, as segmentation does; 0 if
 *	it is the same in all packets
 */
void sroce_icrc_begin(struct sroce_icrc *icrc, const u8 *ip, u16 id_step);

/**
 * sroce_icrc_head() - complete the masked headers for one packet
 * @icrc: burst
 * @index: index of the packet in the burst
 * @bth: base transport header
 * @udp_len: UDP length of this packet alone, bytes
 *
 * Fills @icrc->head.  The CRC continues from SROCE_ICRC_AFTER_LRH over @head
 * from @icrc->ip on, and then over everything between BTH and ICRC.
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
		put_unaligned_be16(SROCE_IPV4_BYTES + udp_len, ip + 2);
		put_unaligned_be16(icrc->id + index * icrc->id_step, ip + 4);
	} else {
		put_unaligned_be16(udp_len, ip + 4);
	}
}

/* The ICRC as it is on the wire. */
static inline __le32 sroce_icrc_final(u32 state)
{
	return cpu_to_le32(~state);
}

#endif /* SROCE_CORE_ICRC_H */
