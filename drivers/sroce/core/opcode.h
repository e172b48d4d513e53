/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OPCODE_H
#define SROCE_OPCODE_H

#include "optable.h"

/**
 * struct sroce_opcode - what an opcode of the BTH means
 * @headers: enum sroce_header, SROCE_PAYLOAD if bytes may follow
 * @kind: enum sroce_kind; SROCE_KIND_NONE for an opcode that is not known
 * @place: enum sroce_pkt_pos
 * @length: BTH and extended headers, bytes
 * @operation: row of sroce_optable that the responder asks: of a request
 */
struct sroce_opcode {
	u16 headers;
	u8 kind;
	u8 place;
	u8 length;
	u8 operation;
};

extern const struct sroce_opcode sroce_opcodes[256];

#endif /* SROCE_OPCODE_H */
