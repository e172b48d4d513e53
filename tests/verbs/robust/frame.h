/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RoCEv2 packets as bytes, from the specification and not from the driver: IP,
 * UDP to port 4791, BTH, extended headers, payload, pad, ICRC (IBTA vol. 1,
 * chapter 9; annexes A14, A17, A19).
 */
#ifndef FRAME_H
#define FRAME_H

#include <stdbool.h>
#include <stdint.h>

#define FRAME_ROOM	9700
#define ETHERNET_BYTES	14
#define UDP_BYTES	8
#define BTH_BYTES	12
#define ICRC_BYTES	4
/* The most that fits into a frame behind Ethernet, IPv6 and UDP. */
#define BODY_ROOM	9000

/* Transport, the upper three bits of an opcode. */
enum { RC = 0x00, UC = 0x20, RD = 0x40, UD = 0x60, CNP = 0x80, XRC = 0xa0 };

/* Operation, the lower five. */
enum {
	SEND_FIRST, SEND_MIDDLE, SEND_LAST, SEND_LAST_IMM, SEND_ONLY,
	SEND_ONLY_IMM, WRITE_FIRST, WRITE_MIDDLE, WRITE_LAST, WRITE_LAST_IMM,
	WRITE_ONLY, WRITE_ONLY_IMM, READ_REQUEST, READ_RESPONSE_FIRST,
	READ_RESPONSE_MIDDLE, READ_RESPONSE_LAST, READ_RESPONSE_ONLY,
	ACKNOWLEDGE, ATOMIC_ACKNOWLEDGE, COMPARE_SWAP, FETCH_ADD,
	SEND_LAST_INV = 0x16, SEND_ONLY_INV, FLUSH = 0x1c, ATOMIC_WRITE,
};

/**
 * struct packet - values of a packet, from BTH to pad
 * @opcode: determines the headers
 * @flags: byte 1 of the BTH: solicited, MigReq, pad, version
 * @becn: byte 4: FECN, BECN, reserved
 * @ask: byte 8: AckReq, reserved
 * @pkey: this and all others: fields of the headers
 * @length: of the payload, bytes
 */
struct packet {
	uint8_t opcode;
	uint8_t flags;
	uint8_t becn;
	uint8_t ask;
	uint16_t pkey;
	uint32_t qpn;
	uint32_t psn;
	uint32_t qkey;
	uint32_t src_qpn;
	uint32_t srqn;
	uint64_t va;
	uint32_t rkey;
	uint32_t dma_len;
	uint64_t swap_add;
	uint64_t compare;
	uint32_t aeth;
	uint64_t original;
	uint32_t imm;
	uint32_t ieth;
	uint32_t feth;
	uint32_t length;
};

/* Addresses of both ends. */
struct path {
	bool ipv6;
	uint8_t source_mac[6];
	uint8_t target_mac[6];
	uint8_t source[16];	/* IPv4: the first 4 */
	uint8_t target[16];
	uint16_t source_port;
	uint16_t id;		/* IPv4 */
};

/* Bytes from the Ethernet header on. */
struct frame {
	uint32_t length;
	uint8_t bytes[FRAME_ROOM];
};

/* Does this opcode exist, and carry a payload? */
bool opcode_known(uint8_t opcode);
bool opcode_carries(uint8_t opcode);

/* From BTH to pad; the payload is of the byte @fill.  Returns its length. */
uint32_t packet_build(const struct packet *packet, uint8_t *to, uint8_t fill);

static inline void packet_pad(struct packet *packet)
{
	packet->flags &= ~0x30;
	packet->flags |= (-packet->length & 3) << 4;
}

static inline uint32_t ip_bytes(const struct path *path)
{
	return path->ipv6 ? 40 : 20;
}

/* Adds all headers and the ICRC to a body. */
void frame_seal(struct frame *frame, const struct path *path,
		const uint8_t *body, uint32_t length);
/* The ICRC of the packet that begins with @ip. */
uint32_t icrc_of(const uint8_t *ip, uint32_t length);
/* Computes it again after a change, and the checksum of an IPv4 header, too. */
void frame_icrc(struct frame *frame);
void frame_checksum(struct frame *frame);

void put16(uint8_t *to, uint16_t value);
void put32(uint8_t *to, uint32_t value);

#endif /* FRAME_H */
