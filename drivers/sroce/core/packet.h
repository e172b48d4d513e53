/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_PACKET_H
#define SROCE_PACKET_H

#include "opcode.h"
#include "psn.h"

/**
 * struct sroce_pkt - headers of one packet as values in host byte order
 * @op: row of sroce_opcodes; not used by sroce_build()
 * @opcode: BTH opcode
 * @solicited: BTH solicited event
 * @ack_req: BTH acknowledge request
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
 * @rkey: RETH, AtomicETH or IETH key
 * @dma_len: RETH length
 * @msn: AETH message sequence number
 * @swap_add: AtomicETH swap value or addend
 * @compare: AtomicETH compare value
 * @original: AtomicAckETH value
 * @imm: ImmDt, network byte order
 * @payload: bytes of payload, without pad
 *
 * sroce_parse() does not set members whose header the opcode does not have.
 */
struct sroce_pkt {
	const struct sroce_opcode *op;
	u8 opcode;
	bool solicited;
	bool ack_req;
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

/* Why a packet is malformed; all are counted as rx_malformed. */
enum sroce_malformed {
	SROCE_WELL_FORMED,
	SROCE_TOO_SHORT,
	SROCE_BAD_OPCODE,
	SROCE_BAD_VERSION,
	SROCE_BAD_PAD,
	SROCE_BAD_PAYLOAD,
};

/**
 * sroce_parse() - parse and check the headers of a packet
 * @pkt: result
 * @p: packet from the BTH on
 * @linear: contiguous bytes at @p
 * @len: length of the packet from the BTH to the ICRC, inclusive; not less than
 *	@linear
 *
 * Checks everything that needs no other state: the opcode is known, headers,
 * pad and ICRC fit, and there is a payload only if the opcode allows one.
 *
 * Return: SROCE_WELL_FORMED, or the error.
 */
enum sroce_malformed sroce_parse(struct sroce_pkt *pkt, const u8 *p,
				 u32 linear, u32 len);

/**
 * sroce_build() - build the headers of a packet
 * @p: room for SROCE_MAX_HEADER bytes
 * @pkt: values
 *
 * Return: length of the headers, bytes.
 */
u32 sroce_build(u8 *p, const struct sroce_pkt *pkt);

/*
 * The operation of a request.  For all but the last packet of a message it is
 * the one without immediate data or invalidation.
 */
static inline const struct sroce_op_row *
sroce_pkt_row(const struct sroce_pkt *pkt)
{
	return &sroce_optable[pkt->op->operation];
}

/* Fields of a BTH whose headers are not parsed. */
static inline u16 sroce_bth_pkey(const u8 *bth)
{
	return get_unaligned_be16(bth + 2);
}

static inline u32 sroce_bth_qpn(const u8 *bth)
{
	return get_unaligned_be32(bth + 4) & SROCE_QPN_MASK;
}

static inline u32 sroce_bth_psn(const u8 *bth)
{
	return get_unaligned_be32(bth + 8) & SROCE_PSN_MASK;
}

/* The SRQ number in the XRCETH behind a BTH. */
static inline u32 sroce_bth_srqn(const u8 *bth)
{
	return get_unaligned_be32(bth + SROCE_BTH_BYTES) & SROCE_SRQN_MASK;
}

/* Does the BTH contain @opcode and @psn, with zero pad count and version? */
static inline bool sroce_bth_is(const u8 *bth, u8 opcode, u32 psn)
{
	return bth[0] == opcode &&
	       !(bth[1] & (SROCE_BTH_PAD_MASK << SROCE_BTH_PAD_SHIFT |
			   SROCE_BTH_TVER_MASK)) &&
	       sroce_bth_psn(bth) == psn;
}

/* Length of the UDP payload of a packet, bytes. */
static inline u32 sroce_pkt_bytes(const struct sroce_pkt *pkt)
{
	return sroce_opcodes[pkt->opcode].length + pkt->payload + pkt->pad +
	       SROCE_ICRC_BYTES;
}

#endif /* SROCE_PACKET_H */
