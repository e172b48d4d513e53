/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Parsed packets for tests. */
#ifndef SROCE_TEST_PACKET_H
#define SROCE_TEST_PACKET_H

#include "aeth.h"
#include "packet.h"
#include "tap.h"

#define MTU	1024u

static inline struct sroce_pkt packet(u8 opcode, u32 psn, u32 payload)
{
	return (struct sroce_pkt) {
		.op = &sroce_opcodes[opcode],
		.opcode = opcode,
		.psn = psn & 0xffffff,
		.payload = payload,
		.pad = -payload & 3,
		.dma_len = payload,
		.va = 0x1000,
		.rkey = 0x77,
	};
}

static inline struct sroce_pkt read_request(u32 psn, u64 va, u32 length)
{
	struct sroce_pkt pkt = packet(SROCE_READ_REQUEST, psn, 0);

	pkt.va = va;
	pkt.dma_len = length;
	return pkt;
}

static inline struct sroce_pkt atomic(u32 psn, u64 va)
{
	struct sroce_pkt pkt = packet(SROCE_FETCH_ADD, psn, 0);

	pkt.va = va;
	return pkt;
}

static inline struct sroce_pkt atomic_write(u32 psn, u64 va)
{
	struct sroce_pkt pkt = packet(SROCE_ATOMIC_WRITE, psn, 8);

	pkt.va = va;
	return pkt;
}

static inline struct sroce_pkt flush(u32 psn, u8 type, u8 level)
{
	struct sroce_pkt pkt = packet(SROCE_FLUSH, psn, 0);

	pkt.flush_type = type;
	pkt.flush_level = level;
	pkt.dma_len = 3 * MTU;
	return pkt;
}

static inline struct sroce_pkt ack(u32 psn, u8 syndrome)
{
	struct sroce_pkt pkt = packet(SROCE_ACKNOWLEDGE, psn, 0);

	pkt.syndrome = syndrome;
	return pkt;
}

static inline struct sroce_pkt response(u8 opcode, u32 psn, u32 payload)
{
	struct sroce_pkt pkt = packet(opcode, psn, payload);

	pkt.syndrome = SROCE_ACK_CREDITS_INVALID;
	return pkt;
}

#endif /* SROCE_TEST_PACKET_H */
