/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OPCODE_H
#define SROCE_OPCODE_H

#include "optable.h"

/**
 * struct sroce_opcode - properties of a BTH opcode
 * @headers: enum sroce_header; SROCE_PAYLOAD if a payload may follow
 * @kind: enum sroce_kind; SROCE_KIND_NONE for an unknown opcode
 * @pos: enum sroce_pkt_pos
 * @length: BTH and extended headers, bytes
 * @operation: requests: row of sroce_optable that the responder uses; for all
 *	other packets SROCE_OP_NONE
 */
struct sroce_opcode {
	u16 headers;
	u8 kind;
	u8 pos;
	u8 length;
	u8 operation;
};

extern const struct sroce_opcode sroce_opcodes[256];

/*
 * Requests and READ responses: they may be sent as ECN capable, and a marked one
 * causes a CNP.  ACKs and CNPs are small, and CNPs for them could cause further
 * CNPs.
 */
static inline bool sroce_ecn_capable(u8 opcode)
{
	u8 kind = sroce_opcodes[opcode].kind;

	return kind != SROCE_KIND_NONE && kind < SROCE_KIND_ACK;
}

#endif /* SROCE_OPCODE_H */
