/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_CORE_ICRC_H
#define SROCE_CORE_ICRC_H

#include "wire.h"

/**
 * sroce_icrc_headers() - start the invariant CRC of a packet
 * @ip: IPv4 header without options, or IPv6 header, followed by the UDP
 *	header; lengths and IPv4 header checksum in it are not looked at
 * @bth: base transport header
 * @udp_len: UDP length of this packet alone, bytes
 *
 * Return: the state to continue with sroce_crc32() (or any CRC-32 of the
 * same form) over everything between BTH and ICRC.
 */
u32 sroce_icrc_headers(const u8 *ip, const u8 *bth, u16 udp_len);

/* The trailer as it is on the wire. */
static inline __le32 sroce_icrc_final(u32 state)
{
	return cpu_to_le32(~state);
}

#endif /* SROCE_CORE_ICRC_H */
