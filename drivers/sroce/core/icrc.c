// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Masked headers for the invariant CRC of RoCEv2 (annex A17.3.3).
 *
 * The ICRC is the CRC-32 of IEEE 802.3 over eight bytes of 0xff (in place of
 * InfiniBand's LRH), the IP, UDP and BTH headers, and everything that follows.
 * Header fields that may change on the way are replaced by ones.
 *
 * In the specification the first transmitted bit is the highest coefficient of
 * a polynomial.  CPUs and the kernel use the reflected form.  Its result is
 * transmitted least significant byte first, like Ethernet's frame check
 * sequence.
 */
#include "icrc.h"

static void mask_ipv4(u8 *p, const u8 *ip)
{
	memcpy(p, ip, SROCE_IPV4_BYTES);
	p[1] = 0xff;				/* type of service */
	p[8] = 0xff;				/* time to live */
	p[10] = 0xff;				/* header checksum */
	p[11] = 0xff;
}

static void mask_ipv6(u8 *p, const u8 *ip)
{
	memcpy(p, ip, SROCE_IPV6_BYTES);
	p[0] |= 0x0f;				/* traffic class, flow label */
	p[1] = 0xff;
	p[2] = 0xff;
	p[3] = 0xff;
	p[7] = 0xff;				/* hop limit */
}

void sroce_icrc_begin(struct sroce_icrc *icrc, const u8 *ip, u16 id_step)
{
	u32 ip_bytes = sroce_ip_bytes(sroce_ip_is_v4(ip));
	u8 *udp = icrc->head + SROCE_ICRC_UDP;
	u8 *to = udp - ip_bytes;

	icrc->ipv4 = ip_bytes == SROCE_IPV4_BYTES;
	icrc->ip = to - icrc->head;
	/* More than IPv6 needs, but the length is a compile-time constant. */
	memset(icrc->head, 0, SROCE_ICRC_UDP - SROCE_IPV4_BYTES);
	memset(to - 4, 0xff, 4);
	if (icrc->ipv4) {
		mask_ipv4(to, ip);
		icrc->id = get_unaligned_be16(ip + 4);
		icrc->id_step = id_step;
	} else {
		mask_ipv6(to, ip);
	}
	memcpy(udp, ip + ip_bytes, SROCE_UDP_BYTES);
	udp[6] = 0xff;				/* checksum */
	udp[7] = 0xff;
}
