// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "frame.h"

enum header {
	DETH = 1, XRCETH = 2, RETH = 4, ATOMICETH = 8, AETH = 16,
	ATOMICACK = 32, IMMDT = 64, IETH = 128, PAYLOAD = 256, KNOWN = 512,
	FETH = 1024,
};

static const uint16_t operations[0x20] = {
	[SEND_FIRST] = KNOWN | PAYLOAD,
	[SEND_MIDDLE] = KNOWN | PAYLOAD,
	[SEND_LAST] = KNOWN | PAYLOAD,
	[SEND_LAST_IMM] = KNOWN | PAYLOAD | IMMDT,
	[SEND_ONLY] = KNOWN | PAYLOAD,
	[SEND_ONLY_IMM] = KNOWN | PAYLOAD | IMMDT,
	[WRITE_FIRST] = KNOWN | PAYLOAD | RETH,
	[WRITE_MIDDLE] = KNOWN | PAYLOAD,
	[WRITE_LAST] = KNOWN | PAYLOAD,
	[WRITE_LAST_IMM] = KNOWN | PAYLOAD | IMMDT,
	[WRITE_ONLY] = KNOWN | PAYLOAD | RETH,
	[WRITE_ONLY_IMM] = KNOWN | PAYLOAD | RETH | IMMDT,
	[READ_REQUEST] = KNOWN | RETH,
	[READ_RESPONSE_FIRST] = KNOWN | PAYLOAD | AETH,
	[READ_RESPONSE_MIDDLE] = KNOWN | PAYLOAD,
	[READ_RESPONSE_LAST] = KNOWN | PAYLOAD | AETH,
	[READ_RESPONSE_ONLY] = KNOWN | PAYLOAD | AETH,
	[ACKNOWLEDGE] = KNOWN | AETH,
	[ATOMIC_ACKNOWLEDGE] = KNOWN | AETH | ATOMICACK,
	[COMPARE_SWAP] = KNOWN | ATOMICETH,
	[FETCH_ADD] = KNOWN | ATOMICETH,
	[SEND_LAST_INV] = KNOWN | PAYLOAD | IETH,
	[SEND_ONLY_INV] = KNOWN | PAYLOAD | IETH,
	[FLUSH] = KNOWN | FETH | RETH,
	[ATOMIC_WRITE] = KNOWN | PAYLOAD | RETH,
};

/* An opcode that does not exist has the headers that it would have. */
static uint16_t headers_of(uint8_t opcode)
{
	uint8_t operation = opcode & 0x1f;
	uint16_t headers = operations[operation];

	switch (opcode & 0xe0) {
	case UD:
		return headers | DETH;
	case XRC:
		return operation >= READ_RESPONSE_FIRST &&
		       operation <= ATOMIC_ACKNOWLEDGE ?
		       headers : headers | XRCETH;
	default:
		return headers;
	}
}

bool opcode_known(uint8_t opcode)
{
	uint8_t operation = opcode & 0x1f;

	switch (opcode & 0xe0) {
	case UC:
		return operation <= WRITE_ONLY_IMM;
	case UD:
		return operation == SEND_ONLY || operation == SEND_ONLY_IMM;
	case RC:
	case XRC:
		return operations[operation] & KNOWN;
	default:
		return false;
	}
}

bool opcode_carries(uint8_t opcode)
{
	return headers_of(opcode) & PAYLOAD;
}

void put16(uint8_t *to, uint16_t value)
{
	to[0] = value >> 8;
	to[1] = value;
}

void put32(uint8_t *to, uint32_t value)
{
	put16(to, value >> 16);
	put16(to + 2, value);
}

static uint8_t *add32(uint8_t *to, uint32_t value)
{
	put32(to, value);
	return to + 4;
}

static uint8_t *add64(uint8_t *to, uint64_t value)
{
	return add32(add32(to, value >> 32), value);
}

static uint8_t *add_atomic(uint8_t *to, const struct packet *p)
{
	to = add32(add64(to, p->va), p->rkey);
	return add64(add64(to, p->swap_add), p->compare);
}

static uint8_t *add_extended(uint8_t *to, const struct packet *p)
{
	uint16_t headers = headers_of(p->opcode);

	if (headers & DETH)
		to = add32(add32(to, p->qkey), p->src_qpn);
	if (headers & XRCETH)
		to = add32(to, p->srqn);
	if (headers & FETH)
		to = add32(to, p->feth);
	if (headers & RETH)
		to = add32(add32(add64(to, p->va), p->rkey), p->dma_len);
	if (headers & ATOMICETH)
		to = add_atomic(to, p);
	if (headers & AETH)
		to = add32(to, p->aeth);
	if (headers & ATOMICACK)
		to = add64(to, p->original);
	if (headers & IMMDT)
		to = add32(to, p->imm);
	if (headers & IETH)
		to = add32(to, p->ieth);
	return to;
}

uint32_t packet_build(const struct packet *p, uint8_t *to, uint8_t fill)
{
	uint8_t *at = to;

	at[0] = p->opcode;
	at[1] = p->flags;
	put16(at + 2, p->pkey);
	put32(at + 4, (uint32_t)p->becn << 24 | (p->qpn & 0xffffff));
	put32(at + 8, (uint32_t)p->ask << 24 | (p->psn & 0xffffff));
	at = add_extended(at + BTH_BYTES, p);
	memset(at, fill, p->length);
	at += p->length;
	memset(at, 0, -p->length & 3);
	at += -p->length & 3;
	return at - to;
}

/* The ICRC: CRC-32 as of Ethernet, over ones where routers may change. */

static uint32_t crc_table[256];

static void make_crc_table(void)
{
	uint32_t i, bit, crc;

	for (i = 0; i < 256; i++) {
		crc = i;
		for (bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
		crc_table[i] = crc;
	}
}

static uint32_t crc32(uint32_t crc, const uint8_t *p, uint32_t n)
{
	while (n--)
		crc = crc >> 8 ^ crc_table[(crc ^ *p++) & 0xff];
	return crc;
}

static const uint8_t ones_ipv4[] = { 1, 8, 10, 11, 26, 27, 32 };
static const uint8_t ones_ipv6[] = { 1, 2, 3, 7, 46, 47, 52 };

uint32_t icrc_of(const uint8_t *ip, uint32_t length)
{
	bool ipv6 = ip[0] >> 4 == 6;
	const uint8_t *ones = ipv6 ? ones_ipv6 : ones_ipv4;
	uint32_t i, n = length < 64 ? length : 64, crc = ~0u;
	uint8_t lrh[8], masked[64];

	if (!crc_table[1])
		make_crc_table();
	memset(lrh, 0xff, sizeof(lrh));
	memcpy(masked, ip, n);
	if (ipv6)
		masked[0] |= 0x0f;
	for (i = 0; i < sizeof(ones_ipv4); i++)
		masked[ones[i]] = 0xff;
	crc = crc32(crc, lrh, sizeof(lrh));
	crc = crc32(crc, masked, n);
	return ~crc32(crc, ip + n, length - n);
}

static void put_trailer(uint8_t *to, uint32_t icrc)
{
	int i;

	for (i = 0; i < ICRC_BYTES; i++)
		to[i] = icrc >> 8 * i;
}

void frame_icrc(struct frame *frame)
{
	uint8_t *ip = frame->bytes + ETHERNET_BYTES;
	uint32_t n = frame->length - ETHERNET_BYTES;

	if (n >= 60)
		put_trailer(ip + n - ICRC_BYTES, icrc_of(ip, n - ICRC_BYTES));
}

void frame_checksum(struct frame *frame)
{
	uint8_t *ip = frame->bytes + ETHERNET_BYTES;
	uint32_t sum = 0, i, words = (ip[0] & 15) * 2;

	if (ip[0] >> 4 != 4)
		return;
	put16(ip + 10, 0);
	for (i = 0; i < words; i++)
		sum += ip[2 * i] << 8 | ip[2 * i + 1];
	sum = (sum & 0xffff) + (sum >> 16);
	put16(ip + 10, ~(sum + (sum >> 16)));
}

static void ipv4_header(uint8_t *ip, const struct path *path, uint32_t udp)
{
	memset(ip, 0, 20);
	ip[0] = 0x45;
	put16(ip + 2, 20 + udp);
	put16(ip + 4, path->id);
	ip[6] = 0x40;			/* do not fragment */
	ip[8] = 64;
	ip[9] = 17;
	memcpy(ip + 12, path->source, 4);
	memcpy(ip + 16, path->target, 4);
}

static void ipv6_header(uint8_t *ip, const struct path *path, uint32_t udp)
{
	memset(ip, 0, 8);
	ip[0] = 0x60;
	put16(ip + 4, udp);
	ip[6] = 17;
	ip[7] = 64;
	memcpy(ip + 8, path->source, 16);
	memcpy(ip + 24, path->target, 16);
}

void frame_seal(struct frame *frame, const struct path *path,
		const uint8_t *body, uint32_t length)
{
	uint8_t *ip = frame->bytes + ETHERNET_BYTES;
	uint8_t *udp = ip + ip_bytes(path);
	uint32_t n = UDP_BYTES + length + ICRC_BYTES;

	memcpy(frame->bytes, path->target_mac, 6);
	memcpy(frame->bytes + 6, path->source_mac, 6);
	put16(frame->bytes + 12, path->ipv6 ? 0x86dd : 0x0800);
	(path->ipv6 ? ipv6_header : ipv4_header)(ip, path, n);
	put16(udp, path->source_port);
	put16(udp + 2, 4791);
	put16(udp + 4, n);
	put16(udp + 6, 0);
	memcpy(udp + UDP_BYTES, body, length);
	memset(udp + UDP_BYTES + length, 0, ICRC_BYTES);
	frame->length = udp + n - frame->bytes;
	frame_icrc(frame);
	frame_checksum(frame);
}
