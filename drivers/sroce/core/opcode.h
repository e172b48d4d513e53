/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OPCODE_H
#define SROCE_OPCODE_H

#include "wire.h"

/* What a packet is about; what its place in the message is comes beside it. */
enum sroce_kind {
	SROCE_KIND_NONE,
	SROCE_KIND_SEND,
	SROCE_KIND_WRITE,
	SROCE_KIND_READ,
	SROCE_KIND_ATOMIC,
	SROCE_KIND_ATOMIC_WRITE,
	SROCE_KIND_FLUSH,
	SROCE_KIND_READ_RESPONSE,
	SROCE_KIND_ACK,
	SROCE_KIND_ATOMIC_ACK,
};

/* Requests from this one on have an answer of their own, and no other ACK. */
#define SROCE_KIND_WITH_RESPONSE	SROCE_KIND_READ
/* The first kind that answers a request: it is for our requester. */
#define SROCE_KIND_RESPONSES	SROCE_KIND_READ_RESPONSE

enum sroce_pkt_pos {
	SROCE_MIDDLE	= 0,
	SROCE_FIRST	= 1 << 0,
	SROCE_LAST	= 1 << 1,
	SROCE_ONLY	= SROCE_FIRST | SROCE_LAST,
};

/**
 * struct sroce_opcode - what an opcode of the BTH means
 * @headers: enum sroce_header, SROCE_PAYLOAD if bytes may follow
 * @kind: enum sroce_kind; SROCE_KIND_NONE for an opcode that is not known
 * @place: enum sroce_pkt_pos
 * @length: BTH and extended headers, bytes
 */
struct sroce_opcode {
	u16 headers;
	u8 kind;
	u8 place;
	u8 length;
};

extern const struct sroce_opcode sroce_opcodes[256];

#endif /* SROCE_OPCODE_H */
