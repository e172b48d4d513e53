/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_OPCODE_H
#define SROCE_OPCODE_H

#include "optable.h"

/**
 * struct sroce_opcode - properties of a BTH opcode
 * @headers: enum sroce_header; SROCE_PAYLOAD if a payload may follow
 * @kind: enum sroce_kind; SROCE_KIND_NONE for an unknown opcode
 * @place: enum sroce_pkt_pos
 * @length: BTH and extended headers, bytes
 * @operation: requests: row of sroce_optable that the responder uses; for all
 *	other packets SROCE_OP_NONE
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
