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

static void mask_ipv4(u8 *p, const u8 *ip)
{
	memcpy(p, ip, IPV4_BYTES);
	p[1] = 0xff;				/* type of service */
	p[8] = 0xff;				/* time to live */
	p[10] = 0xff;				/* header checksum */
	p[11] = 0xff;
}

static void mask_ipv6(u8 *p, const u8 *ip)
{
	memcpy(p, ip, IPV6_BYTES);
	p[0] |= 0x0f;				/* traffic class, flow label */
	p[1] = 0xff;
	p[2] = 0xff;
	p[3] = 0xff;
	p[7] = 0xff;				/* hop limit */
}

void sroce_icrc_begin(struct sroce_icrc *icrc, const u8 *ip)
{
	u32 ip_bytes = ip[0] >> 4 == 4 ? IPV4_BYTES : IPV6_BYTES;
	u8 *udp = icrc->head + LRH_BYTES + ip_bytes;

	icrc->ipv4 = ip_bytes == IPV4_BYTES;
	icrc->len = LRH_BYTES + ip_bytes + UDP_BYTES + SROCE_BTH_BYTES;
	memset(icrc->head, 0xff, LRH_BYTES);
	if (icrc->ipv4) {
		mask_ipv4(icrc->head + LRH_BYTES, ip);
		icrc->id = get_unaligned_be16(ip + 4);
	} else {
		mask_ipv6(icrc->head + LRH_BYTES, ip);
	}
	memcpy(udp, ip + ip_bytes, UDP_BYTES);
	udp[6] = 0xff;				/* checksum */
	udp[7] = 0xff;
}

void sroce_icrc_head(struct sroce_icrc *icrc, u32 index, const u8 *bth,
		     u16 udp_len)
{
	u8 *p = icrc->head + icrc->len - SROCE_BTH_BYTES;

	memcpy(p, bth, SROCE_BTH_BYTES);
	p[4] = 0xff;				/* FECN, BECN, reserved */
	put_unaligned_be16(udp_len, p - UDP_BYTES + 4);
	p = icrc->head + LRH_BYTES;
	if (icrc->ipv4) {
		put_unaligned_be16(IPV4_BYTES + udp_len, p + 2);
		put_unaligned_be16(icrc->id + index, p + 4);
	} else {
		put_unaligned_be16(udp_len, p + 4);
	}
}
