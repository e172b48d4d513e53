/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PACKET_H
#define SROCE_PACKET_H

#include "opcode.h"
#include "psn.h"

/**
 * struct sroce_pkt - the headers of one packet as values, host byte order
 * @op: line of the opcode table
 * @opcode: BTH opcode
 * @solicited: BTH solicited event
 * @ack_req: BTH acknowledge request
 * @fecn: BTH forward congestion notification; not built
 * @becn: BTH backward congestion notification; what is built has it if it is a CNP
 * @pad: 0 to 3 bytes between payload and ICRC
 * @syndrome: AETH syndrome
 * @flush_type: FETH placement type, enum sroce_flush_type
 * @flush_level: FETH selectivity level, enum sroce_flush_level
 * @pkey: BTH partition key
 * @qpn: BTH destination QP
 * @psn: BTH packet sequence number
 * @src_qpn: DETH source QP
 * @srqn: XRCETH shared receive queue
 * @qkey: DETH Q_Key
 * @va: RETH or AtomicETH virtual address
 * @rkey: RETH or AtomicETH key; the key of IETH, too
 * @dma_len: RETH length
 * @msn: AETH message sequence number
 * @swap_add: AtomicETH swap value or addend
 * @compare: AtomicETH compare value
 * @original: AtomicAckETH value
 * @imm: ImmDt as it is on the wire (network order)
 * @payload: bytes of payload, without pad
 *
 * Members whose header the opcode does not have are left as they were.
 */
struct sroce_pkt {
	const struct sroce_opcode *op;
	u8 opcode;
	bool solicited;
	bool ack_req;
	bool fecn;
	bool becn;
	u8 pad;
	u8 syndrome;
	u8 flush_type;
	u8 flush_level;
	u16 pkey;
	u32 qpn;
	u32 psn;
	u32 src_qpn;
	u32 qkey;
	u32 srqn;
	u32 rkey;
	u32 dma_len;
	u32 msn;
	u64 va;
	u64 swap_add;
	u64 compare;
	u64 original;
	__be32 imm;
	u32 payload;
};

/* Why a packet is none; all count as rx_malformed. */
enum sroce_malformed {
	SROCE_WELL_FORMED,
	SROCE_TOO_SHORT,
	SROCE_BAD_OPCODE,
	SROCE_BAD_VERSION,
	SROCE_BAD_PAD,
	SROCE_BAD_PAYLOAD,
};

/**
 * sroce_parse() - bytes to values
 * @pkt: result
 * @p: from the BTH on
 * @linear: how many bytes @p has in one piece
 * @len: length of the packet from the BTH to the ICRC, both included; not
 *	less than @linear
 *
 * Checks everything that can be told from the packet alone: the opcode is
 * known, headers, pad and ICRC fit, payload is there only where the opcode
 * has one.
 *
 * Return: SROCE_WELL_FORMED, or what is wrong.
 */
enum sroce_malformed sroce_parse(struct sroce_pkt *pkt, const u8 *p,
				 u32 linear, u32 len);

/**
 * sroce_build() - values to bytes
 * @p: room for SROCE_MAX_HEADER bytes
 * @pkt: values; @op is found from the opcode
 *
 * Return: length of the headers, bytes.
 */
u32 sroce_build(u8 *p, const struct sroce_pkt *pkt);

/* The operation of a request; of a message's first packets without immediate */
static inline const struct sroce_op_row *
sroce_pkt_row(const struct sroce_pkt *pkt)
{
	return &sroce_optable[pkt->op->operation];
}

/* Does this BTH say @opcode and @psn, and nothing about pad or version? */
static inline bool sroce_bth_is(const u8 *bth, u8 opcode, u32 psn)
{
	return bth[0] == opcode &&
	       !(bth[1] & (SROCE_BTH_PAD_MASK << SROCE_BTH_PAD_SHIFT |
			   SROCE_BTH_TVER_MASK)) &&
	       (get_unaligned_be32(bth + 8) & SROCE_PSN_MASK) == psn;
}

/* UDP payload that a packet will have, bytes. */
static inline u32 sroce_pkt_bytes(const struct sroce_pkt *pkt)
{
	return sroce_opcodes[pkt->opcode].length + pkt->payload + pkt->pad +
	       SROCE_ICRC_BYTES;
}

#endif /* SROCE_PACKET_H */
