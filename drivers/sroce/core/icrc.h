/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_ICRC_H
#define SROCE_CORE_ICRC_H

#include "wire.h"

#define SROCE_ICRC_MAX_HEAD	(8 + 40 + 8 + SROCE_BTH_BYTES)

/**
 * struct sroce_icrc - what the invariant CRC of a packet begins with
 * @head: masked headers up to the BTH, @len bytes
 * @len: bytes
 * @id: IPv4 identification of the first packet of the burst
 * @ipv4: else IPv6
 */
struct sroce_icrc {
	u8 head[SROCE_ICRC_MAX_HEAD];
	u8 len;
	u16 id;
	bool ipv4;
};

/**
 * sroce_icrc_begin() - prepare for the packets of a burst
 * @icrc: to be used by sroce_icrc_head()
 * @ip: IPv4 header without options, or IPv6 header, followed by the UDP
 *	header; lengths and IPv4 header checksum in it are not looked at
 */
void sroce_icrc_begin(struct sroce_icrc *icrc, const u8 *ip);

/**
 * sroce_icrc_head() - the masked headers of a packet
 * @icrc: burst
 * @index: of the packet in the burst: segmentation numbers IPv4 packets from
 *	that of the first on
 * @bth: base transport header
 * @udp_len: UDP length of this packet alone, bytes
 *
 * Fills @icrc->head: the CRC goes from ~0 over it, and then over everything
 * between BTH and ICRC.
 */
void sroce_icrc_head(struct sroce_icrc *icrc, u32 index, const u8 *bth,
		     u16 udp_len);

/* The trailer as it is on the wire. */
static inline __le32 sroce_icrc_final(u32 state)
{
	return cpu_to_le32(~state);
}

#endif /* SROCE_CORE_ICRC_H */
