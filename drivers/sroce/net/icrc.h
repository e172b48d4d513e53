/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef SROCE_ICRC_H
#define SROCE_ICRC_H

#include <linux/types.h>
#include "../core/icrc.h"
#include "../core/opcode.h"
#include "../core/params.h"
#include "../mem/skb_reader.h"

/* Context: loading the module. */
void sroce_icrc_init(void);

/* True if sroce_icrc_alone() can be used for @len bytes from the BTH on. */
static inline bool sroce_icrc_is_short(u32 len)
{
	return len >= SROCE_BTH_BYTES + SROCE_ICRC_BYTES && len <= SROCE_ICRC_SHORT;
}

/**
 * sroce_icrc_alone() - ICRC of a short IPv4 packet that is not in a burst
 * @ip: IP header without options, and behind it the rest of the packet
 * @len: bytes from the BTH to the end of the trailer
 *
 * Context: bottom halves off.
 * Return: the ICRC
 */
__le32 sroce_icrc_alone(const u8 *ip, u32 len);

/**
 * struct sroce_uncopied - packets of a burst whose payload is not in the skb yet
 * @packets: mask of these packets, which are contiguous
 * @from: their payloads
 *
 * Payload is copied when its CRC is computed, because one pass is faster than two.
 */
struct sroce_uncopied {
	u64 packets;
	const void *from[SROCE_BURST_PACKETS];
};

/* Bits of @packets. */
static_assert(SROCE_BURST_PACKETS <= 64);

/* Header bytes of a packet. */
static inline u32 sroce_header_bytes(const u8 *bth)
{
	return sroce_opcodes[bth[0]].length;
}

/* Payload bytes of a packet of @len bytes, from the BTH to the end of the trailer. */
static inline u32 sroce_payload_bytes(const u8 *bth, u32 len)
{
	return len - sroce_header_bytes(bth) - SROCE_ICRC_BYTES -
	       (bth[1] >> SROCE_BTH_PAD_SHIFT & SROCE_BTH_PAD_MASK);
}

/**
 * sroce_icrc_write() - write the ICRC of each packet
 * @icrc: from sroce_icrc_begin() for the burst
 * @r: at the BTH of the first packet; each trailer is contiguous and writable
 * @size: bytes of each packet except the last, from the BTH to the end of the
 *	trailer
 * @left: bytes of all packets
 * @uncopied: packets whose payload is copied first
 *
 * Context: bottom halves off.
 */
void sroce_icrc_write(struct sroce_icrc *icrc, struct sroce_reader r, u32 size,
		      u32 left, const struct sroce_uncopied *uncopied);

/**
 * sroce_icrc_check() - check the ICRC of each packet
 * @icrc: see sroce_icrc_write()
 * @index: index of the first packet in the burst
 * @r: at the BTH of the first packet, in any layout
 * @size: see sroce_icrc_write()
 * @left: bytes of all packets, which are 64 at most
 *
 * Context: bottom halves off.
 * Return: bit mask of the packets that have the right ICRC; bit 0 is the first.
 */
u64 sroce_icrc_check(struct sroce_icrc *icrc, u32 index, struct sroce_reader r,
		     u32 size, u32 left);

/**
 * sroce_icrc_store() - check the ICRC of a middle packet, and store its payload
 * @icrc: burst; between sroce_icrc_store_begin() and sroce_icrc_store_end()
 * @index: index of the packet in the burst
 * @bth: copy of its BTH
 * @r: at its payload; moved to the trailer on success
 * @len: bytes of the payload, not 0
 * @to: memory for it
 *
 * One pass is faster than two, so payload may be stored before its ICRC is found to be
 * wrong.  Nobody may rely on it then: it is the next part of a message that is not complete,
 * and a reliable peer repeats the packet.  UC does not, so the caller checks first.
 *
 * Context: bottom halves off.
 * Return: true if the ICRC is right and the payload is stored.
 */
bool sroce_icrc_store(struct sroce_icrc *icrc, u32 index, const u8 *bth,
		      struct sroce_reader *r, u32 len, u8 *to);

/* @bytes: of all packets that may follow.  Between both, only sroce_icrc_store() is called. */
void sroce_icrc_store_begin(struct sroce_icrc *icrc, u32 bytes);
void sroce_icrc_store_end(const struct sroce_icrc *icrc);

#endif /* SROCE_ICRC_H */
