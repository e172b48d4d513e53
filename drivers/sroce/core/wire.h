/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Format of a RoCEv2 packet: IP, UDP to port 4791, BTH, extended headers in the
 * order of enum sroce_header, payload, pad, ICRC (IBTA vol. 1, chapter 9; annex
 * A17).
 */
#ifndef SROCE_WIRE_H
#define SROCE_WIRE_H

#include "env.h"

#define SROCE_UDP_PORT		4791

/* Headers without IPv4 options or IPv6 extension headers. */
#define SROCE_IPV4_BYTES	20
#define SROCE_IPV6_BYTES	40
#define SROCE_UDP_BYTES		8

#define SROCE_BTH_BYTES		12
#define SROCE_ICRC_BYTES	4
/* The longest headers, BTH, XRCETH and AtomicETH, take 44 bytes. */
#define SROCE_MAX_HEADER	64
#define SROCE_GRH_BYTES		40

#define SROCE_MAX_MSG		0x80000000u
#define SROCE_QPN_MASK		0xffffffu
#define SROCE_MSN_MASK		0xffffffu
#define SROCE_SRQN_MASK		0xffffffu
#define SROCE_QPN_GSI		1
#define SROCE_QPN_MULTICAST	0xffffffu
#define SROCE_QKEY_GSI		0x80010000u
#define SROCE_PKEY_DEFAULT	0xffff
#define SROCE_PKEY_FULL		0x8000

/* Extended headers, in wire order; CNPRSV directly follows the BTH. */
enum sroce_header {
	SROCE_DETH	= 1 << 0,
	SROCE_XRCETH	= 1 << 1,
	SROCE_FETH	= 1 << 2,
	SROCE_RETH	= 1 << 3,
	SROCE_ATOMICETH	= 1 << 4,
	SROCE_AETH	= 1 << 5,
	SROCE_ATOMICACK	= 1 << 6,
	SROCE_IMMDT	= 1 << 7,
	SROCE_IETH	= 1 << 8,
	SROCE_PAYLOAD	= 1 << 9,
	SROCE_CNPRSV	= 1 << 10,	/* CNP: reserved bytes */
};

#define SROCE_DETH_BYTES	8
#define SROCE_XRCETH_BYTES	4
#define SROCE_FETH_BYTES	4
#define SROCE_RETH_BYTES	16
#define SROCE_ATOMICETH_BYTES	28
#define SROCE_AETH_BYTES	4
#define SROCE_ATOMICACK_BYTES	8
#define SROCE_IMMDT_BYTES	4
#define SROCE_IETH_BYTES	4
#define SROCE_CNPRSV_BYTES	16

/* Headers of a datagram without immediate data. */
#define SROCE_DATAGRAM_BYTES	(SROCE_BTH_BYTES + SROCE_DETH_BYTES)

/* BTH, byte 1 */
#define SROCE_BTH_SE		0x80
#define SROCE_BTH_MIGREQ	0x40
#define SROCE_BTH_PAD_SHIFT	4
#define SROCE_BTH_PAD_MASK	0x3
#define SROCE_BTH_TVER_MASK	0x0f
/* BTH, byte 4 */
#define SROCE_BTH_BECN		0x40
/* BTH, byte 8 */
#define SROCE_BTH_ACKREQ	0x80

/* FETH placement type (annex A19), a bit mask. */
enum sroce_flush_type {
	SROCE_FLUSH_GLOBAL	= 1 << 0,	/* global visibility */
	SROCE_FLUSH_PERSISTENT	= 1 << 1,
};

/* FETH selectivity level (annex A19). */
enum sroce_flush_level {
	SROCE_FLUSH_RANGE	= 0,
	SROCE_FLUSH_REGION	= 1,
};

#define SROCE_FETH_TYPE_MASK	0x0f
#define SROCE_FETH_LEVEL_SHIFT	4
#define SROCE_FETH_LEVEL_MASK	0x3

/* Transport: bits 5 to 7 of the opcode. */
enum sroce_transport {
	SROCE_RC	= 0x00,
	SROCE_UC	= 0x20,
	SROCE_UD	= 0x60,
	SROCE_ANY	= 0x80,		/* CNP, for each transport (A17.9.3) */
	SROCE_XRC	= 0xa0,
};

#define SROCE_TRANSPORT_MASK	0xe0

/* Operation: bits 0 to 4 of the opcode. */
enum sroce_operation {
	SROCE_SEND_FIRST		= 0x00,
	SROCE_SEND_MIDDLE		= 0x01,
	SROCE_CNP			= 0x01,	/* with SROCE_ANY */
	SROCE_SEND_LAST			= 0x02,
	SROCE_SEND_LAST_IMM		= 0x03,
	SROCE_SEND_ONLY			= 0x04,
	SROCE_SEND_ONLY_IMM		= 0x05,
	SROCE_WRITE_FIRST		= 0x06,
	SROCE_WRITE_MIDDLE		= 0x07,
	SROCE_WRITE_LAST		= 0x08,
	SROCE_WRITE_LAST_IMM		= 0x09,
	SROCE_WRITE_ONLY		= 0x0a,
	SROCE_WRITE_ONLY_IMM		= 0x0b,
	SROCE_READ_REQUEST		= 0x0c,
	SROCE_READ_RESPONSE_FIRST	= 0x0d,
	SROCE_READ_RESPONSE_MIDDLE	= 0x0e,
	SROCE_READ_RESPONSE_LAST	= 0x0f,
	SROCE_READ_RESPONSE_ONLY	= 0x10,
	SROCE_ACKNOWLEDGE		= 0x11,
	SROCE_ATOMIC_ACKNOWLEDGE	= 0x12,
	SROCE_COMPARE_SWAP		= 0x13,
	SROCE_FETCH_ADD			= 0x14,
	SROCE_SEND_LAST_INV		= 0x16,
	SROCE_SEND_ONLY_INV		= 0x17,
	SROCE_FLUSH			= 0x1c,
	SROCE_ATOMIC_WRITE		= 0x1d,
};

/* The version is in the first byte of IPv4 and IPv6 headers. */
static inline bool sroce_ip_is_v4(const u8 *ip)
{
	return ip[0] >> 4 == 4;
}

static inline u32 sroce_ip_bytes(bool ipv4)
{
	return ipv4 ? SROCE_IPV4_BYTES : SROCE_IPV6_BYTES;
}

#endif /* SROCE_WIRE_H */
