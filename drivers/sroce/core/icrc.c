// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The invariant CRC of RoCEv2 (annex A17.3.3): CRC-32 of IEEE 802.3 over a
 * pseudo header of eight 0xff (the place of InfiniBand's LRH), the IP, UDP and
 * BTH headers with every field that may change on the way replaced by ones,
 * and all that follows.  The specification draws the CRC as a polynomial with
 * the first transmitted bit as highest coefficient; computed in the reflected
 * form that CPUs and the kernel use, the result lies on the wire with its
 * least significant byte first, just as the frame check sequence of Ethernet.
 */
#include "icrc.h"

#define LRH_BYTES	8
#define IPV4_BYTES	20
#define IPV6_BYTES	40
#define UDP_BYTES	8

static u8 *mask_ipv4(u8 *p, const u8 *ip, u16 udp_len)
{
	memcpy(p, ip, IPV4_BYTES);
	p[1] = 0xff;				/* type of service */
	put_unaligned_be16(IPV4_BYTES + udp_len, p + 2);
	p[8] = 0xff;				/* time to live */
	p[10] = 0xff;				/* header checksum */
	p[11] = 0xff;
	return p + IPV4_BYTES;
}

static u8 *mask_ipv6(u8 *p, const u8 *ip, u16 udp_len)
{
	memcpy(p, ip, IPV6_BYTES);
	p[0] |= 0x0f;				/* traffic class, flow label */
	p[1] = 0xff;
	p[2] = 0xff;
	p[3] = 0xff;
	put_unaligned_be16(udp_len, p + 4);
	p[7] = 0xff;				/* hop limit */
	return p + IPV6_BYTES;
}

u32 sroce_icrc_headers(const u8 *ip, const u8 *bth, u16 udp_len)
{
	u8 pseudo[LRH_BYTES + IPV6_BYTES + UDP_BYTES + SROCE_BTH_BYTES];
	bool ipv4 = ip[0] >> 4 == 4;
	const u8 *udp = ip + (ipv4 ? IPV4_BYTES : IPV6_BYTES);
	u8 *p = pseudo;

	memset(p, 0xff, LRH_BYTES);
	p += LRH_BYTES;
	p = ipv4 ? mask_ipv4(p, ip, udp_len) : mask_ipv6(p, ip, udp_len);
	memcpy(p, udp, UDP_BYTES);
	put_unaligned_be16(udp_len, p + 4);
	p[6] = 0xff;				/* checksum */
	p[7] = 0xff;
	p += UDP_BYTES;
	memcpy(p, bth, SROCE_BTH_BYTES);
	p[4] = 0xff;				/* FECN, BECN, reserved */
	p += SROCE_BTH_BYTES;
	return sroce_crc32(~0u, pseudo, p - pseudo);
}
